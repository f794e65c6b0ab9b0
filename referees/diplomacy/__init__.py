"""Diplomacy: its maps, positions, orders as values and as text, and the adjudicator."""

from referees.diplomacy.adjudication import PhaseAdjudication, adjudicate
from referees.diplomacy.adjustments import adjustment, adjustments
from referees.diplomacy.legal import all_legal_orders, legal_orders
from referees.diplomacy.map import (
    NOBODY,
    InvalidMapError,
    Map,
    Terrain,
    Unit,
    UnitKind,
    UnknownPlaceError,
    read_map,
    shipped_map,
    shipped_maps,
)
from referees.diplomacy.notation import UnreadableOrderError, order_text, read_order
from referees.diplomacy.orders import WAIVE, Order, OrderKind
from referees.diplomacy.position import Dislodged, InvalidPositionError, Phase, Position, Season
from referees.diplomacy.results import OrderOutcome, OrderResult
from referees.diplomacy.rules import Diplomacy
from referees.diplomacy.settings import (
    EDITIONS,
    AdjacentConvoy,
    Choices,
    DiplomacySettings,
    RemovalDistance,
    RemovalRoute,
)

__all__ = [
    "EDITIONS",
    "NOBODY",
    "WAIVE",
    "AdjacentConvoy",
    "Choices",
    "Diplomacy",
    "DiplomacySettings",
    "Dislodged",
    "InvalidMapError",
    "InvalidPositionError",
    "Map",
    "Order",
    "OrderKind",
    "OrderOutcome",
    "OrderResult",
    "Phase",
    "PhaseAdjudication",
    "Position",
    "RemovalDistance",
    "RemovalRoute",
    "Season",
    "Terrain",
    "Unit",
    "UnitKind",
    "UnknownPlaceError",
    "UnreadableOrderError",
    "adjudicate",
    "adjustment",
    "adjustments",
    "all_legal_orders",
    "legal_orders",
    "order_text",
    "read_map",
    "read_order",
    "shipped_map",
    "shipped_maps",
]
