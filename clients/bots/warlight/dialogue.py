"""The bot's side of the challenge's dialogue: the map, a standing each turn, orders as text."""

import sys
from collections.abc import Iterable, Iterator
from typing import Final, TextIO

from referees.warlight.maps import WarMap, read_map
from referees.warlight.orders import Order
from referees.warlight.position import NEUTRAL, UNSEEN, WarPosition

# In either seat, a bot reads of itself and of its opponent.
ME: Final = 1
OPPONENT: Final = 2
OWNERS: Final = {"Neutral": NEUTRAL, "You": ME, "Opponent": OPPONENT}
_LARGEST: Final = 1_000_000


class DialogueBrokenError(ValueError):
    """The referee sent a line that the dialogue does not have, or stopped in the middle."""


class Dialogue:
    """A game's dialogue over two streams. `map` is there from the beginning."""

    def __init__(self, input_lines: Iterable[str] = sys.stdin, output: TextIO = sys.stdout) -> None:
        """Read the map. Raises DialogueBrokenError, and InvalidMapError."""
        self._heard = (line.strip() for line in input_lines)
        self._output = output
        self.map: Final[WarMap] = read_map("\n".join(self._until("EndMap")), "map")

    def turns(self) -> Iterator[WarPosition]:
        """What is seen at the beginning of each turn, until the game is over. Raises DialogueBrokenError."""
        for line in self._heard:
            match line.split():
                case ["GameOver"]:
                    return
                case ["Turn", number] if number.isdecimal():
                    yield self._standing(int(number))
                case []:
                    pass
                case _:
                    raise DialogueBrokenError(f"{line[:80]!r}: 'Turn N' or 'GameOver' was expected")

    def answer(self, orders: Iterable[Order], value: float | None = None) -> None:
        """Send a turn's orders, and the value from 0 to 1 that is expected of the game."""
        lines = [order.text for order in orders]
        if value is not None:
            lines.append(f"academy-expected_value {value:.4f}")
        print(*lines, "end", sep="\n", file=self._output, flush=True)

    def _until(self, last: str) -> Iterator[str]:
        for line in self._heard:
            if line == last:
                return
            yield line
        raise DialogueBrokenError(f"the input ended before '{last}'")

    def _standing(self, turn: int) -> WarPosition:
        owners = bytearray([UNSEEN]) * len(self.map.territories)
        armies = [0] * len(owners)
        for line in self._until("EndStanding"):
            try:
                word, territory, owned_by, owner, with_armies, count = line.split()
                if (word, owned_by, with_armies) != ("Territory", "ownedBy", "withArmies"):
                    raise ValueError
                at = self.map.index[int(territory)]
                owners[at], armies[at] = OWNERS[owner], min(int(count), _LARGEST)
            except (ValueError, KeyError):
                raise DialogueBrokenError(f"{line[:80]!r} is not a row of a standing on this map") from None
        return WarPosition(turn, bytes(owners), tuple(armies), 0)
