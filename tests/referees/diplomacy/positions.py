"""Positions and orders written as text."""

from referees.diplomacy.adjudication import PhaseAdjudication, adjudicate
from referees.diplomacy.map import Map, shipped_map
from referees.diplomacy.notation import order_text, read_order
from referees.diplomacy.orders import Order
from referees.diplomacy.position import Phase, Position, Season
from referees.diplomacy.results import OrderOutcome
from referees.diplomacy.settings import Choices

STANDARD = shipped_map("standard")


def position(
    units: str,
    phase: Phase = Phase.MOVES,
    season: Season = Season.SPRING,
    owned: str = "",
    board: Map = STANDARD,
) -> Position:
    """`AUS A VIE, F TRI; ITA A VEN` in a phase; `owned`, where given, has all owned centres."""
    placed = []
    for part in filter(None, units.split(";")):
        power, _, listed = part.strip().partition(" ")
        placed += [board.unit(board.power(power), unit) for unit in listed.split(",")]
    owners = dict(zip(board.centres, board.first_owners, strict=True))
    if owned:
        owners = dict.fromkeys(board.centres, -1)
        for part in owned.split(";"):
            power, *centres = part.split()
            owners |= {board.province(centre): board.power(power) for centre in centres}
    return Position(
        board,
        board.first_year,
        season,
        phase,
        tuple(sorted(placed, key=lambda unit: unit.location)),
        (),
        tuple(owners[centre] for centre in board.centres),
    ).checked()


def orders(position: Position, text: str) -> dict[int, list[Order]]:
    """Orders by power: `AUS A VIE - TYR, F TRI H; ITA A VEN - TYR`."""
    read: dict[int, list[Order]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        power, _, listed = part.partition(" ")
        read.setdefault(position.map.power(power), []).extend(
            read_order(position, order.strip()) for order in listed.split(",")
        )
    return read


def play(units: str, ordered: str, choices: Choices | None = None) -> PhaseAdjudication:
    """One phase of moves."""
    start = position(units)
    return adjudicate(start, orders(start, ordered), choices or Choices())


def outcomes(adjudication: PhaseAdjudication) -> dict[str, OrderOutcome]:
    return {
        order_text(adjudication.position, result.order): result.outcome for result in adjudication.results
    }


def reasons(adjudication: PhaseAdjudication) -> dict[str, str]:
    return {order_text(adjudication.position, result.order): result.reason for result in adjudication.results}
