"""OpenSpiel's games in the words of the Go Text Protocol.

As in OpenSpiel's own `examples/gtp.cc`: the command `game` says what is played, and moves are the
library's action strings, of which some have blanks in them.
"""

from collections.abc import Sequence

from referees.gtp import GtpGame
from referees.openspiel.position import SpielMove, SpielPosition


class SpielDialogue(GtpGame[SpielPosition, SpielMove]):
    """What is said to an engine of one game."""

    def __init__(self, game: str) -> None:
        self._game = game

    def setup(self) -> Sequence[str]:
        """The game, and its first position."""
        return f"game {self._game}", "clear_board"

    def colour(self, seat: int) -> str:
        """`b` for OpenSpiel's player 0, who is Black in its chess too and does not move first there."""
        return "-bw"[seat]

    def vertex(self, move: SpielMove) -> str:
        """The action string."""
        return move.text
