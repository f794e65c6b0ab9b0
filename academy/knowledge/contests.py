"""The report of a contest: players, moves, proposals, results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from academy.knowledge.patterns import Pattern
from academy.knowledge.settings import Library
from academy.knowledge.symmetries import Cell
from academy.knowledge.votes import ELO_SCALE

__all__ = [
    "ContestReport",
    "Contestant",
    "FalseClaim",
    "FalseConsultation",
    "Judgement",
    "Ply",
    "Proposal",
    "Result",
    "Use",
    "Verdict",
]


class Result(Enum):
    """A player's result."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


class Verdict(Enum):
    """The outcome of a proposal."""

    HELD = "held"
    MATCHED = "matched"
    SPECIALISED = "specialised"
    GENERALISED = "generalised"
    INSERTED = "inserted"
    EVICTED = "evicted"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Contestant:
    """A player of a contest with the arena's rating of them."""

    name: str
    elo: float

    @property
    def elo_hundredths(self) -> int:
        """The rating in hundredths, as knowledge counts it."""
        return round(self.elo * ELO_SCALE)


@dataclass(frozen=True, slots=True)
class Ply:
    """One move: the player (from 1) who made it and the position it led to.

    `states` are the board's cell states after the move, empty where unknown; `legal_moves` is how
    many the mover had, 0 where unknown; `values` maps a player to their own expected value of the
    position after the move, `values_before` to that of the position before it, where they differ.
    """

    player: int
    move: str
    states: bytes = b""
    legal_moves: int = 0
    interaction: bool = False
    values: Mapping[int, float] = field(default_factory=dict)
    values_before: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pattern proposed by the player in `seat` for the position after ply number `ply` (from 1).

    `pattern` is as it stood on the board, from the first player's side; `value` is the proposer's
    own expected value after that ply, `value_before` the one it stated last before it. Where it marks the
    empty cell that the ply's move went to, `marked` is what the cells around it held before, as in `Tesuji`.
    """

    seat: int
    library: Library
    pattern: Pattern
    ply: int
    value: float
    value_before: float | None = None
    marked: Mapping[Cell, int] | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """Patterns of a library returned to the player in `seat` during the contest, and what else it was given.

    `uses.uses_by_kind` tells them apart.
    """

    seat: int
    library: Library
    pattern_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FalseConsultation:
    """The player in `seat` consulted the opening tree about another game than was played.

    Move `number` (from 1; of the player's own where moves are simultaneous) is the first that differs:
    `claimed` by the player, `played` in the contest, or empty where the contest had ended.
    """

    seat: int
    number: int
    claimed: str
    played: str


@dataclass(frozen=True, slots=True)
class FalseClaim:
    """The player in `seat` asked for patterns with an expected value that is not what it stated to the arena.

    The first such claim was of the position after `plies` plies (None: no board of the contest is the one
    asked about): `claimed`, where `value` was stated, None for nothing. `count` of all `claims` do not hold.
    With `around` what was stated agrees, but is a low outlier too often: around it this or more was stated.
    """

    seat: int
    plies: int | None
    claimed: float
    value: float | None
    count: int
    claims: int
    around: float | None = None


@dataclass(frozen=True, slots=True)
class ContestReport:
    """A contest's end. `contestants` and `results` are by seat.

    `elo_after` are the arena's ratings after it, by seat; empty where it gave none.
    """

    contest_id: str
    contestants: tuple[Contestant, ...]
    plies: tuple[Ply, ...]
    results: tuple[Result, ...]
    proposals: tuple[Proposal, ...] = ()
    uses: tuple[Use, ...] = ()
    start_states: bytes = b""
    false_consultations: tuple[FalseConsultation, ...] = ()
    false_claims: tuple[FalseClaim, ...] = ()
    elo_after: tuple[float, ...] = ()

    @property
    def boards(self) -> tuple[bytes, ...]:
        """The states at the start and after each ply; empty where the arena gave no board."""
        return (self.start_states, *(ply.states for ply in self.plies))

    @property
    def weaker_elo_hundredths(self) -> int:
        """The least of the contestants' ratings in hundredths."""
        return min(contestant.elo_hundredths for contestant in self.contestants)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a proposal, the rule that decided, and the pattern it went into (0: none).

    Of an accepted proposal that marks its move's cell `tesuji` is the code, else 0.
    """

    verdict: Verdict
    reason: str
    pattern_id: int = 0
    tesuji: int = 0
