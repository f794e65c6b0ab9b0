"""A GTP engine for draughts that plays the first legal move, in short notation, and knows the rules."""

from collections.abc import Sequence

from clients.bots.gtp import GtpError, GtpProgram
from referees.api import IllegalMoveError, UnreadableMoveError
from referees.draughts import Draughts


class FirstMove(GtpProgram):
    name = "first-move"

    def __init__(self) -> None:
        super().__init__()
        self._judge = Draughts.from_settings({"variant": "english"})
        self._position = self._judge.start(0)

    def gtp_variant(self, arguments: Sequence[str]) -> str:
        self._judge = Draughts.from_settings({"variant": arguments[0]})
        return ""

    def gtp_boardsize(self, arguments: Sequence[str]) -> str:
        if int(arguments[0]) != self._judge.settings.variant.layout.rows:
            raise GtpError("unacceptable size")
        return ""

    def gtp_clear_board(self, arguments: Sequence[str]) -> str:
        self._position = self._judge.start(0)
        return ""

    def gtp_play(self, arguments: Sequence[str]) -> str:
        colour, text = arguments
        seat = 1 if self._judge.seat_name(1)[0].lower() == colour else 2
        try:
            move = self._judge.read_move(self._position, seat, text)
            self._position = self._judge.play(self._position, {seat: move})
        except (UnreadableMoveError, IllegalMoveError):
            raise GtpError("illegal move") from None
        return ""

    def gtp_genmove(self, arguments: Sequence[str]) -> str:
        move = self._position.moves[0]
        text = self._judge.move_text(move)
        self.gtp_play((arguments[0], text))
        words = text.split("x")
        return f"{words[0]}x{words[-1]}" if len(words) > 1 else text


if __name__ == "__main__":
    FirstMove().run()
