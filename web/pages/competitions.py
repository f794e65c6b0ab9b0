"""Competitions of an arena: the list, a competition's standings and games, and a viewer for each game."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from google.protobuf.duration_pb2 import Duration
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from arena.v1 import competitions_pb2
from web.arena_watch import GAMES_PER_PAGE, ArenaWatch
from web.drawing import BoardMarks, draw_board
from web.failures import PageError
from web.query import Query, link
from web.rendering import render
from web.replay import MOST_PLIES, NoBoardError, PlayedGame, replay_game

__all__ = ["show_competition", "show_competitions", "show_game", "show_record"]

_STATES: Final = {
    competitions_pb2.COMPETITION_STATE_NEW: "not begun",
    competitions_pb2.COMPETITION_STATE_RUNNING: "running",
    competitions_pb2.COMPETITION_STATE_STOPPED: "stopped",
    competitions_pb2.COMPETITION_STATE_COMPLETED: "completed",
    competitions_pb2.COMPETITION_STATE_HALTED: "halted",
}
_Standing = competitions_pb2.Standing
_SORTS: Final[dict[str, Callable[[_Standing], float] | None]] = {
    "points": None,
    "elo": lambda standing: -standing.elo,
    "wins": lambda standing: -float(standing.score.wins),
    "faults": lambda standing: -float(standing.faults),
}
_MOST_IN_CROSS_TABLE: Final = 40
_CHART_HEIGHT: Final = 60


def _seconds(duration: Duration) -> float:
    return duration.seconds + duration.nanos / 1e9


def _game_address(name: str, game_id: str, ply: int | None = None) -> str:
    return link("/competition/game", {"name": name, "game": game_id, "ply": ply})


async def show_competitions(request: Request, arena: ArenaWatch) -> Response:
    """Show the competitions by name."""
    Query(request.query_params, ())
    listed = await arena.competitions()
    rows = [
        (competition, _STATES.get(competition.state, ""), link("/competition", {"name": competition.name}))
        for competition in listed
    ]
    return render(request, "competitions.html", {"rows": rows})


async def show_competition(request: Request, arena: ArenaWatch) -> Response:
    """Show the standings, the cross-table and a page of games of the competition `name`."""
    query = Query(request.query_params, ("name", "sort", "page"))
    name = _name_of(query)
    sort, key = query.choice("sort", _SORTS, "points")
    competition = await arena.competition(name)
    if competition.state == competitions_pb2.COMPETITION_STATE_NEW:
        standings, games = competitions_pb2.GetStandingsResponse(), competitions_pb2.ListGamesResponse()
    else:
        standings = await arena.standings(name)
        games = await arena.games(name, query.text("page"))
    rows = list(standings.standings) if key is None else sorted(standings.standings, key=key)
    context = {
        "competition": competition,
        "state": _STATES.get(competition.state, ""),
        "standings": rows,
        "sorts": {label: link("/competition", {"name": name, "sort": label}) for label in _SORTS},
        "sort": sort,
        "cross": _cross_table(standings),
        "games": [(game, _game_address(name, game.game_id)) for game in games.games],
        "first": link("/competition", {"name": name}) + "#games" if query.text("page") else "",
        "next": link("/competition", {"name": name, "page": games.next_page_token}) + "#games"
        if games.next_page_token
        else "",
        "per_page": GAMES_PER_PAGE,
    }
    return render(request, "competition.html", context)


def _name_of(query: Query) -> str:
    name = query.text("name")
    if not name:
        why = "The address names no competition."
        raise PageError(400, "Which competition?", why, "Choose one from the list of competitions.")
    return name


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


@dataclass(frozen=True)
class _Move:
    """A move of the list: `ply` counts from 1."""

    ply: int
    seat: int
    text: str
    seconds: str
    value: str
    comment: str
    address: str


async def show_game(request: Request, arena: ArenaWatch) -> Response:
    """Show the game `game` of the competition `name` after `ply` moves."""
    query = Query(request.query_params, ("name", "game", "ply"))
    name, game_id = _name_of(query), query.text("game")
    competition = await arena.competition(name)
    known = await arena.game(name, game_id)
    plies = len(known.moves)
    chosen = query.whole("ply", 0, MOST_PLIES)
    ply = plies if chosen is None else min(chosen, plies)
    played, reason = await _replayed(competition, known)
    drawing: Markup | None = None
    if played is not None:
        board, last = played.after(ply)
        drawing = draw_board(board, BoardMarks(played.names, last), f"The board after move {ply} of {plies}")
        reason = reason if drawing is not None else "This map has too many places to be drawn."
    moves = [_described(move, number, name, game_id) for number, move in enumerate(known.moves, 1)]
    context = {
        "competition": competition,
        "game": known.game,
        "seats": played.seats if played is not None else [],
        "moves": moves,
        "ply": ply,
        "plies": plies,
        "drawing": drawing,
        "on_map": played is not None and played.on_map,
        "reason": reason,
        "chart": _draw_values(known, ply),
        "steps": {
            "start": _game_address(name, game_id, 0) if ply else "",
            "back": _game_address(name, game_id, ply - 1) if ply else "",
            "forward": _game_address(name, game_id, ply + 1) if ply < plies else "",
            "end": _game_address(name, game_id) if ply < plies else "",
        },
        "record": link("/competition/record", {"name": name, "game": game_id}) if known.record else "",
        "extension": known.record_extension,
        "competition_address": link("/competition", {"name": name}),
    }
    return render(request, "arena_game.html", context)


async def _replayed(
    competition: competitions_pb2.Competition, known: competitions_pb2.GetGameResponse
) -> tuple[PlayedGame | None, str]:
    moves = tuple((move.seat, move.text) for move in known.moves)
    try:
        return await asyncio.to_thread(replay_game, competition.game, competition.settings_json, moves), ""
    except NoBoardError as error:
        return None, str(error)


def _described(move: competitions_pb2.GameMove, number: int, name: str, game_id: str) -> _Move:
    return _Move(
        number,
        move.seat,
        move.text,
        f"{_seconds(move.time):.2f} s" if move.HasField("time") else "",
        f"{move.value:.2f}" if move.HasField("value") else "",
        move.comment,
        _game_address(name, game_id, number),
    )


def _draw_values(known: competitions_pb2.GetGameResponse, ply: int) -> Markup | None:
    """The movers' expected values by ply, a line for each seat; None where nobody reported one."""
    plies = max(len(known.moves), 1)
    by_seat: dict[int, list[tuple[float, float]]] = {}
    for number, move in enumerate(known.moves, 1):
        if move.HasField("value"):
            by_seat.setdefault(move.seat, []).append((600 * number / plies, _CHART_HEIGHT * (1 - move.value)))
    if not by_seat:
        return None
    at = 600 * ply / plies
    lines = "".join(
        f'<polyline class="seat-{min(seat, 8)}" points="{_points(places)}"/>'
        for seat, places in sorted(by_seat.items())
    )
    return Markup(
        '<svg class="chart" role="img" aria-label="Expected values of the players, move by move" '
        f'viewBox="0 -2 600 {_CHART_HEIGHT + 4}" preserveAspectRatio="none">'
        f'<line class="half" x1="0" x2="600" y1="{_CHART_HEIGHT / 2}" y2="{_CHART_HEIGHT / 2}"/>'
        f'{lines}<line class="now" x1="{at:.1f}" x2="{at:.1f}" y1="-2" y2="{_CHART_HEIGHT + 2}"/></svg>'
    )


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


async def show_record(request: Request, arena: ArenaWatch) -> Response:
    """Send the record of a game as a file."""
    query = Query(request.query_params, ("name", "game"))
    known = await arena.game(_name_of(query), query.text("game"))
    extension = "".join(letter for letter in known.record_extension if letter.isascii() and letter.isalnum())
    stem = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in known.game.game_id)
    headers = {"Content-Disposition": f'attachment; filename="{stem}.{extension or "txt"}"'}
    return Response(known.record, media_type="text/plain", headers=headers)
