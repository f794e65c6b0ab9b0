"""Random legal play keeps the invariants of every phase."""

import random

import pytest

from referees.diplomacy.adjudication import adjudicate
from referees.diplomacy.adjustments import adjustments
from referees.diplomacy.legal import all_legal_orders
from referees.diplomacy.map import shipped_map
from referees.diplomacy.orders import Order, OrderKind
from referees.diplomacy.position import Phase, Position
from referees.diplomacy.results import OrderOutcome


def choose(position: Position, chance: random.Random) -> dict[int, list[Order]]:
    """One random legal order for each unit that has one, or as many builds and removals as are due."""
    chosen = {}
    due = adjustments(position)
    for power, legal in enumerate(all_legal_orders(position)):
        orders = [chance.choice(choices) for choices in legal.values()]
        if position.phase is Phase.BUILDS:
            orders = chance.sample(orders, abs(due[power]))
        chosen[power] = orders
    return chosen


@pytest.mark.parametrize(("name", "phases"), [("standard", 400), ("straits", 200)])
def test_invariants_hold_in_random_play(name: str, phases: int) -> None:
    board = shipped_map(name)
    chance = random.Random(6)
    position = Position.start(board)
    for _ in range(phases):
        orders = choose(position, chance)
        adjudication = adjudicate(position, orders)
        after = adjudication.after.checked()
        assert adjudicate(position, orders).after == after
        for result in adjudication.results:
            assert result.outcome is not OrderOutcome.VOID or result.order.kind in (
                # Legal is what could be; a helped unit may have been ordered otherwise.
                OrderKind.SUPPORT_HOLD,
                OrderKind.SUPPORT_MOVE,
                OrderKind.CONVOY,
            ), result
            assert result.succeeded or result.reason
        ordered = {result.order.location for result in adjudication.results}
        if position.phase is Phase.MOVES:
            assert ordered == {unit.location for unit in position.units}
            assert len(after.units) + len(after.dislodged) == len(position.units)
        for unit, options in after.dislodged:
            taken = {board.province_of[other.location] for other in after.units}
            assert not taken & {board.province_of[option] for option in options}
            assert set(options) <= set(board.reach[unit.kind][unit.location])
        if position.phase is Phase.BUILDS:
            for power in range(len(board.powers)):
                assert (
                    len(after.units_of(power)) <= len(after.centres_of(power))
                    or adjustments(position)[power] >= 0
                )
        for power, legal in enumerate(all_legal_orders(after)):
            assert all(legal.values())
            if after.phase is Phase.MOVES:
                assert len(legal) == len(after.units_of(power))
        position = after
        if len({unit.power for unit in position.units}) <= 1:
            position = Position.start(board)
