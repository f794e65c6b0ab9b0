"""Who can reach what: the powers' units around each province of a position."""

from dataclasses import dataclass

from referees.diplomacy import Position, Unit
from referees.diplomacy.map import bits


@dataclass(frozen=True)
class Front:
    """A position of moves as one power sees it, by province.

    `own` are its units that can move there; `against` is the strength with which one other power could hold
    or enter it, units in it included; `occupant` the unit in it. `owner` is who owns its supply centre:
    NOBODY for a neutral one, None where there is none.
    """

    position: Position
    power: int
    own: tuple[tuple[Unit, ...], ...]
    against: tuple[int, ...]
    occupant: tuple[Unit | None, ...]
    owner: tuple[int | None, ...]

    def is_threatened(self, province: int) -> bool:
        """Whether another power's unit could enter."""
        return self.against[province] > 0


def front(position: Position, power: int) -> Front:
    """The front of a power."""
    board = position.map
    size = len(board.codes)
    own: list[list[Unit]] = [[] for _ in range(size)]
    others: list[dict[int, int]] = [{} for _ in range(size)]
    occupant: list[Unit | None] = [None] * size
    for unit in position.units:
        here = board.province_of[unit.location]
        occupant[here] = unit
        for province in bits(board.reach_mask[unit.kind][unit.location]):
            if unit.power == power:
                own[province].append(unit)
            else:
                others[province][unit.power] = others[province].get(unit.power, 0) + 1
        if unit.power != power:
            others[here][unit.power] = others[here].get(unit.power, 0) + 1
    owner: list[int | None] = [None] * size
    for centre, owned_by in zip(board.centres, position.owners, strict=True):
        owner[centre] = owned_by
    return Front(
        position,
        power,
        tuple(map(tuple, own)),
        tuple(max(strengths.values(), default=0) for strengths in others),
        tuple(occupant),
        tuple(owner),
    )
