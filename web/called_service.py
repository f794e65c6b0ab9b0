"""A service that pages ask over gRPC; what fails becomes a page's error."""

import asyncio
import copy
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, Self, TypeVar

import grpc

from clients.connection import AcademyUnavailableError, Connection, to_client_error
from web.failures import PageError, to_page_error
from web.shared_answer import Extras

__all__ = ["CalledService"]

Response = TypeVar("Response")
_CALLS_AT_ONCE: Final = 32


class CalledService:
    """A connection to a service that people call `name`, for one event loop.

    `extras` asks for what pages can do without. Raises OSError for a certificate that cannot be read.
    """

    extras: Extras

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._channel = connection.asyncio_channel()
        self._room = asyncio.Semaphore(_CALLS_AT_ONCE)
        self._of_visitor = False
        self._forget()

    def _forget(self) -> None:
        """Keep no answers: those that one token may have are not for another."""
        self.extras = Extras()

    async def close(self) -> None:
        """End the connection."""
        await self._channel.close()

    def with_token(self, token: str) -> Self:
        """Return the same connection for a visitor's own token."""
        own = copy.copy(self)
        own._connection = replace(self._connection, token=token)
        own._of_visitor = True
        own._forget()
        return own

    async def ask(
        self,
        method: Callable[..., Awaitable[Response]],
        request: object,
        seconds: float | None = None,
    ) -> Response:
        """Return the answer to a call, which may take `seconds`; None: as long as other calls.

        Raises PageError.
        """
        most = seconds or self._connection.timeout
        try:
            # The wait for room counts too: behind calls that hang, a page would wait for each of them.
            async with asyncio.timeout(most), self._room:
                return await method(request, timeout=most, metadata=self._connection.metadata)
        except grpc.RpcError as error:
            raise self._page_error(error) from error
        except TimeoutError as error:
            slow = AcademyUnavailableError("no answer in time", "DEADLINE_EXCEEDED")
            raise to_page_error(slow, self._name) from error

    async def ask_if_allowed(
        self, method: Callable[..., Awaitable[Response]], request: object
    ) -> Response | None:
        """Return the answer to a call; None where the token may not have it. Raises PageError."""
        try:
            return await self.ask(method, request)
        except PageError as error:
            if error.status == 403:
                return None
            raise

    async def list_all(
        self, method: Callable[..., Awaitable[Any]], request: Any, items: str, most: int = sys.maxsize
    ) -> list[Any]:
        """Return the items of a listing, page by page, at most `most`. Raises PageError."""
        listed: list[Any] = []
        while True:
            page = await self.ask(method, request)
            listed += getattr(page, items)
            request.page_token = page.next_page_token
            if not page.next_page_token or len(listed) >= most:
                return listed[:most]

    async def stream(self, method: Callable[..., Any], request: object) -> AsyncIterator[Any]:
        """Yield what comes on a stream until the service ends it. Raises PageError."""
        call = method(request, metadata=self._connection.metadata)
        try:
            async for part in call:
                yield part
        except grpc.RpcError as error:
            raise self._page_error(error) from error
        finally:
            call.cancel()

    def _page_error(self, error: grpc.RpcError) -> PageError:
        return to_page_error(to_client_error(error), self._name, of_visitor=self._of_visitor)
