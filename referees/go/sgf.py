"""Games of Go as SGF, FF[4] (https://www.red-bean.com/sgf/), through sgfmill."""

from sgfmill.sgf import Sgf_game
from sgfmill.sgf_properties import serialise_go_point

from referees.api import GameRecord, PlayedMove
from referees.go import board
from referees.go.board import PASS, GoPosition
from referees.go.settings import GoSettings
from referees.sgf import LETTERS, begin, read_games, write_record


def read(content: bytes, size: int, first: GoPosition) -> list[tuple[str, list[str]]]:
    """Each game's name (GN) and the moves of its main line. Raises UnreadableRecordError.

    The games must be on a board of this size and begin with the first position's stones and mover.
    """
    return read_games(content, lambda tree: _main_line(Sgf_game.from_coarse_game_tree(tree), size, first))


def _main_line(game: Sgf_game, size: int, first: GoPosition) -> tuple[str, list[str]]:
    if game.get_size() != size:
        raise ValueError(f"its board has {game.get_size()} rows, not {size}")
    root, *nodes = game.get_main_sequence()
    black, white, empty = root.get_setup_stones()
    stones = {point for point, stone in enumerate(first.stones) if stone}
    if white or empty or {_point(cell, size) for cell in black} != stones:
        raise ValueError("its first position is another: AB, AW or AE differ")
    mover = first.mover
    moves: list[str] = []
    for node in nodes:
        if node.has_setup_stones():
            raise ValueError(f"after move {len(moves)} stones are placed that nobody played")
        colour, cell = node.get_move()
        if colour is None:
            continue
        if colour != LETTERS[mover].lower():
            raise ValueError(f"move {len(moves) + 1} is not by {LETTERS[mover]}, whose turn it is")
        moves.append(board.name(PASS if cell is None else _point(cell, size), size))
        mover = 3 - mover
    return (root.get("GN") if root.has_property("GN") else ""), moves


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
