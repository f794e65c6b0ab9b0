"""What the setup of a player that is a policy may say besides its factory."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

from arena.players.player import InvalidParameters

FAULTS: Final = ("lose", "pass")
MAX_LATE_TURNS: Final = 100_000
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

    @classmethod
    def read(cls, parameters: Mapping[str, Any]) -> Self:
        """Read a setup's parameters. Raises InvalidParameters."""
        known = [field.name for field in fields(cls)]
        unknown = set(parameters) - set(known)
        if unknown:
            raise InvalidParameters(
                f"{sorted(unknown)[0]!r} is no parameter of a policy; there are {', '.join(known)}"
            )
        read = cls(**parameters)
        if not isinstance(read.interpreter, str) or not read.interpreter:
            raise InvalidParameters(f"interpreter: {read.interpreter!r} is no program")
        arguments = read.arguments
        if not isinstance(arguments, Mapping) or not all(isinstance(name, str) for name in arguments):
            raise InvalidParameters(f"arguments: {arguments!r} are no values by name")
        if read.faults not in FAULTS:
            raise InvalidParameters(f"faults: {read.faults!r} is none of {', '.join(FAULTS)}")
        late = read.late_turns
        if not isinstance(late, int) or isinstance(late, bool) or not 1 <= late <= MAX_LATE_TURNS:
            raise InvalidParameters(f"late_turns: {late!r} is not a whole number from 1 to {MAX_LATE_TURNS}")
        return read

    def seeded(self, seed: int) -> dict[str, Any]:
        """The factory's arguments at a seat of this seed."""
        return {name: seed % 2**31 if value == SEED else value for name, value in self.arguments.items()}
