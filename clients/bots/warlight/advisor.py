"""Asking ACADEMY for a WarLight bot, from what the bot itself sees, and proposing what worked.

ACADEMY knows the first orders of many games, and what followed where territories stood like this. It is
given the seats as they are: for the second one, what the dialogue calls "You" is player 2.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Self

from academy.knowledge.boards import Board, GraphGeometry
from academy.knowledge.cells import State
from academy.knowledge.fair_use import LUDAE_FAIR_USE
from academy.knowledge.patterns import Pattern, graph_pattern
from clients.academy import Academy
from clients.bots.academy_seat import AcademySeat, mean_value
from clients.bots.warlight.dialogue import ME, OPPONENT, OWNERS
from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection
from clients.seat import Seat
from referees.api import UnreadableMoveError
from referees.legible_text import legible
from referees.warlight import position
from referees.warlight.maps import WarMap, read_map
from referees.warlight.orders import Deploy, Order, read_orders
from referees.warlight.position import NEUTRAL, UNSEEN, WarPosition

# A turn's armies without any bonus.
BASE_INCOME: Final = 5
# Armies from which a territory is a stack, if the game's settings do not say otherwise.
STACK_ARMIES: Final = 10
# As many territories can be asked about in one question.
_MOST_TARGETS: Final = 400
# How much a pattern counts beside what the bot itself thinks a territory is worth.
_WEIGHT: Final = 2.0
_SWAPPED: Final = bytes([NEUTRAL, OPPONENT, ME, UNSEEN]) + bytes(252)


def expected_value(war_map: WarMap, view: WarPosition, base_income: int = BASE_INCOME) -> float:
    """How a game probably ends for the seat with this view, 0 to 1: by territories and armies in sight."""
    mine, theirs = (
        sum(armies + 2 for owner, armies in zip(view.owners, view.armies, strict=True) if owner == seat)
        for seat in (ME, OPPONENT)
    )
    income = war_map.income(view.owners, ME, base_income)
    if not theirs:
        return 0.5 if mine else 0.0
    strength = mine + 2 * income
    # As little as is seen of the opponent, it has the base income at least.
    return strength / (strength + theirs + 2 * base_income)


class WarLightAdvisor(AcademySeat):
    """One bot's seat at ACADEMY. When ACADEMY does not answer, the bot goes on alone."""

    def __init__(
        self,
        academy: Academy | None,
        war_map: WarMap,
        contest_id: str = "",
        player: int = 1,
        stack_armies: int = STACK_ARMIES,
    ) -> None:
        """Join a contest, if there is one. Raises AcademyRefusedError and AcademyUnavailableError."""
        self._graph: GraphGeometry = position.geometry(war_map)
        game_id = academy.contest(contest_id).game_id if academy is not None else ""
        super().__init__(academy, Seat(game_id, self._graph, player, contest_id))
        self._map = war_map
        self._stack_armies = stack_armies
        self._before: WarPosition | None = None
        # Expected values given on the last two turns.
        self._values: list[float] = []

    @classmethod
    def from_environment(cls, war_map: WarMap, stack_armies: int = STACK_ARMIES) -> Self:
        """Join the contest that the arena names; there is a line on standard error without one."""
        contest_id, player = os.environ.get("ACADEMY_CONTEST", ""), os.environ.get("ACADEMY_PLAYER", "")
        try:
            connection = Connection.from_environment()
            if connection is None or not contest_id or player not in ("1", "2"):
                raise ValueError(
                    "ACADEMY_ADDRESS, ACADEMY_CONTEST, ACADEMY_PLAYER and ACADEMY_TOKEN tell no contest"
                )
            return cls(Academy(connection), war_map, contest_id, int(player), stack_armies)
        except (OSError, ValueError, AcademyRefusedError, AcademyUnavailableError) as error:
            # Where an arena only sees whether the program starts, there is no contest yet.
            if os.environ.get("GOMILL_GAME_ID") != "startup-check":
                print(legible(f"playing without ACADEMY: {error}"), file=sys.stderr)
            return cls(None, war_map, stack_armies=stack_armies)

    def opening(self, view: WarPosition) -> Sequence[Order]:
        """The best known orders of a first turn that can be given here; none at other times."""
        if view.turn != 1:
            return ()
        for opening in self.ask(lambda academy: academy.opening(self.seat, (), 0)) or ():
            for text in (opening.move, *opening.equivalents):
                try:
                    orders = read_orders(text)
                except UnreadableMoveError:
                    continue
                if opening.value > LUDAE_FAIR_USE.pattern_value_limit and orders and self._fits(view, orders):
                    return orders
        return ()

    def _fits(self, view: WarPosition, orders: Sequence[Order]) -> bool:
        """Whether all orders start from one's own territories: games begin on different ones."""
        used = [order.to if isinstance(order, Deploy) else order.source for order in orders]
        return all(at in self._map.index and view.owners[self._map.index[at]] == ME for at in used)

    def preferred(self, view: WarPosition, value: float) -> Mapping[int, float]:
        """Weights of territories by index, above 0 where more than `value` was known to follow their taking.

        `value` is what the bot expects; ACADEMY is asked only where that is low, as fair use wants.
        """
        if not self.may_ask or not self.seat.allows_patterns(value):
            return {}
        near = self._map.neighbours
        mine = [at for at, owner in enumerate(view.owners) if owner == ME]
        targets = sorted(
            {target for at in mine for target in near[at] if view.owners[target] not in (ME, UNSEEN)}
        )
        targets = targets[:_MOST_TARGETS]
        before = self._board(view)
        taken = State.FIRST_SOLDIER if self.seat.player == 1 else State.SECOND_SOLDIER
        after = []
        for at in targets:
            states = bytearray(before.states)
            states[at] = taken
            after.append(Board(self._graph, bytes(states)))
        plies = 2 * (view.turn - 1)
        answer = self.ask(lambda academy: academy.successors(self.seat, before, after, value, plies=plies))
        if answer is None:
            return {}
        return {
            at: _WEIGHT * (mean_value(gained) - value)
            for at, gained in zip(targets, answer.gained, strict=True)
            if gained
        }

    def turn(self, view: WarPosition, value: float) -> None:
        """Take note of a turn's standing, and of the value that goes with its orders."""
        before, self._before = self._before, view
        if before is not None and self._values:
            for pattern in self._conquests(before, view):
                # What stands now came of the orders of the turn before.
                ply = 2 * (before.turn - 1) + self.seat.player
                self.seat.record_move(
                    pattern, ply, self._values[-2] if len(self._values) > 1 else None, self._values[-1]
                )
        self._values.append(value)

    def _conquests(self, before: WarPosition, view: WarPosition) -> list[Pattern]:
        """What is seen around each territory that was taken; what is not seen may be anything."""
        states = self._board(view).states
        patterns = []
        for at, (old, new) in enumerate(zip(before.owners, view.owners, strict=True)):
            if new == ME != old:
                around = [place for place in (at, *self._map.neighbours[at]) if view.owners[place] != UNSEEN]
                patterns.append(graph_pattern((place, states[place]) for place in around))
        return patterns

    def _board(self, view: WarPosition) -> Board:
        owners = view.owners if self.seat.player == 1 else view.owners.translate(_SWAPPED)
        return position.to_board(
            self._graph, WarPosition(view.turn, owners, view.armies, 0), self._stack_armies
        )

    def finish(self) -> None:
        """Propose what the game taught, at its end."""
        if self._before is not None:
            plies = 2 * self._before.turn
            self.tell(lambda academy: academy.propose(self.seat, plies))


class Advice(NamedTuple):
    """Known first orders, line by line; weights of territories by id; and what the bot may expect, 0 to 1."""

    orders: Sequence[str]
    weights: Mapping[int, float]
    value: float


class PlainAdvisor:
    """Asks for a bot from the lines and dictionaries that it has."""

    def __init__(self, map_lines: Sequence[str], income: int, stack_armies: int) -> None:
        """Read the map's lines; the others are the game's settings of these names. Raises InvalidMapError."""
        self._income = income
        self._map = read_map("\n".join(map_lines), "map")
        self._advisor = WarLightAdvisor.from_environment(self._map, stack_armies)
        self.finish = self._advisor.finish

    def advise(self, turn: int, owner: Mapping[int, str], armies: Mapping[int, int]) -> Advice:
        """What ACADEMY says of a turn's standing: owners as in the dialogue and armies, by id."""
        ids = [territory.id for territory in self._map.territories]
        owners = bytes(OWNERS[owner[number]] if number in owner else UNSEEN for number in ids)
        view = WarPosition(turn, owners, tuple(armies.get(number, 0) for number in ids), 0)
        value = expected_value(self._map, view, self._income)
        known = self._advisor.opening(view)
        weights = self._advisor.preferred(view, value)
        self._advisor.turn(view, value)
        return Advice(
            [order.text for order in known], {ids[at]: weight for at, weight in weights.items()}, value
        )
