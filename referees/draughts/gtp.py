"""Draughts in the words of the Go Text Protocol."""

from collections.abc import Sequence

from referees.api import Outcome, Termination
from referees.dialogues import GtpGame
from referees.draughts import pdn
from referees.draughts.moves import DraughtsPosition, Move
from referees.draughts.settings import DraughtsSettings


class DraughtsDialogue(GtpGame[DraughtsPosition, Move]):
    """The commands to an engine of a game of draughts under given settings."""

    def __init__(self, settings: DraughtsSettings) -> None:
        self._variant = settings.variant

    def setup(self) -> Sequence[str]:
        """The variant, the board's rows, and the men in their rows."""
        return f"variant {self._variant.name}", f"boardsize {self._variant.layout.rows}", "clear_board"

    def colour(self, seat: int) -> str:
        """`b` or `w`."""
        return "w" if (seat == 1) == self._variant.white_first else "b"

    def vertex(self, move: Move) -> str:
        """The move's text, as the rest of the program spells it."""
        return pdn.write_move(move, self._variant.layout)

    def read_score(self, response: str) -> Outcome | None:
        """Read a result as PDN writes it, White's points first."""
        text = response.strip()
        if text in ("1/2-1/2", "1-1"):
            return Outcome((1, 2), Termination.SCORE, "1/2-1/2")
        for won, summary in ((True, "1-0"), (False, "0-1")):
            if text in (summary, summary.replace("1", "2")):
                return Outcome((1 if won == self._variant.white_first else 2,), Termination.SCORE, summary)
        return None
