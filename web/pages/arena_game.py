"""A viewer for each game of a competition: its board, moves, values, times and record."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from arena.v1 import competitions_pb2
from referees.drawing import Drawing
from web.academy_service import AcademyService
from web.arena_service import ArenaService
from web.drawing import BoardMarks, DrawnBoard, draw_board
from web.failures import PageError
from web.game_view import describe_game, draw_charts
from web.live import LiveGame
from web.pages.arena_links import LONGEST_GAME, feeds_of, game_address, name_of
from web.pages.game_questions import read_questions
from web.pages.played_lines import ReplayThreads, board_after
from web.query import Query, link
from web.rendering import render
from web.replay import MOST_MOVES, GameReplay, GameStart, NoBoardError, replay_game
from web.sessions import SESSION, Session

__all__ = ["show_game", "show_record"]


# Opening trees are not deeper.
_LONGEST_LINE: Final = 60
_MOST_SEATS: Final = 64
Moves = tuple[tuple[int, str], ...]
# Whole games take seconds: one at a time, which holds up no line.
_replays: Final = ReplayThreads(1)
# The games that were played again last.
_kept: Final[dict[tuple[GameStart, Moves], GameReplay]] = {}
_MOST_KEPT: Final = 32


async def show_game(request: Request, arena: ArenaService) -> Response:
    """Show the game `game` of the competition `name` after `ply` moves, or follow it while it is played."""
    query = Query(request.query_params, ("name", "game", "ply", "view"))
    name, game_id = name_of(query), query.text("game")
    competition = await arena.competition(name)
    running = competition.state == competitions_pb2.COMPETITION_STATE_RUNNING
    may_follow = request.app.state.sign_in.may_follow(request)
    feed = await feeds_of(request).feed(competition) if running and may_follow else None
    live = feed.games.get(game_id) if feed else None
    known = _so_far(live) if live else await arena.game(name, game_id)
    _check_may_follow(request, known)
    plies = len(known.moves)
    chosen = query.whole("ply", 0, LONGEST_GAME)
    ply = plies if chosen is None else min(chosen, plies)
    view = query.whole("view", 1, _MOST_SEATS) or 0
    board = await _board_of(competition, known, live, ply, view)
    address = partial(_address, name, game_id, view)
    described = describe_game(known, board.seats, board.drawn, ply, address)
    academy = request.app.state.sign_in.academy_for(request)
    follows = known.in_progress and chosen is None
    # Together: ACADEMY may be slow, and the board needs none of it.
    at_academy, links = await asyncio.gather(
        read_questions(
            academy,
            known.contest_id,
            described["players"],
            plies,
            board.played.spec.cell_names if board.played else (),
        ),
        _at_academy(academy, board.played, ply),
    )
    context = described | {
        "competition": competition,
        "events": link("/competition/game/events", {"name": name, "game": game_id, "after": plies})
        if follows
        else "",
        "views": [
            (board.seats[seat - 1] if seat else "all", _address(name, game_id, seat, ply), seat == view)
            for seat in (0, *board.played.views)
        ]
        if board.played is not None and board.played.views
        else [],
        "reason": board.reason,
        "charts": draw_charts(known.moves, None if follows else ply, board.drawings),
        "steps": {
            "start": address(0) if ply else "",
            "back": address(ply - 1) if ply else "",
            "forward": address(ply + 1) if ply < plies else "",
            "end": address() if ply < plies else "",
        },
        "knowledge": links,
        "record": link("/competition/record", {"name": name, "game": game_id}) if known.record else "",
        "download": "",
        "at_academy": at_academy,
        "ply_address": address,
        "texts": [] if known.in_progress else await _texts(request, name, game_id),
        "competition_address": link("/competition", {"name": name}),
    }
    return render(request, "arena_game.html", context)


def _check_may_follow(request: Request, known: competitions_pb2.GetGameResponse) -> None:
    if known.in_progress and not request.app.state.sign_in.may_follow(request):
        why = "Its players must not read here what their opponents expect."
        raise PageError(403, "This game is in progress", why, "Come back when it is over.")


def _address(name: str, game_id: str, view: int, ply: int | None = None) -> str:
    """The address of a board of the game, as a seat sees it."""
    address = game_address(name, game_id, ply)
    return f"{address}&view={view}" if view else address


async def _texts(request: Request, name: str, game_id: str) -> list[tuple[str, str]]:
    """What the players read and wrote, with titles, for visitors who signed in as operators or players."""
    session: Session | None = request.scope[SESSION]
    if session is None or session.arena is None:
        return []
    kept = await session.arena.service.texts(name, game_id)
    titled = [
        (f"{texts.player}: what it received (>>) and answered (<<)", texts.protocol) for texts in kept
    ] + [(f"{texts.player}: standard error", texts.errors) for texts in kept]
    return [(title, text) for title, text in titled if text]


async def _at_academy(
    academy: AcademyService | None, played: GameReplay | None, ply: int
) -> list[tuple[str, str]]:
    """What leads from a position to what ACADEMY knows of it: words and addresses."""
    if academy is None or played is None:
        return []
    game_id = played.spec.game_id
    if await academy.extras.get("game", partial(academy.game, game_id)) is None:
        return []
    links = []
    line = played.line[:ply]
    if not played.spec.simultaneous and ply <= _LONGEST_LINE and all(line):
        links.append(
            ("This line in the openings", link(f"/games/{game_id}/openings", [("m", move) for move in line]))
        )
    if played.spec.geometry.size > 1:
        links.append(("This position", await _position_address(played, ply)))
    return links


async def _position_address(played: GameReplay, ply: int) -> str:
    """Where a position's page is: by its line, so that moves can be played there, if that leads to it."""
    spec, line = played.spec, tuple(played.line[:ply])
    letters, seat = played.board(ply)
    if not spec.simultaneous and len(line) <= MOST_MOVES and all(line):
        reached, _ = await board_after(spec, line, seat)
        if reached is not None and (reached.board.letters, reached.mover) == (letters, seat):
            return link(f"/games/{spec.game_id}/position", [("m", move) for move in line])
    return link(f"/games/{spec.game_id}/position", {"board": letters, "player": seat})


def _so_far(live: LiveGame) -> competitions_pb2.GetGameResponse:
    players = [competitions_pb2.GamePlayer(name=name) for name in live.players]
    game = competitions_pb2.Game(game_id=live.game_id, players=players)
    return competitions_pb2.GetGameResponse(game=game, moves=live.moves, in_progress=True)


@dataclass(frozen=True)
class _Board:
    """A game's board after some moves, or why there is none."""

    drawn: DrawnBoard | None = None
    seats: tuple[str, ...] = ()
    reason: str = ""
    played: GameReplay | None = None
    drawings: Sequence[Drawing] = ()


async def _board_of(
    competition: competitions_pb2.Competition,
    known: competitions_pb2.GetGameResponse,
    live: LiveGame | None,
    ply: int,
    view: int,
) -> _Board:
    """The board after some moves as a seat sees it, 0 being all."""
    if live is not None:
        drawn = await live.board(ply)
        return _Board(drawn, live.seats, live.reason, drawings=live.drawings)
    start = GameStart(
        competition.game,
        known.settings_json or competition.settings_json,
        known.seed if known.HasField("seed") else None,
        known.arrangement,
        known.start_board,
    )
    moves = tuple((move.seat, move.text) for move in known.moves)
    try:
        played = _kept.pop((start, moves), None)
        if played is not None:
            # What is looked at stays longest.
            _kept[start, moves] = played
        else:
            played = await _replays.run(_play_again, start, moves)
    except NoBoardError as error:
        return _Board(reason=str(error))
    drawing, last = played.after(ply, view if view in played.views else 0)
    drawn = draw_board(drawing, BoardMarks(last), f"The board after move {ply} of {len(moves)}")
    return _Board(drawn, played.seats, played=played, drawings=played.drawings)


def _play_again(start: GameStart, moves: Moves) -> GameReplay:
    """Play a game again, unless who waited before wanted the same. Raises NoBoardError."""
    game = (start, moves)
    if game not in _kept:
        played = replay_game(start, moves)
        while len(_kept) >= _MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[game] = played
    return _kept[game]


async def show_record(request: Request, arena: ArenaService) -> Response:
    """Send the record of a game as a file."""
    query = Query(request.query_params, ("name", "game"))
    known = await arena.game(name_of(query), query.text("game"))
    _check_may_follow(request, known)
    if not known.record:
        why = "Games have one when they are over, as far as the arena keeps records."
        raise PageError(404, "This game has no record", why, "Look at its page.")
    extension = "".join(letter for letter in known.record_extension if letter.isascii() and letter.isalnum())
    stem = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in known.game.game_id)
    headers = {"Content-Disposition": f'attachment; filename="{stem}.{extension or "txt"}"'}
    return Response(known.record, media_type="text/plain", headers=headers)
