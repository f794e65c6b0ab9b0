"""What position an observation shows, for programs that think in positions."""

from collections.abc import Sequence
from typing import Any

from referees.diplomacy.deepmind.actions import order_of, parts
from referees.diplomacy.deepmind.observation import CENTRE_OWNER, DISLODGED, POWERS, UNIT, Observation
from referees.diplomacy.deepmind.possible_actions import STANDARD, OrderCode
from referees.diplomacy.position import Dislodged, Phase, Position, Season
from referees.diplomacy.provinces import NOBODY, Unit, UnitKind


def position_of(observation: Observation, legal_actions: Sequence[Sequence[int]], year: int) -> Position:
    """The position that an observation shows.

    Where dislodged units may go stands in the legal actions alone, and the year nowhere. Raises
    InvalidPositionError for an observation that cannot be.
    """
    number = int(observation.season.value)
    phase = Phase.BUILDS if number == 4 else Phase(number % 2)
    season = Season.AUTUMN if phase is Phase.BUILDS else Season(number // 2)
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
    found = []
    for province, main in enumerate(STANDARD.main_location):
        row = board[main]
        if row[column]:
            found.append(Unit(_power(row, column + 3), UnitKind.ARMY, main))
        elif row[column + 1]:
            place = next((area for area in STANDARD.coasts[province] if board[area][column + 1]), main)
            found.append(Unit(_power(row, column + 3), UnitKind.FLEET, place))
    return found


def _power(row: Any, column: int) -> int:
    return next((power for power in range(POWERS) if row[column + power]), NOBODY)


def _retreats(legal_actions: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """By province, the actions of retreat."""
    found: dict[int, list[int]] = {}
    for actions in legal_actions:
        for action in map(int, actions):
            if action & 0xFF == OrderCode.RETREAT_TO:
                found.setdefault(parts(action).province, []).append(action)
    return found


def _options(unit: Unit, retreats: dict[int, list[int]]) -> tuple[int, ...]:
    actions = retreats.get(STANDARD.province_of[unit.location], [])
    return tuple(sorted(order_of(action, unit.kind, unit.location).target for action in actions))
