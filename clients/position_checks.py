"""Checks what is asked about positions at home, as ACADEMY checks what is asked there."""

from collections.abc import Iterable, Sequence
from typing import Final

from academy.knowledge.boards import Board, Geometry
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec
from academy.v1 import game_pb2

__all__ = ["check_cell", "check_cells", "check_game", "check_moves", "check_number", "check_positions"]

_MOST_SENT: Final = 2**32 - 1


def check_game(spec: GameSpec, known: game_pb2.Game) -> None:
    """Check that a game is played on the board of one that ACADEMY knows, which may have another name.

    Args:
        spec: The game.
        known: ACADEMY's.

    Raises:
        ValueError: The boards differ.
    """
    # Importing the client brings the messages and the rules of knowledge alone.
    from academy.wire.games import game_message

    if game_message(spec).geometry != known.geometry:
        raise ValueError(
            f"{spec.game_id} is played on another board than {known.game_id} at ACADEMY: give the referee's "
            "spec() of the contest's own game"
        )


def check_positions(spec: GameSpec, boards: Iterable[Board], player: int) -> None:
    """Check boards and whose move it is.

    Args:
        spec: The game.
        boards: The positions' boards.
        player: Who is to move.

    Raises:
        ValueError: A board has another size than the game's, or the player is neither 1 nor 2.
    """
    if player not in (1, 2):
        raise ValueError(f"player {player}: it is 1 or 2, who is to move")
    size = spec.geometry.size
    for board in boards:
        if len(board.states) != size:
            raise ValueError(f"a board of {len(board.states):,} cells: those of {spec.game_id} have {size:,}")


def check_cells(spec: GameSpec, board: Board, cells: Sequence[int], player: int) -> None:
    """Check a board, empty cells of it to move to, and whose move it is.

    Args:
        spec: The game.
        board: The position's board.
        cells: The cells, by index.
        player: Who is to move.

    Raises:
        ValueError: As from `check_positions`, or the board has no such cell, it is not empty, or a
            piece would fall past it.
    """
    check_positions(spec, [board], player)
    for cell in cells:
        check_cell(spec.game_id, spec.geometry, cell)
        if board.states[cell] != State.EMPTY:
            raise ValueError(f"cell {cell}: moves go to empty cells")
        if spec.falls_past(board, cell):
            raise ValueError(f"cell {cell}: a piece falls past it; give the lowest empty cell of its column")


def check_cell(game_id: str, geometry: Geometry, cell: int) -> None:
    """Check a cell's index.

    Args:
        game_id: The game's name.
        geometry: The game's board.
        cell: The cell, by index.

    Raises:
        ValueError: The board has no such cell.
    """
    if not 0 <= cell < geometry.size:
        raise ValueError(f"cell {cell}: cells of {game_id} are 0 to {geometry.size - 1:,}")


def check_moves(name: str, moves: Sequence[str]) -> None:
    """Check that moves are several texts: one text is a sequence too, of its letters.

    Args:
        name: What they are called.
        moves: The moves.

    Raises:
        ValueError: They are one text.
    """
    if isinstance(moves, str):
        raise ValueError(
            f"{name} {moves!r}: one text, where a list of moves belongs; write [{moves!r}] for one move"
        )


def check_number(name: str, number: int, least: int = 0, most: int = _MOST_SENT) -> None:
    """Check a number that ACADEMY is sent.

    Args:
        name: What it is called.
        number: The number.
        least: The least that it may be.
        most: The most that it may be; by default what a message holds.

    Raises:
        ValueError: It is less or more.
    """
    if not least <= number <= most:
        raise ValueError(f"{name} {number:,}: it is from {least:,} to {most:,}")
