"""Records: JSON with all phases, and games taken up from them."""

import json
import random

import pytest

from referees.api import GameRecord, PlayedMove, UnreadableRecordError
from referees.diplomacy import Diplomacy
from referees.diplomacy.game import GamePosition


def random_game(judge: Diplomacy, seed: int) -> tuple[list[PlayedMove], GamePosition]:
    chance = random.Random(seed)
    game, played = judge.start(0), []
    while seats := judge.to_move(game):
        moves = {seat: judge.random_move(game, seat, chance) for seat in seats}
        played += [PlayedMove(seat, move, judge.move_text(move)) for seat, move in moves.items()]
        game = judge.play(game, moves)
    return played, game


def record_of(judge: Diplomacy, moves: list[PlayedMove], game: GamePosition | None) -> str:
    players = tuple(f"bot {seat}" for seat in range(1, 8))
    outcome = None if game is None else judge.outcome(game)
    return judge.record(GameRecord("g1", "test", "2026-01-01", players, moves, outcome, 0))


def test_a_record_tells_every_phase_with_results_and_reasons() -> None:
    judge = Diplomacy.from_settings({"year_limit": 3})
    moves, game = random_game(judge, 5)
    record = json.loads(record_of(judge, moves, game))
    assert record["phases"][0]["phase"] == "S1901M"
    assert (record["edition"], record["choices"]["adjacent_convoy"], record["year_limit"]) == (
        "2023",
        "intent",
        3,
    )
    assert record["phases"][0]["units"]["RUS"] == ["A MOS", "A WAR", "F SEV", "F STP/SC"]
    assert record["game"] == "diplomacy"
    assert record["players"]["TUR"] == "bot 7"
    assert record["final"]["phase"] == game.position.name
    assert record["termination"] == "frozen"
    assert sum(record["centre_shares"].values()) == pytest.approx(1)
    for phase in record["phases"]:
        for results in phase["results"].values():
            for result in results:
                assert result["outcome"] == "succeeded" or result["reason"], result


def test_a_game_is_taken_up_from_its_record_where_it_was_interrupted() -> None:
    judge = Diplomacy.from_settings({"year_limit": 3})
    moves, end = random_game(judge, 6)
    ((name, texts, *_),) = judge.read_records(record_of(judge, moves, None).encode())
    assert name == "g1"
    assert texts == [move.text for move in moves]
    game, waiting = judge.start(0), list(texts)
    while seats := judge.to_move(game):
        game = judge.play(game, {seat: judge.read_move(game, seat, waiting.pop(0)) for seat in seats})
    assert game == end


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"PNG", "no JSON"),
        (b"[]", "not a record of Diplomacy"),
        (b'{"format": "diplomacy-1", "map": "straits"}', "its map is 'straits'"),
        (b'{"format": "diplomacy-1", "map": "standard"}', "without moves"),
        (b'{"format": "diplomacy-1", "map": "standard", "phases": [1]}', "without moves"),
        (b'{"format": "diplomacy-1", "map": "standard", "phases": [{"moves": "AUSENG"}]}', "without moves"),
        (
            b'{"format": "diplomacy-1", "map": "standard", "phases": [{"moves": {"AUS": null}}]}',
            "a move None",
        ),
    ],
)
def test_files_that_are_not_records_say_why(content: bytes, why: str) -> None:
    with pytest.raises(UnreadableRecordError, match=why):
        Diplomacy.from_settings({}).read_records(content)
