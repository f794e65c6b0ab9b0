"""Who asks too fast is put off: the same by calls and streams, blocking and not."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from academy.knowledge.boards import SquareGeometry
from academy.v1 import contests_pb2
from clients import AcademyRefusedError, AcademyUnavailableError, Connection, Seat
from clients.retries import RetryBudget
from tests.academy.service import running
from tests.academy.service.examples import tiny_go
from tests.clients.ways import CALLS, STREAMS, Way

SEAT = Seat("tiny", SquareGeometry(5, 5), 1)


@contextmanager
def limited(folder: Path, questions_per_second: float) -> Iterator[Connection]:
    """To a server that lets two questions through at once."""
    with running.limited(folder, questions_per_second=questions_per_second, question_burst=2.0) as academy:
        academy.arena().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=tiny_go("tiny")))
        yield Connection(str(academy.address), academy.token("hasty"), timeout=60.0)


WAYS = pytest.mark.parametrize("ask", [*CALLS, *STREAMS])


def opening(client: Any) -> Any:
    return client.opening(SEAT, [], 0)


@WAYS
def test_a_caller_that_asks_too_fast_waits_and_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Way
) -> None:
    pauses = []
    pause = RetryBudget.pause

    def note(budget: RetryBudget, failure: AcademyRefusedError | AcademyUnavailableError) -> float:
        pauses.append(pause(budget, failure))
        return pauses[-1]

    monkeypatch.setattr(RetryBudget, "pause", note)
    with limited(tmp_path, questions_per_second=1.0) as connection:
        # On a busy machine it may not ask too fast at first.
        for _ in range(10):
            if not pauses:
                ask(connection, *[opening] * 4)
    assert pauses


@WAYS
def test_nobody_waits_for_longer_than_a_call_may_take(tmp_path: Path, ask: Way) -> None:
    # The third question would have to wait for more than a quarter of an hour.
    slow = limited(tmp_path, questions_per_second=0.001)
    with slow as connection, pytest.raises(AcademyRefusedError) as refusal:
        ask(connection, *[opening] * 3)

    assert refusal.value.reason == "RATE_EXCEEDED"
    assert refusal.value.retry_after is not None and refusal.value.retry_after > 60.0


def test_each_refusal_is_waited_for_longer_than_the_one_before() -> None:
    patience = RetryBudget(1000.0)
    refusal = AcademyRefusedError("RESOURCE_EXHAUSTED", "too fast", retry_after=0.5)

    assert [patience.pause(refusal) for _ in range(3)] == [0.5, 1.0, 1.5]


@pytest.mark.parametrize(
    "failure",
    [
        AcademyRefusedError("NOT_FOUND", "no such game"),
        AcademyRefusedError("RESOURCE_EXHAUSTED", "the store is full", retry_after=2000.0),
        AcademyUnavailableError("no answer"),
    ],
    ids=["without a word of when", "later than one waits", "gone"],
)
def test_a_failure_that_names_no_near_time_is_raised(
    failure: AcademyRefusedError | AcademyUnavailableError,
) -> None:
    with pytest.raises(type(failure)) as raised:
        RetryBudget(1000.0).pause(failure)

    assert raised.value is failure
