"""What a DAIDE server says of an order when it is submitted (THX), and of one that was void (ORD)."""

from typing import Final

from referees.diplomacy.adjustments import free_homes
from referees.diplomacy.daide.orders import SaidOrder, SaidUnit, meant
from referees.diplomacy.daide.tokens import FIXED
from referees.diplomacy.legal import LegalOrders
from referees.diplomacy.position import Phase, Position
from referees.diplomacy.provinces import Terrain, Unit, UnitKind

ACCEPTED: Final = FIXED["MBV"]
_FOR_NOBODY: Final = [FIXED[name] for name in ("NRS", "NYU", "NSU", "NRN")]
_VERBS: Final = {
    Phase.MOVES: [FIXED[name] for name in ("HLD", "MTO", "SUP", "CVY", "CTO")],
    Phase.RETREATS: [FIXED[name] for name in ("RTO", "DSB")],
    Phase.BUILDS: [FIXED[name] for name in ("BLD", "REM", "WVE")],
}


def note_of(
    position: Position,
    power: int,
    said: SaidOrder,
    legal: LegalOrders,
    earlier: int = 0,
) -> int:
    """The note on an order of a power: MBV where it is accepted, else what is wrong with it.

    `legal` are the power's legal orders, `earlier` is how many others it has given in a phase of builds.
    """
    if said.verb not in _VERBS[position.phase]:
        return FIXED["NRS"]
    if said.power != power:
        return FIXED["NYU"]
    if position.phase is Phase.BUILDS:
        return _build_note(position, power, said, earlier)
    unit = said.unit
    assert unit is not None
    if position.phase is Phase.RETREATS:
        return _retreat_note(position, power, said, unit)
    if _standing(position, unit) is None:
        return FIXED["NSU"]
    order = meant(position.map, said)
    if said.other is not None and _standing(position, said.other) is None:
        order = None
    if order is not None and order in legal[position.map.province_of[order.location]]:
        # A convoy's way is the only thing of an order that the referee does not see.
        return _route_note(position, said) if said.route else ACCEPTED
    return _move_note(position, said, unit)


def _standing(position: Position, said: SaidUnit) -> Unit | None:
    """The unit that was named, if it stands where and as it was said."""
    if said.location is None:
        return None
    unit = position.unit_in(position.map.province_of[said.location])
    return unit if unit == (said.power, said.kind, said.location) else None


def _move_note(position: Position, said: SaidOrder, unit: SaidUnit) -> int:
    """Why an order of a phase of moves, for a unit that is there, is not possible."""
    board = position.map
    other = said.other
    if other is not None and _standing(position, other) is None:
        return FIXED["NSA"] if said.verb == FIXED["CVY"] else FIXED["NSU"]
    if said.verb == FIXED["CVY"]:
        assert other is not None
        if unit.kind is not UnitKind.FLEET:
            return FIXED["NSF"]
        if unit.location is None or board.terrain[board.province_of[unit.location]] is not Terrain.SEA:
            return FIXED["NAS"]
        return FIXED["NSA"] if other.kind is not UnitKind.ARMY else FIXED["FAR"]
    if said.verb == FIXED["CTO"]:
        return FIXED["NSA"] if unit.kind is not UnitKind.ARMY else _route_note(position, said)
    if said.verb == FIXED["MTO"] and unit.kind is UnitKind.FLEET and unit.location is not None:
        if said.target is None:
            return FIXED["CST"]
        province = board.province_of[said.target]
        if board.coasts[province] and said.target == board.main_location[province]:
            reached = board.reach_mask[unit.kind][unit.location] >> province & 1
            return FIXED["CST"] if reached else FIXED["FAR"]
    return FIXED["FAR"]


def _route_note(position: Position, said: SaidOrder) -> int:
    """What is wrong with the way of an army by sea; FAR where it does not lead from there to there."""
    board = position.map
    if said.unit is None or said.unit.location is None or said.target is None:
        return FIXED["FAR"]
    for sea in said.route:
        if board.terrain[sea] is not Terrain.SEA or position.unit_in(sea) is None:
            return FIXED["NSF"]
    first, last = said.route[0], said.route[-1]
    source, target = board.province_of[said.unit.location], board.province_of[said.target]
    fits = (
        board.sea_access[source] >> first & 1
        and board.sea_access[target] >> last & 1
        and all(
            board.sea_borders[sea] >> following & 1
            for sea, following in zip(said.route, said.route[1:], strict=False)
        )
    )
    return ACCEPTED if fits else FIXED["FAR"]


def is_for_own_unit(position: Position, note: int) -> bool:
    """Whether an order with this note is taken where any orders are accepted (AOA).

    It is for a unit of the power that acts in this phase; builds and removals are never taken so.
    """
    return position.phase is not Phase.BUILDS and note not in _FOR_NOBODY


def _retreat_note(position: Position, power: int, said: SaidOrder, unit: SaidUnit) -> int:
    for entry in position.dislodged:
        if entry.unit == (power, unit.kind, unit.location):
            break
    else:
        return FIXED["NRN"] if _standing(position, unit) is not None else FIXED["NSU"]
    if said.verb == FIXED["DSB"]:
        return ACCEPTED
    if said.target is None:
        return FIXED["CST"]
    return ACCEPTED if said.target in entry.options else FIXED["NVR"]


def _build_note(position: Position, power: int, said: SaidOrder, earlier: int) -> int:
    """Builds that there is no room for count as well: in DAIDE they are waived like others."""
    board = position.map
    due = len(position.centres_of(power)) - len(position.units_of(power))
    if said.verb == FIXED["REM"]:
        assert said.unit is not None
        if _standing(position, said.unit) is None:
            return FIXED["NSU"]
        return ACCEPTED if earlier < -due else FIXED["NMR"]
    if earlier >= due:
        return FIXED["NMB"]
    if said.unit is None:
        return ACCEPTED
    location = said.unit.location
    if location is None or not board.can_stand(said.unit.kind, location):
        return FIXED["CST"]
    province = board.province_of[location]
    if province not in board.centres:
        return FIXED["NSC"]
    if province not in board.powers[power].homes:
        return FIXED["HSC"]
    if province not in position.centres_of(power):
        return FIXED["YSC"]
    if province not in free_homes(position, power):
        return FIXED["ESC"]
    return ACCEPTED
