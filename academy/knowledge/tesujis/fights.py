"""What a move does to the chains of stones beside it, in games where chains are taken."""

from dataclasses import dataclass
from typing import Final

__all__ = ["MOST_IN_FIGHT", "Fight"]


@dataclass(frozen=True, slots=True)
class Fight:
    """What a move does to the chains beside it.

    Attributes:
        taken: How many of the opponent's stones it takes.
        extended: How many own stones in atari it extends: their chain may be in atari again.
        threatened: How many of the opponent's stones it leaves one liberty.
        liberties: How many the chain has that it joins or begins.
    """

    taken: int
    extended: int
    threatened: int
    liberties: int

    def __str__(self) -> str:
        """Say it in words, as `takes 1, threatens 2+, 3+ liberties`; `+` means: or more."""
        done = [
            f"{verb} {_up_to(count, most)}"
            for verb, count, most in (
                ("takes", self.taken, MOST_IN_FIGHT.taken),
                ("extends", self.extended, MOST_IN_FIGHT.extended),
                ("threatens", self.threatened, MOST_IN_FIGHT.threatened),
            )
            if count
        ]
        left = _up_to(self.liberties, MOST_IN_FIGHT.liberties)
        return ", ".join([*done, f"{left} {'liberty' if left == '1' else 'liberties'}"])


def _up_to(count: int, most: int) -> str:
    return str(count) if count < most else f"{most}+"


# More stones or liberties count as this many.
MOST_IN_FIGHT: Final = Fight(taken=3, extended=2, threatened=2, liberties=3)
