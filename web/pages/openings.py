"""The opening explorer: a line of moves, its board, and what is known of each continuation."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Final
from urllib.parse import quote_plus

from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.book import FEWEST_VISITS, PRIOR_VISITS
from academy.knowledge.spec import GameSpec
from academy.v1 import consultation_pb2, history_pb2
from academy.wire.games import read_spec
from web.academy_service import AcademyService
from web.drawing import BoardMarks, draw_board, is_map
from web.pages.known_contests import arena_games, list_contests
from web.pages.played_lines import board_after, cells_of_move, cells_to_click, choose, known_moves
from web.query import Query, check_game_id, link
from web.rendering import render
from web.replay import MOST_MOVES, ReplayedLine, seat_names

__all__ = ["show_openings"]

_MOST_TRANSPOSITIONS: Final = 4
_Move = consultation_pb2.OpeningMove
# What was played most comes first: a move that was played once may have any value.
_FIRST_SORT: Final = "visits"
_SORTS: Final[dict[str, Callable[[_Move], float] | None]] = {
    _FIRST_SORT: lambda move: -float(move.statistics.visits),
    "best": None,
    "value": lambda move: -move.statistics.value,
    "elo": lambda move: -move.statistics.elo,
}


@dataclass(frozen=True)
class _Row:
    """A continuation with where it leads."""

    move: _Move
    address: str
    rank: int
    cells: Sequence[int] = ()

    @property
    def same(self) -> list[str]:
        """The other spellings of the move under the position's symmetries."""
        return [move for move in self.move.equivalents if move != self.move.move]


@dataclass(frozen=True)
class _Filter:
    """Which contests a count is of, as the address has it."""

    elo: str
    since: str
    until: str
    wanted: history_pb2.ContestFilter | None

    @classmethod
    def read(cls, query: Query) -> "_Filter":
        """Read the filter of an address. Raises PageError."""
        elo, since, until = query.number("elo", -10_000, 10_000), query.date("since"), query.date("until")
        wanted = None
        if not (elo is None and since is None and until is None):
            wanted = history_pb2.ContestFilter(min_elo=elo)
            if since is not None:
                wanted.since.FromDatetime(since)
            if until is not None:
                # The day itself counts too.
                wanted.until.FromDatetime(until + timedelta(days=1))
        return cls(query.text("elo"), query.text("since"), query.text("until"), wanted)


@dataclass(frozen=True)
class _Line:
    """A line of a game, and how the page shows it."""

    spec: GameSpec
    moves: tuple[str, ...]
    player: int
    sort: str
    filter: _Filter

    def address(
        self, moves: Sequence[str], *, player: int = 0, sort: str = "", cell: int | None = None
    ) -> str:
        """Return the address of a line, for this player and in this order but for what is given."""
        player, sort = player or self.player, sort or self.sort
        return link(
            f"/games/{self.spec.game_id}/openings",
            [
                ("player", player if player != 1 else None),
                ("sort", sort if sort != _FIRST_SORT else None),
                ("elo", self.filter.elo),
                ("since", self.filter.since),
                ("until", self.filter.until),
                *(("m", move) for move in moves),
                ("from", cell),
            ],
        )

    def after(self, move: str) -> str:
        """Return the address after one more move; a page has hundreds of them."""
        return f"{self._continued}{quote_plus(move)}"

    def choosing(self, cell: int | None) -> str:
        """Return the address where a cell is chosen, whose move ends elsewhere."""
        return self.address(self.moves, cell=cell)

    @cached_property
    def _continued(self) -> str:
        here = self.address(self.moves)
        return f"{here}{'&' if '?' in here else '?'}m="


async def show_openings(request: Request, academy: AcademyService) -> Response:
    """Show what is known after the moves `m`, with the figures of `player`."""
    query = Query(request.query_params, ("m", "player", "sort", "elo", "since", "until", "from"))
    game_id = check_game_id(request.path_params["game_id"])
    spec = read_spec((await academy.game(game_id)).game)
    player = query.whole("player", 1, spec.players) or 1
    sort, key = query.choice("sort", _SORTS, _FIRST_SORT)
    line = _Line(spec, tuple(query.texts("m", MOST_MOVES)), player, sort, _Filter.read(query))
    explored = history_pb2.ExploreOpeningRequest(
        game_id=game_id, player=player, moves=line.moves, filter=line.filter.wanted
    )
    known, happened, games, (replayed, reason) = await asyncio.gather(
        academy.opening(game_id, player, line.moves),
        academy.ask(academy.history.ExploreOpening, explored),
        arena_games(request),
        board_after(spec, line.moves, player),
    )
    moves = list(known.moves) if key is None else sorted(known.moves, key=key)
    rows = [
        _Row(move, line.after(move.move), rank, cells_of_move(spec, replayed, move.move))
        for rank, move in enumerate(moves, 1)
    ]
    drawing = None
    chosen = choose(line, query.whole("from", 0, spec.geometry.size - 1), replayed)
    if replayed is not None:
        links = cells_to_click(spec, line, replayed, known_moves(moves), chosen.cell)
        lit = frozenset(() if chosen.cell is None else (chosen.cell,))
        drawing = draw_board(replayed.drawing, BoardMarks(replayed.last, links, lit=lit), _label(line)).whole
    context = {
        "game_id": game_id,
        "line": line,
        "trail": [(move, line.address(line.moves[: number + 1])) for number, move in enumerate(line.moves)],
        "start": line.address(()),
        "back": line.address(line.moves[:-1]) if line.moves else "",
        "known": known.known,
        "statistics": known.position if known.HasField("position") else None,
        "recommended": known.recommendation if known.HasField("recommendation") else None,
        "why_not_first": _why_not_first(known, sort),
        "recommended_address": line.after(known.recommendation.move),
        "rows": rows,
        "first_sort": _FIRST_SORT,
        "sorts": {name: line.address(line.moves, sort=name) for name in _SORTS},
        "seats": [
            (number, name, line.address(() if spec.simultaneous else line.moves, player=number))
            for number, name in enumerate(seat_names(spec), 1)
        ],
        "drawing": drawing,
        "chosen": chosen,
        "on_map": replayed is not None and is_map(replayed.drawing.layout),
        "reason": reason,
        "replayed": replayed,
        "others": _other_moves(line, replayed, rows),
        "position": _position_address(line, replayed),
        "transpositions": await _same_positions(line, replayed, happened.transpositions),
        "newest": list_contests(happened.newest, games, len(line.moves)),
        "strongest": list_contests(happened.strongest, games, len(line.moves)),
        "filter": line.filter,
        "filtered": _filtered(line, happened),
        "clear": replace(line, filter=_Filter("", "", "", None)).address(line.moves),
    }
    # Neither ACADEMY nor the rules know such a line: the page only says why.
    is_unknown = bool(line.moves) and not known.known and replayed is None
    return render(request, "openings.html", context, 404 if is_unknown else 200)


def _why_not_first(known: consultation_pb2.LookUpOpeningResponse, sort: str) -> str:
    """Why the recommended move is not the first of the list by value; "" where it is, or for other lists."""
    if sort != "best" or not known.HasField("recommendation"):
        return ""
    first, recommended = known.moves[0], known.recommendation.move
    if recommended in (first.move, *first.equivalents):
        return ""
    if first.statistics.visits < FEWEST_VISITS and not first.statistics.HasField("analysis"):
        return (
            f"The list begins with {first.move}, which was played in only {first.statistics.visits} of "
            f"{FEWEST_VISITS} contests that a recommendation takes."
        )
    return (
        f"The list begins with {first.move} by the plain mean of results and values. For a recommendation "
        f"{PRIOR_VISITS} even results or more are added, the best known reply counts, and the less a move "
        "was played, the more is taken off."
    )


@dataclass(frozen=True)
class _FilteredCount:
    """What a filter leaves of a game's newest contests, and what was played there."""

    counted: history_pb2.FilteredOpening
    oldest: str
    moves: Sequence[tuple[history_pb2.FilteredMove, str]]


def _filtered(line: _Line, happened: history_pb2.ExploreOpeningResponse) -> _FilteredCount | None:
    if line.filter.wanted is None:
        return None
    counted = happened.filtered
    oldest = counted.oldest.ToDatetime().strftime("%Y-%m-%d") if counted.looked_through else ""
    return _FilteredCount(counted, oldest, [(move, line.after(move.move)) for move in counted.moves])


async def _same_positions(
    line: _Line, here: ReplayedLine | None, others: Sequence[history_pb2.Transposition]
) -> list[tuple[str, str, int]]:
    """Other orders of the moves that the referee takes to the same position: moves, address, contests."""
    if here is None:
        return []
    same = []
    for other in others[:_MOST_TRANSPOSITIONS]:
        reached, _ = await board_after(line.spec, tuple(other.moves), line.player)
        if reached is not None and (reached.board, reached.mover) == (here.board, here.mover):
            same.append((" ".join(other.moves), line.address(other.moves), other.visits))
    return same


def _label(line: _Line) -> str:
    return f"The board after {' '.join(line.moves[-6:])}" if line.moves else "The board at the start"


def _other_moves(line: _Line, replayed: ReplayedLine | None, rows: Sequence[_Row]) -> list[tuple[str, str]]:
    """Legal moves that ACADEMY does not know here."""
    if replayed is None:
        return []
    known = {text for row in rows for text in (row.move.move, *row.move.equivalents)}
    return [(text, line.after(text)) for text in replayed.legal if text not in known]


def _position_address(line: _Line, replayed: ReplayedLine | None) -> str:
    if replayed is None or line.spec.geometry.size == 1:
        return ""
    return link(
        f"/games/{line.spec.game_id}/position",
        [*(("m", move) for move in line.moves), ("player", None if replayed.mover else line.player)],
    )
