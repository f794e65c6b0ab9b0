"""Players that are programs which read and write plain lines, in a dialogue of their game.

The requests of one turn share its time (`TurnTime`).
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.players.logs import Transcript
from arena.players.player import (
    Choice,
    Cost,
    Disorder,
    InvalidPlayerParametersError,
    Player,
    PlayerDisconnectedError,
    PlayerError,
    PlayerTimeoutError,
    Seating,
    read_parameters,
)
from arena.players.process import ChildProcess
from arena.players.program import launch
from referees.dialogues import BotTime, LineDialogue
from referees.line_requests import LineExchange, Request


@dataclass(frozen=True)
class LinesParameters:
    """The parameters of a player that speaks lines.

    `dialogue` is one of the game's dialogues, empty for its own. After a `crash` the player passes for
    the rest of the game, or loses at once. After `late_turns` turns without an answer in time it
    passes for the rest of the game: it gets no more requests, but hears when the game is over.
    """

    dialogue: str = ""
    crash: str = "pass"
    late_turns: int = 3


class LinesChannel(LineExchange):
    """The lines to and from a bot that is a child process."""

    late = PlayerTimeoutError

    def __init__(
        self,
        process: ChildProcess,
        label: str,
        transcript: Transcript | None,
        kind_of: Callable[[str], str | None] = lambda line: "",
    ) -> None:
        super().__init__(kind_of)
        self._process = process
        self._label = label
        self._transcript = transcript

    def send(self, lines: Sequence[str], deadline: float) -> None:
        """Send lines; `deadline` is a time of time.monotonic(). Raises PlayerDisconnectedError."""
        if not lines:
            return
        if self._transcript is not None:
            for line in lines:
                self._transcript.log_sent(self._label, line)
        try:
            self._process.write_line("\n".join(lines).encode(), deadline)
        except PlayerTimeoutError:
            # It has part of a line, and cannot be followed any more.
            raise PlayerDisconnectedError("does not read what it is sent") from None

    def _arrived_lines(self) -> Sequence[str]:
        return [_text(line) for line in self._process.arrived_lines()]

    def _note(self, line: str) -> None:
        if self._transcript is not None:
            self._transcript.log_received(self._label, line)

    def _read(self, deadline: float) -> str:
        read = self._process.read_line(deadline, cut=True)
        if read is None:
            raise PlayerDisconnectedError(self._process.obituary())
        return _text(read)


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r")


class TurnTime:
    """The time of one turn, in seconds, which may have several requests; the first begins at once.

    Without a clock `move_seconds` are for all of them together. With one, each request is taken off it and
    followed by the increment, as in theaigames' challenges. `grace` is taken from nothing, before all else.
    """

    def __init__(self, seating: Seating, grace: float, now: Callable[[], float] = time.monotonic) -> None:
        self._clock = seating.clock
        self._now = now
        self._began = now()
        self._grace = grace
        self._limit = seating.move_seconds
        self._taken = 0.0

    @property
    def deadline(self) -> float:
        """When the answer to the present request is late, as a time of `now`."""
        return self._began + self._grace + self._limit

    @property
    def allowed(self) -> float:
        """How long the present request may take; without a clock, all requests so far."""
        return self._grace + self._limit + (self._taken if self._clock is None else 0.0)

    @property
    def milliseconds(self) -> int:
        """What the bot's clock shows when the present request is made."""
        return math.floor(1000 * (self._limit if self._clock is None else self._clock.available))

    @property
    def seconds(self) -> float:
        """The time that the turn has taken so far, without grace: never more than it may."""
        earlier = self._taken if self._clock is None else self._clock.booked
        return earlier + self._used()

    def next_request(self) -> None:
        """Begin another request of the turn."""
        used, now = self._used(), self._now()
        self._grace = max(0.0, self._grace - (now - self._began))
        self._began = now
        if self._clock is None:
            self._taken += used
            self._limit -= used
        else:
            self._clock.book(used)
            self._limit = self._clock.limit

    def _used(self) -> float:
        return min(max(0.0, self._now() - self._began - self._grace), self._limit)


MAX_COMPLAINTS: Final = 50
_LONGEST: Final = 300


@dataclass
class _Complaint:
    what: str
    first: int
    last: int
    times: int = 1

    def __str__(self) -> str:
        text = f"turn {self.first}: {self.what}"
        return text if self.times == 1 else f"{text} ({self.times} times, the last in turn {self.last})"


class Complaints:
    """Complaints about turns: all grave ones, and MAX_COMPLAINTS different others."""

    def __init__(self) -> None:
        self._kept: dict[str, _Complaint] = {}
        self._small = 0
        self._dropped = 0

    def add(self, turn: int, what: str) -> None:
        """Note a complaint; the same one of several turns is counted."""
        what = what[:_LONGEST]
        if what not in self._kept:
            if self._small == MAX_COMPLAINTS:
                self._dropped += 1
                return
            self._small += 1
        self._note(turn, what, what)

    def add_grave(self, turn: int, what: str, sort: str) -> None:
        """Note a complaint that is never left out: the first of each `sort`, with their number."""
        self._note(turn, what[:_LONGEST], f"grave: {sort}")

    def _note(self, turn: int, what: str, key: str) -> None:
        if known := self._kept.get(key):
            known.last, known.times = turn, known.times + 1
        else:
            self._kept[key] = _Complaint(what, turn, turn)

    def lines(self) -> list[str]:
        """All that was kept, in the order in which it first happened, and how many were not."""
        rest = [f"{self._dropped} more warnings, of other kinds"] if self._dropped else []
        return [*map(str, self._kept.values()), *rest]


class LinesPlayer(Player):
    """A bot in a child process. What it does wrong costs it orders and, but by setting, never the game.

    What cannot be read is dropped with a warning. A turn that is not answered in time is one without
    orders. A bot that has ended, or is late too often, passes for the rest of the game. Its first late turn,
    and what ended its part, are its `disorder`.
    """

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        self._setup = seating.setup
        self._parameters = read_parameters(
            LinesParameters, seating.setup.parameters, "a player that speaks lines"
        )
        name = f"lines:{self._parameters.dialogue}" if self._parameters.dialogue else "lines"
        words = seating.referee.dialogue(name)
        if words is None:
            raise InvalidPlayerParametersError(
                f"the game {seating.referee.name!r} is not played over {name!r}"
            )
        self._words: LineDialogue[Any] = words  # type: ignore[assignment]
        self._process: ChildProcess | None = None
        self._channel: LinesChannel | None = None
        self._prepared = False
        self._gone = False
        self._late_turns = 0
        self._turn = 0
        self._complaints = Complaints()
        # How the bot ended.
        self._obituary = ""

    def start(self) -> None:
        """Launch the program."""
        seating = self.seating
        self._process = launch(seating, seating.environment)
        self._channel = LinesChannel(self._process, seating.label, seating.transcript, self._words.kind_of)

    def set_up(self) -> None:
        """Send what the dialogue begins with, within `start_seconds`.

        A bot that ends meanwhile is found out when it is asked for its first orders: whether it is
        gone already is chance.
        """
        added = self._setup.move_seconds
        if self._setup.time_control is not None:
            added = self._setup.time_control.increment_seconds or self._setup.time_control.byo_yomi_seconds
        bank = TurnTime(self.seating, 0.0).milliseconds
        greeting = self._words.greeting(self.seating.seat, BotTime(bank, math.floor(added * 1000)))
        assert self._channel is not None
        try:
            self._channel.send(greeting, time.monotonic() + self._setup.start_seconds)
        except PlayerDisconnectedError as failure:
            self._obituary = str(failure)

    def choose(self, view: Any) -> Choice:
        """Ask for orders. The first turn may take `start_seconds` more, because programs start slowly."""
        self._turn += 1
        if self._gone:
            return Choice(self._words.passing())
        turn_time = TurnTime(self.seating, 0.0 if self._prepared else self._setup.start_seconds)
        try:
            answers = self._ask(view, turn_time)
        except PlayerTimeoutError:
            self._strike(turn_time.allowed)
            return Choice(self._words.passing(), seconds=turn_time.seconds)
        except PlayerDisconnectedError as failure:
            return self._lost(str(failure), turn_time.seconds)
        finally:
            self._complain_of_dropped_lines()
        seconds = turn_time.seconds
        reading = self._words.read(answers, self.seating.seat)
        for complaint in reading.complaints:
            self._complaints.add(self._turn, complaint)
        return Choice(reading.text, seconds=seconds, value=reading.value, value_before=reading.value_before)

    def rehearse(self, position: Any, view: Any) -> None:
        """Ask for the first orders: before, such a program need not say anything.

        Raises PlayerDisconnectedError for one that has ended before it gave any.
        """
        self.choose(view)
        if self.faulty:
            raise PlayerDisconnectedError(
                f"player {self.seating.label}: ended before its first orders: {self._obituary}"
            )

    def _ask(self, view: Any, turn_time: TurnTime) -> list[Sequence[str]]:
        if self._obituary:
            raise PlayerDisconnectedError(self._obituary)
        assert self._channel is not None
        seat = self.seating.seat
        prompts = list(self._words.turn(view, seat))
        preparation = [] if self._prepared else list(self._words.preparation(view, seat))
        self._prepared = True
        requests: list[Request] = []
        for left, prompt in zip(
            range(len(preparation) + len(prompts) - 1, -1, -1), (*preparation, *prompts), strict=True
        ):
            if requests:
                turn_time.next_request()
            requests.append(
                self._channel.ask(
                    prompt,
                    turn_time.milliseconds,
                    turn_time.deadline,
                    followed=left > 0,
                    formality=left >= len(prompts),
                )
            )
        return [request.answer or () for request in requests[len(preparation) :]]

    def _complain_of_dropped_lines(self) -> None:
        assert self._channel is not None
        for why, count in self._channel.dropped.items():
            self._complaints.add(self._turn, why.text(count))
        self._channel.dropped.clear()

    def _strike(self, limit: float) -> None:
        self._late_turns += 1
        self._complaints.add_grave(self._turn, f"no answer within {limit:.3g} s, the turn is passed", "late")
        if self.disorder is None:
            self._note_disorder(PlayerTimeoutError(f"turn {self._turn}: no answer within {limit:.3g} s"))
        if self._late_turns >= self._parameters.late_turns:
            why = f"gets no more requests after {self._late_turns} late turns"
            self._complaints.add_grave(self._turn, why, "gone")
            self._note_disorder(PlayerTimeoutError(f"turn {self._turn}: {why}"))
            self._gone = True

    def _note_disorder(self, cause: PlayerError) -> None:
        """Note the gravest failure so far; the turns are those before the first one."""
        turns = self._turn - 1 if self.disorder is None else self.disorder.turns
        self.disorder = Disorder(cause, turns)

    def _lost(self, reason: str, seconds: float) -> Choice:
        if self._parameters.crash == "lose":
            raise PlayerDisconnectedError(f"player {self.seating.label}: {reason}")
        self._gone = True
        self.faulty = True
        self._obituary = reason
        self._complaints.add_grave(self._turn, f"passes for the rest: {reason}", "gone")
        self._note_disorder(PlayerDisconnectedError(f"turn {self._turn}: {reason}"))
        return Choice(self._words.passing(), seconds=seconds)

    def take_opening(self, moves: Mapping[int, Any], view: Any) -> None:
        """Nothing: a standing says everything that matters."""
        self._turn += 1

    def take_moves(self, moves: Mapping[int, Any], view: Any) -> None:
        """Note which of its orders were not carried out."""
        for refusal in self._words.refusals(view, self.seating.seat):
            self._complaints.add(self._turn, refusal)

    def close(self, *, at_once: bool = False) -> Cost:
        """Announce the end of the game, and end the program within `exit_seconds`."""
        process, self._process = self._process, None
        if process is None:
            return Cost()
        farewell = () if at_once or self.faulty else self._words.farewell()
        seconds = self._setup.exit_seconds if farewell else 0.0
        if farewell and self._channel is not None:
            try:
                self._channel.send(farewell, time.monotonic() + seconds)
            except PlayerError:
                # It exited before the farewell, which asks for just that.
                seconds = 0.0
        cost = process.end(seconds)
        if cost.killed and seconds and not self._gone:
            self._complaints.add_grave(self._turn, f"did not exit within {seconds:g} s: killed", "killed")
        self.warnings += [
            f"player {self.seating.label}: {complaint}" for complaint in self._complaints.lines()
        ]
        return cost
