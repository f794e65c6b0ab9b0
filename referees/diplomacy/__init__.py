"""Diplomacy: its maps, positions, orders as values and as text, and the adjudicator."""

from referees.diplomacy.adjudication import Adjudication, adjudicate
from referees.diplomacy.adjustments import adjustment, adjustments
from referees.diplomacy.choices import EDITIONS, AdjacentConvoy, Choices, RemovalDistance, RemovalRoute
from referees.diplomacy.legal import all_legal_orders, legal_orders
from referees.diplomacy.notation import Notation, order_text
from referees.diplomacy.order_reading import UnreadableOrder, read_order
from referees.diplomacy.orders import WAIVE, Order, OrderKind
from referees.diplomacy.position import Dislodged, InvalidPosition, Phase, Position, Season
from referees.diplomacy.provinces import (
    NOBODY,
    InvalidMap,
    Map,
    Power,
    Terrain,
    Unit,
    UnitKind,
    UnknownPlace,
    read_map,
    shipped_map,
    shipped_maps,
)
from referees.diplomacy.results import Outcome, Result
from referees.diplomacy.rules import Diplomacy
from referees.diplomacy.settings import DiplomacySettings

__all__ = [
    "EDITIONS",
    "NOBODY",
    "WAIVE",
    "AdjacentConvoy",
    "Adjudication",
    "Choices",
    "Diplomacy",
    "DiplomacySettings",
    "Dislodged",
    "InvalidMap",
    "InvalidPosition",
    "Map",
    "Notation",
    "Order",
    "OrderKind",
    "Outcome",
    "Phase",
    "Position",
    "Power",
    "RemovalDistance",
    "RemovalRoute",
    "Result",
    "Season",
    "Terrain",
    "Unit",
    "UnitKind",
    "UnknownPlace",
    "UnreadableOrder",
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
