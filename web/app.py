"""The application: which page answers which address."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Final, TypeVar

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from clients.connection import Connection
from web.arena_watch import ArenaWatch
from web.failures import PageError
from web.guard import Guard
from web.knowledge import Knowledge
from web.live import Feeds
from web.pages import (
    arena_games,
    arena_players,
    competitions,
    game,
    home,
    live,
    openings,
    pattern,
    patterns,
    position,
    tesujis,
)
from web.rendering import ASSETS, Sections, render_error
from web.settings import WebSettings

__all__ = ["create_application"]

Source = TypeVar("Source")
Page = Callable[[Request, Source], Awaitable[Response]]
_log = logging.getLogger(__name__)
_FOREVER: Final = "public, max-age=31536000, immutable"
_SMALLEST_PACKED: Final = 1_000


def create_application(
    connection: Connection | None, settings: WebSettings, arena: Connection | None = None
) -> ASGIApp:
    """Return the pages as an ASGI application.

    Args:
        connection: Where ACADEMY is, and the token that all pages are read with; None without its pages.
        settings: Who may read, and the limits.
        arena: Where an arena's service is, and a watcher's token; None without pages of competitions.
    """

    @asynccontextmanager
    async def connected(application: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as open_ones:
            if connection is not None:
                application.state.knowledge = Knowledge(connection)
                open_ones.push_async_callback(application.state.knowledge.close)
            if arena is not None:
                watch = application.state.arena = ArenaWatch(arena)
                open_ones.push_async_callback(watch.close)
                feeds = application.state.feeds = Feeds(watch, partial(competitions.render_results, watch))
                open_ones.push_async_callback(feeds.close)
                application.state.limits = settings.limits
            yield

    pages: dict[str, Page[Knowledge]] = {
        "/": home.show_home,
        "/games/{game_id}": game.show_game,
        "/games/{game_id}/openings": openings.show_openings,
        "/games/{game_id}/patterns": patterns.show_patterns,
        "/games/{game_id}/patterns/{library}/{pattern_id}": pattern.show_pattern,
        "/games/{game_id}/tesujis": tesujis.show_tesujis,
        "/games/{game_id}/position": position.show_position,
    }
    of_arena: dict[str, Page[ArenaWatch]] = {
        "/competitions": competitions.show_competitions,
        "/competition": competitions.show_competition,
        "/competition/player": arena_players.show_player,
        "/competition/game": arena_games.show_game,
        "/competition/record": arena_games.show_record,
        "/competition/events": live.follow_competition,
        "/competition/game/events": live.follow_game,
    }
    if connection is None:
        of_arena["/"] = competitions.show_competitions
    routes = []
    if connection is not None:
        routes += [Route(path, _as_endpoint(page, "knowledge")) for path, page in pages.items()]
    if arena is not None:
        routes += [Route(path, _as_endpoint(page, "arena")) for path, page in of_arena.items()]
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
    has = Sections(knowledge=connection is not None, arena=arena is not None)
    return Guard(application, settings, render_error, has)


def _as_endpoint(page: Page[Any], source: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            return await page(request, getattr(request.app.state, source))
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
