"""Konane in the words of the Go Text Protocol, so that engines in any language can play it."""

from collections.abc import Sequence

from konane.board import KonaneBoard
from konane.position import KonaneMove, KonanePosition
from referees.dialogues import GtpGame


class KonaneDialogue(GtpGame[KonanePosition, KonaneMove]):
    """The commands to an engine: `boardsize 8`, `clear_board`, `play b d5`, `genmove w`."""

    def __init__(self, board: KonaneBoard) -> None:
        self._board = board

    def setup(self) -> Sequence[str]:
        """Board size and first position."""
        return f"boardsize {self._board.size}", "clear_board"

    def colour(self, seat: int) -> str:
        """`b` or `w`."""
        return "-bw"[seat]

    def vertex(self, move: KonaneMove) -> str:
        """The move as in records."""
        return self._board.text(move)
