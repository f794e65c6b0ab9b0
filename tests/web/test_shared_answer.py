"""What pages do while a service hangs."""

import asyncio
import socket
import time
from collections.abc import Iterator

import pytest

from clients.connection import Connection
from web.academy_service import AcademyService
from web.arena_service import ArenaService
from web.failures import PageError
from web.shared_answer import Extras

_SECONDS = 3.0
_VISITORS = 5


@pytest.fixture
def hanging() -> Iterator[Connection]:
    """A service that is stopped: the kernel takes its connections, and nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Connection(f"127.0.0.1:{listener.getsockname()[1]}", token="any", timeout=_SECONDS)


@pytest.mark.parametrize("service", [AcademyService, ArenaService])
def test_visitors_of_a_service_that_hangs_wait_together_and_the_next_one_does_not(
    service: type[AcademyService | ArenaService], hanging: Connection
) -> None:
    async def visit() -> tuple[float, float]:
        client = service(hanging)
        ask = client.games if isinstance(client, AcademyService) else client.series
        began = time.monotonic()
        answers = await asyncio.gather(*(ask() for _ in range(_VISITORS)), return_exceptions=True)
        first = time.monotonic() - began
        assert all(isinstance(answer, PageError) and answer.status in (503, 504) for answer in answers)
        with pytest.raises(PageError):
            await ask()
        second = time.monotonic() - began - first
        await client.close()
        return first, second

    first, second = asyncio.run(visit())
    assert second < _SECONDS / 2 and first < _SECONDS * (_VISITORS - 1)


def test_a_page_does_without_a_service_that_hangs_and_does_not_wait_for_it_again(
    hanging: Connection,
) -> None:
    async def visit() -> tuple[object, float]:
        arena = ArenaService(hanging)
        await arena.extras.get("lists", arena.series)
        began = time.monotonic()
        answer = await arena.extras.get("lists", arena.competitions)
        waited = time.monotonic() - began
        await arena.close()
        return answer, waited

    answer, waited = asyncio.run(visit())
    assert answer is None and waited < _SECONDS / 2


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
