"""A GTP engine for Go that plays at random or by Monte Carlo playouts, with ACADEMY or without.

    academy-go-bot random
    academy-go-bot monte-carlo --playouts 100 --academy

With `--academy` it consults and proposes; the arena tells it where, for which contest and as whom
(ACADEMY_ADDRESS, ACADEMY_CONTEST, ACADEMY_TOKEN, and for TLS ACADEMY_TLS_CA, _CERT and _KEY).
"""

import argparse
import os
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import TextIOWrapper
from typing import TypeVar

from clients.academy import Academy, Connection, Seat
from clients.bots.go_thinking import MonteCarloThinker, RandomThinker, Thinker
from clients.bots.gtp import GtpEngine, GtpError
from clients.bots.scholar import Scholar
from referees.api import IllegalMove, InvalidSetting, UnreadableMove
from referees.go import BLACK, PASS, WHITE, Go, GoPosition

Number = TypeVar("Number", int, float)

_COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


class GoEngine(GtpEngine):
    """The GTP commands of the bots; all rules are the referee's."""

    def __init__(self, name: str, thinker: Thinker, academy: Academy | None, contest_id: str) -> None:
        super().__init__()
        self.name = name
        self._thinker = thinker
        self._academy = academy
        self._contest_id = contest_id
        self._settings: dict[str, object] = {"board_size": 9, "komi": 7.5}
        self._begin()

    def _begin(self) -> None:
        """An empty board under the settings; the scholars of both colours are new."""
        self._referee = Go.from_settings(self._settings)
        self._position = self._referee.start(0)
        self._moves: list[str] = []
        self._scholars: dict[int, Scholar] = {}
        self._expected_value: float | None = None

    def _change(self, setting: str, value: object) -> None:
        try:
            Go.from_settings({**self._settings, setting: value})
        except InvalidSetting as error:
            raise GtpError("unacceptable size" if setting == "board_size" else str(error)) from None
        self._settings[setting] = value
        self._begin()

    def _number(self, arguments: Sequence[str], kind: Callable[[str], Number]) -> Number:
        try:
            return kind(arguments[0])
        except (IndexError, ValueError):
            raise GtpError(f"a number is needed, not {' '.join(arguments)!r}") from None

    def gtp_boardsize(self, arguments: Sequence[str]) -> str:
        """Change the size; the board is cleared."""
        self._settings.pop("handicap", None)
        self._change("board_size", self._number(arguments, int))
        return ""

    def gtp_clear_board(self, arguments: Sequence[str]) -> str:
        """Begin a new game."""
        self._finish()
        self._settings.pop("handicap", None)
        self._begin()
        return ""

    def gtp_komi(self, arguments: Sequence[str]) -> str:
        """Change komi; the stones stay."""
        position, moves = self._position, self._moves
        self._change("komi", self._number(arguments, float))
        self._position, self._moves = position, moves
        return ""

    def gtp_fixed_handicap(self, arguments: Sequence[str]) -> str:
        """Place handicap stones in the usual places."""
        self._change("handicap", self._number(arguments, int))
        stones = enumerate(self._position.stones)
        return " ".join(self._referee.move_text(point) for point, stone in stones if stone)

    def gtp_play(self, arguments: Sequence[str]) -> str:
        """Take in a move of either colour."""
        colour = self._colour(arguments)
        position = self._with_mover(colour)
        try:
            move = self._referee.read_move(position, colour, " ".join(arguments[1:]))
            self._position = self._referee.play(position, {colour: move})
        except UnreadableMove:
            raise GtpError("invalid color or coordinate") from None
        except IllegalMove:
            raise GtpError("illegal move") from None
        self._moves.append(self._referee.move_text(move))
        return ""

    def gtp_genmove(self, arguments: Sequence[str]) -> str:
        """Choose a move and make it."""
        colour = self._colour(arguments)
        position = self._with_mover(colour)
        if self._wins_by_passing(position):
            move, self._expected_value = PASS, 1.0
        else:
            chosen = self._scholar(colour).choose(position, self._moves)
            move, self._expected_value = chosen.move, chosen.value
        self._position = self._referee.play(position, {colour: move})
        self._moves.append(self._referee.move_text(move))
        return self._moves[-1]

    def gtp_academy__expected_value(self, arguments: Sequence[str]) -> str:
        """The bot's own expected value after its last move."""
        if self._expected_value is None:
            raise GtpError("no move generated yet")
        return f"{self._expected_value:.6f}"

    def gtp_final_score(self, arguments: Sequence[str]) -> str:
        """The area score, all stones alive."""
        return self._referee.adjudicate(self._position).summary

    def gtp_quit(self, arguments: Sequence[str]) -> str:
        """Propose what was learnt, and end."""
        self._finish()
        return ""

    def _colour(self, arguments: Sequence[str]) -> int:
        colour = _COLOURS.get(arguments[0].lower()) if arguments else None
        if colour is None:
            raise GtpError("invalid color or coordinate")
        return colour

    def _with_mover(self, colour: int) -> GoPosition:
        """GTP lets a colour move twice in a row, and go on after two passes."""
        position = self._position
        if position.passes >= 2:
            position = replace(position, passes=0)
        return position if position.mover == colour else replace(position, mover=colour)

    def _wins_by_passing(self, position: GoPosition) -> bool:
        winners = self._referee.adjudicate(position).winners
        return position.passes == 1 and winners == (position.mover,)

    def _scholar(self, colour: int) -> Scholar:
        if colour not in self._scholars:
            spec = self._referee.spec()
            seat = Seat(spec.game_id, spec.geometry, colour, self._contest_id)
            self._scholars[colour] = Scholar(self._thinker, self._referee, self._academy, seat)
        return self._scholars[colour]

    def _finish(self) -> None:
        for scholar in self._scholars.values():
            scholar.finish(len(self._moves))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the bot on standard input and output."""
    parser = argparse.ArgumentParser(prog="academy-go-bot", description=__doc__.partition("\n")[0])
    parser.add_argument("player", choices=("random", "monte-carlo"))
    parser.add_argument("--playouts", type=int, default=50, help="random games a move: the strength")
    parser.add_argument("--seed", type=int, help="for games that can be repeated")
    parser.add_argument(
        "--academy",
        nargs="?",
        const="",
        metavar="ADDRESS",
        help="consult and propose; without an address, where the arena says (ACADEMY_ADDRESS)",
    )
    options = parser.parse_args(arguments)
    if options.playouts < 1:
        parser.error(f"--playouts {options.playouts}: at least 1 is needed")
    chance = random.Random(options.seed)
    thinker: Thinker = RandomThinker(chance)
    name = "random"
    if options.player == "monte-carlo":
        thinker = MonteCarloThinker(options.playouts, chance)
        name = f"monte-carlo-{options.playouts}"
    academy = None
    if options.academy is not None:
        try:
            connection = (
                Connection(options.academy).with_environment()
                if options.academy
                else Connection.from_environment()
            )
            academy = Academy(connection) if connection else None
        except (OSError, ValueError) as error:
            parser.error(f"--academy: {error}")
    for stream in (sys.stdin, sys.stdout):
        # Whatever bytes arrive, each line is to be answered.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    GoEngine(name, thinker, academy, os.environ.get("ACADEMY_CONTEST", "")).run()


if __name__ == "__main__":
    main()
