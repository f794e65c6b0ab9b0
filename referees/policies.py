"""What the arena needs to know of a game that policies play: objects that are shown arrays and give numbers.

`Referee.dialogue("policy")` gives a `PolicyDialogue` where a game is played so. One policy may play several
seats of a game, and it is called once for every position in turn, whoever is to move.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from referees.lines import Reading


class PolicyGame(Protocol):
    """One game as policies see it, which follows what is played."""

    def is_at(self, view: Any) -> bool:
        """Whether this is the position that the game has reached."""

    def to_move(self) -> tuple[int, ...]:
        """The seats to move."""

    def follow(self, moves: Mapping[int, Any]) -> None:
        """Play the moves of the seats that were to move."""

    def follow_texts(self, moves: Mapping[int, str]) -> None:
        """As `follow`, with moves as text."""

    def frame(self) -> Mapping[str, object]:
        """What a policy is shown of the position, to be written as JSON."""

    def read(self, seat: int, actions: Sequence[int]) -> Reading:
        """The move that a policy's actions are; those that are illegal are dropped and complained of."""


class PolicyDialogue(Protocol):
    """A game that policies play.

    `host` is the program, a file or a folder, that the policy's own Python runs: it makes the policy, shows
    it the frames and answers with its actions. See `arena.players.policy` for its lines of JSON.
    """

    host: Path

    def begin(self, view: Any) -> PolicyGame:
        """A game that begins with this position."""

    def slot(self, seat: int) -> int:
        """What policies call a seat."""

    def passing(self) -> str:
        """The move of a policy that gives none."""
