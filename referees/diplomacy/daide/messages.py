"""The server's messages to clients, and the notes that answer submitted orders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from referees.diplomacy.adjudication import PhaseAdjudication
from referees.diplomacy.adjustments import free_homes
from referees.diplomacy.daide.orders import (
    SaidOrder,
    SaidUnit,
    dislodged_tokens,
    meant,
    order_tokens,
    place_tokens,
    read_order,
    tree_of,
    turn_tokens,
    unit_tokens,
)
from referees.diplomacy.daide.tokens import (
    FIXED,
    MOST_NUMBER,
    Tokens,
    Vocabulary,
    bracketed,
    number_token,
    text_tokens,
)
from referees.diplomacy.legal import LegalOrders, all_legal_orders
from referees.diplomacy.map import NOBODY, Terrain, Unit, UnitKind
from referees.diplomacy.orders import OrderKind
from referees.diplomacy.position import Phase, Position
from referees.diplomacy.results import OrderOutcome, OrderResult

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
    submitted: SaidOrder,
    legal: LegalOrders,
    earlier: int = 0,
) -> int:
    """The note on an order of a power: MBV where it is accepted, else what is wrong with it.

    `legal` are the power's legal orders, `earlier` is how many others it has given in a phase of builds.
    """
    if submitted.verb not in _VERBS[position.phase]:
        return FIXED["NRS"]
    if submitted.power != power:
        return FIXED["NYU"]
    if position.phase is Phase.BUILDS:
        return _build_note(position, power, submitted, earlier)
    unit = submitted.unit
    assert unit is not None
    if position.phase is Phase.RETREATS:
        return _retreat_note(position, power, submitted, unit)
    if _standing(position, unit) is None:
        return FIXED["NSU"]
    order = meant(position.map, submitted)
    if submitted.other is not None and _standing(position, submitted.other) is None:
        order = None
    if order is not None and order in legal[position.map.province_of[order.location]]:
        # A convoy's way is the only thing of an order that the referee does not see.
        return _route_note(position, submitted) if submitted.route else ACCEPTED
    return _move_note(position, submitted, unit)


def _standing(position: Position, named: SaidUnit) -> Unit | None:
    """The unit that was named, if it stands where and as it was named."""
    if named.location is None:
        return None
    unit = position.unit_in(position.map.province_of[named.location])
    return unit if unit == (named.power, named.kind, named.location) else None


def _move_note(position: Position, order: SaidOrder, unit: SaidUnit) -> int:
    """Why an order of a phase of moves, for a unit that is there, is not possible."""
    board = position.map
    other = order.other
    if other is not None and _standing(position, other) is None:
        return FIXED["NSA"] if order.verb == FIXED["CVY"] else FIXED["NSU"]
    if order.verb == FIXED["CVY"]:
        assert other is not None
        if unit.kind is not UnitKind.FLEET:
            return FIXED["NSF"]
        if unit.location is None or board.terrain[board.province_of[unit.location]] is not Terrain.SEA:
            return FIXED["NAS"]
        return FIXED["NSA"] if other.kind is not UnitKind.ARMY else FIXED["FAR"]
    if order.verb == FIXED["CTO"]:
        return FIXED["NSA"] if unit.kind is not UnitKind.ARMY else _route_note(position, order)
    if order.verb == FIXED["MTO"] and unit.kind is UnitKind.FLEET and unit.location is not None:
        if order.target is None:
            return FIXED["CST"]
        province = board.province_of[order.target]
        if board.coasts[province] and order.target == board.main_location[province]:
            reached = board.reach_mask[unit.kind][unit.location] >> province & 1
            return FIXED["CST"] if reached else FIXED["FAR"]
    return FIXED["FAR"]


def _route_note(position: Position, order: SaidOrder) -> int:
    """What is wrong with the way of an army by sea; FAR where it does not lead from there to there."""
    board = position.map
    if order.unit is None or order.unit.location is None or order.target is None:
        return FIXED["FAR"]
    for sea in order.route:
        if board.terrain[sea] is not Terrain.SEA or position.unit_in(sea) is None:
            return FIXED["NSF"]
    first, last = order.route[0], order.route[-1]
    source, target = board.province_of[order.unit.location], board.province_of[order.target]
    fits = (
        source != target
        and board.sea_access[source] >> first & 1
        and board.sea_access[target] >> last & 1
        and all(
            board.sea_borders[sea] >> following & 1
            for sea, following in zip(order.route, order.route[1:], strict=False)
        )
    )
    return ACCEPTED if fits else FIXED["FAR"]


def is_for_own_unit(position: Position, note: int) -> bool:
    """Whether an order with this note is taken where any orders are accepted (AOA).

    It is for a unit of the power that acts in this phase; builds and removals are never taken so.
    """
    return position.phase is not Phase.BUILDS and note not in _FOR_NOBODY


def _retreat_note(position: Position, power: int, order: SaidOrder, unit: SaidUnit) -> int:
    for entry in position.dislodged:
        if entry.unit == (power, unit.kind, unit.location):
            break
    else:
        return FIXED["NRN"] if _standing(position, unit) is not None else FIXED["NSU"]
    if order.verb == FIXED["DSB"]:
        return ACCEPTED
    if order.target is None:
        return FIXED["CST"]
    return ACCEPTED if order.target in entry.options else FIXED["NVR"]


def _build_note(position: Position, power: int, order: SaidOrder, earlier: int) -> int:
    """Builds that there is no room for count as well: in DAIDE they are waived like others."""
    board = position.map
    due = len(position.centres_of(power)) - len(position.units_of(power))
    if order.verb == FIXED["REM"]:
        assert order.unit is not None
        if _standing(position, order.unit) is None:
            return FIXED["NSU"]
        return ACCEPTED if earlier < -due else FIXED["NMR"]
    if earlier >= due:
        return FIXED["NMB"]
    if order.unit is None:
        return ACCEPTED
    location = order.unit.location
    if location is None or not board.can_stand(order.unit.kind, location):
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


_RESULTS: Final = {
    OrderOutcome.SUCCEEDED: FIXED["SUC"],
    OrderOutcome.BOUNCED: FIXED["BNC"],
    OrderOutcome.CUT: FIXED["CUT"],
    OrderOutcome.DISRUPTED: FIXED["DSR"],
    OrderOutcome.CLASHED: FIXED["BNC"],
}


@dataclass(frozen=True)
class DaideVariant:
    """The options of a game as HLO has them. Times are in seconds, None means without a limit."""

    level: int = 0
    mtl: int | None = None
    rtl: int | None = None
    btl: int | None = None
    dsd: bool = False
    aoa: bool = False
    pda: bool = False
    npr: bool = False
    npb: bool = False
    ptl: int | None = None

    def limit(self, phase: Phase) -> int | None:
        """How many seconds a phase has."""
        return {Phase.MOVES: self.mtl, Phase.RETREATS: self.rtl, Phase.BUILDS: self.btl}[phase]

    @property
    def tokens(self) -> Tokens:
        """The options, each in parentheses, in the order of the syntax; those of press where there is any."""
        tokens = bracketed(FIXED["LVL"], number_token(self.level))
        for name, seconds in (("MTL", self.mtl), ("RTL", self.rtl), ("BTL", self.btl)):
            if seconds is not None:
                tokens += bracketed(FIXED[name], number_token(seconds))
        for name in ("DSD", "AOA", "PDA", *(("NPR", "NPB") if self.level else ())):
            if getattr(self, name.lower()):
                tokens += bracketed(FIXED[name])
        if self.ptl is not None and self.level:
            tokens += bracketed(FIXED["PTL"], number_token(self.ptl))
        return tokens


class Submitted(NamedTuple):
    """An order as its power submitted it, in parentheses, and the note that is true of it.

    Where any orders are accepted (AOA) the note may be another than the one that was sent.
    """

    tokens: Tokens
    note: int


@dataclass(frozen=True)
class Participant:
    """Who plays a power, as SMR has it."""

    name: str
    version: str


def command(name: str, *parameters: Tokens) -> Tokens:
    """A command and its parameters, each in parentheses: `YES (OBS)`."""
    tokens: Tokens = (FIXED[name],)
    for parameter in parameters:
        tokens += bracketed(*parameter)
    return tokens


def map_message(words: Vocabulary) -> Tokens:
    """`MAP ('standard')`."""
    return command("MAP", text_tokens(words.map.name))


def map_definition(words: Vocabulary) -> Tokens:
    """MDF: the powers, the provinces (centres by home power, then the others), and what borders on what."""
    board = words.map
    provinces = words.provinces
    homes = [
        bracketed(words.powers[number], *(provinces[home] for home in power.homes))
        for number, power in enumerate(board.powers)
        if power.homes
    ]
    owned = {home for power in board.powers for home in power.homes}
    neutral = [provinces[centre] for centre in board.centres if centre not in owned]
    if neutral:
        homes.append(bracketed(FIXED["UNO"], *neutral))
    others = [token for province, token in enumerate(provinces) if province not in board.centres]
    adjacencies = [_borders(words, province) for province in range(len(provinces))]
    return command(
        "MDF",
        words.powers,
        (*bracketed(*(token for part in homes for token in part)), *bracketed(*others)),
        tuple(token for part in adjacencies for token in part),
    )


def _borders(words: Vocabulary, province: int) -> Tokens:
    board = words.map
    tokens: list[int] = [words.provinces[province]]
    for location in board.places[province]:
        for kind in UnitKind:
            if board.can_stand(kind, location):
                name = FIXED["AMY" if kind is UnitKind.ARMY else "FLT"]
                place = place_tokens(words, location)
                coast = place[2:-1]
                near = [
                    token for other in board.reach[kind][location] for token in place_tokens(words, other)
                ]
                tokens += bracketed(*(bracketed(name, *coast) if coast else (name,)), *near)
    return bracketed(*tokens)


def centre_owners(words: Vocabulary, position: Position) -> Tokens:
    """SCO: every power that owns centres, and those without an owner."""
    tokens: Tokens = (FIXED["SCO"],)
    for owner, token in (*enumerate(words.powers), (NOBODY, FIXED["UNO"])):
        centres = position.centres_of(owner)
        if centres:
            tokens += bracketed(token, *(words.provinces[centre] for centre in centres))
    return tokens


def standing(words: Vocabulary, position: Position) -> Tokens:
    """NOW: the turn, and all units by power."""
    units = [(unit.power, unit_tokens(words, unit)) for unit in position.units]
    units += [
        (entry.unit.power, dislodged_tokens(words, entry.unit, entry.options)) for entry in position.dislodged
    ]
    units.sort(key=lambda entry: entry[0])
    tokens = (FIXED["NOW"], *turn_tokens(position))
    return tokens + tuple(token for _, unit in units for token in unit)


def results(
    words: Vocabulary, adjudication: PhaseAdjudication, submitted: Mapping[tuple[int, int], Submitted]
) -> list[Tokens]:
    """An ORD for each order of a phase, also for those that no power gave.

    `submitted` are orders by power and province, as they came over DAIDE. An order that was void is sent
    with the note that it would have had, or NSO where it depended on others.
    """
    position = adjudication.position
    legal = all_legal_orders(position)
    messages = []
    for order_result in adjudication.results:
        province = position.map.province_of[order_result.order.location]
        given = (
            submitted.get((order_result.power, province))
            if order_result.order.kind is not OrderKind.WAIVE
            else None
        )
        tokens = (
            given.tokens if given else order_tokens(words, position, order_result.power, order_result.order)
        )
        result = _result(order_result)
        if given and given.note != ACCEPTED:
            result = (given.note, *(token for token in result if token == FIXED["RET"]))
        elif order_result.outcome in (OrderOutcome.VOID, OrderOutcome.SURPLUS):
            result = (_void_note(words, position, order_result, tokens, legal[order_result.power]), *result)
        messages.append(command("ORD", turn_tokens(position)[1:-1], tokens[1:-1], result))
    return messages


def _void_note(
    words: Vocabulary, position: Position, result: OrderResult, tokens: Tokens, legal: LegalOrders
) -> int:
    if position.map.province_of[result.order.location] not in legal:
        return FIXED["NSU"]
    note = note_of(position, result.power, read_order(words, tree_of(tokens)[0]), legal)
    return FIXED["NSO"] if note == ACCEPTED else note


def _result(result: OrderResult) -> Tokens:
    """What became of an order, but for what was wrong with it."""
    tokens: Tokens = ()
    if result.outcome in _RESULTS:
        tokens = (_RESULTS[result.outcome],)
    if result.order.kind is OrderKind.CONVOY and result.outcome is OrderOutcome.DISRUPTED:
        tokens = (FIXED["NSO"],)
    if result.dislodged_by == NOBODY:
        return tokens
    if result.order.kind in (OrderKind.SUPPORT_HOLD, OrderKind.SUPPORT_MOVE) and not tokens:
        tokens = (FIXED["CUT"],) if result.outcome is OrderOutcome.DISLODGED else ()
    return (*tokens, FIXED["RET"])


def summary(
    words: Vocabulary,
    position: Position,
    participants: Sequence[Participant],
    eliminated: Sequence[int | None],
) -> Tokens:
    """SMR: who played each power, its centres, and for those that have none in which year they lost them.

    `eliminated` are years after the first, as the referee counts them.
    """
    tokens = (FIXED["SMR"], *turn_tokens(position))
    for power, (who, since) in enumerate(zip(participants, eliminated, strict=True)):
        name = bracketed(*text_tokens(who.name))
        version = bracketed(*text_tokens(who.version))
        centres = len(position.centres_of(power))
        year = () if since is None or centres else (number_token(position.map.first_year + since),)
        tokens += bracketed(words.powers[power], *name, *version, number_token(centres), *year)
    return tokens


def time_left(seconds: float) -> Tokens:
    """`TME (seconds)`, rounded to the nearest whole number."""
    return command("TME", (number_token(max(0, min(MOST_NUMBER, round(seconds)))),))
