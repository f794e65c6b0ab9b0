"""Votes of players and the signature they add up to.

Elo is counted in hundredths and value in millionths, as integers: sums are exact, so the order in
which votes arrive cannot change a signature.
"""

import hashlib
import math
from dataclasses import dataclass, field, replace
from typing import Final

MAX_SEPARATE_VOTES: Final = 256
MAX_SILENT_VOTES: Final = 64
# From the seed: whose Elo lies this far below a known pattern's does not change it.
ELO_BAND: Final = 200.0
ELO_SCALE: Final = 100
BAND_HUNDREDTHS: Final = round(ELO_BAND * ELO_SCALE)
VALUE_SCALE: Final = 1_000_000
MAX_ELO: Final = 100_000.0


class InvalidVoteError(ValueError):
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

    `event` is the number of the event that brought it, `order` its place among the votes of that event: of
    two votes by one player the later counts.
    """

    player: str
    elo_hundredths: int
    value_millionths: int
    event: int
    order: int = 0

    @classmethod
    def of(cls, player: str, elo: float, value: float, event: int, order: int = 0) -> "Vote":
        """Round an Elo and a value in [0, 1] to a vote. Raises InvalidVoteError outside the ranges."""
        if not (math.isfinite(value) and 0.0 <= value <= 1.0):
            raise InvalidVoteError(f"expected value {value!r}: it must be a number from 0 to 1")
        if not (math.isfinite(elo) and abs(elo) <= MAX_ELO):
            raise InvalidVoteError(f"Elo {elo!r}: it must be a number from -{MAX_ELO:.0f} to {MAX_ELO:.0f}")
        return cls(player, round(elo * ELO_SCALE), round(value * VALUE_SCALE), event, order)

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
class AggregatedVotes:
    """Sums over votes too many to keep apart, and digests of who cast them."""

    votes: int = 0
    elo_hundredths: int = 0
    weight: int = 0
    weighted_value: int = 0
    players: frozenset[int] = frozenset()

    def __add__(self, vote: Vote) -> "AggregatedVotes":
        return AggregatedVotes(
            self.votes + 1,
            self.elo_hundredths + vote.elo_hundredths,
            self.weight + vote.weight,
            self.weighted_value + vote.weight * vote.value_millionths,
            self.players | {digest(vote.player)},
        )

    def united(self, other: "AggregatedVotes") -> "AggregatedVotes":
        """Both sums; of a player in both, `other` counts in the mean only."""
        kept = other.votes - len(self.players & other.players)
        if kept == 0:
            return self
        weight = other.weight * kept // other.votes
        return AggregatedVotes(
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
class VoteTally:
    """All votes for one pattern, at most one a player, in the order they were cast.

    The sums over all of them, `elo_hundredths`, `weight` (in hundredths of Elo) and `weighted_value`
    (weight times value in millionths), follow from the votes. `silent` are votes of players too weak to be
    heard on this pattern, again one a player: no sum takes them in. Beyond 64 those of the least Elo lapse.
    """

    votes: tuple[Vote, ...] = ()
    folded: AggregatedVotes = field(default_factory=AggregatedVotes)
    silent: tuple[Vote, ...] = ()
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

    def admits(self, elo_hundredths: int) -> bool:
        """Whether an Elo is less than 200 below the label's, or above it; any is where nobody voted yet."""
        # In whole hundredths: as floats, most differences of exactly 200 would not be 200.
        gap = self.elo_hundredths - elo_hundredths * self.proposers
        return not self.proposers or gap < BAND_HUNDREDTHS * self.proposers

    @property
    def least_elo(self) -> int:
        """The least Elo that is admitted, in hundredths; somebody must have voted."""
        return self.elo_hundredths // self.proposers - BAND_HUNDREDTHS + 1

    def cast(self, vote: Vote) -> "VoteTally":
        """Add a vote; a player's earlier one is replaced, unless it was folded: then it stands."""
        if digest(vote.player) in self.folded.players:
            return self
        kept = tuple(other for other in self.votes if other.player != vote.player)
        silent = tuple(other for other in self.silent if other.player != vote.player)
        return VoteTally((*kept, vote), self.folded, silent)._within_limit()

    def match(self, vote: Vote) -> "VoteTally":
        """Add a vote for the same cells; it is silent where the label does not admit its Elo."""
        if self.admits(vote.elo_hundredths):
            return self.cast(vote)
        if digest(vote.player) in self.folded.players:
            return self
        others = tuple(other for other in self.silent if other.player != vote.player)
        return replace(self, silent=(*others, vote))._within_limit()

    def count_silent(self, player: str, elo_hundredths: int) -> "VoteTally":
        """Let a player's silent vote count, with the Elo that the player has now."""
        vote = next(vote for vote in self.silent if vote.player == player)
        return self.cast(replace(vote, elo_hundredths=elo_hundredths))

    def is_near(self, other: "VoteTally") -> bool:
        """Whether the labels' Elos lie less than 200 apart."""
        gap = self.elo_hundredths * other.proposers - other.elo_hundredths * self.proposers
        return abs(gap) < BAND_HUNDREDTHS * self.proposers * other.proposers

    def without(self, player: str) -> "VoteTally":
        """The votes of everybody else; one that was folded stays, since it cannot be told from the others."""
        return VoteTally(
            tuple(vote for vote in self.votes if vote.player != player),
            self.folded,
            tuple(vote for vote in self.silent if vote.player != player),
        )

    def united(self, other: "VoteTally") -> "VoteTally":
        """The votes of two patterns that became one; of one player's two votes the later counts.

        The other's votes come in as matches: those that this label does not admit are silent. Votes that
        were folded are judged by their mean, and left out where they would be silent.
        """
        folded = self.folded
        if other.folded.votes and self.admits(other.folded.elo_hundredths // other.folded.votes):
            folded = folded.united(other.folded)
        votes = [(vote, True) for vote in self.votes]
        votes += [(vote, self.admits(vote.elo_hundredths)) for vote in other.votes]
        votes += [(vote, False) for vote in (*self.silent, *other.silent)]
        counted: dict[str, Vote] = {}
        silent: dict[str, Vote] = {}
        for vote, counts in sorted(votes, key=lambda pair: (pair[0].event, pair[0].order, pair[0].player)):
            if digest(vote.player) in folded.players:
                continue
            # A vote that counts puts an earlier silent one out of date; not the other way round.
            silent.pop(vote.player, None)
            if counts:
                counted.pop(vote.player, None)
            (counted if counts else silent)[vote.player] = vote
        return VoteTally(tuple(counted.values()), folded, tuple(silent.values()))._within_limit()

    def _within_limit(self) -> "VoteTally":
        votes, folded, silent = self.votes, self.folded, self.silent
        if len(votes) > MAX_SEPARATE_VOTES:
            for vote in votes[:-MAX_SEPARATE_VOTES]:
                folded = folded + vote
            votes = votes[-MAX_SEPARATE_VOTES:]
            # What was folded stands: no later vote of the same player can take its place.
            silent = tuple(vote for vote in silent if digest(vote.player) not in folded.players)
        if len(silent) > MAX_SILENT_VOTES:
            # Not the oldest: a crowd of the weak must drive out nobody who may soon be heard.
            weakest = sorted(range(len(silent)), key=lambda place: silent[place].elo_hundredths)
            lapsed = weakest[: len(silent) - MAX_SILENT_VOTES]
            silent = tuple(vote for place, vote in enumerate(silent) if place not in lapsed)
        if votes is self.votes and silent is self.silent:
            return self
        return VoteTally(votes, folded, silent)

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
