"""Lets a GTP engine play at an arena that it dials in to, as `cgosGtp` does for CGOS.

    arena-gtp-connect --player NAME --address HOST:PORT --token-file FILE -- gnugo --mode gtp --level 10

The engine is started for each game and ended after it. Any game of the arena that GTP engines play can be
played; a game with a board arranged by a player is declined. What leads the engine to ACADEMY is in the
variables that an arena gives players of its own (ACADEMY_ADDRESS, ACADEMY_CONTEST, ACADEMY_TOKEN, ...). The
values that it answers to `academy-expected_value` go to the arena with its moves.
"""

import argparse
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, cast

from academy.wire.standard_streams import open_closed
from clients.bots.connector import connect, connector_parser, environment, read_arguments, rules_of
from clients.command_line import ending_with_its_output
from clients.remote_game import Answer, Game, GameDeclinedError, GameTurn
from referees.dialogues import GtpGame
from referees.legible_text import legible

END_SECONDS: Final = 5.0
# The arena says how long a player may take to start; this is for engines that never do.
START_SECONDS: Final = 600.0
# What an engine may be late by, until it is ended: the arena has ended its game by then.
LATE_SECONDS: Final = 2.0
# Characters in an answer.
MAX_ANSWER: Final = 1_000_000


class EngineError(Exception):
    """The engine failed, ended, or answered what is not GTP."""


class EngineProcess:
    """A GTP engine that runs."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str]) -> None:
        """Raises EngineError where it does not start."""
        self._name = command[0]
        self._fate = "has ended"
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=variables,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise EngineError(f"{self._name}: {error.strerror}") from error

    def ask(self, command: str) -> str:
        """The answer to a command. Raises EngineError for a failure, and where the engine has ended."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(f"{command}\n")
            process.stdin.flush()
            lines: list[str] = []
            left = MAX_ANSWER
            # Blank lines before an answer mean nothing; after it they end it.
            while (line := process.stdout.readline(left)) and (line.strip() or not lines):
                left -= len(line)
                if not left:
                    self._end_at_once(f"answers with more than {MAX_ANSWER:,} characters")
                    break
                if line.strip():
                    lines.append(line.rstrip())
        except (OSError, ValueError) as error:
            # Python raises ValueError for the closed pipes of an engine that was ended meanwhile.
            why = getattr(error, "strerror", None) or error
            raise EngineError(f"{self._name} {self._fate} ({command}): {why}") from error
        if not (lines and left):
            raise EngineError(f"{self._name} {self._fate} ({command})")
        text = "\n".join([lines[0][1:].lstrip(), *lines[1:]])
        if lines[0][0] != "=":
            raise EngineError(f"{self._name} answers {command!r} with {lines[0]!r}")
        return text

    def knows(self, command: str) -> bool:
        """Whether the engine has a command."""
        return self.ask(f"known_command {command}").lower() == "true"

    @contextmanager
    def ended_after(self, seconds: float) -> Iterator[None]:
        """End the engine if what is done takes longer: who waits hears nothing of the game's end."""
        timer = threading.Timer(
            seconds, self._end_at_once, (f"did not answer within {seconds:.3g} s, and was ended",)
        )
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _end_at_once(self, why: str) -> None:
        self._fate = why
        self.kill()

    def end(self) -> None:
        """Ask the engine to quit; end it if it stays."""
        # Its pipes are closed where it has ended by itself.
        with suppress(subprocess.TimeoutExpired, OSError, ValueError):
            self._process.communicate("quit\n", END_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the engine at once."""
        self._process.kill()
        self._process.wait()


class SeatedEngine:
    """An engine in its seat of one game."""

    def __init__(self, game: Game, command: Sequence[str]) -> None:
        """Raises GameDeclinedError for a game that it cannot play."""
        self._game = game
        rules = rules_of(game)
        words = cast("GtpGame[Any, Any] | None", rules.dialogue("gtp"))
        if words is None or rules.arranger() is not None:
            raise GameDeclinedError(f"{game.name}: this game is not played over GTP here")
        self._words = words
        self._seen = 0
        # Its last answer, which the arena confirms among the moves.
        self._own: str | None = None
        # A question that is open at the game's end gets no answer, or a part of one: nobody wants it.
        self._over = False
        try:
            self.engine = EngineProcess(command, environment(game))
        except EngineError as error:
            raise GameDeclinedError(str(error)) from None
        try:
            with self.engine.ended_after(START_SECONDS):
                self._set_up()
        except EngineError as error:
            self.engine.end()
            raise GameDeclinedError(str(error)) from None

    def _set_up(self) -> None:
        handicap = self._words.handicap()
        for command in (*self._words.setup(), *([] if handicap is None else [handicap])):
            self.engine.ask(command)
        self._knows_time_left = self.engine.knows("time_left")
        self._states_values = self.engine.knows("academy-expected_value")
        times = _time_settings(self._game)
        if times is not None and self.engine.knows("time_settings"):
            self.engine.ask(f"time_settings {times}")

    def end(self) -> None:
        """End the engine."""
        self._over = True
        self.engine.end()

    def abandon(self) -> None:
        """End the engine at once."""
        self._over = True
        self.engine.kill()

    def choose(self, turn: GameTurn) -> Answer:
        """Return the engine's move; an engine that fails resigns this game, and others go on."""
        try:
            with self.engine.ended_after(turn.seconds_left + LATE_SECONDS):
                return self._ask_for_move(turn)
        except EngineError as error:
            if not self._over:
                print(legible(f"{self._game.game_id}: resigned: {error}"), file=sys.stderr, flush=True)
            return Answer(None, comment=str(error))

    def _ask_for_move(self, turn: GameTurn) -> Answer:
        for seat, text in turn.moves[self._seen :]:
            if seat == self._game.seat and self._own is not None:
                self._own = None
            else:
                self.engine.ask(f"play {self._words.colour(seat)} {text}")
        self._seen = len(turn.moves)
        colour = self._words.colour(self._game.seat)
        if self._game.move_seconds is None and self._knows_time_left:
            self.engine.ask(f"time_left {colour} {int(turn.seconds_left)} {turn.stones_left}")
        move = self.engine.ask(f"genmove {colour}").strip()
        if move.lower() == "resign":
            return Answer(None)
        self._own = move
        before, value = self._expected_values()
        return Answer(move, value, value_before=before)

    def _expected_values(self) -> tuple[float | None, float | None]:
        """What the engine expected before its move, where it gives that too, and after it."""
        if not self._states_values:
            return None, None
        try:
            values = [float(word) for word in self.engine.ask("academy-expected_value").split()]
        except (EngineError, ValueError):
            return None, None
        match values if all(0.0 <= value <= 1.0 for value in values) else []:
            case [value]:
                return None, value
            case [before, value]:
                return before, value
        return None, None


def _time_settings(game: Game) -> str | None:
    """The arguments of `time_settings`, in whole seconds; None where a move has less than one."""
    clock = game.time_control
    if clock is not None:
        period = max(1, int(clock.byo_yomi_seconds)) if clock.byo_yomi_seconds else 0
        return f"{int(clock.main_seconds)} {period} {clock.byo_yomi_stones if period else 0}"
    # One move a period, and a little for the way there and back.
    seconds = game.move_seconds or 0.0
    whole = int(0.9 * seconds) or int(seconds)
    return f"0 {whole} 1" if whole else None


def argument_parser() -> argparse.ArgumentParser:
    """The arguments of `arena-gtp-connect`."""
    return connector_parser(
        "arena-gtp-connect",
        "Let a GTP engine play at an arena that it dials in to.",
        "arena-gtp-connect --player gnugo --token-file gnugo.token -- gnugo --mode gtp",
    )


@ending_with_its_output("arena-gtp-connect")
def main() -> None:
    """Dial in, as the arguments say; the console entry point."""
    open_closed()
    parser = argument_parser()
    arguments = read_arguments(parser)
    connect(parser, arguments, lambda game: SeatedEngine(game, arguments.command))


if __name__ == "__main__":
    main()
