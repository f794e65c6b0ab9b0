"""The four ways to put questions to ACADEMY: by calls and streams, blocking and by asyncio."""

import asyncio
from collections.abc import Callable
from typing import Any

from clients import Academy, AsyncAcademy, Connection

# What is asked of any of the four clients, whose methods have the same names.
Question = Callable[[Any], Any]
Way = Callable[..., list[Any]]


def by_calls(connection: Connection, *questions: Question) -> list[Any]:
    with Academy(connection) as academy:
        return [question(academy) for question in questions]


def by_stream(connection: Connection, *questions: Question) -> list[Any]:
    with Academy(connection) as academy, academy.stream() as stream:
        return [question(stream) for question in questions]


def by_asyncio(connection: Connection, *questions: Question) -> list[Any]:
    async def answers() -> list[Any]:
        async with AsyncAcademy(connection) as academy:
            return [await question(academy) for question in questions]

    return asyncio.run(answers())


def by_asyncio_stream(connection: Connection, *questions: Question) -> list[Any]:
    async def answers() -> list[Any]:
        async with AsyncAcademy(connection) as academy, academy.stream() as stream:
            return [await question(stream) for question in questions]

    return asyncio.run(answers())


CALLS = (by_calls, by_asyncio)
STREAMS = (by_stream, by_asyncio_stream)
