"""What the setup of a player that speaks lines may say besides the command."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from arena.players.player import InvalidParameters

CRASHES: Final = ("pass", "lose")
MAX_LATE_TURNS: Final = 100_000


@dataclass(frozen=True)
class LinesParameters:
    """The parameters of a player that speaks lines.

    `dialogue` is one of the game's dialogues, empty for its own. After a `crash` the player passes for
    the rest of the game, or loses at once. After `late_turns` turns without an answer in time it
    passes for the rest and is asked no more, but told when the game is over.
    """

    dialogue: str = ""
    crash: str = "pass"
    late_turns: int = 3

    @classmethod
    def read(cls, parameters: Mapping[str, Any]) -> Self:
        """Read a setup's parameters. Raises InvalidParameters."""
        unknown = set(parameters) - {field.name for field in fields(cls)}
        if unknown:
            raise InvalidParameters(f"{sorted(unknown)[0]!r} is no parameter of a player that speaks lines")
        read = cls(**parameters)
        if not isinstance(read.dialogue, str):
            raise InvalidParameters(f"dialogue: {read.dialogue!r} is no text")
        if read.crash not in CRASHES:
            raise InvalidParameters(f"crash: {read.crash!r} is none of {', '.join(CRASHES)}")
        if not isinstance(read.late_turns, int) or not 1 <= read.late_turns <= MAX_LATE_TURNS:
            raise InvalidParameters(
                f"late_turns: {read.late_turns!r} is not a whole number from 1 to {MAX_LATE_TURNS}"
            )
        return read
