"""Records: what they hold, and that a game can be played again from one."""

import json
import random
from typing import Any

import pytest

from referees.api import GameRecord, PlayedMove, UnreadableRecordError
from referees.warlight import AttackTransfer, Deploy, WarLight, WarPosition
from tests.referees.reading import names_and_moves
from tests.referees.warlight.test_rules import scripted

SEED = 11


@pytest.fixture(scope="module")
def rules() -> WarLight:
    return WarLight.from_settings({"map": "double_small", "turn_limit": 40, "luck": 0.25})


@pytest.fixture(scope="module")
def positions_and_record(rules: WarLight) -> tuple[list[WarPosition], dict[str, Any]]:
    chance = random.Random(1)
    positions, moves = [rules.start(SEED)], []
    while rules.to_move(positions[-1]):
        turn = {seat: scripted(rules, positions[-1], seat, chance) for seat in (1, 2)}
        turn[1] += (Deploy(9, 9999), AttackTransfer(1, 9999, 1))
        for seat, move in turn.items():
            moves.append(PlayedMove(seat, move, rules.move_text(move), 0.25, {seat: 0.5}, "hm"))
        positions.append(rules.play(positions[-1], turn))
    game = GameRecord(
        "cup 1",
        "cup",
        "2000-01-01",
        ("ann", "bob"),
        moves,
        rules.outcome(positions[-1]),
        SEED,
        ("a",),
        ("b",),
    )
    return positions, json.loads(rules.record(game))


def test_playing_a_record_again_gives_every_standing(
    positions_and_record: tuple[list[WarPosition], dict[str, Any]],
) -> None:
    positions, record = positions_and_record
    rules = WarLight.from_settings(record["settings"])
    position = rules.start(int(record["seed"]))
    for turn, expected in zip(record["turns"], positions, strict=False):
        assert position == expected
        assert turn["turn"] == position.turn
        assert turn["standing"] == {"owners": list(position.owners), "armies": list(position.armies)}
        assert turn["income"] == [rules.income(position, 1), rules.income(position, 2)]
        orders = {
            seat: rules.read_move(position, seat, "; ".join(turn["orders"][seat - 1])) for seat in (1, 2)
        }
        position = rules.play(position, orders)
    assert record["final"] == {"owners": list(position.owners), "armies": list(position.armies)}
    assert len(record["turns"]) == len(positions) - 1


def test_the_events_of_a_turn_lead_from_one_standing_to_the_next(
    positions_and_record: tuple[list[WarPosition], dict[str, Any]],
) -> None:
    _, record = positions_and_record
    ids = [territory["id"] for territory in record["map"]["territories"]]
    afterwards = [turn["standing"] for turn in record["turns"][1:]] + [record["final"]]
    kinds = set()
    for turn, after in zip(record["turns"], afterwards, strict=True):
        owners = dict(zip(ids, turn["standing"]["owners"], strict=True))
        armies = dict(zip(ids, turn["standing"]["armies"], strict=True))
        for event in turn["events"]:
            kinds.add(event["kind"])
            match event["kind"]:
                case "deploy":
                    armies[event["to"]] += event["sent"]
                case "transfer":
                    armies[event["from"]] -= event["sent"]
                    armies[event["to"]] += event["sent"]
                case "attack":
                    assert (owners[event["to"]], armies[event["to"]]) == (
                        event["against"],
                        event["defenders"],
                    )
                    if event["captured"]:
                        owners[event["to"]] = event["seat"]
                        armies[event["from"]] -= event["sent"]
                        armies[event["to"]] = event["sent"] - event["lost"]
                    else:
                        armies[event["from"]] -= event["lost"]
                        armies[event["to"]] -= event["killed"]
        assert after == {"owners": list(owners.values()), "armies": list(armies.values())}
    assert kinds == {"deploy", "transfer", "attack", "illegal"}


def test_a_record_says_who_played_and_how_it_ended(
    rules: WarLight, positions_and_record: tuple[list[WarPosition], dict[str, Any]]
) -> None:
    positions, record = positions_and_record
    outcome = rules.outcome(positions[-1])
    assert outcome is not None
    assert record["players"] == ["ann", "bob"]
    assert record["result"]["winners"] == list(outcome.winners)
    assert record["result"]["detail"].startswith("after turn 40: ")
    assert record["remarks"] == ["a"]
    assert record["turns"][0]["seconds"] == [0.25, 0.25]
    assert record["turns"][0]["values"] == [0.5, 0.5]
    assert record["turns"][0]["events"][-1]["kind"] in ("attack", "transfer", "illegal")
    assert record["map"]["mirror"][0] == [1, 51]
    illegal = [event for event in record["turns"][0]["events"] if event["kind"] == "illegal"]
    assert illegal[0] == {
        "seat": 1,
        "kind": "illegal",
        "order": "Deploy 9 on 9999",
        "why": "the map has no territory 9999",
    }


def test_the_moves_of_records_can_be_read(
    rules: WarLight, positions_and_record: tuple[list[WarPosition], dict[str, Any]]
) -> None:
    _, record = positions_and_record
    ((name, moves, *_),) = rules.read_records(json.dumps(record).encode())
    assert name == "cup 1"
    assert len(moves) == 2 * len(record["turns"])
    assert rules.read_records(json.dumps([record, record]).encode())[1][:2] == (name, moves)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"map": "double_earth"}, "game 1: its map is 'double_small', not 'double_earth'"),
        (
            {"starts": 4},
            r"game 1: .* seed 11 .* starts 3, start_armies 5, neutral_armies 2, these .* starts 4,",
        ),
        ({"start_armies": 6}, "these settings have starts 3, start_armies 6, neutral_armies 2"),
    ],
)
def test_a_record_of_another_map_or_other_starts_is_refused(
    settings: dict[str, object], message: str, positions_and_record: tuple[list[WarPosition], dict[str, Any]]
) -> None:
    _, record = positions_and_record
    other = WarLight.from_settings({"map": "double_small", **settings})
    with pytest.raises(UnreadableRecordError, match=message):
        names_and_moves(other, json.dumps(record).encode())


@pytest.mark.parametrize(
    "orders",
    [["Deploy 5 on 3", []], [["Deploy 5 on 3"]], [[], [], []], "ab", [[5], []], {"a": [], "b": []}],
)
def test_a_turn_without_two_lists_of_orders_is_refused(
    orders: object, rules: WarLight, positions_and_record: tuple[list[WarPosition], dict[str, Any]]
) -> None:
    _, record = positions_and_record
    turns = [record["turns"][0] | {"orders": orders}]
    with pytest.raises(
        UnreadableRecordError, match=r"game 1: its turns cannot be read: .* two lists of texts"
    ):
        names_and_moves(rules, json.dumps(record | {"turns": turns}).encode())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"(;GM[1])", "no JSON"),
        (b"[]x", "no JSON"),
        (b'{"game": "go"}', 'no "game": "warlight"'),
        (b'{"game": "warlight", "version": 2}', "its version is 2"),
        (b'{"game": "warlight", "version": 1}', "its map is None, not 'double_small'"),
        (b'{"game": "warlight", "version": 1, "map": {"name": "double_small"}}', "its turns cannot be read"),
        (
            b'{"game": "warlight", "version": 1, "map": {"name": "double_small"}, "seed": 1, "turns": [3]}',
            "its turns cannot be read",
        ),
    ],
)
def test_a_file_that_is_not_a_record_is_refused(rules: WarLight, content: bytes, message: str) -> None:
    with pytest.raises(UnreadableRecordError, match=message):
        names_and_moves(rules, content)
