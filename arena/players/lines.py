"""Players that are programs which read and write plain lines, in a dialogue of their game."""

import math
import time
from collections.abc import Mapping
from typing import Any, Final

from arena.players.failures import Disconnected, Late, PlayerFailure
from arena.players.lines_channel import LinesChannel
from arena.players.lines_parameters import LinesParameters
from arena.players.player import Choice, Cost, InvalidParameters, Player, Seating
from arena.players.process import ChildProcess
from arena.players.program import error_log, launch
from referees.lines import BotTime, LineDialogue

MAX_WARNINGS: Final = 50
_LONGEST_WARNING: Final = 300


class LinesPlayer(Player):
    """A bot in a child process. What it does wrong costs it orders and, but by setting, never the game.

    What cannot be read is dropped with a warning. A turn that is not answered in time is one without
    orders. A bot that has ended, or is late too often, passes for the rest of the game.
    """

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        self._setup = seating.setup
        self._parameters = LinesParameters.read(seating.setup.parameters)
        name = f"lines:{self._parameters.dialogue}" if self._parameters.dialogue else "lines"
        words = seating.referee.dialogue(name)
        if words is None:
            raise InvalidParameters(f"the game {seating.referee.name!r} is not played over {name!r}")
        self._words: LineDialogue[Any] = words  # type: ignore[assignment]
        self._process: ChildProcess | None = None
        self._channel: LinesChannel | None = None
        self._prepared = False
        self._gone = False
        self._late_turns = 0
        self._turn = 0
        self._unsaid = 0

    def start(self) -> None:
        """Launch the program."""
        seating = self.seating
        self._process = launch(seating, error_log(seating), seating.environment)
        self._channel = LinesChannel(self._process, seating.label, seating.transcript)

    def set_up(self) -> None:
        """Send what the dialogue begins with, within `start_seconds`."""
        assert self._channel is not None and self._process is not None
        added = self._setup.move_seconds
        if self._setup.time_control is not None:
            added = self._setup.time_control.increment_seconds or self._setup.time_control.byo_yomi_seconds
        time_of_bot = BotTime(self._milliseconds(0.0), math.floor(added * 1000))
        try:
            self._channel.send(
                self._words.greeting(self.seating.seat, time_of_bot),
                time.monotonic() + self._setup.start_seconds,
            )
            if not self._process.runs:
                raise Disconnected(self._process.obituary())
        except PlayerFailure as failure:
            raise type(failure)(f"player {self.seating.label}: {failure}") from failure

    def _milliseconds(self, spent: float) -> int:
        """What the bot's clock shows, so many seconds after its turn began."""
        clock = self.seating.clock
        available = self._setup.move_seconds if clock is None else clock.available
        return max(0, math.floor((available - spent) * 1000))

    def choose(self, view: Any) -> Choice:
        """Ask for orders. The first turn may take `start_seconds` more, since programs start slowly."""
        self._turn += 1
        if self._gone:
            return Choice(self._words.passing())
        grace = 0.0 if self._prepared else self._setup.start_seconds
        limit = self.seating.move_seconds
        begun = time.monotonic()
        try:
            answers = self._ask(view, begun, grace, begun + grace + limit)
        except Late:
            self._strike(grace + limit)
            return Choice(self._words.passing(), seconds=limit)
        except Disconnected as failure:
            return self._lost(str(failure), time.monotonic() - begun)
        taken = min(max(0.0, time.monotonic() - begun - grace), limit)
        if self._channel is not None and self._channel.dropped_lines:
            self._warn(f"{self._channel.dropped_lines} lines beyond the limit of an answer were dropped")
            self._channel.dropped_lines = 0
        reading = self._words.read(answers, self.seating.seat)
        for complaint in reading.complaints:
            self._warn(complaint)
        return Choice(reading.text, seconds=taken, value=reading.value)

    def _ask(self, view: Any, begun: float, grace: float, deadline: float) -> list[list[str]]:
        assert self._channel is not None
        seat = self.seating.seat
        prompts = list(self._words.turn(view, seat))
        preparation = [] if self._prepared else list(self._words.preparation(view, seat))
        self._prepared = True
        answers = []
        for prompt in (*preparation, *prompts):
            spent = max(0.0, time.monotonic() - begun - grace)
            answers.append(self._channel.ask(prompt, self._milliseconds(spent), deadline))
        return answers[len(preparation) :]

    def _strike(self, limit: float) -> None:
        self._late_turns += 1
        most = self._parameters.late_turns
        self._warn(f"no answer within {limit:.3g} s, the turn is passed ({self._late_turns} of {most} times)")
        if self._late_turns >= most:
            self._warn("is asked no more")
            self._gone = True

    def _lost(self, reason: str, seconds: float) -> Choice:
        if self._parameters.crash == "lose":
            raise Disconnected(f"player {self.seating.label}: {reason}")
        self._gone = True
        self.faulty = True
        self._warn(f"passes for the rest: {reason}")
        return Choice(self._words.passing(), seconds=min(seconds, self.seating.move_seconds))

    def _warn(self, what: str) -> None:
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(f"player {self.seating.label}: turn {self._turn}: {what[:_LONGEST_WARNING]}")
        else:
            self._unsaid += 1

    def given(self, moves: Mapping[int, Any], view: Any) -> None:
        """Nothing: a standing tells all that matters."""

    def told(self, moves: Mapping[int, Any], view: Any) -> None:
        """Note which of its orders did nothing."""
        for refusal in self._words.refusals(view, self.seating.seat):
            self._warn(refusal)

    def close(self, *, at_once: bool = False) -> Cost:
        """Tell the program that the game is over, and end it within `exit_seconds`."""
        process, self._process = self._process, None
        if process is None:
            return Cost()
        farewell = () if at_once or self._gone or self.faulty else self._words.farewell()
        seconds = self._setup.exit_seconds if farewell else 0.0
        if farewell and self._channel is not None:
            try:
                self._channel.send(farewell, time.monotonic() + seconds)
            except PlayerFailure:
                # It has exited before it was told to, which is what it will be told.
                seconds = 0.0
        cost = process.end(seconds)
        if cost.killed and seconds:
            self._warn(f"did not exit within {seconds:g} s: killed")
        if self._unsaid:
            self.warnings.append(f"player {self.seating.label}: {self._unsaid} more such warnings")
        return Cost(cost.cpu_seconds, cost.peak_memory_bytes)
