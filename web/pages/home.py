"""The games that ACADEMY knows, with their measures side by side."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.v1 import history_pb2, libraries_pb2
from academy.wire.games import read_spec
from arena.v1 import competitions_pb2
from web.academy_service import MOST_GAMES, AcademyService, GameFigures
from web.arena_service import ArenaService
from web.failures import PageError
from web.library_news import LibraryNews
from web.pages.known_contests import (
    ArenaGames,
    ListedContest,
    arena_games,
    games_of,
    list_contests,
    newest_contests,
)
from web.pages.patterns import LIBRARIES, PatternItem, list_pattern
from web.query import Query, link
from web.rendering import render, render_part

__all__ = ["MEASURES", "describe_board", "render_news", "show_home"]

_RECENT_GAMES: Final = 4
_LATEST: Final = 6


@dataclass(frozen=True)
class Measure:
    """A measure of games, what it says in a sentence, and how its value is written."""

    title: str
    meaning: str
    pattern: str = "{:.3g}"


MEASURES: Final = {
    "length": Measure("Length", "Plies of an average contest.", "{:.1f}"),
    "length_spread": Measure("± length", "The standard deviation of the length.", "{:.1f}"),
    "width": Measure("Width", "Legal moves of an average position.", "{:.1f}"),
    "size": Measure("Size", "The decimal logarithm of the positions in the tree of the game.", "{:.0f}"),
    "depth": Measure("Depth", "How far skill reaches: grows with the best player's Elo.", "{:.1f}"),
    "mobility": Measure("Mobility", "Moves of a piece, times the share of empty cells.", "{:.2f}"),
    "tempo": Measure("Tempo", "Plies until pieces of the two sides can first act on each other.", "{:.1f}"),
    "draws": Measure("Draws", "The share of contests that were drawn.", "{:.2f}"),
    "first_player_score": Measure("First", "The mean score of the first player.", "{:.2f}"),
    "decisiveness": Measure(
        "Decisive", "The share of advantages that were won, by players of the best quarter.", "{:.2f}"
    ),
    "drama": Measure(
        "Drama", "The share of moves that gave an advantage away, by players of the best quarter.", "{:.2f}"
    ),
}


def _measure_of(name: str) -> Callable[[GameFigures], float | None]:
    def read(figures: GameFigures) -> float | None:
        measure = figures.measures.measures.get(name)
        return measure.value if measure is not None and measure.HasField("value") else None

    return read


_Columns = Mapping[str, tuple[str, Callable[[GameFigures], float | None]]]
# By what an address sorts by: the title, and the value.
_SIZES: Final[_Columns] = {
    "contests": ("Contests", lambda figures: float(figures.statistics.contests)),
    "openings": ("Openings", lambda figures: float(figures.statistics.opening_nodes)),
    "middle-game": ("Middle", lambda figures: float(figures.statistics.middle_game_patterns)),
    "endgame": ("Endgame", lambda figures: float(figures.statistics.endgame_patterns)),
}
_COLUMNS: Final[_Columns] = {
    # By the name, which games are sorted by before any value.
    "game": ("Game", lambda _: None),
    **_SIZES,
    **{name: (measure.title, _measure_of(name)) for name, measure in MEASURES.items()},
}
_ORDERS: Final = {"asc": False, "desc": True}


@dataclass(frozen=True)
class _Head:
    """The head of a column: where a click on it leads, and how it is sorted now."""

    name: str
    title: str
    address: str
    sorted: str


async def show_home(request: Request, academy: AcademyService) -> Response:
    """Show the games, sorted by `sort` in the `order` that the address says."""
    query = Query(request.query_params, ("sort", "order"))
    sort, (_, read) = query.choice("sort", _COLUMNS, "game")
    order, descending = query.choice("order", _ORDERS, "asc" if sort == "game" else "desc")
    # Together: a service may be slow to answer.
    listed, arenas_games, running = await asyncio.gather(
        academy.games(), arena_games(request), _running(request.app.state.sign_in.arena_for(request))
    )
    games = sorted(listed, key=lambda figures: figures.game.game_id, reverse=sort == "game" and descending)
    known = [figures for figures in games if read(figures) is not None]
    known.sort(key=lambda figures: read(figures) or 0.0, reverse=descending)
    games = known + [figures for figures in games if read(figures) is None]
    news: LibraryNews | None = request.app.state.news
    context = {
        **await _news_context(academy, games, arenas_games),
        "events": "/events" if news is not None and await news.is_open() else "",
        "running": running,
        "heads": [_head(name, title, sort, order) for name, (title, _) in _COLUMNS.items()],
        "rows": [_row(figures) for figures in games],
        "measures": MEASURES,
        "cut": len(games) >= MOST_GAMES,
    }
    return render(request, "home.html", context)


async def render_news(academy: AcademyService, arena: ArenaService | None) -> str:
    """Return the part of the page with the latest contests and patterns. Raises PageError.

    Contests lead to their games at the arena, if one is given.
    """
    context = await _news_context(academy, await academy.games(), await games_of(arena))
    return render_part("parts/news.html", context)


async def _news_context(
    academy: AcademyService, games: Sequence[GameFigures], arenas_games: ArenaGames
) -> dict[str, object]:
    recent = sorted(games, key=lambda figures: -figures.statistics.generation)[:_RECENT_GAMES]
    latest, patterns = await asyncio.gather(
        _latest_contests(academy, recent, arenas_games),
        _newest_patterns(academy, recent, arenas_games),
    )
    return {"latest": latest, "patterns": patterns}


async def _latest_contests(
    academy: AcademyService, recent: Sequence[GameFigures], games: ArenaGames
) -> list[tuple[str, ListedContest]]:
    """The newest contests of the games that learnt last, with their games."""

    async def newest(game_id: str) -> list[tuple[int, str, history_pb2.ContestSummary]]:
        contests = await newest_contests(academy, game_id)
        return [(contest.report_time.ToNanoseconds(), game_id, contest) for contest in contests]

    listed = await asyncio.gather(*(newest(figures.game.game_id) for figures in recent))
    contests = sorted(chain.from_iterable(listed), key=lambda contest: -contest[0])[:_LATEST]
    shown = list_contests((contest for *_, contest in contests), games)
    return [(game_id, contest) for (_, game_id, _), contest in zip(contests, shown, strict=True)]


async def _newest_patterns(
    academy: AcademyService, recent: Sequence[GameFigures], games: ArenaGames
) -> list[tuple[str, PatternItem]]:
    """The newest patterns of the game that learnt patterns last; none where the token may not see them."""
    for figures in recent:
        game = figures.game
        sizes = figures.statistics
        library = "middle-game" if sizes.middle_game_patterns else "endgame"
        if not (sizes.middle_game_patterns or sizes.endgame_patterns):
            continue
        newest_first = libraries_pb2.ListPatternsRequest(
            game_id=game.game_id,
            library=LIBRARIES[library],
            page_size=_LATEST,
            order_by="pattern_id desc",
            include_origin=True,
        )
        try:
            listed = (await academy.ask(academy.libraries.ListPatterns, newest_first)).patterns
        except PageError:
            return []
        spec = read_spec(game)
        return [(game.game_id, list_pattern(record, spec, library, games)) for record in listed]
    return []


async def _running(arena: ArenaService | None) -> list[tuple[competitions_pb2.Competition, str]]:
    """The competitions that run now, with the addresses of their pages."""
    if arena is None:
        return []
    # This page is about games: an arena that is away takes nothing from it.
    listed = await arena.extras.get("competitions", arena.competitions) or []
    running = competitions_pb2.COMPETITION_STATE_RUNNING
    return [
        (competition, link("/competition", {"name": competition.name}))
        for competition in listed
        if competition.state == running
    ]


def _head(name: str, title: str, sort: str, order: str) -> _Head:
    if name != sort:
        return _Head(name, title, link("/", {"sort": name}), "")
    other = "desc" if order == "asc" else "asc"
    words = "ascending" if order == "asc" else "descending"
    return _Head(name, title, link("/", {"sort": name, "order": other}), words)


def describe_board(geometry: Geometry) -> str:
    """Return a board in a few words."""
    match geometry:
        case SquareGeometry():
            return f"{geometry.columns} × {geometry.rows} squares"
        case HexGeometry():
            return f"{geometry.columns} × {geometry.rows} hexagons"
        case GraphGeometry():
            return "no board" if geometry.size == 1 else f"a map of {geometry.size} places"


def _row(figures: GameFigures) -> dict[str, object]:
    return {
        "game_id": figures.game.game_id,
        "board": describe_board(read_spec(figures.game).geometry),
        "players": figures.game.players,
        "sizes": [f"{value(figures):,.0f}" for _, value in _SIZES.values()],
        "measures": [
            "–" if (value := _measure_of(name)(figures)) is None else measure.pattern.format(value)
            for name, measure in MEASURES.items()
        ],
    }
