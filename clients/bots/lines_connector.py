"""Lets a bot that reads and writes plain lines play at an arena that it dials in to.

    arena-lines-connect --player NAME --address HOST:PORT --token-file FILE -- python3 bot.py

The bot is started for each game and ended after it. What it does wrong costs it orders and not the game, as
for such bots that an arena starts itself; only a bot that ends, or is late too often, resigns.
"""

import argparse
import math
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, cast

from academy.wire.standard_streams import open_closed
from clients.bots.connector import connect, connector_parser, environment, read_arguments, rules_of
from clients.command_line import ending_with_its_output
from clients.remote_game import Answer, Game, GameDeclinedError, GameTurn
from referees.api import UnreadableViewError
from referees.dialogues import BotTime, LineDialogue
from referees.legible_text import legible
from referees.line_requests import LineExchange, Request

END_SECONDS: Final = 5.0
OBITUARY_SECONDS: Final = 0.2
MAX_LINE: Final = 1_000_000
MAX_LINES_WAITING: Final = 10_000
MAX_COMPLAINTS: Final = 50
LATE_TURNS: Final = 3
# What is kept of a turn's time for the way to the arena: a share of it, up to a number of seconds.
RESERVED_SHARE: Final = 0.1
RESERVED_SECONDS: Final = 0.5


class BotGoneError(Exception):
    """The bot has ended, or has closed its output."""


class BotLateError(Exception):
    """The bot did not answer in time."""


class BotProcess(LineExchange):
    """A bot that runs.

    Its pipes have a thread each, so that a bot that neither reads nor writes holds up nobody.
    """

    late = BotLateError

    def __init__(
        self, command: Sequence[str], variables: Mapping[str, str], kind_of: Callable[[str], str | None]
    ) -> None:
        """Raises OSError where it does not start."""
        super().__init__(kind_of)
        self._name = command[0]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(variables)
        )
        self._written: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._arrived: queue.Queue[str | None] = queue.Queue(MAX_LINES_WAITING)
        self._ended = threading.Event()
        for work in (self._write, self._listen):
            threading.Thread(target=work, daemon=True).start()

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        # `_listen` finds out that a bot has ended.
        with suppress(OSError):
            while (content := self._written.get()) is not None:
                pipe.write(content)
                pipe.flush()
        with suppress(OSError):
            pipe.close()

    def _listen(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        while line := pipe.readline(MAX_LINE):
            self._arrive(line.decode(errors="replace").rstrip("\r\n"))
        self._arrive(None)
        pipe.close()

    def _arrive(self, line: str | None) -> None:
        while not self._ended.is_set():
            with suppress(queue.Full):
                self._arrived.put(line, timeout=1.0)
                return

    def send(self, lines: Sequence[str], deadline: float) -> None:
        """Send lines; a bot that does not take them is late with its answer."""
        if lines:
            self._written.put("".join(f"{line}\n" for line in lines).encode())

    def _arrived_lines(self) -> Sequence[str]:
        lines = []
        with suppress(queue.Empty):
            while (line := self._arrived.get_nowait()) is not None:
                lines.append(line)
            # The next read is to find the end as well.
            self._arrived.put_nowait(None)
        return lines

    def _read(self, deadline: float) -> str:
        try:
            line = self._arrived.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise BotLateError(f"{self._name} did not answer in time") from None
        if line is None:
            raise BotGoneError(self._obituary())
        return line

    def _obituary(self) -> str:
        try:
            status = self._process.wait(OBITUARY_SECONDS)
        except subprocess.TimeoutExpired:
            return f"{self._name} has closed its output"
        return f"{self._name} has ended, with status {status}"

    def _note(self, line: str) -> None:
        pass

    def end(self, farewell: Sequence[str]) -> None:
        """Send the farewell, wait a little for the bot to exit, and end it if it stays."""
        self._ended.set()
        self._wake_reader()
        self.send(farewell, 0.0)
        self._written.put(None)
        if farewell:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)
        self._process.kill()
        self._process.wait()

    def _wake_reader(self) -> None:
        """Let who waits for the bot's orders wait no longer; in a full queue the oldest line makes room."""
        while True:
            try:
                self._arrived.put_nowait(None)
                return
            except queue.Full:
                with suppress(queue.Empty):
                    self._arrived.get_nowait()


class SeatedBot:
    """A bot in its seat of one game."""

    def __init__(self, game: Game, command: Sequence[str], dialogue: str) -> None:
        """Raises GameDeclinedError for a game that it cannot play."""
        self._game = game
        name = f"lines:{dialogue}" if dialogue else "lines"
        self._rules = rules_of(game)
        words = cast("LineDialogue[Any] | None", self._rules.dialogue(name))
        if words is None:
            raise GameDeclinedError(f"the game {game.name!r} is not played over {name!r}")
        self._words = words
        self._complaints: set[str] = set()
        self._late_turns = 0
        self._turn = 0
        # What is asked when the game ends gets no answer: nobody wants it.
        self._over = False
        try:
            self._bot = BotProcess(command, environment(game), words.kind_of)
        except OSError as error:
            raise GameDeclinedError(f"{command[0]}: {error.strerror}") from None
        self._bot.send(words.greeting(game.seat, _time_of(game)), 0.0)

    def end(self) -> None:
        """Tell the bot that the game is over, and end it."""
        self._over = True
        self._bot.end(self._words.farewell())

    def abandon(self) -> None:
        """End the bot at once."""
        self._over = True
        self._bot.end(())

    def choose(self, turn: GameTurn) -> Answer:
        """Return the bot's orders: none for a late turn. A bot that has ended resigns."""
        self._turn += 1
        try:
            return self._ask(turn)
        except BotLateError:
            self._late_turns += 1
            self._complain(f"no answer within {turn.seconds_left:.3g} s, the turn is passed")
            if self._late_turns >= LATE_TURNS:
                return self._resign(f"late in {LATE_TURNS} turns")
            return Answer(self._words.passing())
        except (BotGoneError, UnreadableViewError) as error:
            return self._resign(str(error))

    def _ask(self, turn: GameTurn) -> Answer:
        end = time.monotonic() + turn.seconds_left
        deadline = end - min(RESERVED_SECONDS, RESERVED_SHARE * turn.seconds_left)
        seat, words = self._game.seat, self._words
        view = self._rules.read_view(turn.view)
        for refusal in words.refusals(view, seat):
            self._complain(refusal)
        preparation = list(words.preparation(view, seat)) if self._turn == 1 else []
        prompts = [*preparation, *words.turn(view, seat)]
        requests: list[Request] = []
        try:
            for number, prompt in enumerate(prompts, start=1):
                requests.append(
                    self._bot.ask(
                        prompt,
                        max(0, math.floor(1000 * (deadline - time.monotonic()))),
                        deadline,
                        followed=number < len(prompts),
                        formality=number <= len(preparation),
                    )
                )
        finally:
            for why, count in self._bot.dropped.items():
                self._complain(why.text(count))
            self._bot.dropped.clear()
        reading = words.read([request.answer or () for request in requests[len(preparation) :]], seat)
        for complaint in reading.complaints:
            self._complain(complaint)
        return Answer(reading.text, reading.value, value_before=reading.value_before)

    def _resign(self, why: str) -> Answer:
        if not self._over:
            self._print(f"resigned in turn {self._turn}: {why}")
        return Answer(None, comment=why)

    def _complain(self, what: str) -> None:
        """Print what is wrong once a game, for the bot's author."""
        if what not in self._complaints and len(self._complaints) < MAX_COMPLAINTS:
            self._complaints.add(what)
            self._print(f"turn {self._turn}: {what[:300]}")

    def _print(self, what: str) -> None:
        print(legible(f"{self._game.game_id}: {what}"), file=sys.stderr, flush=True)


def _time_of(game: Game) -> BotTime:
    clock = game.time_control
    if clock is None:
        milliseconds = math.floor(1000 * (game.move_seconds or 0.0))
        return BotTime(milliseconds, milliseconds)
    added = clock.increment_seconds or clock.byo_yomi_seconds
    return BotTime(math.floor(1000 * clock.main_seconds), math.floor(1000 * added))


def argument_parser() -> argparse.ArgumentParser:
    """The arguments of `arena-lines-connect`."""
    parser = connector_parser(
        "arena-lines-connect",
        "Let a bot that speaks lines play at an arena that it dials in to.",
        "arena-lines-connect --player bob --token-file bob.token -- python bob.py",
    )
    parser.add_argument(
        "--dialogue",
        default="",
        help="another of the game's dialogues, such as ai-challenge-2 (the game's own)",
    )
    return parser


@ending_with_its_output("arena-lines-connect")
def main() -> None:
    """Dial in, as the arguments say; the console entry point."""
    open_closed()
    parser = argument_parser()
    arguments = read_arguments(parser)
    connect(parser, arguments, lambda game: SeatedBot(game, arguments.command, arguments.dialogue), view=True)


if __name__ == "__main__":
    main()
