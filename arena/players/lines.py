"""Players that are programs which read and write plain lines, in a dialogue of their game."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from arena.players.complaints import Complaints
from arena.players.failures import Disconnected, Late, PlayerFailure
from arena.players.lines_channel import LinesChannel
from arena.players.lines_parameters import LinesParameters
from arena.players.open_requests import Request
from arena.players.player import Choice, Cost, Disorder, InvalidParameters, Player, Seating
from arena.players.process import ChildProcess
from arena.players.program import error_log, launch
from arena.players.turn_time import TurnTime
from referees.lines import BotTime, LineDialogue


class LinesPlayer(Player):
    """A bot in a child process. What it does wrong costs it orders and, but by setting, never the game.

    What cannot be read is dropped with a warning. A turn that is not answered in time is one without
    orders. A bot that has ended, or is late too often, passes for the rest of the game. Its first late turn,
    and what ended its part, are its `disorder`.
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
        self._complaints = Complaints()
        # How the bot ended.
        self._obituary = ""

    def start(self) -> None:
        """Launch the program."""
        seating = self.seating
        self._process = launch(seating, error_log(seating), seating.environment)
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
        except Disconnected as failure:
            self._obituary = str(failure)

    def choose(self, view: Any) -> Choice:
        """Ask for orders. The first turn may take `start_seconds` more, since programs start slowly."""
        self._turn += 1
        if self._gone:
            return Choice(self._words.passing())
        turn_time = TurnTime(self.seating, 0.0 if self._prepared else self._setup.start_seconds)
        try:
            answers = self._ask(view, turn_time)
        except Late:
            self._strike(turn_time.allowed)
            return Choice(self._words.passing(), seconds=turn_time.seconds)
        except Disconnected as failure:
            return self._lost(str(failure), turn_time.seconds)
        finally:
            self._complain_of_dropped_lines()
        seconds = turn_time.seconds
        reading = self._words.read(answers, self.seating.seat)
        for complaint in reading.complaints:
            self._complaints.add(self._turn, complaint)
        return Choice(reading.text, seconds=seconds, value=reading.value, value_before=reading.value_before)

    def rehearse(self, view: Any) -> None:
        """Ask for the first orders: before, such a program need not say anything.

        Raises Disconnected for one that has ended before it gave any.
        """
        self.choose(view)
        if self.faulty:
            raise Disconnected(
                f"player {self.seating.label}: ended before its first orders: {self._obituary}"
            )

    def _ask(self, view: Any, turn_time: TurnTime) -> list[Sequence[str]]:
        if self._obituary:
            raise Disconnected(self._obituary)
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
            self._complaints.add(self._turn, why.told(count))
        self._channel.dropped.clear()

    def _strike(self, limit: float) -> None:
        self._late_turns += 1
        self._complaints.add_grave(self._turn, f"no answer within {limit:.3g} s, the turn is passed", "late")
        if self.disorder is None:
            self._note_disorder(Late(f"turn {self._turn}: no answer within {limit:.3g} s"))
        if self._late_turns >= self._parameters.late_turns:
            why = f"is asked no more after {self._late_turns} late turns"
            self._complaints.add_grave(self._turn, why, "gone")
            self._note_disorder(Late(f"turn {self._turn}: {why}"))
            self._gone = True

    def _note_disorder(self, cause: PlayerFailure) -> None:
        """Note the gravest failure so far; the turns are those before the first one."""
        turns = self._turn - 1 if self.disorder is None else self.disorder.turns
        self.disorder = Disorder(cause, turns)

    def _lost(self, reason: str, seconds: float) -> Choice:
        if self._parameters.crash == "lose":
            raise Disconnected(f"player {self.seating.label}: {reason}")
        self._gone = True
        self.faulty = True
        self._obituary = reason
        self._complaints.add_grave(self._turn, f"passes for the rest: {reason}", "gone")
        self._note_disorder(Disconnected(f"turn {self._turn}: {reason}"))
        return Choice(self._words.passing(), seconds=seconds)

    def given(self, moves: Mapping[int, Any], view: Any) -> None:
        """Nothing: a standing tells all that matters."""
        self._turn += 1

    def told(self, moves: Mapping[int, Any], view: Any) -> None:
        """Note which of its orders were not carried out."""
        for refusal in self._words.refusals(view, self.seating.seat):
            self._complaints.add(self._turn, refusal)

    def close(self, *, at_once: bool = False) -> Cost:
        """Tell the program that the game is over, and end it within `exit_seconds`."""
        process, self._process = self._process, None
        if process is None:
            return Cost()
        farewell = () if at_once or self.faulty else self._words.farewell()
        seconds = self._setup.exit_seconds if farewell else 0.0
        if farewell and self._channel is not None:
            try:
                self._channel.send(farewell, time.monotonic() + seconds)
            except PlayerFailure:
                # It has exited before it was told to, which is what it will be told.
                seconds = 0.0
        cost = process.end(seconds)
        if cost.killed and seconds and not self._gone:
            self._complaints.add_grave(self._turn, f"did not exit within {seconds:g} s: killed", "killed")
        self.warnings += [
            f"player {self.seating.label}: {complaint}" for complaint in self._complaints.lines()
        ]
        return Cost(cost.cpu_seconds, cost.peak_memory_bytes)
