"""Which lines of a bot are its answer, when an answer of several lines is late, cut short or ends twice."""

import time
from collections import deque

import pytest

from arena.players.lines import LinesChannel
from arena.players.player import PlayerTimeoutError
from arena.players.process import ChildProcess
from referees.dialogues import Prompt
from referees.line_requests import Dropped


class Bot(ChildProcess):
    """A bot as its pipes show it: what it writes after each prompt, all at once or, after `~`, too late."""

    def __init__(self, *writes: str) -> None:
        self._writes = deque(writes)
        self._arrived: deque[bytes] = deque()
        self._late: list[bytes] = []

    def write_line(self, line: bytes, deadline: float) -> None:
        in_time, _, late = self._writes.popleft().partition("~")
        self._arrived += [text.encode() for text in in_time.split("/") if text]
        self._late = [text.encode() for text in late.split("/") if text]

    def read_line(self, deadline: float, *, cut: bool = False) -> bytes | None:
        if not self._arrived:
            self._arrived += self._late
            raise PlayerTimeoutError("did not answer in time")
        return self._arrived.popleft()

    def arrived_lines(self) -> list[bytes]:
        lines = list(self._arrived)
        self._arrived.clear()
        return lines


def played(*writes: str) -> tuple[list[str | None], dict[Dropped, int]]:
    """What is made of each turn's answer, None for a turn that was late; and what was dropped."""
    channel = LinesChannel(Bot(*writes), "bot", None)
    answers: list[str | None] = []
    for _ in writes:
        try:
            request = channel.ask(Prompt(lambda _: ("go",), "end"), 0, time.monotonic())
            answers.append("/".join(request.answer or ()))
        except PlayerTimeoutError:
            answers.append(None)
    return answers, dict(channel.dropped)


@pytest.mark.parametrize(
    ("writes", "answers"),
    [
        (["a/end", "b/end", "c/end"], ["a", "b", "c"]),
        # Late by a turn, or by two.
        (["a/end", "", "b/end/c/end", "d/end"], ["a", None, "c", "d"]),
        (["", "", "a/end/b/end/c/end", "d/end"], [None, None, "c", "d"]),
        # Always late: when the time is up, or in the midst of the next turn.
        (["~a/end", "~b/end", "~c/end", "d/end"], [None, None, None, "d"]),
        (["a~end", "b~end", "c~end", "d/end"], [None, None, None, "d"]),
        (["", "a/end", "b/end", "c/end"], [None, None, None, None]),
        (["", "a/end", "b/end/c/end", "d/end"], [None, None, "c", "d"]),
        (["", "a/end/b", "end/c/end", "d/end"], [None, None, "c", "d"]),
        # An answer without its end costs that turn and no other.
        (["a", "b/end", "c/end", "d/end"], [None, "b", "c", "d"]),
        (["a", "b", "c/end", "d/end"], [None, None, "c", "d"]),
        (["a/end", "b", "c/end", "d", "e/end"], ["a", None, "c", None, "e"]),
    ],
)
def test_each_turn_has_its_own_answer_or_none(writes: list[str], answers: list[str | None]) -> None:
    assert played(*writes) == (answers, {})


def test_lines_after_a_late_answer_are_skipped_and_counted_until_the_next_turn() -> None:
    assert played("~a/end/b/end", "c/end") == ([None, "c"], {Dropped.OUTSIDE: 2})


def test_lines_after_an_end_are_skipped_and_counted() -> None:
    assert played("end/a/b/end", "end/c//end", "d/end") == (["", "", "d"], {Dropped.OUTSIDE: 5})


@pytest.mark.parametrize("line", ["end", " end", "end\t", "end\r"])
def test_blanks_around_the_last_line_do_not_matter(line: str) -> None:
    assert played(f"a/{line}") == (["a"], {})


@pytest.mark.parametrize("line", ["end\u2028", "\u00a0end", "end\x0b", "END", "end of it", "end;"])
def test_nothing_else_ends_an_answer(line: str) -> None:
    assert played(f"a/{line}/b/end") == ([f"a/{line}/b"], {})
