"""What pages do while a service hangs."""

import asyncio
import socket
import time
from collections.abc import Coroutine, Iterator
from typing import TypeVar

import pytest

from clients.connection import Connection
from web.academy_service import AcademyService
from web.arena_service import ArenaService
from web.failures import PageError
from web.shared_answer import Extras

_SECONDS = 3.0
_VISITORS = 5
_Answer = TypeVar("_Answer")


@pytest.fixture
def hanging() -> Iterator[Connection]:
    """A service that is stopped: the kernel takes its connections, and nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Connection(f"127.0.0.1:{listener.getsockname()[1]}", token="any", timeout=_SECONDS)


async def at_once(question: Coroutine[object, object, _Answer]) -> _Answer:
    """The answer to a question that waits for nobody, however long the machine pauses."""
    task = asyncio.create_task(question)
    for _ in range(20):
        await asyncio.sleep(0)
    assert task.done(), "it waits"
    return task.result()


@pytest.mark.parametrize("service", [AcademyService, ArenaService])
def test_visitors_of_a_service_that_hangs_wait_together_and_the_next_one_does_not(
    service: type[AcademyService | ArenaService], hanging: Connection
) -> None:
    async def visit() -> float:
        client = service(hanging)
        ask = client.games if isinstance(client, AcademyService) else client.series
        began = time.monotonic()
        answers = await asyncio.gather(*(ask() for _ in range(_VISITORS)), return_exceptions=True)
        first = time.monotonic() - began
        assert all(isinstance(answer, PageError) and answer.status in (503, 504) for answer in answers)
        with pytest.raises(PageError):
            await at_once(ask())
        await client.close()
        return first

    assert asyncio.run(visit()) < _SECONDS * (_VISITORS - 1)


def test_a_page_does_without_a_service_that_hangs_and_does_not_wait_for_it_again(
    hanging: Connection,
) -> None:
    async def visit() -> object:
        arena = ArenaService(hanging)
        await arena.extras.get("lists", arena.series)
        answer = await at_once(arena.extras.get("lists", arena.competitions))
        await arena.close()
        return answer

    assert asyncio.run(visit()) is None


def test_a_question_that_is_slow_takes_no_other_answers_from_pages() -> None:
    async def hang() -> str:
        await asyncio.sleep(60)
        return "late"

    async def answer() -> str:
        return "at once"

    async def visit() -> list[str | None]:
        extras = Extras()
        slow = await extras.get("consultations", hang)
        return [slow, await extras.get("series", answer), await extras.get("consultations", answer)]

    assert asyncio.run(visit()) == [None, "at once", None]
