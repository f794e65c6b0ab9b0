"""The application: which page answers which address."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from clients.connection import Connection
from web.failures import PageError
from web.guard import Guard
from web.knowledge import Knowledge
from web.pages import game, home, openings, patterns, position
from web.rendering import ASSETS, render_error
from web.settings import WebSettings

__all__ = ["create_application"]

Page = Callable[[Request, Knowledge], Awaitable[Response]]
_log = logging.getLogger(__name__)
_FOREVER: Final = "public, max-age=31536000, immutable"
_SMALLEST_PACKED: Final = 1_000


def create_application(connection: Connection, settings: WebSettings) -> ASGIApp:
    """Return the pages as an ASGI application.

    Args:
        connection: Where ACADEMY is, and the token that all pages are read with.
        settings: Who may read, and the limits.
    """

    @asynccontextmanager
    async def connected(application: Starlette) -> AsyncIterator[None]:
        application.state.knowledge = Knowledge(connection)
        try:
            yield
        finally:
            await application.state.knowledge.close()

    pages: dict[str, Page] = {
        "/": home.show_home,
        "/games/{game_id}": game.show_game,
        "/games/{game_id}/openings": openings.show_openings,
        "/games/{game_id}/patterns": patterns.show_patterns,
        "/games/{game_id}/patterns/{library}/{pattern_id}": patterns.show_pattern,
        "/games/{game_id}/position": position.show_position,
    }
    routes = [Route(path, _as_endpoint(page)) for path, page in pages.items()]
    application = Starlette(
        routes=[
            *routes,
            Route("/static/{version}/{name}", _show_asset),
            Route("/robots.txt", _show_robots),
            Route("/{path:path}", _show_nothing),
        ],
        middleware=[Middleware(GZipMiddleware, minimum_size=_SMALLEST_PACKED)],
        lifespan=connected,
    )
    application.router.redirect_slashes = False
    return Guard(application, settings, render_error)


def _as_endpoint(page: Page) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            return await page(request, request.app.state.knowledge)
        except PageError as error:
            return render_error(request, error)
        except Exception:
            _log.exception("the page %s failed", request.url.path)
            why = "The log of these pages says how."
            return render_error(request, PageError(500, "This page failed", why, "Try another page."))

    return endpoint


async def _show_asset(request: Request) -> Response:
    asset = ASSETS.get(request.path_params["name"])
    if asset is None:
        return await _show_nothing(request)
    return Response(asset.content, media_type=asset.media_type, headers={"Cache-Control": _FOREVER})


async def _show_robots(request: Request) -> Response:
    return PlainTextResponse("User-agent: *\nDisallow: /\n")


async def _show_nothing(request: Request) -> Response:
    why = "There is no page at this address."
    return render_error(request, PageError(404, "No such page", why, "Begin with the list of games."))
