"""What the Go Text Protocol, version 2, needs to know of a game that is played over it."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from referees.api import Outcome, UnreadableMoveError

Position = TypeVar("Position", contravariant=True)
Move = TypeVar("Move", contravariant=True)


class GtpGame(Protocol[Position, Move]):
    """Words of a game in GTP; `Referee.dialogue("gtp")` gives one, bound to the referee's settings.

    Of games without handicap that are counted by their rules alone, a subclass need say only `setup`,
    `colour` and `vertex`.
    """

    def setup(self) -> Sequence[str]:
        """Commands that bring an engine to an empty board (`boardsize 9`, `clear_board`, `komi 7.5`)."""

    def handicap(self) -> str | None:
        """The command both engines are sent to place handicap stones; None without a fixed handicap."""
        return None

    def check_handicap(self, response: str) -> None:
        """Check the engine's answer to that command. Raises UnreadableMoveError where it placed others."""
        raise UnreadableMoveError("this game has no handicap")

    def ask_arrangement(self) -> str:
        """The command that asks an engine for the first position; `Referee.arrange` reads the answer."""
        raise UnreadableMoveError("in this game no player arranges the first position")

    def tell_arrangement(self, position: Position) -> str:
        """The command that tells an engine of a first position it did not arrange."""
        raise UnreadableMoveError("in this game no player arranges the first position")

    def colour(self, seat: int) -> str:
        """The seat in GTP's words (`b`)."""

    def vertex(self, move: Move) -> str:
        """A move as engines are told it (`D4`, `pass`), in one word or several."""

    def read_score(self, response: str) -> Outcome | None:
        """The outcome in an answer to `final_score`; None where it says nothing."""
        return None
