"""One policy that plays one or several seats of a game: one process, called once a position."""

import time
from collections.abc import Mapping
from typing import Any, Final

from arena.players.failures import IllFormed, Late, PlayerFailure
from arena.players.idle_policies import IdlePolicies
from arena.players.player import Cost, Seating
from arena.players.policy_parameters import PolicyParameters
from arena.players.policy_process import PolicyProcess
from referees.lines import Reading
from referees.policies import PolicyDialogue, PolicyGame

MAX_WARNINGS: Final = 50
_LONGEST_WARNING: Final = 300


class SharedPolicy:
    """The process of a policy, and the game as it goes.

    The policy is called for every position in turn, whether or not one of its seats is to move, for all its
    seats at once. `seatings` are its seats, in their order; all have joined before `set_up`.
    """

    def __init__(
        self,
        seating: Seating,
        words: PolicyDialogue,
        parameters: PolicyParameters,
        factory: str,
        idle: IdlePolicies | None,
    ) -> None:
        self.seatings = [seating]
        self.name = ""
        self.seconds = 0.0
        self.warnings: list[str] = []
        self._words = words
        self._parameters = parameters
        self._game: PolicyGame = words.begin(seating.first_view)
        self._factory = factory
        # Without a place for idle ones each game has a process of its own.
        self._idle = None if seating.setup.restart else idle
        self._process = None if self._idle is None else self._idle.take(seating)
        if self._process is None:
            self._process = PolicyProcess(seating, parameters, factory)
        self._ready = self._called = self._asked = False
        self._readings: dict[int, Reading] = {}
        self._failure: PlayerFailure | None = None
        self._gone = False
        self._late_turns = 0
        self._alone: dict[int, str] = {}
        self._cost: Cost | None = None
        self._unsaid = 0

    def set_up(self) -> None:
        """Have the policy made and told that a game begins. Raises PlayerFailure."""
        if self._failure is not None:
            raise self._failure
        if self._ready or self._process is None:
            return
        try:
            if self._process.name is not None and not self._goes_on(self._process):
                # What a kept policy has become is not its player's failure in this game.
                self._process.end(0.0)
                self._process = PolicyProcess(self.seatings[0], self._parameters, self._factory)
            fresh = self._process.name is None
            if fresh:
                self._begin(self._process)
            self._enter_contests(self._process, fresh)
        except PlayerFailure as failure:
            self._failure = failure
            raise
        self.name = self._process.name or ""
        self._ready = True

    def _begin(self, process: PolicyProcess) -> None:
        begun, limit = time.monotonic(), self.seatings[0].setup.start_seconds
        process.make(limit)
        process.reset(max(0.0, begun + limit - time.monotonic()))

    def _enter_contests(self, process: PolicyProcess, fresh: bool) -> None:
        """Tell the policy of its slots' contests at ACADEMY, if there are any. Raises PlayerFailure."""
        deadline = time.monotonic() + self.seatings[0].setup.start_seconds
        for seating in self.seatings:
            if "ACADEMY_TOKEN" not in seating.environment:
                return
            if not process.takes_contests:
                if fresh and (why := self.without_academy()):
                    self._warn(why)
                return
            try:
                left = max(0.0, deadline - time.monotonic())
                process.enter_contest(self._words.slot(seating.seat), seating.environment, left)
            except IllFormed as failure:
                self._warn(f"{seating.label} plays without ACADEMY: {failure}")

    def without_academy(self) -> str:
        """Why the policy cannot be told of its contests, empty where it can; after `set_up`."""
        if self.seatings[0].setup.restart or (self._process is not None and self._process.takes_contests):
            return ""
        return (
            "plays without ACADEMY: with restart = false the policy is kept for many contests, and has no "
            "method academy_contest, by which it would be told of each"
        )

    def _goes_on(self, process: PolicyProcess) -> bool:
        """Whether a policy that was kept is ready for another game."""
        try:
            process.reset(self.seatings[0].setup.start_seconds)
        except PlayerFailure:
            return False
        return True

    def told(self, moves: Mapping[int, Any], view: Any) -> None:
        """Follow the game. Raises PlayerFailure where the policy, which is asked only to see, fails."""
        if self._game.is_at(view):
            return
        if self._alone and tuple(sorted(moves)) != self._game.to_move():
            self._follow_alone()
        self._game.follow(moves)
        self._moved()
        seats = {seating.seat for seating in self.seatings}
        if self._game.to_move() and seats.isdisjoint(self._game.to_move()):
            self._ask(self.seatings[0])

    def choose(self, seating: Seating, view: Any) -> Reading:
        """The line of orders of a seat; `seconds` is then what it took. Raises PlayerFailure."""
        self.seconds = 0.0
        if self._alone and not self._game.is_at(view):
            self._follow_alone()
        self._ask(seating)
        reading = self._readings.get(seating.seat, Reading(self._words.passing()))
        if reading.complaints and self._parameters.faults == "lose":
            raise IllFormed(reading.complaints[0])
        if self._game.to_move() == (seating.seat,):
            # Who moves alone is not told of it.
            self._alone = {seating.seat: reading.text}
        return reading

    def _follow_alone(self) -> None:
        self._game.follow_texts(self._alone)
        self._moved()

    def _moved(self) -> None:
        self._alone = {}
        self._asked = False

    def _ask(self, seating: Seating) -> None:
        """Call the policy, unless it was called for this position."""
        if self._failure is not None and self._parameters.faults == "lose":
            raise self._failure
        if self._asked:
            return
        self._asked = True
        self._readings = {}
        if self._gone or self._process is None:
            return
        # The first call may make what later ones use again.
        grace = 0.0 if self._called else seating.setup.start_seconds
        begun, limit = time.monotonic(), seating.move_seconds + grace
        self._called = True
        slots = [self._words.slot(each.seat) for each in self.seatings]
        try:
            actions = self._process.actions(slots, self._game.frame(), limit)
        except PlayerFailure as failure:
            self._fail(failure, limit)
            return
        finally:
            self.seconds = max(0.0, time.monotonic() - begun - grace)
        self._readings = {
            each.seat: self._game.read(each.seat, chosen)
            for each, chosen in zip(self.seatings, actions, strict=True)
        }
        for each in self.seatings:
            for complaint in self._readings[each.seat].complaints:
                self._warn(f"{each.label}: {complaint}")

    def _fail(self, failure: PlayerFailure, limit: float) -> None:
        self._failure = failure
        assert self._process is not None
        if self._parameters.faults == "lose":
            self._gone = True
            raise failure
        if isinstance(failure, Late):
            self._late_turns += 1
            most = self._parameters.late_turns
            self._gone = self._late_turns >= most
            self._warn(
                f"no answer within {limit:.3g} s, the phase is passed ({self._late_turns} of {most} times)"
            )
        elif isinstance(failure, IllFormed):
            self._warn(f"the phase is passed: {failure}")
        else:
            self._gone = True
        if self._gone:
            self._warn(f"passes for the rest: {failure}")

    def _warn(self, what: str) -> None:
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(what[:_LONGEST_WARNING])
        else:
            self._unsaid += 1

    def close(self, *, at_once: bool) -> Cost:
        """End or keep the process, once for all seats; each seat's share of what it used."""
        if self._cost is None:
            process, self._process = self._process, None
            assert process is not None
            setup = self.seatings[0].setup
            faultless = self._ready and self._failure is None and not self._gone and process.runs
            if faultless and not at_once:
                try:
                    process.leave_contests(setup.exit_seconds)
                except PlayerFailure as failure:
                    self._warn(str(failure))
                    # Another of its answers may be on the way.
                    faultless = isinstance(failure, IllFormed)
            if self._idle is not None and faultless and not at_once:
                used = process.leave_seat()
                self._idle.put(process)
            else:
                used = process.end(0.0 if at_once or self._gone else setup.exit_seconds)
            share = None if used.cpu_seconds is None else used.cpu_seconds / len(self.seatings)
            self._cost = Cost(share, used.peak_memory_bytes)
            if self._unsaid:
                self.warnings.append(f"{self._unsaid} more such warnings")
        return self._cost
