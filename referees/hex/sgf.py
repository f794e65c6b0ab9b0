"""Games of Hex as SGF, FF[4] GM[11] (https://www.red-bean.com/sgf/hex.html), through sgfmill."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from sgfmill.sgf_grammar import main_sequence_iter

from referees.api import GameRecord, RecordedGame
from referees.hex import board
from referees.hex.board import BLACK
from referees.hex.settings import HexSettings
from referees.sgf import LETTERS, begin, read_games, read_text, with_heading, write_record

GAME_NUMBER: Final = "11"
DEFAULT_SIZE: Final = "11"
# The words instead of a last move.
_ENDINGS: Final = ("resign", "forfeit")
_SIZE: Final = re.compile(r"\s*(\d{1,4})\s*(?::\s*(\d{1,4})\s*)?")


def read(content: bytes, settings: HexSettings) -> list[RecordedGame]:
    """The main lines of a file's games. Raises UnreadableRecordError.

    A game that is not of Hex, on a board of this size, or that does not begin with the empty board has a
    fault.
    """
    return read_games(content, lambda tree: _main_line(list(main_sequence_iter(tree)), settings))


def _main_line(nodes: Sequence[Mapping[str, Sequence[bytes]]], settings: HexSettings) -> RecordedGame:
    root = nodes[0]
    if (game := read_text(root, "GM", GAME_NUMBER).strip()) != GAME_NUMBER:
        raise ValueError(f"it is of another game: GM[{game[:20]}], Hex is GM[{GAME_NUMBER}]")
    size_given = read_text(root, "SZ", DEFAULT_SIZE)
    size = _SIZE.fullmatch(size_given)
    if size is None or (int(size[1]), int(size[2] or size[1])) != (settings.columns, settings.rows):
        raise ValueError(f"its board is SZ[{size_given[:20]}], not {size_text(settings)}")
    mover = BLACK
    moves: list[str] = []
    for node in nodes:
        if not node.keys().isdisjoint(("AB", "AW", "AE")):
            raise ValueError(f"after move {len(moves)} stones are placed that nobody played: AB, AW or AE")
        played = [letter for letter in LETTERS.values() if letter in node]
        if not played:
            continue
        if played != [LETTERS[mover]]:
            raise ValueError(f"move {len(moves) + 1} is not by {LETTERS[mover]}, whose turn it is")
        text = read_text(node, LETTERS[mover])
        if text.strip().lower() in _ENDINGS:
            break
        move = board.read(text, settings.rows, settings.columns)
        moves.append(board.name(move, settings.rows, settings.columns))
        mover = 3 - mover
    return with_heading(root, moves)


def size_text(settings: HexSettings) -> str:
    """`11`, or columns and rows where they differ: `4:3`."""
    return f"{settings.columns}" if settings.square else f"{settings.columns}:{settings.rows}"


def write(game: GameRecord, settings: HexSettings) -> str:
    """The record's text; a void game has RE[Void]."""
    # sgfmill's games have no two numbers for a size.
    heading = begin(game, settings.columns).get_raw_property_map() | {
        "GM": [GAME_NUMBER.encode()],
        "SZ": [size_text(settings).encode()],
    }
    return write_record(
        heading, game, lambda played: board.name(played.move, settings.rows, settings.columns).encode()
    )
