"""A position that was played or pasted: its openings, its patterns, and what each move changes."""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar
from urllib.parse import quote_plus

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.boards import Board, GraphGeometry, InvalidBoardError
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells
from academy.v1 import consultation_pb2, pattern_pb2
from academy.wire.games import read_spec
from clients.responses import PatternMatch, pattern_matches
from web.academy_service import AcademyService
from web.drawing import BoardMarks, LastMove, draw_board, draw_pattern, is_map
from web.failures import PageError
from web.pages.candidates import Candidate, Comparison, compare, list_candidates
from web.pages.patterns import LIBRARIES
from web.pages.played_lines import board_after, cells_to_click, choose, known_moves, line_replays
from web.query import Query, check_game_id, link
from web.rendering import render
from web.replay import MOST_MOVES, ReplayedLine, boards_after, draw_letters, seat_names

__all__ = ["show_position"]

Answer = TypeVar("Answer")
_LIBRARY_CHOICES: Final = {"both": tuple(LIBRARIES.values()), **{name: (n,) for name, n in LIBRARIES.items()}}
_MOST_PATTERNS: Final = 60
_MOST_MATCHES: Final = 240
_MATCHES_EACH: Final = 8


@dataclass(frozen=True)
class _Match:
    """A pattern that lies on the board, once or several times."""

    number: int
    match: PatternMatch
    drawing: Markup
    cells: frozenset[int]
    times: int
    address: str
    shown: bool
    pattern_address: str


@dataclass(frozen=True)
class _State:
    """What the page's address says: a line that was played, or a board that was pasted."""

    spec: GameSpec
    moves: tuple[str, ...]
    letters: str
    player: int | None
    library: str
    opponent: str

    @property
    def fields(self) -> list[tuple[str, object]]:
        """All but the line or the board, as far as it is not usual."""
        return [
            ("player", self.player),
            ("library", self.library if self.library != "both" else None),
            ("opponent", self.opponent if self.opponent != "no" else None),
        ]

    def address(self, *more: tuple[str, object], moves: Sequence[str] | None = None) -> str:
        """Return the address of this position, or of another line, with more parameters."""
        line = self.moves if moves is None else moves
        board: list[tuple[str, object]] = [("m", move) for move in line]
        if moves is None and self.letters:
            board = [("board", self.letters)]
        return link(f"/games/{self.spec.game_id}/position", [*self.fields, *board, *more])

    def after(self, move: str) -> str:
        """Return the address after one more move; a page has hundreds of them."""
        return f"{self._continued}m={quote_plus(move)}"

    def looking_at(self, move: str) -> str:
        """Return the address where the patterns are shown that a move changes."""
        return f"{self._continued}look={quote_plus(move)}#changes"

    def choosing(self, cell: int | None) -> str:
        """Return the address where a cell is chosen, whose move ends elsewhere."""
        return self.address(("from", cell))

    @cached_property
    def _continued(self) -> str:
        here = self.address()
        return f"{here}{'&' if '?' in here else '?'}"


async def show_position(request: Request, academy: AcademyService) -> Response:
    """Show what is known of the position after the moves `m`, or of a pasted `board`, for `player`.

    `show` lights a pattern, `look` shows what a move changes, and `from` is where a move begins.
    """
    query = Query(
        request.query_params, ("m", "board", "player", "library", "opponent", "show", "look", "from")
    )
    game_id = check_game_id(request.path_params["game_id"])
    spec = read_spec((await academy.game(game_id)).game)
    library, libraries = query.choice("library", _LIBRARY_CHOICES, "both")
    opponent, both_players = query.choice("opponent", {"no": False, "yes": True}, "no")
    state = _State(
        spec,
        tuple(query.texts("m", MOST_MOVES)),
        "".join(query.text("board").split()),
        query.whole("player", 1, spec.players),
        library,
        opponent,
    )
    if state.moves and state.letters:
        why = "The address has both a board and a line of moves."
        raise PageError(400, "Two positions at once", why, "Leave one of them out.")
    context: dict[str, object] = {
        "game_id": game_id,
        "state": state,
        "libraries": list(_LIBRARY_CHOICES),
        "seats": seat_names(spec),
        "cells": spec.geometry.size,
        "rows": _as_rows(state.letters, spec),
        "start": state.address(moves=()),
        "trail": [(move, state.address(moves=state.moves[: at + 1])) for at, move in enumerate(state.moves)],
        "back": state.address(moves=state.moves[:-1]) if state.moves else "",
    }
    if state.letters:
        try:
            board = Board.from_letters(spec.geometry, state.letters)
        except InvalidBoardError as error:
            what = "This is not a board of the game"
            problem = PageError(400, what, f"{error}.", "Correct it in the form.")
            return render(request, "position.html", {**context, **_NOTHING, "problem": problem}, 400)
        replayed, picture = None, draw_letters(spec, board)
    else:
        replayed, reason = await board_after(spec, state.moves, state.player or 1)
        if replayed is None:
            return render(request, "position.html", {**context, **_NOTHING, "reason": reason})
        board, picture = replayed.board, replayed.drawing
    question = _Question(state, board, replayed, libraries, both_players, query.text("look"))
    answers = await _ask(academy, question)
    show = query.whole("show", 1, _MOST_PATTERNS) or 0
    chosen = query.whole("from", 0, spec.geometry.size - 1)
    moves = _list_moves(question, answers)
    matches, completed, ended = _patterns(question, answers, show)
    marks = BoardMarks(
        replayed.last if replayed is not None else LastMove(),
        {} if replayed is None else cells_to_click(spec, state, replayed, known_moves(answers.known), chosen),
        _by_cell([*(matches or ()), *(completed or ()), *(ended or ())]),
        next((match.cells for match in matches or () if match.shown), frozenset()).union(
            next((move.cells for move in moves if move.chosen), ()), () if chosen is None else (chosen,)
        ),
    )
    words = f"after {' '.join(state.moves[-6:])}" if state.moves else board.letters
    drawn = draw_board(picture, marks, f"The position {words}") if picture else None
    patterns, opening, compared = answers.patterns, answers.opening, answers.compared
    counted = patterns.positions[0] if not isinstance(patterns, PageError) else None
    context |= _NOTHING | {
        "rows": _as_rows(board.letters, spec),
        "player": question.player,
        "replayed": replayed,
        "mover": question.mover,
        "chosen": choose(state, chosen, replayed),
        "drawing": drawn.whole if drawn else None,
        "on_map": picture is not None and is_map(picture.layout),
        "opening": None if isinstance(opening, PageError) else opening,
        "openings": ""
        if replayed is None
        else link(f"/games/{game_id}/openings", [("m", move) for move in state.moves]),
        "moves": moves,
        "compared": compared if isinstance(compared, Comparison) else None,
        "looked_at": "" if completed is None else question.looked_at,
        "completed": completed,
        "ended": ended,
        "matches": matches,
        "more": counted is not None and (counted.more or counted.total > _MOST_MATCHES),
        "refusals": {
            str(answer): answer for answer in (patterns, opening, compared) if isinstance(answer, PageError)
        },
    }
    return render(request, "position.html", context)


@dataclass(frozen=True)
class _Question:
    """A position, and what is asked about it."""

    state: _State
    board: Board
    replayed: ReplayedLine | None
    libraries: Sequence[pattern_pb2.Library.ValueType]
    both_players: bool
    looked_at: str

    @property
    def mover(self) -> int | None:
        """Who is to move; None for all, nobody, or a pasted board."""
        return None if self.replayed is None else self.replayed.mover

    @property
    def player(self) -> int:
        """Whose figures are shown."""
        return self.state.player or self.mover or 1


@dataclass(frozen=True)
class _Answers:
    """What ACADEMY says of a position, or why it does not; None for what nobody asked."""

    patterns: consultation_pb2.MatchPatternsResponse | PageError
    opening: consultation_pb2.LookUpOpeningResponse | PageError | None
    compared: Comparison | PageError | None

    @property
    def known(self) -> Sequence[consultation_pb2.OpeningMove]:
        """The moves that the opening tree has, best first."""
        return self.opening.moves if isinstance(self.opening, consultation_pb2.LookUpOpeningResponse) else ()


async def _ask(academy: AcademyService, question: _Question) -> _Answers:
    game_id = question.state.spec.game_id
    position = consultation_pb2.Position(board=question.board.letters, player=question.player)

    async def find() -> consultation_pb2.MatchPatternsResponse:
        request = consultation_pb2.MatchPatternsRequest(
            game_id=game_id,
            positions=[position],
            libraries=question.libraries,
            max_matches=_MOST_MATCHES,
            max_matches_each=_MATCHES_EACH,
            both_players=question.both_players,
            include_cells=True,
        )
        return await academy.ask(academy.consultation.MatchPatterns, request)

    async def look_up() -> consultation_pb2.LookUpOpeningResponse | None:
        if question.replayed is None:
            return None
        return await academy.opening(game_id, question.player, question.state.moves)

    async def compare_moves() -> Comparison | None:
        if question.mover is None or question.mover != question.player:
            return None
        boards = await line_replays.run(boards_after, question.state.spec, question.state.moves)
        return await compare(academy, game_id, position, boards, question.libraries, question.looked_at)

    return _Answers(
        *await asyncio.gather(_or_refusal(find()), _or_refusal(look_up()), _or_refusal(compare_moves()))
    )


async def _or_refusal(answer: Awaitable[Answer]) -> Answer | PageError:
    """The answer, or why there is none: the other parts of the page are shown all the same."""
    try:
        return await answer
    except PageError as error:
        if error.status not in (400, 403):
            raise
        return error


def _list_moves(question: _Question, answers: _Answers) -> list[Candidate]:
    state = question.state
    legal = question.replayed.legal if question.replayed is not None else ()
    return list_candidates(
        answers.known,
        legal,
        answers.compared,
        lambda text: (state.after(text), state.looking_at(text)),
        question.looked_at,
    )


def _patterns(
    question: _Question, answers: _Answers, show: int
) -> tuple[list[_Match] | None, list[_Match] | None, list[_Match] | None]:
    """The patterns on the board, and those that the move that is looked at completes and ends."""
    matches = completed = ended = None
    if not isinstance(answers.patterns, PageError):
        matches = _grouped(pattern_matches(answers.patterns)[0], question, 1, show, on_board=True)
    if isinstance(answers.compared, Comparison) and answers.compared.shown is not None:
        gained, lost = answers.compared.shown
        completed = _grouped(gained, question, 1 + _MOST_PATTERNS, 0)
        ended = _grouped(lost, question, 1 + 2 * _MOST_PATTERNS, 0)
    return matches, completed, ended


# What a page without a position shows.
_NOTHING: Final[dict[str, object]] = {
    "player": 1,
    "replayed": None,
    "mover": None,
    "chosen": None,
    "drawing": None,
    "on_map": False,
    "opening": None,
    "openings": "",
    "moves": [],
    "compared": None,
    "looked_at": "",
    "completed": None,
    "ended": None,
    "matches": None,
    "more": False,
    "refusals": {},
    "reason": "",
    "problem": None,
}


def _grouped(
    matches: Iterable[PatternMatch],
    question: _Question,
    first_number: int,
    shown: int,
    *,
    on_board: bool = False,
) -> list[_Match]:
    """Matches by pattern, as they come: the strongest first. Those on the board can be shown there."""
    together: dict[tuple[int, str, bool], list[PatternMatch]] = {}
    for match in matches:
        together.setdefault((match.pattern_id, match.library.value, match.for_opponent), []).append(match)
    state, player = question.state, question.player
    spec, grouped = state.spec, []
    groups = list(together.items())[:_MOST_PATTERNS]
    for number, ((pattern_id, library, _), group) in enumerate(groups, first_number):
        cells = frozenset[int]().union(*(match.covered_cells(spec, player) for match in group))
        pattern = read_cells(group[0].cells, spec.geometry)
        own_page = link(f"/games/{spec.game_id}/patterns/{library}/{pattern_id}")
        grouped.append(
            _Match(
                number,
                group[0],
                draw_pattern(pattern, spec.geometry, f"Pattern {pattern_id}"),
                cells,
                len(group),
                f"{state.address(('show', number))}#board" if on_board else own_page,
                number == shown,
                own_page,
            )
        )
    return grouped


def _by_cell(matches: Sequence[_Match]) -> dict[int, list[int]]:
    by_cell: dict[int, list[int]] = {}
    for match in matches:
        for cell in match.cells:
            by_cell.setdefault(cell, []).append(match.number)
    return by_cell


def _as_rows(letters: str, spec: GameSpec) -> str:
    """A board's letters in rows, where it has rows."""
    if isinstance(spec.geometry, GraphGeometry):
        return letters
    columns = spec.geometry.columns
    return "\n".join(letters[at : at + columns] for at in range(0, len(letters), columns))
