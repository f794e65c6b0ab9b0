"""What DeepMind's agents see of a position.

Source: the observations of google-deepmind/diplomacy (Anthony et al., 2020). Rows of the board are areas,
which are the locations of the standard map. A fleet on one of two coasts is flagged there and in the
province's own row, an army in the province's own row alone.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from referees.diplomacy.adjudication import adjudicate
from referees.diplomacy.adjustments import adjustments, free_homes
from referees.diplomacy.deepmind.actions import (
    MAX_ACTIONS,
    STANDARD,
    IllegalActionError,
    OrderCode,
    action_of,
    order_of,
    parts,
)
from referees.diplomacy.deepmind.policy_host.__main__ import Season
from referees.diplomacy.game import GamePosition, advance, begin
from referees.diplomacy.legal import all_legal_orders
from referees.diplomacy.map import NOBODY, Terrain, Unit, UnitKind
from referees.diplomacy.orders import WAIVE, Order
from referees.diplomacy.position import Dislodged, InvalidPositionError, Phase, Position
from referees.diplomacy.position import Season as HalfYear
from referees.diplomacy.settings import EDITIONS, MAX_YEARS, DiplomacySettings

POWERS: Final = len(STANDARD.powers)
NUM_AREAS: Final = len(STANDARD.location_codes)
PROVINCE_VECTOR_LENGTH: Final = 35

# Columns of a row. A unit is three flags (army, fleet, none), each power's, and nobody's.
UNIT: Final = 0
BUILDABLE: Final = 11
REMOVABLE: Final = 12
DISLODGED: Final = 13
CENTRE_OWNER: Final = 27
_UNIT_LENGTH: Final = 3 + POWERS + 1
_OWNER_LENGTH: Final = POWERS + 1


class Observation(NamedTuple):
    """What an agent is given.

    `season` is a Season, or what the caller of the state makes of its number. `board` is uint8, (81, 35).
    `build_numbers` has for each power how many units it builds (above 0) or removes (below 0).
    `last_actions` are all powers' actions of the phase before.
    """

    season: Any
    board: NDArray[np.uint8]
    build_numbers: NDArray[np.int32]
    last_actions: list[int]


def season_of(position: Position) -> Season:
    """The season of a position's phase."""
    if position.phase is Phase.BUILDS:
        return Season.BUILDS
    return Season(2 * position.season + position.phase)


def build_numbers(position: Position, before: Sequence[int]) -> tuple[int, ...]:
    """The builds and removals of a position that comes after one with the numbers `before`.

    Outside phases of builds there should be none, but the removals of the last such phase stay: the
    published agents learned from observations with that fault.
    """
    if position.phase is Phase.BUILDS:
        return tuple(adjustments(position))
    return tuple(min(number, 0) for number in before)


def board_array(position: Position) -> NDArray[np.uint8]:
    """A new array with the board of an observation. The position is one on the standard map."""
    board = bytearray(_EMPTY)
    for power, kind, location in position.units:
        flags = _FLAGS[kind][power]
        for start in _STARTS[kind][location]:
            board[start : start + _UNIT_LENGTH] = flags
    for (power, kind, location), _ in position.dislodged:
        flags = _FLAGS[kind][power]
        for start in _STARTS[kind][location]:
            board[start + DISLODGED : start + DISLODGED + _UNIT_LENGTH] = flags
    for starts, owner in zip(_CENTRE_STARTS, position.owners, strict=True):
        flags = _OWNERS[owner]
        for start in starts:
            board[start : start + _OWNER_LENGTH] = flags
    if position.phase is Phase.BUILDS:
        _flag_adjustments(position, board)
    return np.frombuffer(board, np.uint8).reshape(NUM_AREAS, PROVINCE_VECTOR_LENGTH)


def _flag_adjustments(position: Position, board: bytearray) -> None:
    for power, number in enumerate(adjustments(position)):
        if number > 0:
            for home in free_homes(position, power):
                for area in STANDARD.places[home]:
                    board[area * PROVINCE_VECTOR_LENGTH + BUILDABLE] = 1
        elif number < 0:
            for unit in position.units_of(power):
                for start in _STARTS[unit.kind][unit.location]:
                    board[start + REMOVABLE] = 1


def _one_hot(length: int, *numbers: int) -> bytes:
    return bytes(place in numbers for place in range(length))


def _empty_board() -> bytes:
    """A board without units and centres."""
    board = bytearray()
    nothing = _one_hot(_UNIT_LENGTH, 2, 3 + POWERS)
    for area, province in enumerate(STANDARD.province_of):
        if STANDARD.terrain[province] is Terrain.SEA:
            area_type = 1
        else:
            area_type = 0 if area == STANDARD.main_location[province] else 2
        board += nothing + bytes(2) + nothing + _one_hot(3, area_type) + bytes(_OWNER_LENGTH)
    return bytes(board)


def _unit_starts(kind: UnitKind, location: int) -> tuple[int, ...]:
    main = STANDARD.main_location[STANDARD.province_of[location]]
    areas = {main, location} if kind is UnitKind.FLEET else {main}
    return tuple(area * PROVINCE_VECTOR_LENGTH for area in sorted(areas))


_EMPTY: Final = _empty_board()
_FLAGS: Final = tuple(
    tuple(_one_hot(_UNIT_LENGTH, kind, 3 + power) for power in range(POWERS)) for kind in UnitKind
)
_STARTS: Final = tuple(tuple(_unit_starts(kind, area) for area in range(NUM_AREAS)) for kind in UnitKind)
# Nobody, -1, is the last.
_OWNERS: Final = tuple(_one_hot(_OWNER_LENGTH, owner) for owner in range(_OWNER_LENGTH))
_CENTRE_STARTS: Final = tuple(
    tuple(area * PROVINCE_VECTOR_LENGTH + CENTRE_OWNER for area in STANDARD.places[centre])
    for centre in STANDARD.centres
)


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
    another map or a position that cannot be, and IllegalActionError for what are not lists of whole numbers.
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
        self._build_numbers = tuple(_numbers(build_numbers, POWERS, "build_numbers"))
        if len(self._build_numbers) != POWERS:
            raise InvalidPositionError(
                f"{len(self._build_numbers)} build numbers: one for each of {POWERS} powers"
            )
        self._game = begin(start)
        self._last_actions = _numbers(last_actions, POWERS * MAX_ACTIONS, "last_actions")
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
        """Play a phase, given each power's actions in any order; None stands for no actions.

        Units without an action hold or disband; fewer builds than are due waive the others; missing removals
        go by civil disorder. An action that its unit can be given, but not carry out, does nothing. Raises
        IllegalActionError for what are not seven lists of whole numbers, for an action of another phase, for
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
            action_text = f"{STANDARD.powers[power].code}: {code.name} {STANDARD.codes[province]}"
            if code not in _CODES[phase]:
                raise IllegalActionError(f"{action_text} is not an action of {self.position.name}")
            if code is OrderCode.WAIVE:
                orders.append(WAIVE)
                continue
            place = places.pop(province, None)
            if place is None:
                raise IllegalActionError(
                    f"{action_text}: the power has nothing to order there, or has ordered it already"
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
        units = position.ordered_units(power)
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
        given.append([] if actions is None else _numbers(actions, MAX_ACTIONS, f"{power.code}'s actions"))
    return given


def _numbers(values: object, most: int, what: str) -> list[int]:
    """A list of plain whole numbers. Raises IllegalActionError."""
    return [_number(value, what) for value in _items(values, most, what)]


def _number(value: Any, what: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise IllegalActionError(f"{what}: {value!r:.40} is not a whole number") from None


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


def position_of(observation: Observation, legal_actions: Sequence[Sequence[int]], year: int) -> Position:
    """The position that an observation shows.

    Where dislodged units may go stands in the legal actions alone, and the year nowhere. Raises
    InvalidPositionError for an observation that cannot be.
    """
    number = int(observation.season.value)
    phase = Phase.BUILDS if number == 4 else Phase(number % 2)
    season = HalfYear.AUTUMN if phase is Phase.BUILDS else HalfYear(number // 2)
    board = observation.board
    options = _retreats(legal_actions)
    return Position(
        STANDARD,
        year,
        season,
        phase,
        tuple(_units(board, UNIT)),
        tuple(Dislodged(unit, _options(unit, options)) for unit in _units(board, DISLODGED)),
        tuple(_power(board[STANDARD.main_location[centre]], CENTRE_OWNER) for centre in STANDARD.centres),
    ).checked()


def _units(board: Any, column: int) -> list[Unit]:
    """The units whose flags begin at a column."""
    units = []
    for province, main in enumerate(STANDARD.main_location):
        row = board[main]
        if row[column]:
            units.append(Unit(_power(row, column + 3), UnitKind.ARMY, main))
        elif row[column + 1]:
            place = next((area for area in STANDARD.coasts[province] if board[area][column + 1]), main)
            units.append(Unit(_power(row, column + 3), UnitKind.FLEET, place))
    return units


def _power(row: Any, column: int) -> int:
    return next((power for power in range(POWERS) if row[column + power]), NOBODY)


def _retreats(legal_actions: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """By province, the actions of retreat."""
    by_province: dict[int, list[int]] = {}
    for actions in legal_actions:
        for action in map(int, actions):
            if action & 0xFF == OrderCode.RETREAT_TO:
                by_province.setdefault(parts(action).province, []).append(action)
    return by_province


def _options(unit: Unit, retreats: dict[int, list[int]]) -> tuple[int, ...]:
    actions = retreats.get(STANDARD.province_of[unit.location], [])
    return tuple(sorted(order_of(action, unit.kind, unit.location).target for action in actions))
