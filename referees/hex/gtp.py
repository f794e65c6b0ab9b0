"""Hex in the words of HTP, the Hex Text Protocol of HexGui and MoHex: GTP with cells of Hex."""

from collections.abc import Sequence

from referees.api import Outcome, Termination
from referees.dialogues import GtpGame
from referees.hex import board
from referees.hex.board import HexPosition
from referees.hex.settings import HexSettings
from referees.sgf import LETTERS


class HexDialogue(GtpGame[HexPosition, int]):
    """The commands to an engine of a game of Hex under given settings."""

    def __init__(self, settings: HexSettings) -> None:
        self._settings = settings

    def setup(self) -> Sequence[str]:
        """Board size, columns first if they differ from rows, and empty board."""
        size = f"{self._settings.columns}"
        if not self._settings.square:
            size += f" {self._settings.rows}"
        return f"boardsize {size}", "clear_board"

    def colour(self, seat: int) -> str:
        """`b` or `w`."""
        return LETTERS[seat].lower()

    def vertex(self, move: int) -> str:
        """The move's text, as the rest of the program spells it."""
        return board.name(move, self._settings.rows, self._settings.columns)

    def read_score(self, response: str) -> Outcome | None:
        """Read `B+` or `W+`; `cannot score` says nothing."""
        for seat, letter in LETTERS.items():
            if response.strip().upper().startswith(f"{letter}+"):
                return Outcome((seat,), Termination.SCORE, f"{letter}+")
        return None
