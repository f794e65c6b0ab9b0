"""What open pages hear when ACADEMY has learnt something."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import cast

import pytest
from starlette.requests import Request

from academy.v1 import tokens_pb2
from clients.connection import Connection
from tests.web.conftest import FailsOnce
from web import library_news
from web.academy_service import AcademyService
from web.failures import PageError
from web.library_news import LibraryNews
from web.pages.live import follow_library


class LearningAcademy:
    """An ACADEMY that learns all the time; it ends streams after some events, 0 for never, without a word."""

    def __init__(self, ends_after: int = 0) -> None:
        self.watches = 0
        self._ends_after = ends_after

    async def watch(self, after: int | None) -> AsyncIterator[SimpleNamespace]:
        self.watches += 1
        number = 0
        while not self._ends_after or number < self._ends_after:
            number += 1
            await asyncio.sleep(0.01)
            yield SimpleNamespace(sequence=number)


def test_news_go_on_after_some_that_could_not_be_drawn(caplog: pytest.LogCaptureFixture) -> None:
    async def read() -> str:
        parts = LibraryNews(cast(AcademyService, LearningAcademy()), FailsOnce()).parts()
        async with asyncio.timeout(120):
            part = await anext(parts)
        await parts.aclose()  # type: ignore[attr-defined]
        return part

    assert asyncio.run(read()) == "drawn"
    assert "no such column" in caplog.text


def test_an_academy_that_ends_its_streams_is_not_asked_again_at_once() -> None:
    async def drawn() -> str:
        return "drawn"

    async def read() -> int:
        academy = LearningAcademy(ends_after=1)
        parts = LibraryNews(cast(AcademyService, academy), drawn).parts()
        await anext(parts)
        await asyncio.sleep(0.3)
        await parts.aclose()  # type: ignore[attr-defined]
        return academy.watches

    assert asyncio.run(read()) == 1


def test_visitors_who_come_together_ask_once_whether_the_token_may_watch() -> None:
    async def drawn() -> str:
        return "drawn"

    class CountingAcademy(AcademyService):
        calls = 0

        async def ask(self, *call: object, **named: object) -> object:  # type: ignore[override]
            self.calls += 1
            await asyncio.sleep(0.05)
            return tokens_pb2.GetCallerResponse(role=tokens_pb2.TOKEN_ROLE_ADMIN)

    async def come() -> tuple[set[bool | None], int]:
        academy = CountingAcademy(Connection("127.0.0.1:1", "any"))
        news = LibraryNews(academy, drawn)
        answers = set(await asyncio.gather(*(news.is_open() for _ in range(9))))
        await academy.close()
        return answers, academy.calls

    assert asyncio.run(come()) == ({True}, 1)


def test_while_academy_is_away_nobody_hears_that_the_token_may_not_watch() -> None:
    async def drawn() -> str:
        return "drawn"

    async def follow() -> PageError:
        academy = AcademyService(Connection("127.0.0.1:1", "any"))
        state = SimpleNamespace(news=LibraryNews(academy, drawn))
        request = Request({"type": "http", "query_string": b"", "app": SimpleNamespace(state=state)})
        with pytest.raises(PageError) as refused:
            await follow_library(request, academy)
        await academy.close()
        return refused.value

    assert asyncio.run(follow()).status == 503


class RightsChangeAcademy(AcademyService):
    """An ACADEMY that gives and takes the right to watch; its answers about it are not kept."""

    role = tokens_pb2.TOKEN_ROLE_ADMIN

    async def ask(self, *call: object, **named: object) -> object:  # type: ignore[override]
        return tokens_pb2.GetCallerResponse(role=self.role)

    async def watch(self, after: int | None) -> AsyncIterator[SimpleNamespace]:  # type: ignore[override]
        if self.role != tokens_pb2.TOKEN_ROLE_ADMIN:
            raise PageError(403, "no", "no", "no")
        await asyncio.sleep(3_600)
        yield SimpleNamespace(sequence=1)


def test_a_token_that_was_refused_may_watch_once_it_has_the_right_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(library_news, "_RETRY_SECONDS", 0.0)

    async def drawn() -> str:
        return "drawn"

    async def follow() -> None:
        academy = RightsChangeAcademy(Connection("127.0.0.1:1", "any"))
        news = LibraryNews(academy, drawn)
        assert await news.is_open()
        academy.role = tokens_pb2.TOKEN_ROLE_ANALYST
        async with asyncio.timeout(120):
            async for _ in news.parts():
                pass
        assert not await news.is_open()
        academy.role = tokens_pb2.TOKEN_ROLE_ADMIN
        assert await news.is_open()
        parts = news.parts()
        async with asyncio.timeout(120):
            assert await anext(parts) == "drawn"
        await parts.aclose()  # type: ignore[attr-defined]
        await academy.close()

    asyncio.run(follow())


def test_a_page_that_comes_after_a_pause_hears_nothing_of_the_time_before_it() -> None:
    async def follow() -> list[str]:
        drawings = 0

        async def drawn() -> str:
            nonlocal drawings
            drawings += 1
            return f"drawing {drawings}"

        news = LibraryNews(RightsChangeAcademy(Connection("127.0.0.1:1", "any")), drawn)
        heard = []
        for _ in range(2):
            parts = news.parts()
            async with asyncio.timeout(120):
                heard.append(await anext(parts))
            await parts.aclose()  # type: ignore[attr-defined]
        return heard

    assert asyncio.run(follow()) == ["drawing 1", "drawing 2"]
