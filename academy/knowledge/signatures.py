"""Votes of players and the signature they add up to.

Elo is counted in hundredths and value in millionths, as integers: sums are exact, so the order in
which votes arrive cannot change a signature.
"""

import hashlib
import math
from dataclasses import dataclass, field, replace
from typing import Final

MAX_SEPARATE_VOTES: Final = 256
ELO_SCALE: Final = 100
VALUE_SCALE: Final = 1_000_000
MAX_ELO: Final = 100_000.0


class InvalidVote(ValueError):
    """An Elo or value out of range."""


@dataclass(frozen=True, slots=True)
class Signature:
    """`< proposers; elo; value; player >`: the label of a pattern.

    `value` is what `player` (from 1) expects, 0.0 for a loss to 1.0 for a win.
    """

    proposers: int
    elo: float
    value: float
    player: int

    def __str__(self) -> str:
        return f"< {self.proposers}; {self.elo:.10g}; {self.value:.10g}; {self.player} >"


@dataclass(frozen=True, slots=True)
class Vote:
    """What one player says of a pattern: Elo in hundredths, value in millionths.

    `event` is the number of the event that brought it: of two votes by one player the later counts.
    """

    player: str
    elo_hundredths: int
    value_millionths: int
    event: int

    @classmethod
    def of(cls, player: str, elo: float, value: float, event: int) -> "Vote":
        """Round an Elo and a value in [0, 1] to a vote. Raises InvalidVote outside the ranges."""
        if not (math.isfinite(value) and 0.0 <= value <= 1.0):
            raise InvalidVote(f"expected value {value!r}: it must be a number from 0 to 1")
        if not (math.isfinite(elo) and abs(elo) <= MAX_ELO):
            raise InvalidVote(f"Elo {elo!r}: it must be a number from -{MAX_ELO:.0f} to {MAX_ELO:.0f}")
        return cls(player, round(elo * ELO_SCALE), round(value * VALUE_SCALE), event)

    @property
    def elo(self) -> float:
        """The player's Elo."""
        return self.elo_hundredths / ELO_SCALE

    @property
    def value(self) -> float:
        """The expected value."""
        return self.value_millionths / VALUE_SCALE

    @property
    def weight(self) -> int:
        """max(Elo, 1) in hundredths: a weight stays positive where an Elo does not."""
        return max(self.elo_hundredths, ELO_SCALE)


@dataclass(frozen=True, slots=True)
class Folded:
    """Sums over votes too many to keep apart, and digests of who cast them."""

    votes: int = 0
    elo_hundredths: int = 0
    weight: int = 0
    weighted_value: int = 0
    players: frozenset[int] = frozenset()

    def __add__(self, vote: Vote) -> "Folded":
        return Folded(
            self.votes + 1,
            self.elo_hundredths + vote.elo_hundredths,
            self.weight + vote.weight,
            self.weighted_value + vote.weight * vote.value_millionths,
            self.players | {digest(vote.player)},
        )

    def united(self, other: "Folded") -> "Folded":
        """Both sums; of a player in both, `other` counts in the mean only."""
        kept = other.votes - len(self.players & other.players)
        if kept == 0:
            return self
        weight = other.weight * kept // other.votes
        return Folded(
            self.votes + kept,
            self.elo_hundredths + other.elo_hundredths * kept // other.votes,
            self.weight + weight,
            # In proportion to the rounded weight, or the mean value could leave [0, 1].
            self.weighted_value + other.weighted_value * weight // other.weight,
            self.players | other.players,
        )


def digest(player: str) -> int:
    """Return 64 bits that stand for a player's name."""
    return int.from_bytes(hashlib.blake2b(player.encode(), digest_size=8).digest())


@dataclass(frozen=True, slots=True)
class Ballot:
    """All votes for one pattern, at most one a player, in the order they were cast.

    The sums over all of them, `elo_hundredths`, `weight` (in hundredths of Elo) and
    `weighted_value` (weight times value in millionths), follow from the votes.
    """

    votes: tuple[Vote, ...] = ()
    folded: Folded = field(default_factory=Folded)
    elo_hundredths: int = field(init=False, repr=False, compare=False)
    weight: int = field(init=False, repr=False, compare=False)
    weighted_value: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        elo, weight, value = self.folded.elo_hundredths, self.folded.weight, self.folded.weighted_value
        for vote in self.votes:
            elo += vote.elo_hundredths
            weight += vote.weight
            value += vote.weight * vote.value_millionths
        object.__setattr__(self, "elo_hundredths", elo)
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "weighted_value", value)

    def cast(self, vote: Vote) -> "Ballot":
        """Add a vote; a player's earlier one is replaced, unless it was folded: then it stands."""
        if digest(vote.player) in self.folded.players:
            return self
        kept = tuple(other for other in self.votes if other.player != vote.player)
        return Ballot((*kept, vote), self.folded)._within_limit()

    def without(self, player: str) -> "Ballot":
        """The votes of everybody else; one that was folded stays, since it cannot be told from the others."""
        return replace(self, votes=tuple(vote for vote in self.votes if vote.player != player))

    def united(self, other: "Ballot") -> "Ballot":
        """The votes of two patterns that became one; of one player's two votes the later counts."""
        folded = self.folded.united(other.folded)
        latest: dict[str, Vote] = {}
        for vote in sorted((*self.votes, *other.votes), key=lambda vote: (vote.event, vote.player)):
            if digest(vote.player) not in folded.players:
                latest.pop(vote.player, None)
                latest[vote.player] = vote
        return Ballot(tuple(latest.values()), folded)._within_limit()

    def _within_limit(self) -> "Ballot":
        surplus = len(self.votes) - MAX_SEPARATE_VOTES
        if surplus <= 0:
            return self
        folded = self.folded
        for vote in self.votes[:surplus]:
            folded = folded + vote
        return replace(self, votes=self.votes[surplus:], folded=folded)

    @property
    def proposers(self) -> int:
        """N: how many players voted."""
        return len(self.votes) + self.folded.votes

    @property
    def elo(self) -> float:
        """E: the mean Elo of the players who voted."""
        return self.elo_hundredths / (self.proposers * ELO_SCALE)

    @property
    def value(self) -> float:
        """V: the mean value, weighted by max(Elo, 1)."""
        return self.weighted_value / (self.weight * VALUE_SCALE)

    @property
    def strength(self) -> float:
        """N·E·(0.5 - V)²: what eviction goes by."""
        return self.weight / ELO_SCALE * (0.5 - self.value) ** 2

    def signature(self, player: int) -> Signature:
        """The label of the pattern these votes are for, addressing `player`."""
        return Signature(self.proposers, self.elo, self.value, player)
