"""Seeds: where each game's chance comes from, and the number that each seat is given for its own.

Who knows the seed of a game can make its first position, all hands and all future dice. So seats get seeds
of their own, keyed hashes of the game's; and where the control file gives no seed, the games' own are keyed
hashes too, of what everybody may know of a game. The key is a secret of the competition.
"""

import secrets
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Self

KEY_BYTES: Final = 32
# Below this, trying all seeds of control files against what a seat sees takes no time at all.
SAFE_SEED: Final = 2**48


def seat_seed(game_seed: int, seat: int, key: bytes = b"") -> int:
    """The seed, 0 to 2^63 - 1, of one seat of a game. Nothing leads back from it to the game's."""
    return _hash(key, "seat", game_seed, seat)


def new_key() -> bytes:
    """A secret for a competition."""
    return secrets.token_bytes(KEY_BYTES)


@dataclass(frozen=True)
class GameSeeds:
    """The seeds of a competition's games and seats; `repeats` is whether the control file gives its seed."""

    key: bytes
    repeats: bool = False

    @classmethod
    def of_seed(cls, seed: int) -> Self:
        """The seeds of a control file with a seed: they come from that alone, wherever it is run."""
        return cls(blake2b(f"seed {seed}".encode(), digest_size=KEY_BYTES).digest(), repeats=True)

    def game(self, public_seed: int, attempt: int = 1) -> int:
        """The seed, 0 to 2^63 - 1, of a try at a game, of whose seed anybody may know `public_seed`.

        Each attempt has another: players may have seen the dice of one that came to nothing.
        """
        if self.repeats and attempt == 1:
            return public_seed
        return _hash(self.key, "game", public_seed, attempt)

    def seats(self, game_seed: int, count: int) -> tuple[int, ...]:
        """The seeds of all seats of a game."""
        return tuple(seat_seed(game_seed, seat, self.key) for seat in range(1, count + 1))


def _hash(key: bytes, *parts: str | int) -> int:
    text = " ".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=8, key=key).digest(), "big") >> 1
