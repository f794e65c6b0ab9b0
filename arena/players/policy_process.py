"""A policy in a process of its own, in the environment of its own Python: called by lines of JSON."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeGuard

from arena.players import policy_host
from arena.players.failures import CannotStart, Disconnected, IllFormed, Late, PlayerFailure
from arena.players.player import Seating
from arena.players.policy_parameters import PolicyParameters
from arena.players.process import ProcessCost
from arena.players.program import error_log, launch

HOST: Final = str(Path(policy_host.__file__).parent)
_LONGEST_COMPLAINT: Final = 500
_HIDDEN: Final = "***"


class PolicyProcess:
    """Starts a policy, and calls it. Its answers come in the order of the calls; late ones are skipped."""

    def __init__(self, seating: Seating, parameters: PolicyParameters, factory: str) -> None:
        """Launch the interpreter, without waiting until it is ready. Raises CannotStart."""
        self.setup: Final = seating.setup
        self.log_path: Final = seating.log_path
        self.name: str | None = None
        self.takes_contests = False
        self._in_contests: list[int] = []
        self._factory, self._arguments = factory, parameters.seeded(seating.seed)
        setup = replace(seating.setup, command=(parameters.interpreter, "-u", HOST))
        started = replace(seating, setup=setup)
        environment = seating.environment
        if not setup.restart:
            # A ticket is for one contest only.
            environment = {name: value for name, value in environment.items() if name[:8] != "ACADEMY_"}
        self._process = launch(started, error_log(started), environment)
        self._calls = 0
        self._cpu_before = 0.0
        self.take_seat(seating)

    def take_seat(self, seating: Seating) -> None:
        """Play a game of this seat from now on."""
        self._label, self._transcript = seating.label, seating.transcript

    def make(self, seconds: float) -> None:
        """Have the policy made; `name` is then what it calls itself. Raises CannotStart."""
        try:
            answer = self._call("start", seconds, factory=self._factory, arguments=self._arguments)
        except Late:
            raise CannotStart(f"{self._factory} was not made within {seconds:g} s (start_seconds)") from None
        except PlayerFailure as failure:
            raise CannotStart(f"{self._factory}: {failure}") from failure
        name = answer.get("name")
        self.name = name if isinstance(name, str) else ""
        self.takes_contests = answer.get("contests") is True

    def reset(self, seconds: float) -> None:
        """Tell the policy that a game begins. Raises PlayerFailure."""
        self._call("reset", seconds)

    def enter_contest(self, slot: int, environment: Mapping[str, str], seconds: float) -> None:
        """Tell the policy where ACADEMY is in the contest of a slot, and its ticket. Raises PlayerFailure."""
        access = {name: value for name, value in environment.items() if name.startswith("ACADEMY_")}
        self._in_contests.append(slot)
        self._call("contest", seconds, environment["ACADEMY_TOKEN"], slot=slot, access=access)

    def leave_contests(self, seconds: float) -> None:
        """Tell the policy that the contests of its slots are over. Raises PlayerFailure."""
        deadline = time.monotonic() + seconds
        slots, self._in_contests = self._in_contests, []
        for slot in slots:
            self._call("contest", max(0.0, deadline - time.monotonic()), slot=slot, access=None)

    def actions(self, slots: Sequence[int], frame: Mapping[str, Any], seconds: float) -> list[list[int]]:
        """The actions of some slots. Raises PlayerFailure: IllFormed where the answer has not their shape."""
        answer = self._call("actions", seconds, slots=list(slots), **frame)
        actions = answer.get("actions")
        if not _are_numbers(actions) or len(actions) != len(slots):
            raise IllFormed(f"{str(answer)[:_LONGEST_COMPLAINT]!r} are no actions of {len(slots)} slots")
        return actions

    @property
    def process_id(self) -> int:
        """The interpreter's process id."""
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether the process has not exited."""
        return self._process.runs

    def leave_seat(self) -> ProcessCost:
        """What the game has cost, where the process goes on."""
        spent, before = self._process.cpu_seconds(), self._cpu_before
        self._process.note_memory()
        peak = self._process.peak_memory_bytes
        self._process.forget_memory()
        if spent is None:
            return ProcessCost(None, peak, False)
        self._cpu_before = spent
        return ProcessCost(spent - before, peak, False)

    def end(self, seconds: float) -> ProcessCost:
        """End the process, which has some seconds to exit by itself."""
        cost = self._process.end(seconds)
        if cost.cpu_seconds is None:
            return cost
        return replace(cost, cpu_seconds=max(0.0, cost.cpu_seconds - self._cpu_before))

    def _call(self, do: str, seconds: float, secret: str = "", **arguments: Any) -> dict[str, Any]:
        """The answer to a call; a `secret` among the arguments is in no transcript. Raises PlayerFailure."""
        self._calls += 1
        deadline = time.monotonic() + seconds
        asked = json.dumps({"id": self._calls, "do": do, **arguments})
        if self._transcript is not None:
            self._transcript.told(self._label, asked.replace(secret, _HIDDEN) if secret else asked)
        try:
            self._process.write_line(asked.encode(), deadline)
        except Late:
            # It has part of a line, and cannot be followed any more.
            raise Disconnected("does not read what it is sent") from None
        while True:
            answer = self._read(deadline, secret)
            if answer["id"] == self._calls:
                break
        if "error" in answer:
            raise IllFormed(str(answer["error"])[:_LONGEST_COMPLAINT])
        return answer

    def _read(self, deadline: float, secret: str) -> dict[str, Any]:
        line = self._process.read_line(deadline)
        if line is None:
            raise Disconnected(self._process.obituary())
        said = line.decode(errors="replace")
        if secret:
            said = said.replace(secret, _HIDDEN)
        if self._transcript is not None:
            self._transcript.said(self._label, said)
        try:
            answer = json.loads(said)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or "id" not in answer:
            raise IllFormed(f"{said[:100]!r} is not what the program that runs policies answers")
        return answer


def _are_numbers(actions: Any) -> TypeGuard[list[list[int]]]:
    return isinstance(actions, list) and all(
        isinstance(each, list) and all(type(action) is int for action in each) for each in actions
    )
