"""Laws of adjudication, on crowded positions with any legal orders."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import NamedTuple

from hypothesis import example, given, settings
from hypothesis import strategies as st

from referees.diplomacy import (
    EDITIONS,
    Choices,
    Order,
    OrderKind,
    OrderOutcome,
    Phase,
    PhaseAdjudication,
    Position,
    Season,
    Unit,
    UnitKind,
    adjudicate,
    all_legal_orders,
    order_text,
    read_order,
    shipped_map,
)

STANDARD = shipped_map("standard")
POWERS = len(STANDARD.powers)
MOVING = (OrderKind.MOVE, OrderKind.CONVOYED_MOVE)
# Where units stand: armies in whole provinces, fleets on seas and coasts.
PLACES = [
    (kind, place)
    for kind in UnitKind
    for place in range(len(STANDARD.province_of))
    if STANDARD.can_stand(kind, place)
]

Orders = dict[int, list[Order]]


class Turn(NamedTuple):
    """A position of moves, and orders for it."""

    position: Position
    orders: Orders

    def played(self, choices: Choices | None = None) -> PhaseAdjudication:
        return adjudicate(self.position, self.orders, choices or Choices())


def turn_of(seed: int, size: int, season: Season) -> Turn:
    """A number of units anywhere, each with a legal order."""
    chance = Random(seed)
    standing: dict[int, Unit] = {}
    for kind, place in chance.sample(PLACES, size):
        standing.setdefault(STANDARD.province_of[place], Unit(chance.randrange(POWERS), kind, place))
    units = tuple(sorted(standing.values(), key=lambda unit: unit.location))
    position = replace(Position.start(STANDARD), units=units, season=season).checked()
    return Turn(position, orders_that_meet(position, chance))


turns = st.builds(turn_of, st.integers(0, 2**32), st.integers(1, 45), st.sampled_from(Season))


def orders_that_meet(position: Position, chance: Random) -> Orders:
    """A legal order for each unit; supports and convoys are mostly for what is ordered."""
    legal = [
        (power, choices)
        for power, of_power in enumerate(all_legal_orders(position))
        for choices in of_power.values()
    ]
    going: dict[int, int] = {}
    orders: Orders = {}
    waiting = []
    for power, choices in legal:
        moves = [order for order in choices if order.kind in MOVING]
        if moves and chance.random() < 0.6:
            order = chance.choice(moves)
            going[STANDARD.province_of[order.location]] = STANDARD.province_of[order.target]
            orders.setdefault(power, []).append(order)
        else:
            waiting.append((power, choices))
    for power, choices in waiting:
        helping = [
            order
            for order in choices
            if order.source >= 0 and going.get(order.source) == STANDARD.province_of[order.target]
        ]
        orders.setdefault(power, []).append(chance.choice(helping or choices))
    return orders


def changed(turn: Turn, change: Callable[[Order], Order]) -> Turn:
    return Turn(
        turn.position, {power: [change(order) for order in given] for power, given in turn.orders.items()}
    )


@settings(max_examples=60)
@given(turns)
def test_every_unit_stays_moves_or_is_dislodged_as_its_result_says(turn: Turn) -> None:
    done = turn.played()
    after = {unit.location: unit for unit in done.after.units}
    dislodged = {entry.unit.location for entry in done.after.dislodged}
    assert len(after) + len(dislodged) == len(turn.position.units)
    results = {result.order.location: result for result in done.results}
    for unit in turn.position.units:
        result = results[unit.location]
        if result.order.kind in MOVING and result.succeeded:
            assert after[result.order.target] == unit._replace(location=result.order.target)
        elif result.dislodged_by >= 0:
            assert unit.location in dislodged
            conqueror = results[turn.position.unit_in(result.dislodged_by).location]  # type: ignore[union-attr]
            assert conqueror.succeeded and conqueror.power != unit.power
        else:
            assert after[unit.location] == unit


@settings(max_examples=60)
@given(turns)
def test_a_failure_has_its_reason(turn: Turn) -> None:
    own = [f"by {power.name}'s " for power in STANDARD.powers]
    for result in turn.played().results:
        assert result.succeeded or result.reason
        if result.outcome is OrderOutcome.CUT:
            assert own[result.power] not in result.reason


@settings(max_examples=60)
@given(turns, st.integers(0, 2**32))
def test_in_which_order_orders_are_written_changes_nothing(turn: Turn, seed: int) -> None:
    chance = Random(seed)
    shuffled = list(turn.orders.items())
    chance.shuffle(shuffled)
    other = Turn(turn.position, {power: chance.sample(given, len(given)) for power, given in shuffled})
    assert other.played().after == turn.played().after
    assert other.played().results == turn.played().results


@settings(max_examples=60)
@given(turns)
def test_a_void_order_is_a_hold(turn: Turn) -> None:
    done = turn.played()
    void = {result.order.location for result in done.results if result.outcome is OrderOutcome.VOID}

    def held(order: Order) -> Order:
        return Order(OrderKind.HOLD, order.location) if order.location in void else order

    assert changed(turn, held).played().after == done.after


@settings(max_examples=60)
@given(turns, st.permutations(range(POWERS)))
def test_powers_are_names_alone(turn: Turn, renamed: list[int]) -> None:
    position = turn.position
    units = tuple(unit._replace(power=renamed[unit.power]) for unit in position.units)
    owners = tuple(renamed[owner] if owner >= 0 else owner for owner in position.owners)
    other = (
        Turn(
            replace(position, units=units, owners=owners),
            {renamed[power]: given for power, given in turn.orders.items()},
        )
        .played()
        .after
    )
    done = turn.played().after
    assert other.units == tuple(unit._replace(power=renamed[unit.power]) for unit in done.units)
    assert other.owners == tuple(renamed[owner] if owner >= 0 else owner for owner in done.owners)
    assert [entry.options for entry in other.dislodged] == [entry.options for entry in done.dislodged]


@settings(max_examples=60)
@given(turns)
# Constantinople attacks Bulgaria by convoy, as its own fleet in the Aegean is ordered to carry it.
@example(turn_of(101010, 40, Season.SPRING))
def test_retreats_lead_where_nobody_is_came_from_or_bounced(turn: Turn) -> None:
    done = turn.played()
    if done.after.phase is not Phase.RETREATS:
        return
    results = {STANDARD.province_of[result.order.location]: result for result in done.results}
    taken = {STANDARD.province_of[unit.location] for unit in done.after.units}
    convoyed = {
        (result.power, result.order.source)
        for result in done.results
        if result.order.kind is OrderKind.CONVOY and result.outcome is not OrderOutcome.VOID
    }
    for unit, options in done.after.dislodged:
        attacked_from = results[STANDARD.province_of[unit.location]].dislodged_by
        attack = results[attacked_from]
        by_land = attack.order.kind is OrderKind.MOVE and (attack.power, attacked_from) not in convoyed
        for option in options:
            province = STANDARD.province_of[option]
            assert option in STANDARD.reach[unit.kind][unit.location]
            assert province not in taken
            assert not (by_land and province == attacked_from)


@settings(max_examples=60)
@given(turns, st.sampled_from(sorted(EDITIONS)))
def test_every_edition_resolves_everything(turn: Turn, edition: str) -> None:
    done = turn.played(EDITIONS[edition])
    assert done.after.checked() == done.after
    assert len(done.results) == len(turn.position.units)


@settings(max_examples=60)
@given(turns)
def test_an_order_that_is_written_is_read_back(turn: Turn) -> None:
    for given_ in turn.orders.values():
        for order in given_:
            assert read_order(turn.position, order_text(turn.position, order)) == order
