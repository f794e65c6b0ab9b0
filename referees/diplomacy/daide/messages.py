"""The messages by which a DAIDE server tells of a game."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from referees.diplomacy.adjudication import PhaseAdjudication
from referees.diplomacy.daide.notes import ACCEPTED, note_of
from referees.diplomacy.daide.orders import (
    dislodged_tokens,
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
from referees.diplomacy.orders import OrderKind
from referees.diplomacy.position import Phase, Position
from referees.diplomacy.provinces import NOBODY, UnitKind
from referees.diplomacy.results import OrderOutcome, OrderResult

_RESULTS: Final = {
    OrderOutcome.SUCCEEDED: FIXED["SUC"],
    OrderOutcome.BOUNCED: FIXED["BNC"],
    OrderOutcome.CUT: FIXED["CUT"],
    OrderOutcome.DISRUPTED: FIXED["DSR"],
    OrderOutcome.CLASHED: FIXED["BNC"],
}


@dataclass(frozen=True)
class DaideVariant:
    """The options of a game as HLO tells them. Times are in seconds, None means without a limit."""

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
        said = bracketed(FIXED["LVL"], number_token(self.level))
        for name, seconds in (("MTL", self.mtl), ("RTL", self.rtl), ("BTL", self.btl)):
            if seconds is not None:
                said += bracketed(FIXED[name], number_token(seconds))
        for name in ("DSD", "AOA", "PDA", *(("NPR", "NPB") if self.level else ())):
            if getattr(self, name.lower()):
                said += bracketed(FIXED[name])
        if self.ptl is not None and self.level:
            said += bracketed(FIXED["PTL"], number_token(self.ptl))
        return said


class Submitted(NamedTuple):
    """An order as its power submitted it, in parentheses, and the note that is true of it.

    Where any orders are accepted (AOA) the note may be another than the one that was told.
    """

    tokens: Tokens
    note: int


@dataclass(frozen=True)
class Participant:
    """Who plays a power, as SMR tells it."""

    name: str
    version: str


def command(name: str, *parameters: Tokens) -> Tokens:
    """A command and its parameters, each in parentheses: `YES (OBS)`."""
    said: Tokens = (FIXED[name],)
    for parameter in parameters:
        said += bracketed(*parameter)
    return said


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
    said: list[int] = [words.provinces[province]]
    for location in (board.main_location[province], *board.coasts[province]):
        for kind in UnitKind:
            if board.can_stand(kind, location):
                name = FIXED["AMY" if kind is UnitKind.ARMY else "FLT"]
                place = place_tokens(words, location)
                coast = place[2:-1]
                near = [
                    token for other in board.reach[kind][location] for token in place_tokens(words, other)
                ]
                said += bracketed(*(bracketed(name, *coast) if coast else (name,)), *near)
    return bracketed(*said)


def hello(words: Vocabulary, power: int | None, passcode: int, variant: DaideVariant) -> Tokens:
    """HLO for a power, or an observer (None)."""
    token = FIXED["UNO"] if power is None else words.powers[power]
    return command("HLO", (token,), (number_token(passcode),), variant.tokens)


def centre_owners(words: Vocabulary, position: Position) -> Tokens:
    """SCO: every power that owns centres, and those that nobody owns."""
    said: Tokens = (FIXED["SCO"],)
    for owner, token in (*enumerate(words.powers), (NOBODY, FIXED["UNO"])):
        centres = position.centres_of(owner)
        if centres:
            said += bracketed(token, *(words.provinces[centre] for centre in centres))
    return said


def standing(words: Vocabulary, position: Position) -> Tokens:
    """NOW: the turn, and all units by power."""
    units = [(unit.power, unit_tokens(words, unit)) for unit in position.units]
    units += [
        (entry.unit.power, dislodged_tokens(words, entry.unit, entry.options)) for entry in position.dislodged
    ]
    units.sort(key=lambda entry: entry[0])
    said = (FIXED["NOW"], *turn_tokens(position))
    return said + tuple(token for _, unit in units for token in unit)


def results(
    words: Vocabulary, adjudication: PhaseAdjudication, submitted: Mapping[tuple[int, int], Submitted]
) -> list[Tokens]:
    """An ORD for each order of a phase, also for those that nobody gave.

    `submitted` are orders by power and province, as they came over DAIDE. An order that was void is told
    with the note that it would have had, or NSO where it depended on others.
    """
    position = adjudication.position
    legal = all_legal_orders(position)
    told = []
    for found in adjudication.results:
        province = position.map.province_of[found.order.location]
        said = submitted.get((found.power, province)) if found.order.kind is not OrderKind.WAIVE else None
        tokens = said.tokens if said else order_tokens(words, position, found.power, found.order)
        result = _result(found)
        if said and said.note != ACCEPTED:
            result = (said.note, *(token for token in result if token == FIXED["RET"]))
        elif found.outcome in (OrderOutcome.VOID, OrderOutcome.SURPLUS):
            result = (_void_note(words, position, found, tokens, legal[found.power]), *result)
        told.append(command("ORD", turn_tokens(position)[1:-1], tokens[1:-1], result))
    return told


def _void_note(
    words: Vocabulary, position: Position, found: OrderResult, tokens: Tokens, legal: LegalOrders
) -> int:
    if position.map.province_of[found.order.location] not in legal:
        return FIXED["NSU"]
    note = note_of(position, found.power, read_order(words, tree_of(tokens)[0]), legal)
    return FIXED["NSO"] if note == ACCEPTED else note


def _result(found: OrderResult) -> Tokens:
    """What became of an order, but for what was wrong with it."""
    said: Tokens = ()
    if found.outcome in _RESULTS:
        said = (_RESULTS[found.outcome],)
    if found.order.kind is OrderKind.CONVOY and found.outcome is OrderOutcome.DISRUPTED:
        said = (FIXED["NSO"],)
    if found.dislodged_by == NOBODY:
        return said
    if found.order.kind in (OrderKind.SUPPORT_HOLD, OrderKind.SUPPORT_MOVE) and not said:
        said = (FIXED["CUT"],) if found.outcome is OrderOutcome.DISLODGED else ()
    return (*said, FIXED["RET"])


def summary(
    words: Vocabulary,
    position: Position,
    participants: Sequence[Participant],
    eliminated: Sequence[int | None],
) -> Tokens:
    """SMR: who played each power, its centres, and for those that have none in which year they lost them.

    `eliminated` are years after the first, as the referee counts them.
    """
    said = (FIXED["SMR"], *turn_tokens(position))
    for power, (who, since) in enumerate(zip(participants, eliminated, strict=True)):
        name = bracketed(*text_tokens(who.name))
        version = bracketed(*text_tokens(who.version))
        centres = len(position.centres_of(power))
        year = () if since is None or centres else (number_token(position.map.first_year + since),)
        said += bracketed(words.powers[power], *name, *version, number_token(centres), *year)
    return said


def time_left(seconds: float) -> Tokens:
    """`TME (seconds)`, rounded to the nearest whole number."""
    return command("TME", (number_token(max(0, min(MOST_NUMBER, round(seconds)))),))
