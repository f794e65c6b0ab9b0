"""The opening explorer: a line of moves, its board, and what is known of each continuation."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.spec import GameSpec
from academy.v1 import consultation_pb2
from academy.wire.games import read_spec
from web.drawing import BoardMarks, CellLink, draw_board, is_map
from web.knowledge import Knowledge
from web.query import Query, check_game_id, link
from web.rendering import render
from web.replay import MOST_MOVES, NoBoardError, ReplayedLine, replay, seat_names

__all__ = ["show_openings"]

# Playing a line again takes a processor: others' pages go on beside it.
_replays: Final = asyncio.Semaphore(2)
_Move = consultation_pb2.OpeningMove
_SORTS: Final[dict[str, Callable[[_Move], float] | None]] = {
    "best": None,
    "visits": lambda move: -float(move.statistics.visits),
    "value": lambda move: -move.statistics.value,
    "elo": lambda move: -move.statistics.elo,
}


@dataclass(frozen=True)
class _Row:
    """A continuation with where it leads."""

    move: _Move
    address: str
    rank: int

    @property
    def same(self) -> list[str]:
        """The other spellings of the move under the position's symmetries."""
        return [move for move in self.move.equivalents if move != self.move.move]


@dataclass(frozen=True)
class _Line:
    """A line of a game, and how the page shows it."""

    spec: GameSpec
    moves: tuple[str, ...]
    player: int
    sort: str

    def address(self, moves: Sequence[str], **changed: Any) -> str:
        state = {"player": self.player, "sort": self.sort} | changed
        return link(
            f"/games/{self.spec.game_id}/openings",
            [
                ("player", state["player"] if state["player"] != 1 else None),
                ("sort", state["sort"] if state["sort"] != "best" else None),
                *(("m", move) for move in moves),
            ],
        )


async def show_openings(request: Request, knowledge: Knowledge) -> Response:
    """Show what is known after the moves `m`, with the figures of `player`."""
    query = Query(request.query_params, ("m", "player", "sort"))
    game_id = check_game_id(request.path_params["game_id"])
    spec = read_spec((await knowledge.game(game_id)).game)
    player = query.whole("player", 1, spec.players) or 1
    sort, key = query.choice("sort", _SORTS, "best")
    line = _Line(spec, tuple(query.texts("m", MOST_MOVES)), player, sort)
    known = await knowledge.opening(game_id, player, line.moves)
    moves = list(known.moves) if key is None else sorted(known.moves, key=key)
    rows = [_Row(move, line.address([*line.moves, move.move]), rank) for rank, move in enumerate(moves, 1)]
    replayed, reason = await _board_after(line)
    drawing = None
    if replayed is not None:
        marks = BoardMarks(replayed.last, _links(line, replayed, rows))
        drawing = draw_board(replayed.drawing, marks, _label(line)).whole
    context = {
        "game_id": game_id,
        "line": line,
        "trail": [(move, line.address(line.moves[: number + 1])) for number, move in enumerate(line.moves)],
        "start": line.address(()),
        "back": line.address(line.moves[:-1]) if line.moves else "",
        "known": known.known,
        "statistics": known.position,
        "recommended": known.recommendation if known.HasField("recommendation") else None,
        "recommended_address": line.address([*line.moves, known.recommendation.move]),
        "rows": rows,
        "sorts": {name: line.address(line.moves, sort=name) for name in _SORTS},
        "seats": [
            (number, name, line.address(() if spec.simultaneous else line.moves, player=number))
            for number, name in enumerate(seat_names(spec), 1)
        ],
        "drawing": drawing,
        "on_map": replayed is not None and is_map(replayed.drawing.layout),
        "reason": reason,
        "replayed": replayed,
        "others": _other_moves(line, replayed, rows),
        "position": _position_address(line, replayed),
    }
    return render(request, "openings.html", context)


async def _board_after(line: _Line) -> tuple[ReplayedLine | None, str]:
    async with _replays:
        try:
            return await asyncio.to_thread(replay, line.spec, line.moves, line.player), ""
        except NoBoardError as error:
            return None, str(error)


def _label(line: _Line) -> str:
    return f"The board after {' '.join(line.moves[-6:])}" if line.moves else "The board at the start"


def _links(line: _Line, replayed: ReplayedLine, rows: Sequence[_Row]) -> dict[int, CellLink]:
    """Cells to click on: moves that are named by one cell, the known ones with their places in the list."""
    cells = {name: cell for cell, name in enumerate(line.spec.cell_names)}
    links = {
        cells[text]: CellLink(line.address([*line.moves, text]), f"play {text}", known=False)
        for text in replayed.legal
        if text in cells
    }
    for row in reversed(rows):
        for text in row.move.equivalents or [row.move.move]:
            if text in cells:
                label = (
                    f"{text}: value {row.move.statistics.value:.2f} in {row.move.statistics.visits} contests"
                )
                links[cells[text]] = CellLink(
                    line.address([*line.moves, text]), label, rank=row.rank if row.rank < 100 else 0
                )
    return links


def _other_moves(line: _Line, replayed: ReplayedLine | None, rows: Sequence[_Row]) -> list[tuple[str, str]]:
    """Legal moves that ACADEMY does not know here."""
    if replayed is None:
        return []
    known = {text for row in rows for text in (row.move.move, *row.move.equivalents)}
    return [(text, line.address([*line.moves, text])) for text in replayed.legal if text not in known]


def _position_address(line: _Line, replayed: ReplayedLine | None) -> str:
    if replayed is None or line.spec.geometry.size == 1:
        return ""
    return link(
        f"/games/{line.spec.game_id}/position",
        {"board": replayed.board.letters, "player": replayed.mover or line.player},
    )
