"""Sends what happens in competitions and games to the pages that are open, as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Final

from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import Response

from web.academy_service import AcademyService
from web.arena_service import ArenaService
from web.failures import PageError
from web.game_view import clocks_of, draw_charts, list_moves, note_of_move
from web.library_news import LibraryNews
from web.live import Change, Feed, LiveGame
from web.pages.arena_links import LONGEST_GAME, feeds_of, game_address, name_of
from web.pages.competitions import MOST_ON_WALL, note_of, wall_of
from web.query import Query
from web.rendering import render_part
from web.seating import seat_labels

__all__ = ["follow_competition", "follow_game", "follow_library"]

# How long a game that a page was made of may be unknown to the watch.
_KNOWN_SECONDS: Final = 2.0
_SEND_SECONDS: Final = 20.0


async def follow_competition(request: Request, arena: ArenaService) -> Response:
    """Send the games in progress of the competition `name`, and its results when they change."""
    query = Query(request.query_params, ("name",))
    name = name_of(query)
    feed = await _feed(request, arena, name)

    async def events() -> AsyncIterator[bytes]:
        with feed.watching() as changes:
            yield await _wall(name, feed)
            async for change in changes:
                part = await _once(change, "wall", partial(_for_wall, name, feed, change))
                if part:
                    yield part
        # Without the arena the page stays as it is, and its browser asks again.
        if not feed.lost:
            yield _event("end", {})

    return _stream(request, events())


async def follow_game(request: Request, arena: ArenaService) -> Response:
    """Send the moves of the game `game` of the competition `name` that come after the first `after`."""
    query = Query(request.query_params, ("name", "game", "after"))
    name, game_id = name_of(query), query.text("game")
    after = query.whole("after", 0, LONGEST_GAME) or 0
    # A browser that lost its connection asks again, and says what it had.
    last = request.headers.get("last-event-id", "")
    if last.isdecimal() and len(last) <= len(str(LONGEST_GAME)):
        after = max(after, int(last))
    feed = await _feed(request, arena, name)

    async def events() -> AsyncIterator[bytes]:
        with feed.watching() as changes:
            game = await _known(feed, game_id)
            if game is not None:
                shown = len(game.moves)
                if shown > after:
                    yield await _moves(name, game, after, shown)
                async for change in changes:
                    if change.game is game and change.over:
                        break
                    if change.game is game and change.after > shown:
                        shown = change.after
                        make = partial(_moves, name, game, change.before, change.after)
                        yield await _once(change, game_id, make)
        if not feed.lost:
            yield _event("over", {})

    return _stream(request, events())


async def follow_library(request: Request, academy: AcademyService) -> Response:
    """Send the latest contests and patterns each time that ACADEMY has learnt something."""
    Query(request.query_params, ())
    news: LibraryNews | None = request.app.state.news
    is_open = news is not None and await news.is_open()
    if is_open is None:
        why = "It does not say what the token of these pages may do."
        raise PageError(503, "ACADEMY is away", why, "Load the page again.", 5)
    if news is None or not is_open:
        why = "The token of these pages may not watch what is learnt."
        raise PageError(403, "Nothing moves here", why, "Load the page again to see how things stand.")

    async def events() -> AsyncIterator[bytes]:
        async for part in news.parts():
            yield _event("news", {"html": part})

    return _stream(request, events())


async def _feed(request: Request, arena: ArenaService, name: str) -> Feed:
    feeds = feeds_of(request)
    # Thousands may come at once: they must not ask the arena.
    feed = feeds.known(name)
    if feed is None:
        return await feeds.feed(await arena.competition(name))
    await feed.ready()
    return feed


async def _known(feed: Feed, game_id: str) -> LiveGame | None:
    """The game, which may begin this moment."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_KNOWN_SECONDS):
            while game_id not in feed.games and feed.running:
                await asyncio.sleep(0.1)
    return feed.games.get(game_id)


async def _once(change: Change, topic: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
    """What a change is for browsers, made for the first of them and sent to all."""
    async with change.making:
        if topic not in change.sent:
            change.sent[topic] = await make()
        return change.sent[topic]


async def _wall(name: str, feed: Feed) -> bytes:
    part = render_part(
        "parts/wall.html", {"wall": await wall_of(name, feed), "more": len(feed.games) - MOST_ON_WALL}
    )
    return _event("wall", {"html": part})


async def _for_wall(name: str, feed: Feed, change: Change) -> bytes:
    """What a change is on the page of a competition; nothing where the page does not show it."""
    game = change.game
    if change.results:
        return _event("results", {"html": change.results})
    if change.wall:
        return await _wall(name, feed)
    if change.over or game is None or game not in list(feed.games.values())[:MOST_ON_WALL]:
        return b""
    cells = await _changed(game, change.before, change.after)
    return _event("moves", {"game": game.game_id, "cells": cells, "note": note_of(game)})


async def _moves(name: str, game: LiveGame, before: int, after: int) -> bytes:
    """What is new in a game since it had some moves."""
    # The board first: the seats have their names from it.
    cells = await _changed(game, before, after)
    players = seat_labels(game.players, game.seats)
    moves = list_moves(game.moves[before:after], players, partial(game_address, name, game.game_id), before)
    so_far = game.moves[:after]
    drawn = await game.board(after)
    drawing = drawn.drawing if drawn else None
    parts = {
        "moves": moves,
        "charts": draw_charts(so_far, None, game.drawings),
        "clocks": clocks_of(so_far),
        "players": players,
    }
    return _event(
        "moves",
        {
            "game": game.game_id,
            "cells": cells,
            "note": note_of_move(so_far, after),
            "caption": drawing.caption if drawing else "",
            "orders": render_part("parts/orders.html", {"orders": drawing.arrows if drawing else ()}),
            "rows": render_part("parts/move_rows.html", {**parts, "ply": after}),
            "charts": render_part("parts/charts.html", parts),
            "clocks": render_part("parts/clocks.html", parts),
            "comment": moves[-1].comment if moves else "",
        },
        number=after,
    )


async def _changed(game: LiveGame, before: int, after: int) -> list[tuple[int, str]]:
    """The cells that look otherwise after some moves than before them, as their number and their element."""
    old, new = await game.board(before), await game.board(after)
    if old is None or new is None:
        return []
    pairs = enumerate(zip(old.cells, new.cells, strict=True))
    return [(number, now) for number, (was, now) in pairs if was != now]


def _event(name: str, content: object, number: int | None = None) -> bytes:
    place = "" if number is None else f"id: {number}\n"
    # JSON has no line breaks, which would end the event.
    return f"{place}event: {name}\ndata: {json.dumps(content, separators=(',', ':'))}\n\n".encode()


def _stream(request: Request, events: AsyncIterator[bytes]) -> Response:
    async def while_let_in() -> AsyncIterator[bytes]:
        async for event in events:
            if not await request.app.state.sign_in.lets_in(request):
                # The page loads again, and asks to sign in.
                yield _event("over", {})
                return
            yield event

    return EventSourceResponse(while_let_in(), send_timeout=_SEND_SECONDS)
