"""Checks what is asked about positions at home, as ACADEMY checks what is asked there."""

from collections.abc import Iterable, Sequence

from academy.knowledge.boards import Board
from academy.knowledge.spec import GameSpec
from academy.v1 import game_pb2

__all__ = ["check_cells", "check_game", "check_positions"]


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
    """Check a board, cells of it, and whose move it is.

    Args:
        spec: The game.
        board: The position's board.
        cells: The cells, by index.
        player: Who is to move.

    Raises:
        ValueError: As from `check_positions`, or the board has no such cell.
    """
    check_positions(spec, [board], player)
    for cell in cells:
        if not 0 <= cell < spec.geometry.size:
            raise ValueError(f"cell {cell}: cells of {spec.game_id} are 0 to {spec.geometry.size - 1:,}")
