"""A game as DeepMind's agents and runner expect it: the DiplomacyState of google-deepmind/diplomacy."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from referees.diplomacy.adjudication import adjudicate
from referees.diplomacy.adjustments import adjustments, free_homes
from referees.diplomacy.choices import EDITIONS
from referees.diplomacy.deepmind.actions import MAX_ACTIONS, IllegalActionError, action_of, order_of, parts
from referees.diplomacy.deepmind.observation import (
    POWERS,
    Observation,
    Season,
    board_array,
    build_numbers,
    season_of,
)
from referees.diplomacy.deepmind.possible_actions import STANDARD, OrderCode
from referees.diplomacy.game import GamePosition, advance, begin
from referees.diplomacy.legal import all_legal_orders
from referees.diplomacy.orders import WAIVE, Order
from referees.diplomacy.position import InvalidPositionError, Phase, Position
from referees.diplomacy.provinces import UnitKind
from referees.diplomacy.settings import MAX_YEARS, DiplomacySettings

DEEPMIND_RULES: Final = DiplomacySettings(
    STANDARD, edition="deepmind", choices=EDITIONS["deepmind"], year_limit=MAX_YEARS
)
_BUILDS: Final = frozenset({OrderCode.BUILD_ARMY, OrderCode.BUILD_FLEET, OrderCode.WAIVE})
_RETREATS: Final = frozenset({OrderCode.DISBAND, OrderCode.RETREAT_TO})
_CODES: Final = {
    Phase.MOVES: frozenset(OrderCode) - _BUILDS - _RETREATS - {OrderCode.REMOVE},
    Phase.RETREATS: _RETREATS,
    Phase.BUILDS: _BUILDS | {OrderCode.REMOVE},
}


class GameOverError(RuntimeError):
    """A step after the end."""


class DiplomacyState:
    """A game on the standard map, changed by `step`.

    Powers are in alphabetical order: Austria, England, France, Germany, Italy, Russia, Turkey. Phases with
    nothing to do are left out. `copy.deepcopy` gives a state of its own.

    `position` is where the game starts, the map's first position by default; `build_numbers` are those of the
    phase of builds before it, and `last_actions` what was played just before. `settings` are the rules, by
    default DeepMind's with a draw of all after 1,000 years. `seasons` makes the season of an observation of
    its number: pass DeepMind's own `Season` where their code compares it. Raises InvalidPositionError for
    another map or a position that cannot be.
    """

    def __init__(
        self,
        position: Position | None = None,
        *,
        build_numbers: Sequence[int] = (0,) * POWERS,
        last_actions: Iterable[int] = (),
        settings: DiplomacySettings = DEEPMIND_RULES,
        seasons: Callable[[int], Any] = Season,
    ) -> None:
        start = Position.start(STANDARD) if position is None else position.checked()
        if start.map is not STANDARD:
            raise InvalidPositionError(
                f"the map {start.map.name!r}: DeepMind's actions are the standard map's"
            )
        if len(build_numbers) != POWERS:
            raise InvalidPositionError(f"{len(build_numbers)} build numbers: one for each of {POWERS} powers")
        self._game = begin(start)
        self._build_numbers = tuple(build_numbers)
        self._last_actions = [int(action) for action in last_actions]
        self._settings = settings
        self._seasons = seasons
        self._count_builds()

    @property
    def position(self) -> Position:
        """Where the game stands."""
        return self._game.position

    @property
    def game(self) -> GamePosition:
        """The position with the game's outcome and what it depends on."""
        return self._game

    @property
    def build_numbers(self) -> tuple[int, ...]:
        """The build numbers of the observation; with `position` they make this state again."""
        return self._build_numbers

    @property
    def last_actions(self) -> tuple[int, ...]:
        """The actions of the phase before."""
        return tuple(self._last_actions)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self._game.outcome is not None

    def observation(self) -> Observation:
        """What every power sees. The arrays and the list are the caller's."""
        return Observation(
            self._seasons(season_of(self.position).value),
            board_array(self.position),
            np.array(self._build_numbers, np.int32),
            list(self._last_actions),
        )

    def legal_actions(self) -> list[list[int]]:
        """For each power every action that one of its units can be given now, in rising order.

        A power that builds may also waive. All lists are empty when the game is over.
        """
        if self.is_terminal():
            return [[] for _ in range(POWERS)]
        legal = [
            [action_of(order) for orders in by_province.values() for order in orders]
            for by_province in all_legal_orders(self.position)
        ]
        if self.position.phase is Phase.BUILDS:
            for power, number in enumerate(self._build_numbers):
                if number > 0:
                    legal[power].append(action_of(WAIVE))
        for actions in legal:
            actions.sort()
        return legal

    def returns(self) -> NDArray[np.float32]:
        """Each power's result: 1 for a solo, equal shares of a draw, all 0 while the game goes on."""
        shares = np.zeros(POWERS, np.float32)
        outcome = self._game.outcome
        if outcome is not None:
            for seat in outcome.winners:
                shares[seat - 1] = 1 / len(outcome.winners)
        return shares

    def step(self, actions_per_player: Sequence[Iterable[int] | None]) -> None:
        """Play a phase, given each power's actions in any order; None is no actions.

        Units without an action hold or disband; fewer builds than are due waive the others; missing removals
        go by civil disorder. An action that its unit can be given, but not carry out, does nothing. Raises
        IllegalActionError for what are no seven lists of whole numbers, for an action of another phase, for
        one without a unit of the power, for a second one for a unit, and for too many builds or removals;
        GameOverError after the end. Then nothing is changed.
        """
        if self.is_terminal():
            raise GameOverError("the game is over: there are no steps after its end")
        given = _read(actions_per_player)
        orders = {power: self.orders(power, actions) for power, actions in enumerate(given) if actions}
        adjudication = adjudicate(self.position, orders, self._settings.choices)
        self._game = advance(self._game, adjudication, self._settings)
        self._last_actions = [action for actions in given for action in actions]
        self._count_builds()

    def _count_builds(self) -> None:
        self._build_numbers = build_numbers(self.position, self._build_numbers)

    def orders(self, power: int, actions: Sequence[int]) -> list[Order]:
        """The orders that a power's actions are in this phase. Raises IllegalActionError, as `step` does."""
        phase = self.position.phase
        places = self._places(power)
        orders = []
        for action in actions:
            code, province, *_ = parts(action)
            said = f"{STANDARD.powers[power].code}: {code.name} {STANDARD.codes[province]}"
            if code not in _CODES[phase]:
                raise IllegalActionError(f"{said} is no action of {self.position.name}")
            if code is OrderCode.WAIVE:
                orders.append(WAIVE)
                continue
            place = places.pop(province, None)
            if place is None:
                raise IllegalActionError(
                    f"{said}: nothing of the power is to be ordered there, or it was already"
                )
            orders.append(order_of(action, *place))
        if phase is Phase.BUILDS:
            self._check_adjustment(power, actions)
        return orders

    def _places(self, power: int) -> dict[int, tuple[UnitKind, int]]:
        """The units, or homes to build in, that a power can give actions to, by province."""
        position = self.position
        if position.phase is Phase.BUILDS and self._build_numbers[power] > 0:
            return {
                home: (UnitKind.ARMY, STANDARD.main_location[home]) for home in free_homes(position, power)
            }
        if position.phase is Phase.RETREATS:
            units = [entry.unit for entry in position.dislodged if entry.unit.power == power]
        else:
            units = position.units_of(power)
        return {STANDARD.province_of[unit.location]: (unit.kind, unit.location) for unit in units}

    def _check_adjustment(self, power: int, actions: Sequence[int]) -> None:
        number = adjustments(self.position)[power]
        code = STANDARD.powers[power].code
        if len(actions) > abs(number):
            raise IllegalActionError(f"{code}: {len(actions)} actions, {abs(number)} are due")
        for action in actions:
            if (parts(action).code is OrderCode.REMOVE) != (number < 0):
                raise IllegalActionError(f"{code}: {parts(action).code.name}, but it {_due(number)}")


def _read(actions_per_player: object) -> list[list[int]]:
    """Each power's actions as plain numbers. Raises IllegalActionError."""
    by_power = _items(actions_per_player, POWERS, "actions_per_player")
    if len(by_power) != POWERS:
        raise IllegalActionError(f"actions of {len(by_power)} powers: give a list for each of {POWERS}")
    given = []
    for power, actions in zip(STANDARD.powers, by_power, strict=True):
        listed = [] if actions is None else _items(actions, MAX_ACTIONS, f"{power.code}'s actions")
        given.append([_number(power.code, action) for action in listed])
    return given


def _number(code: str, action: Any) -> int:
    try:
        return operator.index(action)
    except TypeError:
        raise IllegalActionError(f"{code}: {action!r:.40} is no action: actions are whole numbers") from None


def _items(values: object, most: int, what: str) -> list[object]:
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | Mapping):
        raise IllegalActionError(f"{what} are {values!r:.40}: give a list")
    try:
        listed = list(islice(values, most + 1))
    except TypeError:
        raise IllegalActionError(f"{what} are {values!r:.40}: give a list") from None
    if len(listed) > most:
        raise IllegalActionError(f"{what} are more than {most}: give at most as many")
    return listed


def _due(number: int) -> str:
    return f"builds {number}" if number > 0 else f"removes {-number}"
