"""The challenge's dialogue, byte for byte as its page describes it."""

import random
from pathlib import Path

import pytest

from referees.dialogues import BotTime
from referees.warlight import WarLight
from referees.warlight.ai_challenge_2 import ChallengeLines
from referees.warlight.orders import AttackTransfer, Deploy
from tests.referees.warlight.positions import on_map, standing
from tests.referees.warlight.test_rules import scripted

TIME = BotTime(60_000, 0)
# Rows of the page's own example, with the territories between them left out.
MAP = """\
Map
TerritoryDefinition 198 AN 199
TerritoryDefinition 199 BN 198 200
TerritoryDefinition 200 CN 199 209
TerritoryDefinition 209 DN 200 214
TerritoryDefinition 214 EN 209 215
TerritoryDefinition 215 FN 214 216
TerritoryDefinition 216 GN 215
BonusDefinition 5 CentralRussiaN 198 199
BonusDefinition 4 AustraliaN 200
EndMap"""


@pytest.fixture
def rules(tmp_path: Path) -> WarLight:
    return on_map(tmp_path, MAP)


def test_a_bot_is_first_sent_the_map(rules: WarLight) -> None:
    words = rules.dialogue("lines")
    assert words is not None
    assert "\n".join(words.greeting(1, TIME)) == MAP


def test_a_standing_has_what_the_bot_sees_in_the_order_of_ids(rules: WarLight) -> None:
    position = standing(rules, {200: (1, 5), 214: (1, 5), 215: (2, 3), 198: (2, 9)}, turn=12)
    lines = rules.dialogue("lines")
    assert isinstance(lines, ChallengeLines)
    (prompt,) = lines.turn(rules.view(position, 1), 1)
    assert prompt.last_line == "end"
    assert "\n".join(prompt.lines(0)) == (
        "Turn 12\n"
        "Territory 199 ownedBy Neutral withArmies 2\n"
        "Territory 200 ownedBy You withArmies 5\n"
        "Territory 209 ownedBy Neutral withArmies 2\n"
        "Territory 214 ownedBy You withArmies 5\n"
        "Territory 215 ownedBy Opponent withArmies 3\n"
        "EndStanding"
    )
    (other,) = lines.turn(rules.view(position, 2), 2)
    assert "Territory 214 ownedBy Opponent withArmies 5" in other.lines(0)
    assert not any(line.startswith("Territory 200") for line in other.lines(0))


def test_without_fog_every_territory_has_its_row(rules: WarLight) -> None:
    position = standing(rules, {200: (1, 5), 216: (2, 5)})
    assert len(ChallengeLines(rules.map).standing(position, 1)) == 2 + 7


def test_orders_are_read_as_the_page_writes_them(rules: WarLight) -> None:
    lines = [
        "Deploy 4 on 5",
        "Deploy 1 on 112",
        "AttackTransfer 4 from 5 to 29",
        "AttackTransfer 3 from 5 to 119",
        "AttackTransfer 8 from 26 to 119",
    ]
    reading = ChallengeLines(rules.map).read([lines], 1)
    assert reading.text == "; ".join(lines)
    assert not reading.complaints
    assert rules.read_move(rules.start(1), 1, reading.text) == (
        Deploy(4, 5),
        Deploy(1, 112),
        AttackTransfer(4, 5, 29),
        AttackTransfer(3, 5, 119),
        AttackTransfer(8, 26, 119),
    )


def test_lines_that_are_not_orders_are_dropped_and_the_others_count(rules: WarLight) -> None:
    reading = ChallengeLines(rules.map).read([["Deploy 4 on 5", "", "hello", "Deploy 1 on"]], 1)
    assert reading.text == "Deploy 4 on 5"
    assert [complaint.split(" is neither")[0] for complaint in reading.complaints] == [
        "a line was dropped: 'hello'",
        "a line was dropped: 'Deploy 1 on'",
    ]


def test_too_many_orders_are_cut(rules: WarLight) -> None:
    reading = ChallengeLines(rules.map).read([["Deploy 1 on 198"] * 2001], 1)
    assert len(rules.read_move(rules.start(1), 1, reading.text)) == 2000
    assert "2001 orders: those after the first 2000 were dropped" in reading.complaints


@pytest.mark.parametrize(
    ("line", "value", "before"),
    [
        ("academy-expected_value 0.75", 0.75, None),
        ("academy-expected_value 0.25 0.75", 0.75, 0.25),
        ("academy-expected_value 1.5", None, None),
        ("academy-expected_value 1.5 0.5", None, None),
        ("academy-expected_value 0.1 0.2 0.3", None, None),
        ("academy-expected_value", None, None),
    ],
)
def test_a_bot_can_tell_its_expected_values(
    rules: WarLight, line: str, value: float | None, before: float | None
) -> None:
    reading = ChallengeLines(rules.map).read([[line]], 1)
    assert (reading.value, reading.value_before) == (value, before)
    assert bool(reading.complaints) == (value is None)
    assert reading.text == "pass"


def test_orders_that_did_nothing_by_the_bots_fault_are_reported(rules: WarLight) -> None:
    # Seat 1 can do nothing about 209's attack; that 198 is not its own it could have known.
    orders = {1: (AttackTransfer(1, 200, 199), Deploy(1, 198)), 2: (AttackTransfer(49, 209, 200),)}
    refusals = set()
    for turn in range(1, 30):
        after = rules.play(standing(rules, {200: (1, 5), 209: (2, 50)}, turn), orders)
        refusals |= {tuple(ChallengeLines(rules.map).refusals(rules.view(after, 1), 1))}
    assert refusals == {("order 'Deploy 1 on 198' was not carried out: 198 is not its own",)}


def test_every_text_of_a_whole_game_is_ascii_lines(rules: WarLight) -> None:
    chance = random.Random(2)
    lines = ChallengeLines(rules.map)
    position = rules.start(2)
    for _ in range(20):
        if not rules.to_move(position):
            break
        for seat in (1, 2):
            (prompt,) = lines.turn(rules.view(position, seat), seat)
            assert all(line.isascii() and line == line.strip() for line in prompt.lines(0))
        position = rules.play(position, {seat: scripted(rules, position, seat, chance) for seat in (1, 2)})
