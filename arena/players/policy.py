"""Players that are policies: objects with an `actions` method, as DeepMind's agents for Diplomacy are."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from arena.players.failures import PlayerFailure
from arena.players.idle_policies import IdlePolicies
from arena.players.player import Choice, Cost, InvalidParameters, Player, Seating
from arena.players.policy_parameters import PolicyParameters
from arena.players.shared_policy import SharedPolicy
from referees.policies import PolicyDialogue

# The seats of one game whose player is the same share a process: a network is large.
_SHARED: Final[dict[tuple[str, str], SharedPolicy]] = {}


class PolicyPlayer(Player):
    """A seat of the policy that the factory `command=("module:factory",)` makes, in a process of its own."""

    def __init__(self, seating: Seating, idle: IdlePolicies | None = None) -> None:
        """Take a seat; `idle` has policies of earlier games, None where each game has its own."""
        super().__init__(seating)
        self._idle = idle
        command = seating.setup.command
        module, colon, factory = command[0].partition(":") if len(command) == 1 else ("", "", "")
        if not (module and colon and factory):
            raise InvalidParameters(f"the command {list(command)} must be one 'module:factory'")
        self._parameters = PolicyParameters.read(seating.setup.parameters)
        words = seating.referee.dialogue("policy")
        if words is None:
            game = seating.referee.name
            raise InvalidParameters(
                f"this {game} is not played by policies: Diplomacy on the standard map is"
            )
        self._words: PolicyDialogue = words  # type: ignore[assignment]
        self._key = seating.game_id, seating.setup.name
        self._policy: SharedPolicy | None = None

    @contextlib.contextmanager
    def _named(self) -> Iterator[SharedPolicy]:
        """The policy; its failures name the player."""
        assert self._policy is not None
        try:
            yield self._policy
        except PlayerFailure as failure:
            raise type(failure)(f"player {self.seating.label}: {failure}") from failure

    def start(self) -> None:
        """Launch the process, or join the seats of this player that have."""
        found = _SHARED.get(self._key)
        if found is None:
            factory = self.seating.setup.command[0]
            found = SharedPolicy(self.seating, self._words, self._parameters, factory, self._idle)
            _SHARED[self._key] = found
        else:
            found.seatings.append(self.seating)
        self._policy = found

    def set_up(self) -> None:
        """Have the policy made, within `start_seconds`."""
        with self._named() as policy:
            policy.set_up()
            self.name = self.description = policy.name

    def without_academy(self) -> str:
        """As of any player; to be asked after `set_up`."""
        assert self._policy is not None
        why = self._policy.without_academy()
        return f"player {self.seating.label} {why}" if why else ""

    def choose(self, view: Any) -> Choice:
        """The seat's actions; the policy is called for the first of its seats that is asked."""
        with self._named() as policy:
            reading = policy.choose(self.seating, view)
            seconds = min(policy.seconds, self.seating.move_seconds)
        return Choice(reading.text, seconds=seconds)

    def told(self, moves: Mapping[int, Any], view: Any) -> None:
        """Show the policy the position, also where none of its seats is to move."""
        with self._named() as policy:
            policy.told(moves, view)

    def close(self, *, at_once: bool = False) -> Cost:
        """End the process with the first of its seats that is closed."""
        policy, self._policy = self._policy, None
        if policy is None:
            return Cost()
        _SHARED.pop(self._key, None)
        cost = policy.close(at_once=at_once)
        if policy.seatings[0] is self.seating:
            self.warnings += [f"player {self.seating.setup.name}: {warning}" for warning in policy.warnings]
        return cost
