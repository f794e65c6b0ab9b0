"""A bot to copy: it plays Hex, asks ACADEMY for openings, says what it expects, and proposes patterns.

In a control file: command = "python bot.py". docs/tutorials/first-bot.md explains each step.
"""

import random
from collections.abc import Sequence
from contextlib import suppress

from academy.knowledge.cutting import around_move
from clients import Academy, AcademyRefusedError, AcademyUnavailableError, Connection, Seat
from clients.bots.gtp import GtpError, GtpProgram
from clients.bots.search_game import make_search_game
from referees.hex import Hex


class Bot(GtpProgram):
    name = "my-bot"

    def __init__(self) -> None:
        super().__init__()
        connection = Connection.from_environment()
        self.connected = Academy(connection) if connection is not None else None
        self.set_up(Hex.from_settings({"board_size": 11}))

    def set_up(self, rules: Hex) -> None:
        spec = rules.spec()
        self.rules, self.seat = rules, Seat(spec.game_id, spec.geometry, player=1)
        self.academy: Academy | None = None
        self.gtp_clear_board(())

    def gtp_boardsize(self, arguments: Sequence[str]) -> str:
        self.set_up(Hex.from_settings({"board_size": self.argument(arguments, 0, int)}))
        if self.connected is not None:
            with suppress(AcademyRefusedError, AcademyUnavailableError):
                self.seat, self.academy = self.connected.seat(self.rules.spec()), self.connected
        return ""

    def gtp_clear_board(self, arguments: Sequence[str]) -> str:
        self.position, self.moves, self.value = self.rules.start(0), list[str](), 0.5
        return ""

    def gtp_play(self, arguments: Sequence[str]) -> str:
        player, text = self.position.mover, self.argument(arguments, 1, str)
        move = self.rules.read_move(self.position, player, text)
        self.position = self.rules.play(self.position, {player: move})
        self.moves.append(text)
        return ""

    def gtp_genmove(self, arguments: Sequence[str]) -> str:
        colour = self.argument(arguments, 0, str)
        player, before = self.position.mover, self.position
        legal = self.rules.legal_moves(before, player)
        if not legal:
            raise GtpError("the game is over")
        text = self.known_move() or self.rules.move_text(random.choice(legal))
        self.gtp_play([colour, text])
        game = make_search_game(self.rules, random.Random())
        over = not game.mover(self.position)
        results = [
            game.scores(self.position) if over else game.playout(self.position).scores for _ in range(30)
        ]
        value_before, self.value = self.value, sum(scores[player - 1] for scores in results) / len(results)
        boards = self.rules.board(before, player), self.rules.board(self.position, player)
        for pattern in around_move(*boards, player):
            self.seat.record_move(
                pattern, len(self.moves), value_before if len(self.moves) > 2 else None, self.value
            )
        return text

    def known_move(self) -> str | None:
        """Return the move that the opening tree recommends; None where there is none or fair use forbids."""
        if self.academy is None:
            return None
        try:
            known = self.academy.book_move(self.seat, self.moves, len(self.moves) // 2)
        except (AcademyRefusedError, AcademyUnavailableError):
            return None
        return known.move if known else None

    def gtp_academy__expected_value(self, arguments: Sequence[str]) -> str:
        return f"{self.value:.4f}"

    def gtp_quit(self, arguments: Sequence[str]) -> str:
        if self.academy is not None:
            with suppress(AcademyRefusedError, AcademyUnavailableError):
                self.academy.propose(self.seat, len(self.moves))
        return ""


if __name__ == "__main__":
    Bot().run()
