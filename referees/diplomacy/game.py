"""A game of Diplomacy between phases: the position, and what its end depends on."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from referees.api import Outcome, Termination
from referees.diplomacy.adjudication import PhaseAdjudication
from referees.diplomacy.position import Phase, Position
from referees.diplomacy.settings import DiplomacySettings


@dataclass(frozen=True)
class GamePosition:
    """Where a game stands.

    `eliminated` has for each power the years after the first in which it lost its last centre, None for one
    that did not. `stable_since` is the last year in which the number of a power's centres changed,
    `survived_since` the last in which a power was eliminated; both begin with the year before the first.
    `outcome` is None while the game goes on. `last` is the phase before, None in the first position; games
    that came to the same by different orders are equal.
    """

    position: Position
    eliminated: tuple[int | None, ...]
    stable_since: int
    survived_since: int
    outcome: Outcome | None = None
    last: PhaseAdjudication | None = field(default=None, compare=False, repr=False)


def begin(position: Position) -> GamePosition:
    """A game that begins with this position."""
    before = position.year - 1
    return GamePosition(position, (None,) * len(position.map.powers), before, before)


def survivors(game: GamePosition) -> tuple[int, ...]:
    """The powers that still have a unit, dislodged or not, or a supply centre."""
    position = game.position
    alive = {unit.power for unit in position.units} | {entry.unit.power for entry in position.dislodged}
    alive |= set(position.owners)
    return tuple(power for power in range(len(position.map.powers)) if power in alive)


def agree(game: GamePosition, draws: Sequence[frozenset[int] | None]) -> GamePosition | None:
    """The end of the game if every survivor would draw between the same powers, else None."""
    alive = frozenset(survivors(game))
    named = {None if draw is None else draw or alive for draw in draws}
    between = named.pop() if len(named) == 1 else None
    if between is None:
        return None
    why = "agreed by all" if between == alive else "agreed between some"
    return replace(game, outcome=_ended(game, tuple(sorted(between)), Termination.AGREEMENT, why))


def advance(game: GamePosition, adjudication: PhaseAdjudication, settings: DiplomacySettings) -> GamePosition:
    """The game after a phase; a year ends when its centres are taken."""
    before, after = adjudication.position, adjudication.after
    if before.phase is Phase.BUILDS or (after.phase is not Phase.BUILDS and after.year == before.year):
        return replace(game, position=after, last=adjudication)
    return replace(_after_year(game, before, after, settings), last=adjudication)


def _after_year(
    game: GamePosition, before: Position, after: Position, settings: DiplomacySettings
) -> GamePosition:
    """The game when the centres of a year are taken."""
    year, first = before.year, after.map.first_year
    counts = centre_counts(after)
    eliminated = tuple(
        since if since is not None or count else year - first
        for since, count in zip(game.eliminated, counts, strict=True)
    )
    passed = GamePosition(
        after,
        eliminated,
        stable_since=game.stable_since if counts == centre_counts(before) else year,
        survived_since=game.survived_since if eliminated == game.eliminated else year,
    )
    staying = tuple(power for power, count in enumerate(counts) if count)
    leaders = tuple(power for power in staying if counts[power] == max(counts))
    if not staying:
        # Only on maps of one's own: in the winter nobody would keep a unit.
        ending, winners, why = Termination.SCORE, survivors(passed), "no centres"
    elif len(staying) == 1 or (len(leaders) == 1 and max(counts) >= after.map.centres_to_win):
        ending, winners, why = Termination.SCORE, leaders, "solo"
    elif settings.stasis_limit and year - passed.stable_since >= settings.stasis_limit:
        ending, winners, why = Termination.STASIS, staying, "stasis"
    elif settings.impasse_limit and year - passed.survived_since >= settings.impasse_limit:
        ending, winners, why = Termination.IMPASSE, staying, "impasse"
    elif year - first + 1 >= settings.year_limit:
        ending, winners, why = Termination.FROZEN, staying, "year limit"
    else:
        return passed
    return replace(passed, outcome=_ended(passed, winners, ending, why, year))


def draw_now(game: GamePosition, termination: Termination, why: str) -> Outcome:
    """A draw of all survivors in the midst of a game."""
    return _ended(game, survivors(game), termination, why)


def centre_counts(position: Position) -> list[int]:
    """How many supply centres each power owns."""
    return [position.owners.count(power) for power in range(len(position.map.powers))]


def _ended(
    game: GamePosition, winners: tuple[int, ...], termination: Termination, why: str, year: int | None = None
) -> Outcome:
    position = game.position
    year = position.year if year is None else year
    codes = [power.code for power in position.map.powers]
    counts = centre_counts(position)
    owned = " ".join(f"{code} {count}" for code, count in zip(codes, counts, strict=True))
    named = " ".join(codes[winner] for winner in winners)
    return Outcome(
        winners=tuple(winner + 1 for winner in winners),
        termination=termination,
        summary=f"{'solo' if len(winners) == 1 else 'draw'} {year}: {named}",
        points=tuple(map(float, counts)),
        detail=f"{why}; centres {owned}",
        eliminated=game.eliminated,
        rounds=year - position.map.first_year + 1,
    )
