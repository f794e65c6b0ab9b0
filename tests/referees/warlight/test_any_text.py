"""Whatever a bot writes is read: nothing raises, and what comes of it are orders that can be played."""

from hypothesis import given
from hypothesis import strategies as st

from referees.dialogues import LineDialogue
from referees.warlight import WarLight, WarPosition

RULES = WarLight.from_settings({"map": "small_world", "turn_limit": 5})
START = RULES.start(1)
WORDS = st.sampled_from([
    "Deploy", "AttackTransfer", "on", "from", "to", "player1", "place_armies", "attack/transfer",
    "No", "moves", "academy-expected_value", ",", ";", "end",
    "0", "1", "7", "-3", "1e9", "nan", "9" * 30, "٣", "\x00", "�",
])  # fmt: skip
LINES = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=8).map(" ".join))


def dialogue(name: str) -> LineDialogue[WarPosition]:
    lines_dialogue = RULES.dialogue(name)
    assert lines_dialogue is not None
    return lines_dialogue


@given(st.lists(LINES, max_size=10))
def test_any_lines_make_orders_in_the_challenges_dialogue(lines: list[str]) -> None:
    reading = dialogue("lines").read([lines], 1)
    assert reading.value is None or 0 <= reading.value <= 1
    is_playable(reading.text)
    assert all(complaint.isascii() and complaint.isprintable() for complaint in reading.complaints)


@given(LINES, LINES)
def test_any_lines_make_orders_in_the_second_dialogue(places: str, moves: str) -> None:
    reading = dialogue("lines:ai-challenge-2").read([[places], [moves]], 1)
    is_playable(reading.text)
    assert all(complaint.isascii() and complaint.isprintable() for complaint in reading.complaints)


def is_playable(text: str) -> None:
    orders = RULES.read_move(START, 1, text)
    RULES.check(START, 1, orders)
    after = RULES.play(START, {1: orders, 2: ()})
    assert RULES.read_move(START, 1, RULES.move_text(orders)) == orders
    assert after.turn == 2
