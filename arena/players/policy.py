"""Players that are policies: objects that are shown arrays and answer with the numbers of actions.

A policy runs in a process of its own, in the environment of its own Python, and is called by lines of JSON.
The game's dialogue names the program that hosts it. A policy plays one or several seats of a game; it is
called once a position, and kept for the next game where `restart` is off.
"""

import contextlib
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

from arena.players.player import (
    Choice,
    Cost,
    IllFormedAnswerError,
    InvalidPlayerParametersError,
    Player,
    PlayerDisconnectedError,
    PlayerError,
    PlayerStartError,
    PlayerTimeoutError,
    Seating,
    WarningList,
    module_and_factory,
    read_parameters,
)
from arena.players.process import seconds_until
from arena.players.program import KeptPrograms, PlayerProgram
from referees.dialogues import PolicyDialogue, PolicyGame, Reading

SEED: Final = "{seed}"


@dataclass(frozen=True)
class PolicyParameters:
    """The parameters of a player that is a policy.

    `interpreter` is the Python of its environment, `arguments` are the factory's, by name; one that is
    `"{seed}"` is the seat's seed. At a fault (a crash, an answer that is late or of the wrong shape, an
    illegal action) the player loses, or it passes: for the phase, or for the rest of the game after a
    crash or `late_turns` late answers.
    """

    interpreter: str = sys.executable
    arguments: Mapping[str, Any] = field(default_factory=dict)
    faults: str = "lose"
    late_turns: int = 3

    def seeded(self, seed: int) -> dict[str, Any]:
        """The factory's arguments at a seat of this seed."""
        return {name: seed % 2**31 if value == SEED else value for name, value in self.arguments.items()}


_LONGEST_COMPLAINT: Final = 500
_HIDDEN: Final = "***"


class PolicyProcess(PlayerProgram):
    """Starts a policy, and calls it. Its answers come in the order of the calls; late ones are skipped."""

    def __init__(self, seating: Seating, words: PolicyDialogue, parameters: PolicyParameters) -> None:
        """Launch the interpreter, without waiting until it is ready. Raises PlayerStartError."""
        super().__init__(seating, (parameters.interpreter, "-u", str(words.host)))
        self.name = ""
        self.takes_contests = False
        self._in_contests: list[int] = []
        self._factory, self._arguments = self.setup.command[0], parameters.seeded(seating.seed)
        self._calls = 0
        self._label, self._transcript = seating.label, seating.transcript

    def take_seat(self, seating: Seating) -> None:
        """Go on with another game."""
        super().take_seat(seating)
        self._label, self._transcript = seating.label, seating.transcript

    def make(self, seconds: float) -> None:
        """Have the policy made for a game; `name` is then what it calls itself. Raises PlayerError."""
        deadline = time.monotonic() + seconds
        try:
            answer = self._call("start", seconds, factory=self._factory, arguments=self._arguments)
        except PlayerTimeoutError:
            raise PlayerStartError(
                f"{self._factory} was not made within {seconds:g} s (start_seconds)"
            ) from None
        except PlayerError as failure:
            raise PlayerStartError(f"{self._factory}: {failure}") from failure
        name = answer.get("name")
        self.name = name if isinstance(name, str) else ""
        self.takes_contests = answer.get("contests") is True
        self.reset(seconds_until(deadline))

    def reset(self, seconds: float) -> None:
        """Announce a game to the policy. Raises PlayerError."""
        self._call("reset", seconds)

    def enter_contest(self, slot: int, environment: Mapping[str, str], seconds: float) -> None:
        """Send the policy ACADEMY's address for the contest of a slot, and its ticket. Raises PlayerError."""
        access = {name: value for name, value in environment.items() if name.startswith("ACADEMY_")}
        self._in_contests.append(slot)
        self._call("contest", seconds, environment["ACADEMY_TOKEN"], slot=slot, access=access)

    def leave_contests(self, seconds: float) -> None:
        """Announce the end of its slots' contests to the policy. Raises PlayerError."""
        deadline = time.monotonic() + seconds
        slots, self._in_contests = self._in_contests, []
        for slot in slots:
            self._call("contest", seconds_until(deadline), slot=slot, access=None)

    def actions(self, slots: Sequence[int], frame: Mapping[str, Any], seconds: float) -> list[list[int]]:
        """The actions of some slots.

        Raises PlayerError: IllFormedAnswerError where the answer has not their shape.
        """
        answer = self._call("actions", seconds, slots=list(slots), **frame)
        actions = answer.get("actions")
        if not _are_numbers(actions) or len(actions) != len(slots):
            raise IllFormedAnswerError(
                f"{str(answer)[:_LONGEST_COMPLAINT]!r} are not actions of {len(slots)} slots"
            )
        return actions

    def leave_seat(self) -> Cost:
        """What the game has cost, where the process goes on."""
        return self._process.cost()

    def end(self, seconds: float) -> Cost:
        """End the process, which has some seconds to exit by itself."""
        return self._process.end(seconds)

    def _call(self, do: str, seconds: float, secret: str = "", **arguments: Any) -> dict[str, Any]:
        """The answer to a call; a `secret` among the arguments is in no transcript. Raises PlayerError."""
        self._calls += 1
        deadline = time.monotonic() + seconds
        line = json.dumps({"id": self._calls, "do": do, **arguments})
        if self._transcript is not None:
            self._transcript.log_sent(self._label, line.replace(secret, _HIDDEN) if secret else line)
        try:
            self._process.write_line(line.encode(), deadline)
        except PlayerTimeoutError:
            # It has part of a line, and cannot be followed any more.
            raise PlayerDisconnectedError("does not read what it is sent") from None
        while True:
            answer = self._read(deadline, secret)
            if answer["id"] == self._calls:
                break
        if "error" in answer:
            raise IllFormedAnswerError(str(answer["error"])[:_LONGEST_COMPLAINT])
        return answer

    def _read(self, deadline: float, secret: str) -> dict[str, Any]:
        line = self._process.read_line(deadline)
        if line is None:
            raise PlayerDisconnectedError(self._process.obituary())
        text = line.decode(errors="replace")
        if secret:
            text = text.replace(secret, _HIDDEN)
        if self._transcript is not None:
            self._transcript.log_received(self._label, text)
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or "id" not in answer:
            raise IllFormedAnswerError(f"{text[:100]!r} is not what the program that runs policies answers")
        return answer


def _are_numbers(actions: Any) -> TypeGuard[list[list[int]]]:
    return isinstance(actions, list) and all(
        isinstance(numbers, list) and all(type(action) is int for action in numbers) for numbers in actions
    )


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
        kept: KeptPrograms[PolicyProcess] | None,
    ) -> None:
        self.seatings = [seating]
        self.name = ""
        self.seconds = 0.0
        self.warnings = WarningList()
        self._words = words
        self._parameters = parameters
        self._game: PolicyGame = words.begin(seating.first_view)
        # Without a place for kept ones each game has a process of its own.
        self._kept = None if seating.setup.restart else kept
        self._process = None if self._kept is None else self._kept.take(seating)
        if self._process is None:
            self._process = PolicyProcess(seating, words, parameters)
        self._ready = self._called = self._asked = False
        self._readings: dict[int, Reading] = {}
        self._failure: PlayerError | None = None
        self._gone = False
        self._late_turns = 0
        self._alone: dict[int, str] = {}
        self._cost: Cost | None = None

    def set_up(self) -> None:
        """Make the policy and announce the game to it. Raises PlayerError."""
        if self._failure is not None:
            raise self._failure
        if self._ready or self._process is None:
            return
        try:
            if self._process.played and not self._goes_on(self._process):
                # What a kept policy has become is not its player's failure in this game.
                self._process.end(0.0)
                self._process = None
                self._process = PolicyProcess(self.seatings[0], self._words, self._parameters)
            if not self._process.played:
                self._process.make(self.seatings[0].setup.start_seconds)
            self._enter_contests(self._process)
        except PlayerError as failure:
            self._failure = failure
            raise
        self.name = self._process.name
        self._ready = True

    def _enter_contests(self, process: PolicyProcess) -> None:
        """Send the policy its slots' contests at ACADEMY, if there are any. Raises PlayerError."""
        deadline = time.monotonic() + self.seatings[0].setup.start_seconds
        for seating in self.seatings:
            if "ACADEMY_TOKEN" not in seating.environment:
                return
            if not process.takes_contests:
                if not process.played and (why := self.without_academy()):
                    self.warnings.add(why)
                return
            try:
                left = seconds_until(deadline)
                process.enter_contest(self._words.slot(seating.seat), seating.environment, left)
            except IllFormedAnswerError as failure:
                self.warnings.add(f"{seating.label} plays without ACADEMY: {failure}")

    def without_academy(self) -> str:
        """Why the policy cannot hear of its contests, empty where it can; after `set_up`."""
        if self.seatings[0].setup.restart or (self._process is not None and self._process.takes_contests):
            return ""
        return (
            "plays without ACADEMY: with restart = false the policy is kept for many contests, and has no "
            "method academy_contest, which would announce each of them"
        )

    def _goes_on(self, process: PolicyProcess) -> bool:
        """Whether a policy that was kept is ready for another game."""
        try:
            process.reset(self.seatings[0].setup.start_seconds)
        except PlayerError:
            return False
        return True

    def take_moves(self, moves: Mapping[int, Any], view: Any) -> None:
        """Follow the game. Raises PlayerError where the policy, which is asked only to see, fails."""
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
        """The line of orders of a seat; `seconds` is then what it took. Raises PlayerError."""
        self.seconds = 0.0
        if self._alone and not self._game.is_at(view):
            self._follow_alone()
        self._ask(seating)
        reading = self._readings.get(seating.seat, Reading(self._words.passing()))
        if reading.complaints and self._parameters.faults == "lose":
            raise IllFormedAnswerError(reading.complaints[0])
        if self._game.to_move() == (seating.seat,):
            # The arena does not repeat a seat's own move to it.
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
        slots = [self._words.slot(member.seat) for member in self.seatings]
        try:
            actions = self._process.actions(slots, self._game.frame(), limit)
        except PlayerError as failure:
            self._fail(failure, limit)
            return
        finally:
            self.seconds = max(0.0, time.monotonic() - begun - grace)
        self._readings = {
            member.seat: self._game.read(member.seat, chosen)
            for member, chosen in zip(self.seatings, actions, strict=True)
        }
        for member in self.seatings:
            for complaint in self._readings[member.seat].complaints:
                self.warnings.add(f"{member.label}: {complaint}")

    def _fail(self, failure: PlayerError, limit: float) -> None:
        self._failure = failure
        assert self._process is not None
        if self._parameters.faults == "lose":
            self._gone = True
            raise failure
        if isinstance(failure, PlayerTimeoutError):
            self._late_turns += 1
            most = self._parameters.late_turns
            self._gone = self._late_turns >= most
            self.warnings.add(
                f"no answer within {limit:.3g} s, the phase is passed ({self._late_turns} of {most} times)"
            )
        elif isinstance(failure, IllFormedAnswerError):
            self.warnings.add(f"the phase is passed: {failure}")
        else:
            self._gone = True
        if self._gone:
            self.warnings.add(f"passes for the rest: {failure}")

    def close(self, *, at_once: bool) -> Cost:
        """End or keep the process, once for all seats; each seat's share of what it used."""
        if self._cost is None:
            process, self._process = self._process, None
            if process is None:
                return Cost()
            setup = self.seatings[0].setup
            faultless = self._ready and self._failure is None and not self._gone and process.healthy
            if faultless and not at_once:
                try:
                    process.leave_contests(setup.exit_seconds)
                except PlayerError as failure:
                    self.warnings.add(str(failure))
                    # Another of its answers may be on the way.
                    faultless = isinstance(failure, IllFormedAnswerError)
            if self._kept is not None and faultless and not at_once:
                used = process.leave_seat()
                self._kept.put(process)
            else:
                used = process.end(0.0 if at_once or self._gone else setup.exit_seconds)
            share = None if used.cpu_seconds is None else used.cpu_seconds / len(self.seatings)
            self._cost = Cost(share, used.peak_memory_bytes)
        return self._cost


# The seats of one game whose player is the same share a process: a network is large.
_SHARED: Final[dict[tuple[str, str], SharedPolicy]] = {}


class PolicyPlayer(Player):
    """A seat of the policy that the factory `command=("module:factory",)` makes, in a process of its own."""

    def __init__(self, seating: Seating, kept: KeptPrograms[PolicyProcess] | None = None) -> None:
        """Take a seat; `kept` has policies of earlier games, None where each game has its own."""
        super().__init__(seating)
        self._kept = kept
        module_and_factory(seating.setup.command)
        self._parameters = read_parameters(PolicyParameters, seating.setup.parameters, "a policy")
        words = seating.referee.dialogue("policy")
        if words is None:
            raise InvalidPlayerParametersError(
                f"the game {seating.referee.name!r} is not played by policies under these settings"
            )
        self._words: PolicyDialogue = words  # type: ignore[assignment]
        self._key = seating.game_id, seating.setup.name
        self._policy: SharedPolicy | None = None

    @contextlib.contextmanager
    def _name_failures(self) -> Iterator[SharedPolicy]:
        """The policy; its failures name the player."""
        assert self._policy is not None
        try:
            yield self._policy
        except PlayerError as failure:
            raise type(failure)(f"player {self.seating.label}: {failure}") from failure

    def start(self) -> None:
        """Launch the process, or join the seats of this player that have."""
        policy = _SHARED.get(self._key)
        if policy is None:
            policy = SharedPolicy(self.seating, self._words, self._parameters, self._kept)
            _SHARED[self._key] = policy
        else:
            policy.seatings.append(self.seating)
        self._policy = policy

    def set_up(self) -> None:
        """Have the policy made, within `start_seconds`."""
        with self._name_failures() as policy:
            policy.set_up()
            self.name = self.description = policy.name

    def without_academy(self) -> str:
        """As of any player; to be asked after `set_up`."""
        assert self._policy is not None
        why = self._policy.without_academy()
        return f"player {self.seating.label} {why}" if why else ""

    def choose(self, view: Any) -> Choice:
        """The seat's actions; the policy is called for the first of its seats that is asked."""
        with self._name_failures() as policy:
            reading = policy.choose(self.seating, view)
            seconds = min(policy.seconds, self.seating.move_seconds)
        return Choice(reading.text, seconds=seconds)

    def take_moves(self, moves: Mapping[int, Any], view: Any) -> None:
        """Show the policy the position, also where none of its seats is to move."""
        with self._name_failures() as policy:
            policy.take_moves(moves, view)

    def close(self, *, at_once: bool = False) -> Cost:
        """End the process with the first of its seats that is closed."""
        policy, self._policy = self._policy, None
        if policy is None:
            return Cost()
        _SHARED.pop(self._key, None)
        cost = policy.close(at_once=at_once)
        if policy.seatings[0] is self.seating:
            self.warnings += [
                f"player {self.seating.setup.name}: {warning}" for warning in policy.warnings.lines()
            ]
        return cost
