"""The dialogue of theaigames' second challenge: what its bots are sent, and how they are read."""

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referees.dialogues import BotTime, LineDialogue
from referees.warlight import WarLight, WarPosition
from referees.warlight.ai_challenge_2 import AiChallenge2
from referees.warlight.maps import MAX_ID, Bonus, Territory, WarMap, double, write_map
from referees.warlight.orders import AttackTransfer, Deploy
from referees.warlight.settings import WarSettings
from tests.referees.warlight.positions import chain_of, on_map, standing


@pytest.fixture
def rules(tmp_path: Path) -> WarLight:
    """Two rows of four, linked at their ends: 1-2-3-4 and 11-12-13-14; the rows are bonuses of 3."""
    whole = double(chain_of("A", "B", "C", "D"), offset=10, bridges=[4], name="rows")
    return on_map(tmp_path, write_map(whole) + "\n", turn_limit=60)


@given(ids=st.sets(st.integers(1, MAX_ID), min_size=2, max_size=12), seed=st.integers(0, 1000))
def test_regions_have_the_numbers_1_to_n_with_any_ids(ids: set[int], seed: int) -> None:
    """Bots keep regions in arrays of as many places; orders and records have the map's own ids."""
    row = sorted(ids)
    war_map = WarMap(
        "row",
        tuple(
            Territory(id_, f"T{id_}", tuple(row[at] for at in (place - 1, place + 1) if 0 <= at < len(row)))
            for place, id_ in enumerate(row)
        ),
        (Bonus("All", 3, tuple(row)),),
    )
    dialogue = AiChallenge2(war_map, WarSettings.read({"map": "small_world"}), None)
    numbers = range(1, len(row) + 1)
    greeting = list(dialogue.greeting(1, BotTime(0, 0)))
    assert greeting[-2] == "setup_map regions " + " ".join(f"{number} 1" for number in numbers)
    named = {int(number) for near in greeting[-1].split()[2:] for number in near.split(",")}
    assert named == set(numbers)
    owners = bytes(random.Random(seed).choices((0, 1, 2), k=len(row)))
    view = WarPosition(2, owners, (2,) * len(row), seed=1)
    update = next(
        line for line in dialogue.turn(view, 1)[0].lines(0) if line.startswith("update_map")
    ).split()[1:]
    assert sorted(map(int, update[::3])) == list(numbers)
    deploys = ",".join(f"player1 place_armies {number} 1" for number in numbers)
    moves = ",".join(f"player1 attack/transfer {number} {number + 1} 1" for number in numbers[:-1])
    reading = dialogue.read([[deploys], [moves]], 1)
    assert reading.text == "; ".join(
        [f"Deploy 1 on {id_}" for id_ in row]
        + [f"AttackTransfer 1 from {first} to {second}" for first, second in itertools.pairwise(row)]
    )
    assert not reading.complaints


@pytest.fixture
def words(rules: WarLight) -> LineDialogue[WarPosition]:
    return words_of(rules)


def words_of(rules: WarLight) -> LineDialogue[WarPosition]:
    dialogue = rules.dialogue("lines:ai-challenge-2")
    assert dialogue is not None
    return dialogue


def test_bot_gets_settings_and_map(words: LineDialogue[WarPosition]) -> None:
    assert list(words.greeting(2, BotTime(10_000, 500))) == [
        "settings timebank 10000",
        "settings time_per_move 500",
        "settings max_rounds 60",
        "settings your_bot player2",
        "settings opponent_bot player1",
        "setup_map super_regions 1 3 2 3",
        "setup_map regions 1 1 2 1 3 1 4 1 5 2 6 2 7 2 8 2",
        "setup_map neighbors 1 2 2 3 3 4 4 8 5 6 6 7 7 8",
    ]


@pytest.mark.parametrize(
    ("bonuses", "super_regions", "regions"),
    [
        (["3 All 1 3 4"], "1 3 2 0", "1 1 2 2 3 1 4 1"),
        (["3 West 1 2 3", "9 Inner 1 2", "2 East 3 4"], "1 3 2 2", "1 1 2 1 3 1 4 2"),
    ],
    ids=["a territory of no bonus is one without reward", "a bonus within others is none"],
)
def test_super_regions_share_out_all_territories(
    bonuses: list[str], super_regions: str, regions: str, tmp_path: Path
) -> None:
    text = write_map(chain_of("A", "B", "C", "D")).replace(
        "BonusDefinition 3 All 1 2 3 4", "\n".join(f"BonusDefinition {bonus}" for bonus in bonuses)
    )
    greeting = list(words_of(on_map(tmp_path, text)).greeting(1, BotTime(0, 0)))
    assert f"setup_map super_regions {super_regions}" in greeting
    assert f"setup_map regions {regions}" in greeting


def test_picks_are_a_formality_with_a_list_that_shrinks(
    rules: WarLight, words: LineDialogue[WarPosition]
) -> None:
    position = standing(rules, {2: (1, 5), 3: (1, 5), 12: (2, 5), 13: (2, 5)})
    prompts = words.preparation(rules.view(position, 1), 1)
    assert [list(prompt.lines(9500)) for prompt in prompts] == [
        [
            "setup_map wastelands 1",
            "settings starting_regions 2 3 5",
            "settings starting_pick_amount 2",
            "pick_starting_region 9500 2 3 5",
        ],
        ["pick_starting_region 9500 3 5"],
    ]
    assert all(prompt.last_line is None for prompt in prompts)


def test_a_round_has_the_standing_and_two_requests(rules: WarLight, words: LineDialogue[WarPosition]) -> None:
    position = standing(rules, {4: (1, 5), 1: (1, 3), 14: (2, 5)})
    first, second = words.turn(rules.view(position, 1), 1)
    assert list(first.lines(9000)) == [
        "setup_map opponent_starting_regions 5 8",
        "settings starting_armies 5",
        "update_map 1 player1 3 4 player1 5 2 neutral 2 3 neutral 2 8 player2 5",
        "opponent_moves",
        "go place_armies 9000",
    ]
    assert list(second.lines(8500)) == ["go attack/transfer 8500"]


def test_later_rounds_tell_the_opponents_moves_that_were_seen(
    rules: WarLight, words: LineDialogue[WarPosition]
) -> None:
    position = standing(rules, {4: (1, 5), 14: (2, 5), 13: (2, 5), 12: (2, 5)})
    orders = (Deploy(2, 14), Deploy(3, 12), AttackTransfer(3, 14, 4), AttackTransfer(2, 13, 12))
    after = rules.play(position, {1: (), 2: orders})
    lines = list(words.turn(rules.view(after, 1), 1)[0].lines(0))
    assert lines[0] == "settings starting_armies 5"
    assert lines[2] == "opponent_moves player2 place_armies 8 2 player2 attack/transfer 8 4 3"


def test_both_answers_make_one_turns_orders(words: LineDialogue[WarPosition]) -> None:
    answers = [
        ["player1 place_armies 4 3, player1 place_armies 1 2,"],
        ["player1 attack/transfer 4 8 6,player1 attack/transfer 1 2 4"],
    ]
    reading = words.read(answers, 1)
    assert reading.text == (
        "Deploy 3 on 4; Deploy 2 on 1; AttackTransfer 6 from 4 to 14; AttackTransfer 4 from 1 to 2"
    )
    assert not reading.complaints


@pytest.mark.parametrize(
    ("line", "text", "complaints"),
    [
        ("No moves", "pass", 0),
        ("No moves,", "pass", 0),
        (" no moves , ", "pass", 0),
        ("x", "pass", 0),
        ("player2 place_armies 4 3,player1 place_armies 1 2", "Deploy 2 on 1", 1),
        ("player1 attack/transfer 1 2 3,player1 place_armies 1 2", "Deploy 2 on 1", 1),
        ("player1 place_armies x 3,player1 place_armies 1 2", "Deploy 2 on 1", 1),
        ("player1 place_armies 1 -3,player1 place_armies 1 2", "Deploy 2 on 1", 1),
        ("player1 place_armies 4 3,player1 place_armies 1,player1 place_armies 1 2", "Deploy 3 on 4", 1),
        ("player1 place_armies 14 3,player1 place_armies 8 2", "Deploy 2 on 14", 1),
        ("player1 place_armies 0 3,player1 place_armies 5 2", "Deploy 2 on 11", 1),
        ("\ufffd\ufffd,player1 place_armies 4 3", "pass", 1),
    ],
)
def test_moves_that_cannot_be_read_are_dropped(
    words: LineDialogue[WarPosition], line: str, text: str, complaints: int
) -> None:
    reading = words.read([[line], ["No moves"]], 1)
    assert reading.text == text
    assert len(reading.complaints) == complaints
