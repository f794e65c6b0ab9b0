"""The application: which page answers which address."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Final, Literal, TypeVar

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from clients.connection import Connection
from web.academy_service import AcademyService
from web.arena_service import ArenaService
from web.failures import PageError
from web.forms import ACTIONS, Action, carry_out, check_role, go_to
from web.guard import STREAMS, Guard
from web.library_news import LibraryNews
from web.live import Feeds
from web.pages import (
    account,
    admin,
    arena_control,
    arena_game,
    competition_player,
    competitions,
    contributor,
    game,
    game_settings,
    home,
    live,
    openings,
    pattern,
    patterns,
    player,
    position,
    tesujis,
)
from web.rendering import ASSETS, Sections, render_error
from web.sessions import Session, Sessions
from web.settings import WebSettings
from web.sign_in import SignIn, sign_in_address

__all__ = ["create_application"]

Source = TypeVar("Source")
Page = Callable[[Request, Source], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]
# What a page is made of: a service, or the session of a visitor who signed in.
Wanted = Literal["academy", "arena", "visitor", "admin", "operator"]
_log = logging.getLogger(__name__)
_OF_ACADEMY: Final[Mapping[str, Page[AcademyService]]] = {
    "/": home.show_home,
    "/events": live.follow_library,
    "/games/{game_id}": game.show_game,
    "/contributor": contributor.show_contributor,
    "/games/{game_id}/openings": openings.show_openings,
    "/games/{game_id}/patterns": patterns.show_patterns,
    "/games/{game_id}/patterns/{library}/{pattern_id}": pattern.show_pattern,
    "/games/{game_id}/tesujis": tesujis.show_tesujis,
    "/games/{game_id}/position": position.show_position,
}
_OF_ADMINS: Final[Mapping[str, Page[Session]]] = {
    "/admin": admin.show_overview,
    "/admin/tokens": admin.show_tokens,
    "/admin/events": admin.show_events,
    "/admin/backup": admin.send_backup,
    "/games/{game_id}/admin": game_settings.show_settings,
    "/games/{game_id}/admin/change": game_settings.show_change,
    "/games/{game_id}/admin/prune": game_settings.show_pruning,
}
_OF_ARENA: Final[Mapping[str, Page[ArenaService]]] = {
    "/competitions": competitions.show_competitions,
    "/competition": competitions.show_competition,
    "/competition/player": competition_player.show_player,
    "/competition/game": arena_game.show_game,
    "/competition/record": arena_game.show_record,
    "/competition/events": live.follow_competition,
    "/competition/game/events": live.follow_game,
}
_ACTIONS: Final[dict[str, Action]] = {
    **admin.ACTIONS,
    **game_settings.ACTIONS,
    **player.ACTIONS,
    **arena_control.ACTIONS,
}
_FOREVER: Final = "public, max-age=31536000, immutable"
_SMALLEST_PACKED: Final = 1_000


def create_application(
    connection: Connection | None, settings: WebSettings, arena: Connection | None = None
) -> ASGIApp:
    """Return the pages as an ASGI application.

    They are read with the token of the connection to ACADEMY, and with that of a watcher at an arena; None:
    without its pages.
    """

    @asynccontextmanager
    async def connected(application: Starlette) -> AsyncIterator[None]:
        state = application.state
        state.academy = state.arena = state.news = None
        async with AsyncExitStack() as open_ones:
            if connection is not None:
                state.academy = AcademyService(connection)
                open_ones.push_async_callback(state.academy.close)
            if arena is not None:
                state.arena = ArenaService(arena)
                open_ones.push_async_callback(state.arena.close)
                state.feeds = Feeds(state.arena, partial(competitions.render_results, state.arena))
                open_ones.push_async_callback(state.feeds.close)
            # Where each visitor reads with a token of its own, there is no connection for all.
            if connection is not None and not settings.members:
                render = partial(home.render_news, state.academy, state.arena)
                state.news = LibraryNews(state.academy, render)
                open_ones.push_async_callback(state.news.close)
            state.sign_in = SignIn(settings, state.academy, state.arena, Sessions())
            yield

    def routes_of(pages: Mapping[str, Page[Any]], source: Wanted) -> list[Route]:
        return [Route(path, _as_endpoint(page, source, settings)) for path, page in pages.items()]

    routes = routes_of({"/account": account.show_account}, "visitor")
    if connection is not None:
        routes += routes_of(_OF_ACADEMY, "academy") + routes_of(_OF_ADMINS, "admin")
        routes += routes_of({"/player": player.show_player}, "visitor")
    elif arena is not None:
        routes += routes_of({"/": competitions.show_competitions}, "arena")
    if arena is not None:
        routes += routes_of(_OF_ARENA, "arena")
        routes += routes_of({"/competitions/upload": arena_control.show_upload}, "operator")
    application = Starlette(
        routes=[
            *routes,
            Route("/sign-in", _answering(lambda request: request.app.state.sign_in.show(request))),
            Route(
                ACTIONS + "sign-in",
                _answering(lambda request: request.app.state.sign_in.sign_in(request)),
                methods=["POST"],
            ),
            Route(
                ACTIONS + "sign-out",
                _answering(lambda request: request.app.state.sign_in.sign_out(request)),
                methods=["POST"],
            ),
            *(
                Route(ACTIONS + name, _as_action(action, settings), methods=["POST"])
                for name, action in _ACTIONS.items()
            ),
            Route("/static/{version}/{name}", _show_asset),
            Route("/robots.txt", _show_robots),
            Route("/{path:path}", _show_nothing, methods=["GET", "POST"]),
        ],
        middleware=[Middleware(GZipMiddleware, minimum_size=_SMALLEST_PACKED)],
        lifespan=connected,
    )
    application.router.redirect_slashes = False
    has = Sections(
        academy=connection is not None,
        arena=arena is not None,
        sign_in=connection is not None or not settings.own_arena,
        members=settings.members,
        own_arena=settings.own_arena,
    )
    return Guard(application, settings, render_error, has)


def _as_endpoint(page: Page[Any], source: Wanted, settings: WebSettings) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        session = await request.app.state.sign_in.session_of(request)
        if session is None and (settings.members or source not in ("academy", "arena")):
            if request.url.path in STREAMS:
                raise PageError(403, "Sign in first", "These pages are for those who sign in.")
            return go_to(sign_in_address(request))
        if settings.members and request.url.path == "/" and session is not None and session.academy is None:
            # The first page is of ACADEMY's games, which a token of the arena alone does not open.
            return go_to("/competitions" if session.arena is not None else "/account")
        return await page(request, _source(request, session, source, settings))

    return _answering(endpoint)


def _source(request: Request, session: Session | None, source: Wanted, settings: WebSettings) -> Any:
    """What a page asks. Raises PageError for a visitor who may not see it."""
    state = request.app.state
    if source in ("visitor", "admin", "operator"):
        assert session is not None
        if source == "admin":
            check_role(session, lambda who: who.is_admin, "an admin of ACADEMY")
        if source == "operator":
            check_role(session, lambda who: who.is_operator, "an operator of the arena")
        return session
    if not settings.members or session is None:
        return getattr(state, source)
    if source == "arena":
        # One connection to the arena serves all visitors.
        service = state.sign_in.arena_for(request)
        check_role(session, lambda _: service is not None, "anybody at the arena")
        if request.url.path in STREAMS:
            check_role(session, lambda _: state.sign_in.may_follow(request), "a watcher of the arena")
        return service
    check_role(session, lambda who: who.academy is not None, "anybody at ACADEMY")
    assert session.academy is not None
    return session.academy.service


def _as_action(action: Action, settings: WebSettings) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        session = await request.app.state.sign_in.session_of(request)
        return await carry_out(request, action, session, settings)

    return _answering(endpoint)


def _answering(page: Endpoint) -> Endpoint:
    """A page whose errors are pages too."""

    async def endpoint(request: Request) -> Response:
        try:
            return await page(request)
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
    await request.app.state.sign_in.session_of(request)
    why = "There is no page at this address."
    return render_error(request, PageError(404, "No such page", why, "Begin with the list of games."))
