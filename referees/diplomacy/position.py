"""A position of Diplomacy between two phases: a value that nothing changes."""

from dataclasses import dataclass, field
from enum import IntEnum
from operator import attrgetter
from typing import Final, NamedTuple, Self

from referees.diplomacy.map import Map, Unit

_LOCATION: Final = attrgetter("location")


class InvalidPositionError(ValueError):
    """Units, centres or dislodged units that cannot stand so on this map."""


class Season(IntEnum):
    """The two seasons with moves."""

    SPRING = 0
    AUTUMN = 1


class Phase(IntEnum):
    """What the powers write orders for."""

    MOVES = 0
    RETREATS = 1
    BUILDS = 2


class Dislodged(NamedTuple):
    """A unit that must retreat or disband, and the locations where it may go."""

    unit: Unit
    options: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """When it is, who stands where, and who owns what.

    `units` stand in the order of their locations, one a province at most, and so do the `dislodged`
    (who are none of the units). `owners` has for each of the map's supply centres its power's number or
    NOBODY. In BUILDS the season is AUTUMN.
    """

    map: Map
    year: int
    season: Season
    phase: Phase
    units: tuple[Unit, ...]
    dislodged: tuple[Dislodged, ...]
    owners: tuple[int, ...] = field(repr=False)

    @classmethod
    def start(cls, board: Map) -> Self:
        """The first position of a map."""
        units = sorted((unit for power in board.powers for unit in power.units), key=_LOCATION)
        return cls(
            board, board.first_year, Season.SPRING, Phase.MOVES, tuple(units), (), board.first_owners
        ).checked()

    def checked(self) -> Self:
        """The position itself. Raises InvalidPositionError if it cannot stand so."""
        board = self.map
        for units in (self.units, tuple(dislodged.unit for dislodged in self.dislodged)):
            provinces = [board.province_of[unit.location] for unit in units]
            for unit, province in zip(units, provinces, strict=True):
                if not board.can_stand(unit.kind, unit.location):
                    raise InvalidPositionError(
                        f"no {unit.kind.name.lower()} can be in {board.codes[province]}"
                    )
                if not 0 <= unit.power < len(board.powers):
                    raise InvalidPositionError(f"a unit of power {unit.power}: there are {len(board.powers)}")
                if provinces.count(province) > 1:
                    raise InvalidPositionError(f"two units in {board.codes[province]}: one is allowed")
            if list(units) != sorted(units, key=_LOCATION):
                raise InvalidPositionError("units must stand in the order of their locations")
        if self.dislodged and self.phase is not Phase.RETREATS:
            raise InvalidPositionError(
                f"dislodged units in {self.phase.name}: they retreat or disband before"
            )
        if len(self.owners) != len(board.centres):
            raise InvalidPositionError(
                f"{len(self.owners)} owners of the {len(board.centres)} supply centres"
            )
        return self

    def unit_in(self, province: int) -> Unit | None:
        """The unit in a province, dislodged ones left out."""
        for unit in self.units:
            if self.map.province_of[unit.location] == province:
                return unit
        return None

    def ordered_unit(self, province: int) -> Unit | None:
        """The unit in a province that an order of this phase is for: in retreats a dislodged one first."""
        for unit, _ in self.dislodged:
            if self.map.province_of[unit.location] == province:
                return unit
        return self.unit_in(province)

    def units_of(self, power: int) -> list[Unit]:
        """A power's units, dislodged ones left out."""
        return [unit for unit in self.units if unit.power == power]

    def ordered_units(self, power: int) -> list[Unit]:
        """A power's units that the orders of this phase are for: in retreats those that are dislodged."""
        if self.phase is not Phase.RETREATS:
            return self.units_of(power)
        return [unit for unit, _ in self.dislodged if unit.power == power]

    def centres_of(self, power: int) -> list[int]:
        """The supply centres (provinces) that a power owns."""
        return [centre for centre, owner in zip(self.map.centres, self.owners, strict=True) if owner == power]

    @property
    def name(self) -> str:
        """The phase as it is usually written: `S1901M`, `F1901R`, `W1901A`."""
        if self.phase is Phase.BUILDS:
            return f"W{self.year}A"
        return f"{'SF'[self.season]}{self.year}{'MR'[self.phase]}"
