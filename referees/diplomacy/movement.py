"""How moves, supports and convoys of one phase resolve.

The equations are those of L. Kruijswijk, "The Math of Adjudication" (The Zine, S2009M): a move succeeds
when its attack strength exceeds the hold or defend strength of the province and the prevent strength of
every other move there. Where decisions hang on each other in a circle, both answers are tried; if that
does not tell, a circle of moves succeeds, and a convoy in it fails (Szykman's rule).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from referees.diplomacy.choices import Choices
from referees.diplomacy.convoys import linked
from referees.diplomacy.movement_orders import MovementOrders, Way
from referees.diplomacy.orders import Order, OrderKind
from referees.diplomacy.provinces import NOBODY, Map, Unit

SUPPORT_MOVE: Final = OrderKind.SUPPORT_MOVE

UNRESOLVED: Final = 0
GUESSING: Final = 1
RESOLVED: Final = 2


class Movement(MovementOrders):
    """The orders of one phase of moves, resolved; provinces name the units that began in them."""

    __slots__ = ("_dependencies", "_resolution", "_state", "disrupted_by_paradox")

    def __init__(
        self, board: Map, units: Sequence[Unit], orders: Mapping[int, Sequence[Order]], choices: Choices
    ) -> None:
        super().__init__(board, units, orders, choices)
        size = len(board.codes)
        self.disrupted_by_paradox: set[int] = set()
        self._state = [UNRESOLVED] * (2 * size)
        self._resolution = [False] * (2 * size)
        self._dependencies: list[int] = []
        self._resolve_all()

    def _resolve_all(self) -> None:
        attackers, owner, way = self.attackers, self.owner, self.way
        state, resolution = self._state, self._resolution
        for target, sources in attackers.items():
            if len(sources) == 1 and owner[target] < 0 and way[sources[0]] is Way.LAND:
                state[sources[0]] = RESOLVED
                resolution[sources[0]] = True
        for source in self._front_first():
            if state[source] != RESOLVED:
                self.succeeds(source)

    def _front_first(self) -> list[int]:
        """Where the moves begin, each after the move of the unit that it follows, but for circles.

        So a long file of units is resolved step by step, and not in as many nested calls.
        """
        attackers, destination = self.attackers, self.destination
        ordered = [
            source for target, sources in attackers.items() if destination[target] < 0 for source in sources
        ]
        for source in ordered:
            ordered += attackers.get(source, ())
        if len(ordered) < sum(map(len, attackers.values())):
            known = set(ordered)
            ordered += [source for sources in attackers.values() for source in sources if source not in known]
        return ordered

    def succeeds(self, node: int) -> bool:
        """Whether the move from a province succeeds; for province + number of provinces, a fleet's convoy."""
        state, resolution, dependencies = self._state, self._resolution, self._dependencies
        known = state[node]
        if known == RESOLVED:
            return resolution[node]
        if known == GUESSING:
            if node not in dependencies:
                dependencies.append(node)
            return resolution[node]
        before = len(dependencies)
        resolution[node] = False
        state[node] = GUESSING
        first = self._decide(node)
        if len(dependencies) == before:
            if state[node] != RESOLVED:
                resolution[node] = first
                state[node] = RESOLVED
            return resolution[node]
        if dependencies[before] != node:
            dependencies.append(node)
            resolution[node] = first
            return first
        self._forget(before)
        resolution[node] = True
        state[node] = GUESSING
        second = self._decide(node)
        if first == second:
            self._forget(before)
            resolution[node] = first
            state[node] = RESOLVED
            return first
        self._break_circle(before)
        return self.succeeds(node)

    def _forget(self, before: int) -> None:
        for node in self._dependencies[before:]:
            self._state[node] = UNRESOLVED
        del self._dependencies[before:]

    def _break_circle(self, before: int) -> None:
        circle = self._dependencies[before:]
        self._forget(before)
        size = len(self.board.codes)
        convoys = [node for node in circle if node >= size]
        for node in convoys or circle:
            self._state[node] = RESOLVED
            self._resolution[node] = not convoys
        self.disrupted_by_paradox.update(node - size for node in convoys)

    def _decide(self, node: int) -> bool:
        if node >= len(self.board.codes):
            return not self.dislodged(node - len(self.board.codes))
        return self._decide_move(node)

    def _decide_move(self, source: int) -> bool:
        destination, owner = self.destination, self.owner
        target = destination[source]
        if self.way[source] is Way.SEA and not self.has_convoy(source):
            return False
        supports = self.move_supports.get(source)
        defender = owner[target]
        attack = 0
        if defender >= 0:
            against = self.is_head_to_head(source)
            if against or destination[target] < 0 or not self.succeeds(target):
                if defender == owner[source]:
                    return False
                attack = 1
                if supports:
                    attack += sum(owner[by] != defender and self.is_given(by) for by in supports)
                if attack == 1:
                    return False
                if against:
                    helpers = self.move_supports.get(target)
                elif destination[target] < 0:
                    helpers = self.hold_supports.get(target)
                else:
                    helpers = None
                if helpers and attack <= 1 + sum(self.is_given(by) for by in helpers):
                    return False
        rivals = self.attackers[target]
        if len(rivals) > 1:
            if not attack:
                attack = 1
                if supports:
                    attack += sum(self.is_given(by) for by in supports)
            for rival in rivals:
                if rival != source and attack <= self.prevent_strength(rival, attack):
                    return False
        return True

    def prevent_strength(self, source: int, enough: int) -> int:
        """With what strength a move keeps others out of where it goes; no more than `enough` is counted."""
        supports = self.move_supports.get(source, ())
        if 1 + len(supports) < enough:
            return 1 + len(supports)
        if self.way[source] is Way.SEA and not self.has_convoy(source):
            return 0
        if self.is_head_to_head(source) and self.succeeds(self.destination[source]):
            return 0
        return 1 + sum(self.is_given(by) for by in supports)

    def is_head_to_head(self, source: int) -> bool:
        """Whether two units move to each other's provinces, neither by sea."""
        target = self.destination[source]
        return self.destination[target] == source and not self.by_sea(source) and not self.by_sea(target)

    def by_sea(self, source: int) -> bool:
        """Whether a move goes by convoy."""
        way = self.way[source]
        return way is not Way.LAND and (way is Way.SEA or self.has_convoy(source))

    def is_given(self, supporter: int) -> bool:
        """Whether a support that is not void is not cut."""
        return self.cut_by(supporter) < 0

    def cut_by(self, supporter: int) -> int:
        """From which province a support is cut; NOBODY if it is not."""
        attacks = self.attackers.get(supporter)
        if not attacks:
            return NOBODY
        order = self.orders[supporter]
        assert order is not None
        into = self.board.province_of[order.target] if order.kind is SUPPORT_MOVE else NOBODY
        own = self.owner[supporter]
        for source in attacks:
            if self.owner[source] == own:
                continue
            if source == into:
                if self.succeeds(source):
                    return source
            elif self.way[source] is not Way.SEA or self.has_convoy(source):
                return source
        return NOBODY

    def dislodged(self, province: int) -> bool:
        """Whether a unit that does not move away is dislodged."""
        return self.dislodged_by(province) >= 0

    def dislodged_by(self, province: int) -> int:
        """From where a unit that does not move away is dislodged; NOBODY if it is not."""
        for source in self.attackers.get(province, ()):
            if self.succeeds(source):
                return source
        return NOBODY

    def has_convoy(self, source: int) -> bool:
        """Whether fleets that are ordered to, and not dislodged, make a chain for a move."""
        board, target = self.board, self.destination[source]
        fleets = self.convoyers.get(source, 0)
        if not linked(board, source, target, fleets):
            return False
        safe = attacked = 0
        rest = fleets
        while rest:
            low = rest & -rest
            rest ^= low
            if low.bit_length() - 1 in self.attackers:
                attacked |= low
            else:
                safe |= low
        if not attacked or linked(board, source, target, safe):
            return True
        while attacked:
            low = attacked & -attacked
            attacked ^= low
            if self.succeeds(low.bit_length() - 1 + len(board.codes)):
                safe |= low
                if linked(board, source, target, safe):
                    return True
            else:
                fleets ^= low
                if not linked(board, source, target, fleets):
                    return False
        return False
