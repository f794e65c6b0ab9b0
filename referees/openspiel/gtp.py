"""OpenSpiel's games in the words of the Go Text Protocol.

As in OpenSpiel's own `examples/gtp.cc`: the command `game` says what is played, and moves are the
library's action strings, of which some have blanks in them.
"""

from collections.abc import Sequence

from referees.api import Outcome, UnreadableMove
from referees.openspiel.position import SpielMove, SpielPosition


class SpielDialogue:
    """What is said to an engine of one game."""

    def __init__(self, game: str) -> None:
        self._game = game

    def setup(self) -> Sequence[str]:
        """The game, and its first position."""
        return f"game {self._game}", "clear_board"

    def handicap(self) -> str | None:
        """There is none."""
        return None

    def check_handicap(self, response: str) -> None:
        """Raises UnreadableMove: there is none."""
        raise UnreadableMove("this game has no handicap")

    def ask_arrangement(self) -> str:
        """Raises UnreadableMove: nobody arranges the first position."""
        raise UnreadableMove("the first position is not for players to arrange")

    def tell_arrangement(self, position: SpielPosition) -> str:
        """Raises UnreadableMove: nobody arranges the first position."""
        raise UnreadableMove("the first position is not for players to arrange")

    def colour(self, seat: int) -> str:
        """`b` for OpenSpiel's player 0, who is Black in its chess too and does not move first there."""
        return "-bw"[seat]

    def vertex(self, move: SpielMove) -> str:
        """The action string."""
        return move.text

    def read_score(self, response: str) -> Outcome | None:
        """Games end by their rules, so nobody is asked."""
        return None
