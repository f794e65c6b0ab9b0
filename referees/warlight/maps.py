"""Maps: territories that touch, and bonuses for those who own all of a region."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from referees.graphs import reachable

MAX_TERRITORIES: Final = 4000
MAX_ID: Final = 1_000_000
MAX_BONUSES: Final = 4000
MAX_BONUS_ARMIES: Final = 10_000


class InvalidMapError(ValueError):
    """A map that breaks a rule; the message names the territory or bonus and the rule."""


@dataclass(frozen=True)
class Territory:
    """A territory: `neighbours` are ids; `place` is where it is drawn, to the right and down, 0 to 1000."""

    id: int
    name: str
    neighbours: tuple[int, ...]
    place: tuple[float, float] | None = None


@dataclass(frozen=True)
class Bonus:
    """A region: who owns all of its `territories` (ids) has so many `armies` more each turn."""

    name: str
    armies: int
    territories: tuple[int, ...]


@dataclass(frozen=True)
class WarMap:
    """A connected map; `territories` are in the order of their ids. Raises InvalidMapError.

    A territory may belong to no bonus or to several. `index` and what follows it count territories from
    0 in that order: ids may have gaps.
    """

    name: str
    territories: tuple[Territory, ...]
    bonuses: tuple[Bonus, ...] = ()

    def __post_init__(self) -> None:
        if not 2 <= len(self.territories) <= MAX_TERRITORIES:
            raise InvalidMapError(
                f"a map of {len(self.territories)} territories: there must be 2 to {MAX_TERRITORIES}"
            )
        if len(self.bonuses) > MAX_BONUSES:
            raise InvalidMapError(f"a map of {len(self.bonuses)} bonuses: there can be {MAX_BONUSES}")
        self._check_territories()
        for bonus in self.bonuses:
            self._check_bonus(bonus)

    def _check_territories(self) -> None:
        before = 0
        for territory in self.territories:
            called = f"territory {territory.id}"
            if not 1 <= territory.id <= MAX_ID:
                raise InvalidMapError(f"{called}: ids are from 1 to {MAX_ID}")
            if territory.id <= before:
                raise InvalidMapError(f"{called} comes after {before}: ids must differ and ascend")
            before = territory.id
            _check_name(territory.name, called)
            if len(set(territory.neighbours)) != len(territory.neighbours):
                raise InvalidMapError(f"{called} names a neighbour twice")
            for neighbour in territory.neighbours:
                if neighbour == territory.id or neighbour not in self.index:
                    raise InvalidMapError(
                        f"{called} has the neighbour {neighbour}, which is no other territory"
                    )
                if territory.id not in self.territories[self.index[neighbour]].neighbours:
                    raise InvalidMapError(
                        f"{called} has the neighbour {neighbour}, but not the other way round: name both"
                    )
        reached = reachable(self.neighbours, 0)
        if len(reached) < len(self.territories):
            lost = next(at for at in range(len(self.territories)) if at not in reached)
            raise InvalidMapError(
                f"territory {self.territories[lost].id} cannot be reached from {self.territories[0].id}: "
                "a map must be connected"
            )

    def _check_bonus(self, bonus: Bonus) -> None:
        called = f"bonus {bonus.name}"
        _check_name(bonus.name, called)
        if not 0 <= bonus.armies <= MAX_BONUS_ARMIES:
            raise InvalidMapError(
                f"{called} is worth {bonus.armies} armies: it must be 0 to {MAX_BONUS_ARMIES}"
            )
        if not bonus.territories or len(set(bonus.territories)) != len(bonus.territories):
            raise InvalidMapError(f"{called} must have a territory, and none twice")
        for id_ in bonus.territories:
            if id_ not in self.index:
                raise InvalidMapError(f"{called} has the territory {id_}, which the map does not have")

    @cached_property
    def index(self) -> dict[int, int]:
        """The index of each territory, by its id."""
        return {territory.id: at for at, territory in enumerate(self.territories)}

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The indices of each territory's neighbours."""
        return tuple(tuple(map(self.index.__getitem__, each.neighbours)) for each in self.territories)

    @cached_property
    def adjacent(self) -> tuple[frozenset[int], ...]:
        """The same to look up in."""
        return tuple(map(frozenset, self.neighbours))

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """All pairs of neighbours by index, the lesser first."""
        return tuple((at, near) for at, nears in enumerate(self.neighbours) for near in nears if at < near)

    @cached_property
    def regions(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """For each bonus its armies and the indices of its territories."""
        return tuple(
            (bonus.armies, tuple(map(self.index.__getitem__, bonus.territories))) for bonus in self.bonuses
        )

    def income(self, owners: bytes | bytearray, seat: int, base: int) -> int:
        """The armies that a seat can deploy, which owns what `owners` has for each index."""
        return base + sum(
            armies
            for armies, region in self.regions
            if owners[region[0]] == seat and all(owners[at] == seat for at in region)
        )


def _check_name(name: str, called: str) -> None:
    if not name.isprintable() or not 1 <= len(name) <= 100 or any(letter.isspace() for letter in name):
        raise InvalidMapError(f"{called}: the name {name[:100]!r} must be 1 to 100 letters without blanks")
