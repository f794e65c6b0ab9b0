"""Competitions of an arena: the list, a competition's standings and games, and a viewer for each game."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.duration_pb2 import Duration
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from arena.v1 import competitions_pb2
from web.arena_watch import GAMES_PER_PAGE, ArenaWatch
from web.charts import Curve, Scale, draw_curves
from web.drawing import BoardMarks, DrawnBoard, draw_board, is_map
from web.failures import PageError
from web.live import Feed, Feeds, LiveGame
from web.query import Query, link
from web.rendering import render, render_part
from web.replay import MOST_PLIES, GameStart, NoBoardError, replay_game

__all__ = [
    "MOST_ON_WALL",
    "clocks_of",
    "draw_charts",
    "feeds_of",
    "game_address",
    "list_moves",
    "name_of",
    "note_of",
    "render_results",
    "show_competition",
    "show_competitions",
    "show_game",
    "show_record",
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
_SORTS: Final[dict[str, Callable[[_Standing], float] | None]] = {
    "points": None,
    "elo": lambda standing: -standing.elo,
    "wins": lambda standing: -float(standing.score.wins),
    "faults": lambda standing: -float(standing.faults),
}
_MOST_IN_CROSS_TABLE: Final = 40
MOST_ON_WALL: Final = 12


def _seconds(duration: Duration) -> float:
    return duration.seconds + duration.nanos / 1e9


def game_address(name: str, game_id: str, ply: int | None = None) -> str:
    """Return the address of a game's page.

    Args:
        name: The competition.
        game_id: The game.
        ply: After how many moves; None for the last, and for a game in progress to follow it.
    """
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
    """Show the results, the games in progress and a page of games of the competition `name`."""
    query = Query(request.query_params, ("name", "sort", "page"))
    name = name_of(query)
    sort, _ = query.choice("sort", _SORTS, "points")
    page = query.text("page")
    context = await results_context(arena, name, sort)
    competition = context["competition"]
    games = competitions_pb2.ListGamesResponse()
    if competition.state != competitions_pb2.COMPETITION_STATE_NEW:
        games = await arena.games(name, page)
    running = competition.state == competitions_pb2.COMPETITION_STATE_RUNNING
    feed = await feeds_of(request).feed(competition) if running else None
    context |= {
        "wall": await wall_of(name, feed) if feed else [],
        "more": len(feed.games) - MOST_ON_WALL if feed else 0,
        "events": link("/competition/events", {"name": name}) if running else "",
        # The results that are sent are those of the first sorting.
        "renewed": sort == "points",
        "games": [(game, game_address(name, game.game_id)) for game in games.games],
        "first": link("/competition", {"name": name}) + "#games" if page else "",
        "next": link("/competition", {"name": name, "page": games.next_page_token}) + "#games"
        if games.next_page_token
        else "",
        "per_page": GAMES_PER_PAGE,
    }
    return render(request, "competition.html", context)


async def results_context(arena: ArenaWatch, name: str, sort: str = "points") -> dict[str, Any]:
    """Return what the part of a page with a competition's results shows.

    Args:
        arena: The arena.
        name: The competition.
        sort: What its standings are sorted by.

    Raises:
        PageError: There is no such competition, or the service did not answer.
    """
    competition = await arena.competition(name)
    standings = competitions_pb2.GetStandingsResponse()
    if competition.state != competitions_pb2.COMPETITION_STATE_NEW:
        standings = await arena.standings(name)
    key = _SORTS[sort]
    return {
        "competition": competition,
        "state": _STATES.get(competition.state, ""),
        "standings": list(standings.standings) if key is None else sorted(standings.standings, key=key),
        "sorts": {label: link("/competition", {"name": name, "sort": label}) for label in _SORTS},
        "sort": sort,
        "cross": _cross_table(standings),
    }


async def render_results(arena: ArenaWatch, name: str) -> str:
    """Return the part of a page with a competition's results.

    Args:
        arena: The arena.
        name: The competition.

    Raises:
        PageError: There is no such competition, or the service did not answer.
    """
    return render_part("results.html", await results_context(arena, name))


@dataclass(frozen=True)
class OnWall:
    """A game in progress among others: its place, its board if it has one, and the last move."""

    game: LiveGame
    address: str
    board: DrawnBoard | None
    note: str


async def wall_of(name: str, feed: Feed) -> list[OnWall]:
    """Return the games in progress that a competition's page shows, the first `MOST_ON_WALL`.

    Args:
        name: The competition.
        feed: Its games in progress.
    """
    shown = list(feed.games.values())[:MOST_ON_WALL]
    return [
        OnWall(game, game_address(name, game.game_id), await game.board(len(game.moves)), note_of(game))
        for game in shown
    ]


def note_of(game: LiveGame) -> str:
    """Return a line on how far a game in progress is.

    Args:
        game: The game.
    """
    if not game.moves:
        return "before the first move"
    last = game.moves[-1]
    by = game.players[last.seat - 1] if 0 < last.seat <= len(game.players) else f"seat {last.seat}"
    value = f", value {last.value:.2f}" if last.HasField("value") else ""
    return f"move {len(game.moves)}: {by} {last.text}{value}"


def feeds_of(request: Request) -> Feeds:
    """Return the games in progress that are watched.

    Args:
        request: What was asked for.
    """
    feeds: Feeds = request.app.state.feeds
    return feeds


def name_of(query: Query) -> str:
    """Return the competition that an address names.

    Args:
        query: The address's parameters.

    Raises:
        PageError: It names none.
    """
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
class ListedMove:
    """A move of the list: `ply` counts from 1."""

    ply: int
    by: str
    seat: int
    text: str
    seconds: str
    value: str
    comment: str
    address: str


async def show_game(request: Request, arena: ArenaWatch) -> Response:
    """Show the game `game` of the competition `name` after `ply` moves, or follow it while it is played."""
    query = Query(request.query_params, ("name", "game", "ply"))
    name, game_id = name_of(query), query.text("game")
    competition = await arena.competition(name)
    running = competition.state == competitions_pb2.COMPETITION_STATE_RUNNING
    feed = await feeds_of(request).feed(competition) if running else None
    live = feed.games.get(game_id) if feed else None
    known = _so_far(live) if live else await arena.game(name, game_id)
    plies = len(known.moves)
    chosen = query.whole("ply", 0, MOST_PLIES)
    ply = plies if chosen is None else min(chosen, plies)
    board = await _board_of(competition, known, live, ply)
    moves = list_moves(known.moves, [player.name for player in known.game.players], name, game_id)
    follows = known.in_progress and chosen is None
    context = {
        "competition": competition,
        "game": known.game,
        "live": known.in_progress,
        "events": link("/competition/game/events", {"name": name, "game": game_id, "after": plies})
        if follows
        else "",
        "seats": board.seats,
        "moves": moves,
        "ply": ply,
        "plies": plies,
        "drawing": board.drawn.whole if board.drawn else None,
        "on_map": board.on_map,
        "caption": board.caption,
        "reason": board.reason,
        "charts": draw_charts(known.moves, None if follows else ply),
        "clocks": clocks_of(known.moves[:ply]),
        "steps": {
            "start": game_address(name, game_id, 0) if ply else "",
            "back": game_address(name, game_id, ply - 1) if ply else "",
            "forward": game_address(name, game_id, ply + 1) if ply < plies else "",
            "end": game_address(name, game_id) if ply < plies else "",
        },
        "here": game_address(name, game_id, ply),
        "record": link("/competition/record", {"name": name, "game": game_id}) if known.record else "",
        "extension": known.record_extension,
        "competition_address": link("/competition", {"name": name}),
    }
    return render(request, "arena_game.html", context)


def _so_far(live: LiveGame) -> competitions_pb2.GetGameResponse:
    players = [competitions_pb2.GamePlayer(name=name) for name in live.players]
    game = competitions_pb2.Game(game_id=live.game_id, players=players)
    return competitions_pb2.GetGameResponse(game=game, moves=live.moves, in_progress=True)


@dataclass(frozen=True)
class _Board:
    """A game's board after some moves, or why there is none."""

    drawn: DrawnBoard | None = None
    seats: tuple[str, ...] = ()
    on_map: bool = False
    caption: str = ""
    reason: str = ""


async def _board_of(
    competition: competitions_pb2.Competition,
    known: competitions_pb2.GetGameResponse,
    live: LiveGame | None,
    ply: int,
) -> _Board:
    if live is not None:
        drawn = await live.board(ply)
        return _Board(drawn, live.seats, live.on_map, reason=live.reason)
    start = GameStart(
        competition.game,
        competition.settings_json,
        known.seed if known.HasField("seed") else None,
        known.arrangement,
    )
    moves = tuple((move.seat, move.text) for move in known.moves)
    try:
        played = await asyncio.to_thread(replay_game, start, moves)
    except NoBoardError as error:
        return _Board(reason=str(error))
    drawing, last = played.after(ply)
    drawn = draw_board(drawing, BoardMarks(last), f"The board after move {ply} of {len(moves)}")
    return _Board(drawn, played.seats, is_map(drawing.layout), drawing.caption)


def list_moves(
    moves: Sequence[competitions_pb2.GameMove],
    players: Sequence[str],
    name: str,
    game_id: str,
    before: int = 0,
) -> list[ListedMove]:
    """Return moves for the list beside the board.

    Args:
        moves: The moves.
        players: The players by seat.
        name: The competition.
        game_id: The game.
        before: How many moves came before these.
    """
    return [
        ListedMove(
            number,
            players[move.seat - 1] if 0 < move.seat <= len(players) else f"seat {move.seat}",
            move.seat,
            move.text or "hidden",
            f"{_seconds(move.time):.2f} s" if move.HasField("time") else "",
            f"{move.value:.2f}" if move.HasField("value") else "",
            move.comment,
            game_address(name, game_id, number),
        )
        for number, move in enumerate(moves, before + 1)
    ]


def clocks_of(moves: Sequence[competitions_pb2.GameMove]) -> list[tuple[int, str]]:
    """Return what each seat's clock shows after some moves; nothing of seats without one.

    Args:
        moves: The moves so far.
    """
    last = {move.seat: move for move in moves if move.HasField("clock")}
    clocks = []
    for seat, move in sorted(last.items()):
        minutes, seconds = divmod(_seconds(move.clock), 60)
        stones = f" for {move.clock_moves}" if move.clock_moves else ""
        clocks.append((seat, f"{minutes:.0f}:{seconds:04.1f}{stones}"))
    return clocks


def draw_charts(moves: Sequence[competitions_pb2.GameMove], ply: int | None) -> list[tuple[str, Markup]]:
    """Return curves of the values that the movers expected and of the time that they took, with their titles.

    Args:
        moves: The moves so far.
        ply: The move that is shown; None without a line there.
    """
    values: dict[int, list[tuple[float, float]]] = {}
    times: dict[int, list[tuple[float, float]]] = {}
    for number, move in enumerate(moves, 1):
        if move.HasField("value"):
            values.setdefault(move.seat, []).append((number, move.value))
        if move.HasField("time"):
            times.setdefault(move.seat, []).append((number, _seconds(move.time)))
    charts = []
    ends = ("move 1", f"move {len(moves)}")
    if values:
        scale = Scale(len(moves), 0, 1, ply, (0.5,), ends=ends)
        label = "Expected values of the players, move by move"
        charts.append(("What the movers expected: 1 is a win", draw_curves(_curves(values), scale, label)))
    if times:
        longest = max(seconds for row in times.values() for _, seconds in row)
        scale = Scale(len(moves), 0, longest or 1, ply, pattern="{:.3g} s", ends=ends)
        label = "The time that the players took, move by move"
        charts.append(("The time that they took", draw_curves(_curves(times), scale, label)))
    return charts


def _curves(rows: dict[int, list[tuple[float, float]]]) -> list[Curve]:
    return [Curve(seat, points) for seat, points in sorted(rows.items())]


async def show_record(request: Request, arena: ArenaWatch) -> Response:
    """Send the record of a game as a file."""
    query = Query(request.query_params, ("name", "game"))
    known = await arena.game(name_of(query), query.text("game"))
    extension = "".join(letter for letter in known.record_extension if letter.isascii() and letter.isalnum())
    stem = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in known.game.game_id)
    headers = {"Content-Disposition": f'attachment; filename="{stem}.{extension or "txt"}"'}
    return Response(known.record, media_type="text/plain", headers=headers)
