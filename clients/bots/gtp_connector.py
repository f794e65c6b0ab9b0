"""Lets a GTP engine play at an arena that it dials in to, as `cgosGtp` does for CGOS.

    arena-gtp-connect --player NAME --address HOST:PORT --token-file FILE -- gnugo --mode gtp --level 10

The engine is started for each game and ended after it. Any game of the arena that GTP engines play can be
played; a game with a board arranged by a player is declined. The engine's ticket for ACADEMY
is in the variables that an arena gives players of its own (ACADEMY_ADDRESS, ACADEMY_CONTEST, ACADEMY_TOKEN).
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

from academy.wire.addresses import InvalidAddressError
from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection
from clients.remote_play import Answer, Engine, Game, GameDeclinedError, GameEnd, GameTurn, dial_in
from referees.api import InvalidSettingError, MissingSettingError, UnknownRefereeError, referee
from referees.dialogues import GtpGame

END_SECONDS: Final = 5.0


class EngineError(Exception):
    """The engine failed, ended, or answered what is no GTP."""


class EngineProcess:
    """A GTP engine that runs."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        """Raises EngineError where it does not start."""
        self._name = command[0]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **environment},
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
            # Blank lines before an answer mean nothing; after it they end it.
            while (line := process.stdout.readline()) and (line.strip() or not lines):
                if line.strip():
                    lines.append(line.rstrip())
        except OSError as error:
            raise EngineError(f"{self._name} has ended ({command}): {error.strerror}") from error
        if not lines:
            raise EngineError(f"{self._name} has ended ({command})")
        text = "\n".join([lines[0][1:].lstrip(), *lines[1:]])
        if lines[0][0] != "=":
            raise EngineError(f"{self._name} answers {command!r} with {lines[0]!r}")
        return text

    def knows(self, command: str) -> bool:
        """Whether the engine has a command."""
        return self.ask(f"known_command {command}").lower() == "true"

    def end(self) -> None:
        """Ask the engine to quit; end it if it stays."""
        with suppress(subprocess.TimeoutExpired):
            self._process.communicate("quit\n", END_SECONDS)
        self._process.kill()
        self._process.wait()


class SeatedEngine:
    """An engine in its seat of one game."""

    def __init__(self, game: Game, command: Sequence[str]) -> None:
        """Raises GameDeclinedError for a game that it cannot play."""
        self._game = game
        try:
            rules = referee(game.name).from_settings(dict(game.settings))
        except (UnknownRefereeError, InvalidSettingError, MissingSettingError) as error:
            raise GameDeclinedError(str(error)) from None
        words = cast("GtpGame[Any, Any] | None", rules.dialogue("gtp"))
        if words is None or rules.arranger() is not None:
            raise GameDeclinedError(f"{game.name}: this game is not played over GTP here")
        self._words = words
        self._seen = 0
        # Its last answer, which the arena confirms among the moves.
        self._own: str | None = None
        try:
            self.engine = EngineProcess(command, _environment(game))
        except EngineError as error:
            raise GameDeclinedError(str(error)) from None
        try:
            self._set_up()
        except EngineError as error:
            self.engine.end()
            raise GameDeclinedError(str(error)) from None

    def _set_up(self) -> None:
        handicap = self._words.handicap()
        for command in (*self._words.setup(), *([] if handicap is None else [handicap])):
            self.engine.ask(command)
        self._knows_time_left = self.engine.knows("time_left")
        seconds = self._game.move_seconds
        if seconds is not None and self.engine.knows("time_settings"):
            # One move a period. Whole seconds, and a little for the way there and back.
            self.engine.ask(f"time_settings 0 {max(1, int(seconds * 0.9))} 1")

    def choose(self, turn: GameTurn) -> Answer:
        """Return the engine's move; an engine that fails resigns this game, and others go on."""
        try:
            return self._ask_for_move(turn)
        except EngineError as error:
            print(f"{self._game.game_id}: resigned: {error}", file=sys.stderr, flush=True)
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
        return Answer(move)


def _environment(game: Game) -> dict[str, str]:
    if game.academy is None:
        return {}
    return {
        "ACADEMY_ADDRESS": game.academy.address,
        "ACADEMY_CONTEST": game.contest_id,
        "ACADEMY_TOKEN": game.academy.token,
    }


class Connector:
    """The engines of all games in progress."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._seated: dict[str, SeatedEngine] = {}

    def new_game(self, game: Game) -> Callable[[GameTurn], Answer]:
        """Start an engine for a game; an earlier one of the same game, whose stream broke, is ended."""
        self._leave(game.game_id)
        seated = self._seated[game.game_id] = SeatedEngine(game, self._command)
        return seated.choose

    def game_over(self, game: Game, end: GameEnd) -> None:
        """End the game's engine, and print how the game ended."""
        self._leave(game.game_id)
        print(f"{game.game_id}: {' v '.join(game.players)}: {end.result or end.void_reason}", flush=True)

    def _leave(self, game_id: str) -> None:
        seated = self._seated.pop(game_id, None)
        if seated is not None:
            seated.engine.end()

    def close(self) -> None:
        """End all engines."""
        for game_id in list(self._seated):
            self._leave(game_id)


def main() -> None:
    """Dial in, as the arguments say; the console entry point."""
    parser = argparse.ArgumentParser(
        prog="arena-gtp-connect", description="Let a GTP engine play at an arena that it dials in to."
    )
    parser.add_argument("--player", required=True, help="the player's name at the arena")
    parser.add_argument("--address", default=os.environ.get("ARENA_ADDRESS", "127.0.0.1:50561"))
    parser.add_argument("--token-file", type=Path, help="the file that holds the player's token")
    parser.add_argument("--games", type=int, default=1, help="how many games it plays at once")
    parser.add_argument("command", nargs="+", metavar="ENGINE", help="the engine and its arguments, after --")
    arguments = parser.parse_args()
    connector = Connector(arguments.command)
    engine = Engine(Path(arguments.command[0]).name, "", games_at_once=arguments.games)
    try:
        arena = Connection.to_arena(arguments.address, token_file=arguments.token_file)
        dial_in(arena, arguments.player, connector.new_game, engine, game_over=connector.game_over)
    except KeyboardInterrupt:
        sys.exit(130)
    except (
        AcademyRefusedError, AcademyUnavailableError, InvalidAddressError, OSError, ValueError,
    ) as error:  # fmt: skip
        sys.exit(f"arena-gtp-connect: {error}")
    finally:
        connector.close()


if __name__ == "__main__":
    main()
