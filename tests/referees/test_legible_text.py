"""Text on its way to people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referees.legible_text import indented, legible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a beat b B+3.5", "a beat b B+3.5"),
        ("two\n\tlines", "two\n\tlines"),
        ("naïve 囲碁", "naïve 囲碁"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\rb\x7f", "a\\rb\\x7f"),
        ("turned \u202e round", "turned \\u202e round"),
        ("half \ud800", "half \\ud800"),
        ("another\u2028line", "another\\u2028line"),
    ],
)
def test_nothing_in_a_text_commands_what_shows_it(text: str, shown: str) -> None:
    assert legible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [("", ""), ("a line", "a line"), ("two\nlines\n", "two\n    lines"), ("a\n\n \npart", "a\n    part")],
)
def test_a_text_of_several_lines_begins_none_of_what_it_stands_in(text: str, shown: str) -> None:
    assert indented(text) == shown


@given(st.text())
def test_a_legible_text_stays_as_it_is(text: str) -> None:
    shown = legible(text)
    assert legible(shown) == shown
    assert all(
        character.isprintable() or character in "\n\t" or not character.isascii() for character in shown
    )
