"""A position that was pasted or played: which patterns lie on it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from academy.knowledge.boards import Board, GraphGeometry, InvalidBoardError
from academy.knowledge.patterns import Pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells
from academy.v1 import consultation_pb2
from academy.wire.games import read_spec
from clients.responses import PatternMatch, pattern_matches
from referees.drawing import draw_board as draw_letters
from web.drawing import BoardMarks, draw_board, draw_pattern, is_map
from web.failures import PageError
from web.knowledge import Knowledge
from web.pages.patterns import LIBRARIES
from web.query import Query, check_game_id, link
from web.rendering import render
from web.replay import NoBoardError, replay, seat_names

__all__ = ["covered_cells", "show_position"]

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


def covered_cells(match: PatternMatch, player: int, spec: GameSpec) -> frozenset[int]:
    """Return the cells of the board that a pattern says something about.

    Args:
        match: Where the pattern lies, with its cells.
        player: The seat that asked.
        spec: The game.
    """
    pattern = read_cells(match.cells, spec.geometry)
    image = pattern.image(spec.symmetry_group[match.symmetry])
    # Patterns are matched from the first player's side: for the other the board is reversed.
    reversed_ = spec.symmetric and spec.players == 2 and (player == 2) != match.for_opponent
    cells = _placed(image, match, spec)
    return frozenset(spec.reversed_cells[cell] if reversed_ else cell for cell in cells)


def _placed(image: Pattern, match: PatternMatch, spec: GameSpec) -> Iterator[int]:
    geometry = spec.geometry
    for row, column in image.cells:
        if isinstance(geometry, GraphGeometry):
            yield column
            continue
        row, column = row + match.row, column + match.column
        if 0 <= row < geometry.rows and 0 <= column < geometry.columns:
            yield row * geometry.columns + column


async def show_position(request: Request, knowledge: Knowledge) -> Response:
    """Show the patterns on the `board` for `player`; `show` lights one of them."""
    query = Query(request.query_params, ("board", "player", "library", "opponent", "show"))
    game_id = check_game_id(request.path_params["game_id"])
    spec = read_spec((await knowledge.game(game_id)).game)
    player = query.whole("player", 1, spec.players) or 1
    library, libraries = query.choice("library", _LIBRARY_CHOICES, "both")
    opponent, both_players = query.choice("opponent", {"no": False, "yes": True}, "no")
    letters = "".join(query.text("board").split())
    state = {"board": letters, "player": player, "library": library, "opponent": opponent}
    context = {
        "game_id": game_id,
        "state": state,
        "libraries": list(_LIBRARY_CHOICES),
        "seats": seat_names(spec),
        "cells": spec.geometry.size,
        "on_map": False,
        "example": _as_rows(_example(spec), spec),
        "rows": _as_rows(letters, spec),
        "matches": None,
        "drawing": None,
        "total": 0,
        "more": False,
        "problem": None,
    }
    if not letters:
        return render(request, "position.html", context)
    try:
        board = Board.from_letters(spec.geometry, letters)
    except InvalidBoardError as error:
        problem = PageError(400, "This is no board of the game", f"{error}.", "Correct it in the form.")
        return render(request, "position.html", {**context, "problem": problem}, problem.status)
    answer = await knowledge.match(
        consultation_pb2.MatchPatternsRequest(
            game_id=game_id,
            positions=[consultation_pb2.Position(board=letters, player=player)],
            libraries=libraries,
            max_matches=_MOST_MATCHES,
            max_matches_each=_MATCHES_EACH,
            both_players=both_players,
            include_cells=True,
        )
    )
    shown = query.whole("show", 1, _MOST_PATTERNS) or 0
    matches = _grouped(pattern_matches(answer)[0], state, spec, shown)
    marks = BoardMarks(
        matches=_by_cell(matches),
        lit=next((match.cells for match in matches if match.shown), frozenset()),
    )
    picture = draw_letters(board, spec.cell_names)
    drawn = draw_board(picture, marks, f"The position: {letters}") if picture else None
    counted = answer.positions[0]
    context |= {
        "matches": matches,
        "drawing": drawn.whole if drawn else None,
        "on_map": picture is not None and is_map(picture.layout),
        "total": counted.total,
        "more": counted.more or counted.total > _MOST_MATCHES,
    }
    return render(request, "position.html", context)


def _grouped(
    placements: Iterable[PatternMatch], state: dict[str, object], spec: GameSpec, shown: int
) -> list[_Match]:
    """Placements by pattern, as they come: the strongest first."""
    together: dict[tuple[int, str, bool], list[PatternMatch]] = {}
    for match in placements:
        together.setdefault((match.pattern_id, match.library.value, match.for_opponent), []).append(match)
    player = int(str(state["player"]))
    matches = []
    for number, ((pattern_id, library, _), group) in enumerate(list(together.items())[:_MOST_PATTERNS], 1):
        cells = frozenset[int]().union(*(covered_cells(match, player, spec) for match in group))
        pattern = read_cells(group[0].cells, spec.geometry)
        here = f"/games/{spec.game_id}"
        matches.append(
            _Match(
                number,
                group[0],
                draw_pattern(pattern, spec.geometry, f"Pattern {pattern_id}"),
                cells,
                len(group),
                link(f"{here}/position", {**state, "show": number}) + "#board",
                number == shown,
                link(f"{here}/patterns/{library}/{pattern_id}"),
            )
        )
    return matches


def _by_cell(matches: Sequence[_Match]) -> dict[int, list[int]]:
    by_cell: dict[int, list[int]] = {}
    for match in matches:
        for cell in match.cells:
            by_cell.setdefault(cell, []).append(match.number)
    return by_cell


def _example(spec: GameSpec) -> str:
    """The first position where a referee knows it, else an empty board."""
    try:
        return replay(spec, (), 1).board.letters
    except NoBoardError:
        return "-" * spec.geometry.size


def _as_rows(letters: str, spec: GameSpec) -> str:
    """A board's letters in rows, where it has rows."""
    if isinstance(spec.geometry, GraphGeometry):
        return letters
    columns = spec.geometry.columns
    return "\n".join(letters[at : at + columns] for at in range(0, len(letters), columns))
