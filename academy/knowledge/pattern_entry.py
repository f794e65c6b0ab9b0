"""A pattern of a library with everything known about it."""

from dataclasses import dataclass, replace

from academy.knowledge.patterns import InvalidPatternError, Pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.votes import Signature, VoteTally

__all__ = ["PatternEntry", "UseCount", "check_entry"]


@dataclass(frozen=True, slots=True)
class PatternEntry:
    """A pattern of a library with everything known about it.

    `player` is the player addressed (1 in symmetric games). `uses` counts how often the pattern was
    returned to a player in a contest, `successes` the contests among them which that player won or
    drew; `last_contest` is the number of the contest (in the game's count) it was last used or
    proposed in. `changers` are digests of the players who changed its cells: a player does so once.
    """

    pattern_id: int
    pattern: Pattern
    player: int
    votes: VoteTally
    uses: int = 0
    successes: int = 0
    last_contest: int = 0
    last_contest_id: str = ""
    changers: frozenset[int] = frozenset()

    @property
    def signature(self) -> Signature:
        """`< proposers; elo; value; player >`."""
        return self.votes.signature(self.player)

    @property
    def strength(self) -> float:
        """The figure for eviction, before forgetting."""
        return self.votes.strength

    def says_the_same_as(self, other: "PatternEntry") -> bool:
        """Return whether pattern, player addressed, votes and changers are the same; uses do not matter.

        Args:
            other: The entry to compare with.
        """
        return (self.pattern, self.player, self.votes, self.changers) == (
            other.pattern,
            other.player,
            other.votes,
            other.changers,
        )

    def unite_with(self, other: "PatternEntry") -> "PatternEntry":
        """Return this pattern with the votes and uses of both.

        Args:
            other: The entry that became the same pattern.

        Returns:
            The entry under the older (lower) number.
        """
        later = max(self, other, key=lambda entry: entry.last_contest)
        return replace(
            self,
            pattern_id=min(self.pattern_id, other.pattern_id),
            votes=self.votes.unite_with(other.votes),
            uses=self.uses + other.uses,
            successes=self.successes + other.successes,
            last_contest=later.last_contest,
            last_contest_id=later.last_contest_id,
            changers=self.changers | other.changers,
        )


@dataclass(frozen=True, slots=True)
class UseCount:
    """How often a pattern was used, and when last, as in its `PatternEntry`."""

    pattern_id: int
    uses: int
    successes: int
    last_contest: int
    last_contest_id: str


def check_entry(entry: PatternEntry, spec: GameSpec) -> None:
    """Check a pattern that comes from elsewhere.

    Args:
        entry: The pattern.
        spec: The game whose library it enters.

    Raises:
        InvalidPatternError: It addresses no player of the game, has no vote, or cannot occur in the game.
    """
    if not 1 <= entry.player <= spec.players:
        raise InvalidPatternError(
            f"a pattern for player {entry.player}: this game has players 1 to {spec.players}"
        )
    if not entry.votes.proposers:
        raise InvalidPatternError(f"pattern {entry.pattern_id} has no vote: somebody must have proposed it")
    spec.check_pattern(entry.pattern)
