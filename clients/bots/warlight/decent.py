"""A decent WarLight bot: takes bonuses that are worth their price, defends borders, attacks when it is safe.

    python -m clients.bots.warlight.decent [--seed N] [--academy]

It judges everything by the expected numbers of combat: `a` attackers kill 0.6 * a, `d` defenders 0.7 * d.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import Final

from academy.wire.standard_streams import open_closed
from clients.bots.warlight.advisor import BASE_INCOME, WarLightAdvisor, expected_value
from clients.bots.warlight.dialogue import ME, OPPONENT, Dialogue
from clients.bots.warlight.simple import read_options
from referees.warlight.maps import WarMap
from referees.warlight.orders import AttackTransfer, Deploy, Order
from referees.warlight.position import NEUTRAL, UNSEEN, WarPosition

OFFENCE: Final = 0.6
# What an unseen territory probably holds.
_NEUTRAL_ARMIES: Final = 2
# The armies of income that a territory beside the opponent is worth.
_FRONT: Final = 3.0


def needed(defenders: int) -> int:
    """The fewest armies that are sure to conquer a territory where combat knows no luck."""
    attackers = ceil(defenders / OFFENCE)
    # With all attackers lost in the same exchange one defender would stay.
    return max(attackers, ceil(0.7 * defenders) + 1)


@dataclass
class Memory:
    """What was seen of the opponent in earlier turns, by territory."""

    opponent: set[int] = field(default_factory=set)

    def note(self, view: WarPosition) -> None:
        """Take note of a turn's standing."""
        for at, owner in enumerate(view.owners):
            if owner == OPPONENT:
                self.opponent.add(at)
            elif owner != UNSEEN:
                self.opponent.discard(at)


class TurnPlan:
    """One turn's plan. `preferred` are territories that somebody advises to take, with a weight each."""

    def __init__(
        self,
        war_map: WarMap,
        view: WarPosition,
        memory: Memory,
        chance: random.Random,
        preferred: Mapping[int, float] | None = None,
        base_income: int = BASE_INCOME,
    ) -> None:
        self._map = war_map
        self._owners, self._near = view.owners, war_map.neighbours
        self._memory = memory
        self._chance = chance
        self._preferred = preferred or {}
        self._mine = [at for at, owner in enumerate(view.owners) if owner == ME]
        self._armies = list(view.armies)
        # Armies that may still be given an order; one stands guard.
        self._free = [
            armies - 1 if owner == ME else 0 for owner, armies in zip(view.owners, view.armies, strict=True)
        ]
        self._income = war_map.income(view.owners, ME, base_income)
        self._deploys: dict[int, int] = {}
        # Armies by source and target, in the order of the attacks; and of the transfers.
        self._sent: dict[tuple[int, int], int] = {}
        self._led: dict[tuple[int, int], int] = {}
        self._worth = self._worths()

    def orders(self) -> list[Order]:
        """The plan as orders."""
        if not self._mine:
            return []
        self._hold()
        self._conquer()
        self._press()
        self._advance()
        deploys = [Deploy(count, self._id(at)) for at, count in sorted(self._deploys.items())]
        # Transfers last: an attack may meanwhile have cleared their way.
        moves = [
            AttackTransfer(count, self._id(source), self._id(to))
            for (source, to), count in (*self._sent.items(), *self._led.items())
        ]
        return [*deploys, *moves]

    def _id(self, at: int) -> int:
        return self._map.territories[at].id

    def _worths(self) -> dict[int, float]:
        """What it is worth to own each territory that is not mine, in armies a turn for each army spent."""
        worth: dict[int, float] = {}
        for armies, region in self._map.regions:
            left = [at for at in region if self._owners[at] != ME]
            if not left or not armies:
                continue
            price = 0.0
            for at in left:
                known = self._owners[at] != UNSEEN
                price += needed(self._armies[at] if known else _NEUTRAL_ARMIES)
                if self._owners[at] == OPPONENT or at in self._memory.opponent:
                    price += 6.0
            # The last steps count most: what is begun is finished.
            share = armies / (price + 3.0) * (2.0 if len(left) <= 2 else 1.0)
            for at in left:
                worth[at] = max(worth.get(at, 0.0), share)
        for at, weight in self._preferred.items():
            worth[at] = worth.get(at, 0.0) + weight
        return worth

    def _hostile(self, at: int) -> list[int]:
        return [near for near in self._near[at] if self._owners[near] == OPPONENT]

    def _value(self, at: int) -> float:
        value = self._worth.get(at, 0.0) + 0.01
        if self._owners[at] == OPPONENT:
            value += 0.6 + self._lost_with(at, OPPONENT, UNSEEN) * 0.2
        return value

    def _lost_with(self, at: int, *owners: int) -> float:
        """The income that would be lost with a territory, by bonuses that these alone own."""
        return sum(
            armies
            for armies, region in self._map.regions
            if at in region and all(self._owners[member] in owners for member in region)
        )

    def _deploy(self, at: int, count: int) -> None:
        count = min(count, self._income)
        if count > 0:
            self._deploys[at] = self._deploys.get(at, 0) + count
            self._income -= count
            self._armies[at] += count
            self._free[at] += count

    def _hold(self) -> None:
        """Keep what bonuses stand on: enough armies that the strongest neighbour cannot be sure of it."""
        guarded = []
        for at in self._mine:
            hostile = self._hostile(at)
            if not hostile:
                continue
            threat = max(self._armies[enemy] - 1 for enemy in hostile)
            if stake := self._lost_with(at, ME):
                guarded.append((stake, at, threat))
        for _, at, threat in sorted(guarded, reverse=True):
            wanted = ceil(OFFENCE * (threat + 2)) + 1
            self._deploy(at, wanted - self._armies[at])
            # What holds the border stays on it.
            self._free[at] = max(0, min(self._free[at], self._armies[at] - wanted))

    def _conquer(self) -> None:
        """Take what is sure, the best first, with armies deployed where they lack."""
        targets = {
            near for at in self._mine for near in self._near[at] if self._owners[near] not in (ME, UNSEEN)
        }
        ranked = sorted(targets, key=lambda at: (-self._price_worth(at), at))
        for target in ranked:
            self._take(target)

    def _price_worth(self, target: int) -> float:
        return self._value(target) / sqrt(needed(self._armies[target]))

    def _take(self, target: int) -> None:
        expected = self._armies[target]
        if self._owners[target] == OPPONENT:
            # It may be reinforced before the attack comes.
            expected += 2 if self._armies[target] < 6 else 4
        price = needed(expected)
        sources = [at for at in self._near[target] if self._owners[at] == ME]
        source = max(sources, key=lambda at: (min(self._free[at], price), -len(self._hostile(at)), -at))
        lack = price - self._free[source]
        if lack > self._income:
            return
        self._deploy(source, lack)
        self._send(source, target, price)

    def _send(self, source: int, target: int, count: int) -> None:
        self._free[source] -= count
        self._sent[source, target] = count

    def _press(self) -> None:
        """Put what is left of the income on the strongest front, and attack from where it is worth it."""
        fronts = [at for at in self._mine if self._hostile(at)]
        if self._income:
            border = fronts or [
                at for at in self._mine if any(self._owners[near] == NEUTRAL for near in self._near[at])
            ]
            self._deploy(max(border or self._mine, key=self._urgency), self._income)
        for at in fronts:
            for target in sorted(self._hostile(at), key=lambda enemy: (self._armies[enemy], enemy)):
                if (at, target) not in self._sent and self._free[at] >= needed(self._armies[target] + 1):
                    self._send(at, target, self._free[at])
                    break
        # What faces the opponent and has nothing else to do goes along: it may have been reinforced.
        for (source, target), count in self._sent.items():
            if self._owners[target] == OPPONENT and self._free[source] > 0:
                self._sent[source, target] = count + self._free[source]
                self._free[source] = 0

    def _urgency(self, at: int) -> tuple[float, float]:
        hostile = sum(self._armies[near] for near in self._hostile(at))
        value = max((self._value(near) for near in self._near[at] if self._owners[near] != ME), default=0.0)
        return (_FRONT * hostile / (1 + self._armies[at]) + value, self._chance.random())

    def _advance(self) -> None:
        """Lead armies that face no enemy towards the opponent, or if that is unknown to the border."""
        goals: dict[int, float] = {}
        for at in self._mine:
            for near in self._near[at]:
                if self._owners[near] != ME:
                    hostile = self._owners[near] == OPPONENT or near in self._memory.opponent
                    goals[at] = min(goals.get(at, 9.0), 0.0 if hostile else 4.0)
        distance = self._distances(goals)
        for at in self._mine:
            if self._free[at] < 1 or goals.get(at, 9.0) == 0.0:
                continue
            mine = [near for near in self._near[at] if self._owners[near] == ME]
            if not mine:
                continue
            step = min(mine, key=lambda near: (distance.get(near, 1e9), near))
            if distance.get(step, 1e9) < distance.get(at, 1e9):
                self._led[at, step] = self._free[at]
                self._free[at] = 0

    def _distances(self, goals: Mapping[int, float]) -> dict[int, float]:
        steps_to = dict(goals)
        queue = sorted(steps_to, key=steps_to.__getitem__)
        # Few territories, short ways: no need of a heap.
        while queue:
            following = []
            for at in queue:
                for near in self._near[at]:
                    if self._owners[near] == ME and steps_to.get(near, 1e9) > steps_to[at] + 1:
                        steps_to[near] = steps_to[at] + 1
                        following.append(near)
            queue = following
        return steps_to


def main(arguments: Sequence[str] | None = None) -> None:
    """Play a game on standard input and output."""
    open_closed()
    options = read_options(__doc__.partition("\n")[0], arguments)
    chance = random.Random(options.seed)
    dialogue = Dialogue()
    advisor = WarLightAdvisor(None, dialogue.map)
    if options.academy:
        advisor = WarLightAdvisor.from_environment(dialogue.map, options.stack_armies)
    memory = Memory()
    for view in dialogue.turns():
        memory.note(view)
        value = expected_value(dialogue.map, view, options.income)
        preferred = advisor.preferred(view, value)
        known = advisor.opening(view)
        plan = TurnPlan(dialogue.map, view, memory, chance, preferred, options.income)
        dialogue.answer(known or plan.orders(), value)
        advisor.turn(view, value)
    advisor.finish()


if __name__ == "__main__":
    main()
