"""Stands before every page: what is refused, what every answer carries, and how long it may take."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from ipaddress import ip_address
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.failures import PageError
from web.forms import ACTIONS
from web.rendering import SECTIONS, Sections
from web.settings import WebSettings

__all__ = ["STREAMS", "Guard"]

_METHODS: Final = ("GET", "HEAD")
_ACTION_METHODS: Final = ("POST",)
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With `no-referrer` browsers would not say where a form comes from.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_TRANSPORT_SECURITY: Final = "max-age=31536000"
ErrorPage = Callable[[Request, PageError], Response]


# Pages that go on as long as somebody looks at them.
STREAMS: Final = frozenset({"/events", "/competition/events", "/competition/game/events"})
_DOWNLOADS: Final = frozenset({"/admin/backup"})


class _Place(Enum):
    """What a request takes a place of."""

    FOLLOWER = "pages that follow games or what is learnt"
    FORM = "forms"
    PAGE = "pages"


class Guard:
    """An ASGI application around another; `error_page` makes the page of an error."""

    def __init__(
        self, application: ASGIApp, settings: WebSettings, error_page: ErrorPage, has: Sections
    ) -> None:
        self._has = has
        self._application = application
        self._settings = settings
        self._error_page = error_page
        self._taken = Counter[_Place]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass on what is none."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        scope[SECTIONS] = self._has
        answer = _Answer(send, self._settings)
        try:
            self._check(scope)
            # A page that follows what happens is open as long as its visitor looks at it.
            most = self._seconds_for(scope["path"])
            with self._place(scope):
                async with asyncio.timeout(most):
                    await self._application(scope, receive, answer)
        except TimeoutError:
            why = f"It took longer than {most:g} seconds."
            slow = PageError(504, "This page takes too long", why, "Load it again.", 5)
            await self._refuse(slow, scope, receive, answer)
        except PageError as error:
            await self._refuse(error, scope, receive, answer)

    @contextmanager
    def _place(self, scope: Scope) -> Iterator[None]:
        """Keep a place while a page is sent: followers, and those who send forms, leave visitors theirs."""
        limits = self._settings.limits
        if scope["path"] in STREAMS:
            place, most = _Place.FOLLOWER, limits.watchers
        elif scope["method"] == "POST":
            place, most = _Place.FORM, limits.forms
        else:
            place, most = _Place.PAGE, limits.connections
        if self._taken[place] >= most:
            why = f"The limit is {most:,} at a time for {place.value}."
            raise PageError(503, "Too many at once", why, "Load the page again.", 5)
        self._taken[place] += 1
        try:
            yield
        finally:
            self._taken[place] -= 1

    def _seconds_for(self, path: str) -> float | None:
        if path in STREAMS:
            return None
        limits = self._settings.limits
        if path in _DOWNLOADS:
            return limits.download_seconds
        return limits.action_seconds if path.startswith(ACTIONS) else limits.page_seconds

    async def _refuse(self, error: PageError, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        if answer.begun:
            return
        response = self._error_page(Request(scope), error)
        if error.status == 405:
            response.headers["Allow"] = ", ".join(_methods(scope["path"]))
        await response(scope, receive, answer)

    def _check(self, scope: Scope) -> None:
        """Raise PageError for a request that no page answers."""
        if scope["method"] not in _methods(scope["path"]):
            why = "Only forms are sent, and only to where they belong."
            raise PageError(405, "This page can only be read", why)
        size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
        most = self._settings.limits.address_bytes
        if size > most:
            why = f"It has {size:,} bytes; at most {most:,} can be read."
            raise PageError(414, "This address is too long", why, "Begin again from the game's page.")
        host = Headers(scope=scope).get("host", "")
        if not self._settings.is_for_others and not _is_own(host):
            # A page of somebody else's whose name leads to this machine could read all that is here.
            why = f"They are for this machine alone, and {host[:80]!r} is not one of its names."
            raise PageError(421, "These pages are not served under this name", why, "Use 127.0.0.1.")


def _methods(path: str) -> tuple[str, ...]:
    return _ACTION_METHODS if path.startswith(ACTIONS) else _METHODS


def _is_own(host: str) -> bool:
    name = host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
    name = name.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


class _Answer:
    """Adds headers to an answer, and knows whether it has begun."""

    def __init__(self, send: Send, settings: WebSettings) -> None:
        self._send = send
        self._settings = settings
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            message.setdefault("headers", [])
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
            if self._settings.encrypted:
                headers["Strict-Transport-Security"] = _TRANSPORT_SECURITY
        await self._send(message)
