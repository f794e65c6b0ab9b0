"""ACADEMY's counsel for a bot that keeps its game in plain dictionaries, as the simple one does."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clients.bots.warlight.counsel import WarLightAdvisor
from clients.bots.warlight.dialogue import OWNERS
from clients.bots.warlight.planning import expected_value
from referees.warlight.maps import read_map
from referees.warlight.position import UNSEEN, WarPosition


class Advice(NamedTuple):
    """Known first orders, line by line; weights of territories by id; and what the bot may expect, 0 to 1."""

    orders: Sequence[str]
    weights: Mapping[int, float]
    value: float


class PlainCounsel:
    """Asks for a bot from the lines and dictionaries that it has."""

    def __init__(self, map_lines: Sequence[str], income: int, stack_armies: int) -> None:
        """Read the map's lines; the others are the game's settings of these names. Raises InvalidMap."""
        self._income = income
        self._map = read_map("\n".join(map_lines), "map")
        self._counsel = WarLightAdvisor.from_environment(self._map, stack_armies)

    def advise(self, turn: int, owner: Mapping[int, str], armies: Mapping[int, int]) -> Advice:
        """What ACADEMY says of a turn's standing: owners as in the dialogue and armies, by id."""
        ids = [each.id for each in self._map.territories]
        owners = bytes(OWNERS[owner[each]] if each in owner else UNSEEN for each in ids)
        view = WarPosition(turn, owners, tuple(armies.get(each, 0) for each in ids), 0)
        value = expected_value(self._map, view, self._income)
        if self._counsel is None:
            return Advice((), {}, value)
        known = self._counsel.opening(view)
        weights = self._counsel.preferred(view, value)
        self._counsel.turn(view, value)
        return Advice(
            [order.text for order in known], {ids[at]: weight for at, weight in weights.items()}, value
        )

    def finish(self) -> None:
        """Propose what the game taught."""
        if self._counsel is not None:
            self._counsel.finish()
