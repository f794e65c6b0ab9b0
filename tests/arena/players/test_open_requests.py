"""Which request a line answers: late answers are skipped, and answers that never come are noticed."""

import time
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.players.lines import LinesChannel
from arena.players.player import PlayerTimeoutError
from arena.players.process import ChildProcess
from referees.dialogues import Prompt

KINDS = ("place", "move")
Turns = list[list[str] | None]


class Bot(ChildProcess):
    """A bot as its pipes show it: an answer comes after as many later requests as it lags."""

    def __init__(self, lags: dict[str, int], silent: set[str], untold: set[str]) -> None:
        self._lags, self._silent, self._untold = lags, silent, untold
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._asked = 0

    def write_line(self, line: bytes, deadline: float) -> None:
        self._asked += 1
        request = line.decode()
        answer = b"nothing" if request in self._untold else b"to " + line
        if request not in self._silent:
            self._waiting.append((self._asked + self._lags.get(request, 0), answer))

    def _ready(self) -> bool:
        return bool(self._waiting) and self._waiting[0][0] <= self._asked

    def read_line(self, deadline: float, *, cut: bool = False) -> bytes | None:
        if not self._ready():
            raise PlayerTimeoutError("did not answer in time")
        return self._waiting.popleft()[1]

    def arrived_lines(self) -> list[bytes]:
        found = []
        while self._ready():
            found.append(self._waiting.popleft()[1])
        return found


def kind_of(line: str) -> str:
    return next((kind for kind in KINDS if kind in line), "")


def played(
    turns: int,
    lags: dict[str, int] | None = None,
    silent: set[str] | None = None,
    untold: set[str] | None = None,
) -> Turns:
    """What is made of each turn's answers; None for a turn that was late."""
    channel = LinesChannel(Bot(lags or {}, silent or set(), untold or set()), "bot", None, kind_of)
    found: Turns = []
    for turn in range(turns):
        requests = []
        try:
            for kind in KINDS:
                prompt = Prompt(lambda _, name=f"{kind} {turn}": (name,), kind=kind)  # type: ignore[misc]
                requests.append(channel.ask(prompt, 0, time.monotonic(), followed=kind == "place"))
            found.append([line for request in requests for line in request.answer or ()])
        except PlayerTimeoutError:
            found.append(None)
    return found


def own(*turns: int) -> Turns:
    return [[f"to place {turn}", f"to move {turn}"] for turn in turns]


@pytest.mark.parametrize(
    ("lags", "found"),
    [
        ({}, own(0, 1, 2, 3)),
        # It comes before the next request of that kind, or after it: it is skipped.
        ({"place 1": 1}, [*own(0), None, *own(2, 3)]),
        ({"place 1": 2}, [*own(0), None, None, *own(3)]),
        ({"move 1": 1}, [*own(0), None, *own(2, 3)]),
        # More than a whole turn late.
        ({"place 0": 3}, [None, None, None, *own(3)]),
    ],
)
def test_a_late_answer_is_not_taken_for_the_next(lags: dict[str, int], found: Turns) -> None:
    assert played(4, lags) == found


@pytest.mark.parametrize(
    ("silent", "found"),
    [
        ({"place 1"}, [*own(0), None, *own(2, 3)]),
        ({"move 1"}, [*own(0), None, *own(2, 3)]),
        ({"place 0", "place 1"}, [None, None, *own(2, 3)]),
        ({"move 1", "place 2"}, [*own(0), None, None, *own(3)]),
    ],
)
def test_an_answer_that_never_comes_costs_its_own_turn_only(silent: set[str], found: Turns) -> None:
    assert played(4, silent=silent) == found


def test_an_answer_without_a_kind_answers_the_oldest_request() -> None:
    # After a late request for a move, "nothing" is its answer, and not that of the next placement.
    assert played(3, {"move 0": 1}, untold={"move 0"}) == [None, *own(1, 2)]
    assert played(2, untold={"place 0", "move 1"}) == [
        ["nothing", "to move 0"],
        ["to place 1", "nothing"],
    ]


@given(
    st.dictionaries(st.sampled_from([f"{kind} {n}" for kind in KINDS for n in range(8)]), st.integers(1, 4))
)
def test_however_late_a_bot_is_each_turn_has_its_own_answers_or_none(lags: dict[str, int]) -> None:
    for turn, answers in enumerate(played(8, lags)):
        assert answers is None or answers == own(turn)[0]


@given(st.sampled_from(KINDS), st.sets(st.integers(0, 7)))
def test_a_bot_that_leaves_out_answers_of_a_kind_is_understood_in_all_other_turns(
    kind: str, left_out: set[int]
) -> None:
    found = played(8, silent={f"{kind} {turn}" for turn in left_out})
    assert found == [None if turn in left_out else own(turn)[0] for turn in range(8)]
