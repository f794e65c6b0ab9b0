"""The letters of boards and patterns, row by row as LUDAE lists them."""

import pytest

from academy.knowledge.cells import CODE_LETTERS, LETTER_CODES, STATE_LETTERS, SWAP_COLOURS, Code, State

EMPTY, X, B, O, W, OFF = State  # noqa: E741

TABLE = [
    ("-", {EMPTY}, "-"),
    ("x", {X}, "o"),
    ("b", {B}, "w"),
    ("B", {X, B}, "W"),
    ("1", {EMPTY, X, B}, "2"),
    ("o", {O}, "x"),
    ("w", {W}, "b"),
    ("W", {O, W}, "B"),
    ("2", {EMPTY, O, W}, "1"),
    ("+", {OFF}, "+"),
    ("#", {EMPTY, X, B, O, W, OFF}, "#"),
]


@pytest.mark.parametrize(("letter", "accepted", "swapped"), TABLE)
def test_a_letter_accepts_these_states_alone_and_becomes_another_with_the_colours_exchanged(
    letter: str, accepted: set[State], swapped: str
) -> None:
    assert {state for state in State if state & LETTER_CODES[letter]} == accepted
    assert CODE_LETTERS[SWAP_COLOURS[LETTER_CODES[letter]]] == swapped


def test_there_are_no_letters_but_these() -> None:
    assert set(LETTER_CODES) == {letter for letter, _, _ in TABLE}
    assert set(LETTER_CODES.values()) == set(Code)
    assert sorted(STATE_LETTERS) == sorted("-xbow+")
