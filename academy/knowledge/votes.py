"""Votes of players and the signature they add up to.

Elo is counted in hundredths and value in millionths, as integers: sums are exact, so the order in
which votes arrive cannot change a signature.
"""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

__all__ = [
    "BAND_HUNDREDTHS",
    "ELO_BAND",
    "ELO_SCALE",
    "MAX_ELO",
    "MAX_SEPARATE_VOTES",
    "MAX_SILENT_VOTES",
    "VALUE_SCALE",
    "AggregatedVotes",
    "InvalidVoteError",
    "Signature",
    "Vote",
    "VoteTally",
    "digest",
]

MAX_SEPARATE_VOTES: Final = 256
MAX_SILENT_VOTES: Final = 64
# From LUDAE: whose Elo lies this far below a known pattern's does not change it.
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
    """One player's vote for a pattern: Elo in hundredths, value in millionths.

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
        """Make a vote of a player's own numbers.

        Args:
            player: The player's name.
            elo: Its Elo, up to `MAX_ELO` either way; rounded to hundredths.
            value: The expected value, 0.0 to 1.0; rounded to millionths.
            event: The number of the event that brings the vote.
            order: Its place among the votes of that event, from 0.

        Returns:
            The vote.

        Raises:
            InvalidVoteError: The Elo or the value is out of range.
        """
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

    def unite_with(self, other: "AggregatedVotes") -> "AggregatedVotes":
        """Return both sums. A player in both counts once: `other` then gives its mean for the rest.

        Args:
            other: The sums to add.
        """
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


def digest(text: str) -> int:
    """Return 64 bits that stand for a text, such as a player's name.

    Args:
        text: The text.

    Returns:
        The BLAKE2b digest as a whole number from 0.
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


@dataclass(frozen=True, slots=True)
class VoteTally:
    """All votes for one pattern, at most one a player, in the order of their events.

    Those that count are `counted`, beyond 256 the oldest of them together in `folded`; `silent` ones do not
    count yet. Which count follows from the set of all: from the least Elo upwards a vote falls `silent` as
    long as its Elo lies 200 or more below the mean of all others that count, weighted as the value is. With
    each change that is decided again; a tally that is put together from stored votes takes over what was
    decided. The sums over those that count, `elo_hundredths`, `weight` (in hundredths of Elo) and
    `weighted_value` (weight times value in millionths), follow. Beyond 64 silent votes the weakest lapse.
    """

    counted: tuple[Vote, ...] = ()
    folded: AggregatedVotes = field(default_factory=AggregatedVotes)
    silent: tuple[Vote, ...] = ()
    elo_hundredths: int = field(init=False, repr=False, compare=False)
    weight: int = field(init=False, repr=False, compare=False)
    weighted_value: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        elo, weight, value = self.folded.elo_hundredths, self.folded.weight, self.folded.weighted_value
        for vote in self.counted:
            elo += vote.elo_hundredths
            weight += vote.weight
            value += vote.weight * vote.value_millionths
        object.__setattr__(self, "elo_hundredths", elo)
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "weighted_value", value)

    @property
    def _weighted_elo(self) -> int:
        folded = self.folded
        elo = folded.weight * folded.elo_hundredths // folded.votes if folded.votes else 0
        return elo + sum(vote.weight * vote.elo_hundredths for vote in self.counted)

    @property
    def weighted_elo(self) -> float:
        """The mean Elo of the votes that count, weighted by max(Elo, 1), which decides who is silent.

        At least one vote must count.
        """
        return self._weighted_elo / (self.weight * ELO_SCALE)

    @property
    def least_elo(self) -> int:
        """The least Elo less than 200 below `weighted_elo`, in hundredths; somebody must have voted."""
        return self._weighted_elo // self.weight - BAND_HUNDREDTHS + 1

    def admits(self, elo_hundredths: int) -> bool:
        """Return whether a vote of this Elo would count: it is above `weighted_elo` less 200, or the first.

        Args:
            elo_hundredths: The Elo, in hundredths.
        """
        return not self.proposers or elo_hundredths >= self.least_elo

    def cast(self, vote: Vote) -> "VoteTally":
        """Return the tally with a vote added.

        Args:
            vote: The vote. It replaces an earlier one of the same player, unless that was folded: then the
                earlier one stands.
        """
        if digest(vote.player) in self.folded.players:
            # `_tally` leaves such a vote out, too, after it has decided again what is decided.
            return self
        others = (other for other in (*self.counted, *self.silent) if other.player != vote.player)
        return _tally((*others, vote), (self.folded,))

    def has_counting_vote(self, player: str) -> bool:
        """Return whether a player has a vote that counts.

        Args:
            player: The player's name.
        """
        return any(vote.player == player for vote in self.counted) or digest(player) in self.folded.players

    def count_silent(self, player: str, elo_hundredths: int) -> "VoteTally":
        """Return the tally with a player's silent vote at the player's present Elo.

        Args:
            player: A player with a silent vote.
            elo_hundredths: The player's Elo now, in hundredths.
        """
        vote = next(vote for vote in self.silent if vote.player == player)
        return self.cast(replace(vote, elo_hundredths=elo_hundredths))

    def is_near(self, other: "VoteTally") -> bool:
        """Return whether the labels' Elos lie less than 200 apart.

        Args:
            other: The tally of another pattern.
        """
        gap = self.elo_hundredths * other.proposers - other.elo_hundredths * self.proposers
        return abs(gap) < BAND_HUNDREDTHS * self.proposers * other.proposers

    def without(self, player: str) -> "VoteTally":
        """Return the tally without a player's votes.

        Args:
            player: The player's name. A folded vote stays, because it cannot be separated from the others.
        """
        votes = (*self.counted, *self.silent)
        left = [vote for vote in votes if vote.player != player]
        return self if len(left) == len(votes) else _tally(left, (self.folded,))

    def unite_with(self, other: "VoteTally") -> "VoteTally":
        """Return the votes of two patterns that became one.

        Args:
            other: The other pattern's tally. Where a player voted for both, the later vote counts.
        """
        latest: dict[str, Vote] = {}
        votes = (*self.counted, *self.silent, *other.counted, *other.silent)
        for vote in sorted(votes, key=_when):
            latest[vote.player] = vote
        return _tally(latest.values(), (self.folded, other.folded))

    @property
    def proposers(self) -> int:
        """N: how many players voted."""
        return len(self.counted) + self.folded.votes

    @property
    def elo(self) -> float:
        """E: the mean Elo of the players who voted. At least one vote must count."""
        return self.elo_hundredths / (self.proposers * ELO_SCALE)

    @property
    def value(self) -> float:
        """V: the mean value, weighted by max(Elo, 1). At least one vote must count."""
        return self.weighted_value / (self.weight * VALUE_SCALE)

    @property
    def strength(self) -> float:
        """N·E·(0.5 - V)²: what eviction goes by."""
        return self.weight / ELO_SCALE * (0.5 - self.value) ** 2

    def signature(self, player: int) -> Signature:
        """Return the label of the pattern that these votes are for.

        Args:
            player: The player addressed, from 1.
        """
        return Signature(self.proposers, self.elo, self.value, player)


def _when(vote: Vote) -> tuple[int, int, str]:
    return vote.event, vote.order, vote.player


class _Share(NamedTuple):
    """The share of a vote, or of folded votes, in the mean that decides which votes are silent."""

    votes: int
    elo_hundredths: int
    weight: int

    @property
    def weighted_elo(self) -> int:
        return self.weight * self.elo_hundredths // self.votes

    def is_far_below(self, weight: int, weighted_elo: int) -> bool:
        """Whether one of these votes lies 200 or more below the mean of its fellows and the votes above."""
        # In whole numbers: as floats, most differences of exactly 200 would not be 200.
        gap = self.votes * weighted_elo - self.elo_hundredths * weight
        return gap >= BAND_HUNDREDTHS * (self.votes * weight + self.weight * (self.votes - 1))


def _tally(votes: Iterable[Vote], blocks: Iterable[AggregatedVotes]) -> VoteTally:
    """Decide which of the latest votes of all players count, and keep the limits.

    Votes that were folded are judged by their mean, and lapse where they would be silent.
    """
    blocks = [block for block in blocks if block.votes]
    folded_players = frozenset[int]().union(*(block.players for block in blocks))
    votes = sorted(votes, key=_when)
    if folded_players:
        votes = [vote for vote in votes if digest(vote.player) not in folded_players]
    shares: list[tuple[_Share, Vote | AggregatedVotes]] = [
        (_Share(block.votes, block.elo_hundredths, block.weight), block) for block in blocks
    ]
    shares += [(_Share(1, vote.elo_hundredths, vote.weight), vote) for vote in votes]
    shares.sort(key=lambda pair: pair[0].elo_hundredths / pair[0].votes)
    weight = sum(share.weight for share, _ in shares)
    weighted_elo = sum(share.weighted_elo for share, _ in shares)
    far = 0
    for share, _ in shares[:-1]:
        weight -= share.weight
        weighted_elo -= share.weighted_elo
        if not share.is_far_below(weight, weighted_elo):
            break
        far += 1
    folded = AggregatedVotes()
    for _, source in shares[far:]:
        if isinstance(source, AggregatedVotes):
            folded = folded.unite_with(source)
    weak = [source for _, source in shares[:far] if isinstance(source, Vote)]
    weak_players = {vote.player for vote in weak}
    counted = [vote for vote in votes if vote.player not in weak_players]
    if len(counted) > MAX_SEPARATE_VOTES:
        for vote in counted[:-MAX_SEPARATE_VOTES]:
            folded = folded + vote
        counted = counted[-MAX_SEPARATE_VOTES:]
    # Not the oldest: many weak players must not drive out a vote that may soon count.
    weak.sort(key=lambda vote: (vote.elo_hundredths, _when(vote)))
    return VoteTally(tuple(counted), folded, tuple(sorted(weak[-MAX_SILENT_VOTES:], key=_when)))
