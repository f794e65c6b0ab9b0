"""Policies that are kept from one game of their player to the next, where `restart` is off."""

from collections import deque
from typing import Final

from arena.players.player import Seating
from arena.players.policy_process import PolicyProcess

MAX_IDLE: Final = 8


class IdlePolicies:
    """The idle policies of one process that plays games. Beyond `MAX_IDLE` the longest idle one is ended."""

    def __init__(self) -> None:
        self._idle: deque[PolicyProcess] = deque()

    @property
    def process_ids(self) -> set[int]:
        """The policies' processes."""
        return {policy.process_id for policy in self._idle}

    def take(self, seating: Seating) -> PolicyProcess | None:
        """A policy of this player for its next game, if one is there that runs."""
        for policy in list(self._idle):
            if policy.setup == seating.setup and policy.log_path == seating.log_path:
                self._idle.remove(policy)
                if policy.runs:
                    policy.take_seat(seating)
                    return policy
                policy.end(0.0)
        return None

    def put(self, policy: PolicyProcess) -> None:
        """Keep a policy whose game is over."""
        self._idle.append(policy)
        if len(self._idle) > MAX_IDLE:
            self._idle.popleft().end(0.0)

    def end(self) -> None:
        """End all of them at once."""
        while self._idle:
            self._idle.popleft().end(0.0)
