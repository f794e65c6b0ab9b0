"""Go in the words of the Go Text Protocol."""

import math
from collections.abc import Sequence
from typing import Final

from referees.api import Outcome, Termination, UnreadableMoveError
from referees.go import board
from referees.go.board import BLACK, WHITE, GoPosition, plain
from referees.go.settings import GoSettings, fixed_handicap
from referees.sgf import LETTERS

_COLOURS: Final = {seat: letter.lower() for seat, letter in LETTERS.items()}


class GoDialogue:
    """The commands to an engine of a game of Go under given settings."""

    def __init__(self, settings: GoSettings) -> None:
        self._settings = settings

    def setup(self) -> Sequence[str]:
        """Board size, empty board and komi."""
        return (
            f"boardsize {self._settings.board_size}",
            "clear_board",
            f"komi {komi_text(self._settings.komi)}",
        )

    def handicap(self) -> str | None:
        """`fixed_handicap`, when there is such a handicap."""
        if self._settings.handicap is None or self._settings.free_handicap is not None:
            return None
        return f"fixed_handicap {self._settings.handicap}"

    def check_handicap(self, response: str) -> None:
        """Compare the stones an engine placed with the standard layout. Raises UnreadableMoveError."""
        if self._settings.handicap is None:
            raise UnreadableMoveError("this game has no handicap")
        size = self._settings.board_size
        expected = fixed_handicap(self._settings.handicap, size)
        placed = [board.read(word, size) for word in response.split()]
        if set(placed) != expected or len(placed) != len(expected):
            layout = " ".join(board.name(point, size) for point in sorted(expected))
            raise UnreadableMoveError(f"handicap stones {response[:200]!r}: the standard layout is {layout}")

    def ask_arrangement(self) -> str:
        """`place_free_handicap`, with the number of stones that Black may place."""
        return f"place_free_handicap {self._settings.free_handicap}"

    def tell_arrangement(self, position: GoPosition) -> str:
        """`set_free_handicap`, with the stones of the first position."""
        size = self._settings.board_size
        points = (board.name(point, size) for point, stone in enumerate(position.stones) if stone)
        return " ".join(("set_free_handicap", *points))

    def colour(self, seat: int) -> str:
        """`b` or `w`."""
        return _COLOURS[seat]

    def vertex(self, move: int) -> str:
        """The move's text, as the rest of the program spells it."""
        return board.name(move, self._settings.board_size)

    def read_score(self, response: str) -> Outcome | None:
        """Read `0`, `B+3.5`, or a winner without a margin that makes sense (`W+`, `W+Resign`)."""
        text = response.strip().upper()
        if text == "0":
            return Outcome((BLACK, WHITE), Termination.SCORE, "0")
        for seat, letter in LETTERS.items():
            if text.startswith(f"{letter}+"):
                return Outcome((seat,), Termination.SCORE, f"{letter}+{_margin(text[2:])}")
        return None


def komi_text(komi: float) -> str:
    """Komi as engines expect it: with a point and without an exponent (`7.5`, `0.0`)."""
    text = plain(komi)
    return text if "." in text else f"{text}.0"


def _margin(text: str) -> str:
    try:
        margin = float(text)
    except ValueError:
        return ""
    return plain(margin) if math.isfinite(margin) and margin > 0 else ""
