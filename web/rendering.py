"""Makes pages of templates; everything that comes from elsewhere is escaped."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from functools import lru_cache
from importlib import resources
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from web.drawing import draw_bar, draw_results
from web.failures import PageError
from web.query import link
from web.refused_form import find_refused_form
from web.sessions import SESSION, Session

__all__ = [
    "ASSETS",
    "SECTIONS",
    "Asset",
    "Sections",
    "counted",
    "format_time",
    "render",
    "render_error",
    "render_part",
]


# Where a request's scope says what pages there are.
SECTIONS: Final = "web.sections"


@dataclass(frozen=True)
class Sections:
    """What pages there are.

    Attributes:
        academy: Whether there are those of ACADEMY.
        arena: Whether there are those of competitions.
        sign_in: Whether there are tokens to sign in with.
        members: Whether each visitor reads with a token of their own.
        own_arena: Whether the competitions are for all who sign in.
    """

    academy: bool = True
    arena: bool = False
    sign_in: bool = True
    members: bool = False
    own_arena: bool = False

    def open_to(self, session: Session | None) -> frozenset[str]:
        """Return the sections that a visitor is offered: of `games`, `patterns` and `competitions`."""
        offered = {"games", "patterns"} if self.academy else set()
        if self.arena:
            offered.add("competitions")
        if self.members and session is not None:
            if session.academy is None:
                offered.discard("games")
            if not session.is_admin:
                offered.discard("patterns")
            if session.arena is None and not self.own_arena:
                offered.discard("competitions")
        return frozenset(offered)


@dataclass(frozen=True)
class Asset:
    """A file that pages load; its version changes with its content."""

    content: bytes
    media_type: str
    version: str


def _read_asset(name: str, media_type: str) -> Asset:
    content = resources.files("web").joinpath("static", name).read_bytes()
    return Asset(content, media_type, hashlib.sha256(content).hexdigest()[:12])


ASSETS: Final = {
    name: _read_asset(name, media_type)
    for name, media_type in {
        "site.css": "text/css",
        "stepping.js": "text/javascript",
        "highlight.js": "text/javascript",
        "live.js": "text/javascript",
        "zoom.js": "text/javascript",
        "upload.js": "text/javascript",
        "icon.svg": "image/svg+xml",
    }.items()
}


def _asset_address(name: str) -> str:
    return f"/static/{ASSETS[name].version}/{name}"


def _count(number: float) -> str:
    return f"{number:,.0f}"


def counted(count: int, what: str, many: str = "") -> str:
    """Return a number of things in words; `many` is what several are called if an `s` does not do it."""
    return f"{count:,} {what if count == 1 else many or what + 's'}"


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


def format_time(time: Timestamp) -> str:
    """Return a time as pages write it."""
    return time.ToDatetime(UTC).strftime("%Y-%m-%d %H:%M")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(count=_count, counted=counted, share=_share, time=format_time)
    environment.globals.update(asset=_asset_address, link=link, bar=draw_bar, results_bar=draw_results)
    return environment


def render(request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """Return a page."""
    session: Session | None = request.scope.get(SESSION)
    shown = session is not None and request.method != "HEAD"
    notices = session.take_notices(request.url.path) if session and shown else ()
    has: Sections = request.scope[SECTIONS]
    content = (
        _environment()
        .get_template(template)
        .render(context, has=has, offered=has.open_to(session), session=session, notices=notices)
    )
    return HTMLResponse(content, status)


def render_part(template: str, context: Mapping[str, Any]) -> str:
    """Return a part of a page, to be put into one that is open."""
    return _environment().get_template(template).render(context)


def render_error(request: Request, error: PageError) -> HTMLResponse:
    """Return the page of an error."""
    context = {"error": error, "refused": find_refused_form(request, error)}
    response = render(request, "error.html", context, error.status)
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    return response
