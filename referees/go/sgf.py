"""Games of Go as SGF, FF[4] (https://www.red-bean.com/sgf/), through sgfmill."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from sgfmill.sgf import Sgf_game, Tree_node
from sgfmill.sgf_properties import serialise_go_point

from referees.api import GameRecord, PlayedMove, RecordedGame
from referees.go import board
from referees.go.board import PASS, GoPosition
from referees.go.settings import GoSettings
from referees.sgf import LETTERS, begin, read_games, read_text, with_heading, write_record

GAME_NUMBER: Final = "1"
_PASS_TEXT: Final = board.name(PASS, 19)
_RANK: Final = re.compile(r"\s*([1-9]|[1-4]\d)\s*([kdp])(?:yu|an|ro)?\s*[?*]?\s*", re.IGNORECASE)


def read(content: bytes, settings: GoSettings, first: GoPosition) -> list[RecordedGame]:
    """The main lines of a file's games. Raises UnreadableRecordError.

    A game that is not of Go, on a board of this size, or that does not begin with the first position's
    stones and mover has a fault; one with a komi that differs by more than a point a doubt.
    """
    return read_games(content, lambda tree: _main_line(Sgf_game.from_coarse_game_tree(tree), settings, first))


def elo_of_rank(rank: str) -> float | None:
    """The rating of a rank such as `3k`, `2 dan` or `9p`, on the scale of the European Go Federation.

    1 dan is 2100, a rank 100 points, a professional one 30 from 2700 for the first
    (https://www.europeangodatabase.eu). None for any other text.
    """
    match = _RANK.fullmatch(rank)
    if match is None:
        return None
    number, kind = int(match[1]), match[2].lower()
    return {"k": 2100 - 100 * number, "d": 2000 + 100 * number, "p": 2670 + 30 * number}[kind]


def _main_line(game: Sgf_game, settings: GoSettings, first: GoPosition) -> RecordedGame:
    size = settings.board_size
    nodes = game.get_main_sequence()
    root = nodes[0]
    number = read_text(root.get_raw_property_map(), "GM", GAME_NUMBER).strip()
    if number != GAME_NUMBER:
        raise ValueError(f"it is of another game: GM[{number[:20]}], Go is GM[{GAME_NUMBER}]")
    if game.get_size() != size:
        raise ValueError(f"its board has {game.get_size()} rows, not {size}")
    _check_first_position(root, size, first)
    mover = first.mover
    moves: list[str] = []
    for node in nodes:
        if node is not root and node.has_setup_stones():
            raise ValueError(f"after move {len(moves)} stones are placed that nobody played")
        played = [letter for letter in LETTERS.values() if node.has_property(letter)]
        if not played:
            continue
        if played != [LETTERS[mover]]:
            raise ValueError(f"move {len(moves) + 1} is not by {LETTERS[mover]}, whose turn it is")
        moves.append(_read_move(node, len(moves) + 1, size))
        mover = 3 - mover
    # Some servers ask for a third pass, or write one.
    while moves[-3:] == [_PASS_TEXT] * 3:
        moves.pop()
    heading = root.get_raw_property_map()
    return with_heading(heading, moves, elo_of_rank)._replace(doubt=_doubt(heading, settings))


def _doubt(heading: Mapping[str, Sequence[bytes]], settings: GoSettings) -> str:
    """Empty where a record's komi, if it has one, gives the same result but in the closest games."""
    given = read_text(heading, "KM", str(settings.komi)).strip()
    try:
        komi = float(given)
    except ValueError:
        return f"its komi, KM[{given[:20]}], is not a number"
    if math.isfinite(komi) and abs(komi - settings.komi) <= 1.0:
        return ""
    return f"its komi is {komi:g}, more than a point from {settings.komi:g}"


def _check_first_position(root: Tree_node, size: int, first: GoPosition) -> None:
    try:
        black, white, empty = root.get_setup_stones()
    except ValueError:
        raise ValueError(f"AB, AW or AE hold what is not a point of a board of {size} rows") from None
    stones = {point for point, stone in enumerate(first.stones) if stone}
    if white or empty or {_point(cell, size) for cell in black} != stones:
        raise ValueError("its first position is another: AB, AW or AE differ")


def _read_move(node: Tree_node, number: int, size: int) -> str:
    try:
        _, cell = node.get_move()
    except ValueError:
        # sgfmill says nothing.
        colour, raw = node.get_raw_move()
        text = f"{colour.upper()}[{raw[:20].decode('utf-8', 'replace')}]"
        raise ValueError(f"move {number}: {text} is not a point of a board of {size} rows") from None
    return board.name(PASS if cell is None else _point(cell, size), size)


def write(game: GameRecord, settings: GoSettings, first: bytes) -> str:
    """The record's text; `first` are the stones of the first position.

    The root's comment holds the remarks, a move's comment its player's comment and expectation, and the
    last node's comment the final remarks. A void game has RE[Void].
    """
    size = settings.board_size
    root = begin(game, size)
    root.set("KM", settings.komi)
    if settings.handicap is not None:
        stones = [point for point, stone in enumerate(first) if stone]
        root.set("HA", len(stones))
        root.set_setup_stones([_cell(point, size) for point in stones], [])

    def raw(played: PlayedMove) -> bytes:
        cell = None if played.move == PASS else _cell(played.move, size)
        return bytes(serialise_go_point(cell, size))

    return write_record(root.get_raw_property_map(), game, raw)


def _point(cell: tuple[int, int], size: int) -> int:
    row, column = cell
    return (size - 1 - row) * size + column


def _cell(point: int, size: int) -> tuple[int, int]:
    row, column = divmod(point, size)
    return size - 1 - row, column
