"""Competitions of an arena: the list, and a competition's standings, games in progress and games."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from arena.v1 import competitions_pb2
from web.arena_service import ArenaService
from web.charts import Curve, Scale, draw_curves, rating_scale
from web.descent import draw_descent
from web.drawing import DrawnBoard
from web.live import Feed, LiveGame
from web.pages.arena_links import feeds_of, game_address, name_of, player_address
from web.pages.finished_games import FILTERS, list_games
from web.query import Query, link
from web.rendering import format_time, render, render_part
from web.seating import seat_labels

__all__ = [
    "MOST_ON_WALL",
    "likely_elo",
    "note_of",
    "render_results",
    "show_competition",
    "show_competitions",
    "wall_of",
]

_STATES: Final = {
    competitions_pb2.COMPETITION_STATE_NEW: "not begun",
    competitions_pb2.COMPETITION_STATE_RUNNING: "running",
    competitions_pb2.COMPETITION_STATE_STOPPED: "stopped",
    competitions_pb2.COMPETITION_STATE_COMPLETED: "completed",
    competitions_pb2.COMPETITION_STATE_HALTED: "halted",
}
_Standing = competitions_pb2.Standing
# A chart with its title, and whose its curves are by their colours.
_Chart = tuple[str, Markup, list[tuple[int, str]]]
_SORTS: Final[dict[str, Callable[[_Standing], float] | None]] = {
    "points": None,
    "elo": lambda standing: -standing.elo,
    "wins": lambda standing: -float(standing.score.wins),
    "faults": lambda standing: -float(standing.faults),
}
_MOST_IN_CROSS_TABLE: Final = 40
MOST_ON_WALL: Final = 12
_MOST_CURVES: Final = 8
_MOST_LEADERS: Final = 3
_MOST_SCHEDULED: Final = 12
# Values of a parameter without numbers.
_MOST_NAMES: Final = 12


async def show_competitions(request: Request, arena: ArenaService) -> Response:
    """Show a page of the competitions by name, `page` being the last name of the page before."""
    query = Query(request.query_params, ("page",))
    page = query.text("page")
    listed = await arena.competitions_from(page)
    context = {
        "rows": [_listed(competition) for competition in listed.competitions],
        "first": "/competitions" if page else "",
        "next": link("/competitions", {"page": listed.next_page_token}) if listed.next_page_token else "",
    }
    return render(request, "competitions.html", context)


@dataclass(frozen=True)
class _Listed:
    """A competition as the list shows it: its state in words, when it last moved, who won or leads."""

    competition: competitions_pb2.Competition
    address: str
    state: str
    when: str
    leaders: str


def _listed(competition: competitions_pb2.Competition) -> _Listed:
    when = format_time(competition.last_game) if competition.HasField("last_game") else ""
    leaders = ", ".join(competition.leaders[:_MOST_LEADERS])
    more = len(competition.leaders) - _MOST_LEADERS
    return _Listed(
        competition,
        link("/competition", {"name": competition.name}),
        _STATES.get(competition.state, ""),
        when,
        f"{leaders} and {more} more" if more > 0 else leaders,
    )


async def show_competition(request: Request, arena: ArenaService) -> Response:
    """Show the results, the games in progress and a page of games of the competition `name`."""
    query = Query(request.query_params, ("name", "sort", *FILTERS))
    name = name_of(query)
    sort, _ = query.choice("sort", _SORTS, "points")
    context = await _results_context(arena, name, sort)
    competition = context["competition"]
    running = competition.state == competitions_pb2.COMPETITION_STATE_RUNNING
    follows = running and request.app.state.sign_in.may_follow(request)
    feed = await feeds_of(request).feed(competition) if follows else None
    context |= {
        "wall": await wall_of(name, feed) if feed else [],
        "more": len(feed.games) - MOST_ON_WALL if feed else 0,
        "events": link("/competition/events", {"name": name}) if follows else "",
        "running": running,
        # The results that are sent are those of the first sorting.
        "renewed": sort == "points",
        "listed": await list_games(arena, competition, query, "/competition", {"name": name}),
    }
    return render(request, "competition.html", context)


async def _results_context(arena: ArenaService, name: str, sort: str = "points") -> dict[str, Any]:
    """What the part of a page with a competition's results shows. Raises PageError."""
    competition = await arena.competition(name)
    standings = competitions_pb2.GetStandingsResponse()
    # Before the first game there may be no results to ask about.
    if competition.games_played or competition.void_games:
        standings = await arena.standings(name)
    if competition.kind.endswith("_tuner"):
        # Its candidates play a game or two each: a table would have their opponent alone.
        del standings.standings[:], standings.pairs[:]
    completed = competition.state == competitions_pb2.COMPETITION_STATE_COMPLETED
    schedule = [] if completed else await arena.schedule(name, _MOST_SCHEDULED)
    key = _SORTS[sort]
    return {
        "competition": competition,
        "state": _STATES.get(competition.state, ""),
        "players": max(len(competition.players), len(standings.standings)),
        "standings": list(standings.standings) if key is None else sorted(standings.standings, key=key),
        "sorts": {label: link("/competition", {"name": name, "sort": label}) for label in _SORTS},
        "sort": sort,
        "cross": _cross_table(standings),
        "rated": any(standing.HasField("likeliest_elo") for standing in standings.standings),
        "player_address": partial(player_address, name),
        "test": standings.test if standings.HasField("test") else None,
        "lines": list(standings.lines),
        "schedule": [
            (game, game_address(name, game.game_id) if game.in_progress else "") for game in schedule
        ],
        "complete": completed,
        "curves": await _draw_history(arena, competition, standings),
    }


async def _draw_history(
    arena: ArenaService,
    competition: competitions_pb2.Competition,
    standings: competitions_pb2.GetStandingsResponse,
) -> list[_Chart]:
    """Curves of the players' Elo and of a test's LLR."""
    if standings.games < 2:
        return []
    history = await arena.history(competition.name)
    ends = ("first game", f"game {history.games:,}")
    charts: list[_Chart] = []
    if standings.HasField("test") and history.llr.games:
        test = standings.test
        values = [*history.llr.values, test.lower, test.upper]
        curve = Curve(1, [(0, 0), *zip(history.llr.games, history.llr.values, strict=True)])
        scale = Scale(
            history.games, min(values), max(values), None, (test.lower, 0, test.upper), "{:.2f}", ends
        )
        title = "Log-likelihood ratio of the test, between its bounds"
        charts.append((title, draw_curves([curve], scale, title), []))
    charts += [_draw_parameter(path, history.games, ends) for path in history.parameters if path.best.games]
    if history.members:
        title = "Descent of the families: a generation is a step to the right, green is for points won"
        charts.append((title, draw_descent(history.members), []))
    places = {standing.player: place for place, standing in enumerate(standings.standings, 1)}
    shown = sorted(history.players, key=lambda player: places.get(player.player, len(places)))[:_MOST_CURVES]
    if shown:
        likely = {standing.player: likely_elo(standing) for standing in standings.standings}
        curves = [
            Curve(
                number,
                list(zip(player.elo.games, player.elo.values, strict=True)),
                player.player,
                likely.get(player.player),
            )
            for number, player in enumerate(shown, 1)
        ]
        scale = rating_scale(curves, history.games, ends)
        title = "Live Elo of the first players of the table" if len(places) > _MOST_CURVES else "Live Elo"
        names = [(number, player.player) for number, player in enumerate(shown, 1)]
        charts.append((title, draw_curves(curves, scale, title), names))
    return charts


def likely_elo(standing: competitions_pb2.Standing) -> tuple[float, float] | None:
    """Return between which ratings a player lies with 95 %; None where that is not known."""
    if not standing.HasField("likeliest_elo") or not standing.HasField("elo_error"):
        return None
    return standing.likeliest_elo - standing.elo_error, standing.likeliest_elo + standing.elo_error


def _draw_parameter(path: competitions_pb2.ParameterHistory, games: int, ends: tuple[str, str]) -> _Chart:
    """How a tuner's best value of a parameter went: it stays the best until another is."""
    values = list(path.best.values)
    points = [(float(at), value) for at, value in zip(path.best.games, values, strict=True)]
    steps = points[:1]
    for (_, before), (at, value) in pairwise(points):
        steps += [(at, before), (at, value)]
    steps.append((float(games), values[-1]))
    title = f"Best {path.parameter}: {path.now}"
    scale = Scale(games, min(values), max(values), pattern="{:.4g}", ends=ends)
    if path.names:
        title += f" (from bottom to top: {', '.join(path.names[:_MOST_NAMES])})"
    return title, draw_curves([Curve(1, steps)], scale, title), []


async def render_results(arena: ArenaService, name: str) -> str:
    """Return the part of a page with a competition's results. Raises PageError."""
    return render_part("parts/results.html", await _results_context(arena, name))


@dataclass(frozen=True)
class OnWall:
    """A game in progress among others: its place, its board if it has one, and the last move."""

    game: LiveGame
    address: str
    board: DrawnBoard | None
    note: str


async def wall_of(name: str, feed: Feed) -> list[OnWall]:
    """Return the games in progress that a competition's page shows, the first `MOST_ON_WALL`."""
    shown = list(feed.games.values())[:MOST_ON_WALL]
    return [
        OnWall(game, game_address(name, game.game_id), await game.board(len(game.moves)), note_of(game))
        for game in shown
    ]


def note_of(game: LiveGame) -> str:
    """Return a line on how far a game in progress is."""
    if not game.moves:
        return "before the first move"
    last = game.moves[-1]
    players = seat_labels(game.players, game.seats)
    by = players[last.seat - 1] if 0 < last.seat <= len(players) else f"seat {last.seat}"
    value = f", value {last.value:.2f}" if last.HasField("value") else ""
    return f"move {len(game.moves)}: {by} {last.text}{value}"


def _cross_table(standings: competitions_pb2.GetStandingsResponse) -> list[tuple[str, list[str]]]:
    """A row for each player: what it scored against each, in the standings' order."""
    names = [standing.player for standing in standings.standings]
    if len(names) > _MOST_IN_CROSS_TABLE:
        return []
    scores = {(pair.player, pair.opponent): pair.score for pair in standings.pairs}
    return [(player, [_cell(scores.get((player, other))) for other in names]) for player in names]


def _cell(score: competitions_pb2.Score | None) -> str:
    if score is None:
        return ""
    return f"{score.wins}–{score.losses}" + (f" ={score.draws}" if score.draws else "")
