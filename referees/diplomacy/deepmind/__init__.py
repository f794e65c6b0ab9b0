"""The environment that DeepMind's Diplomacy agents play in: their observations and actions."""

from referees.diplomacy.deepmind.actions import (
    MAX_ACTION_INDEX,
    MAX_ACTIONS,
    MAX_LEGAL_ACTIONS,
    MAX_ORDERS,
    MAX_UNIT_LEGAL_ACTIONS,
    POSSIBLE_ACTIONS,
    IllegalActionError,
    OrderCode,
    action_of,
    order_of,
    parts,
)
from referees.diplomacy.deepmind.notation import (
    mila_action,
    mila_list,
    mila_strings,
    short_action,
    short_string,
)
from referees.diplomacy.deepmind.observation import (
    DEEPMIND_RULES,
    NUM_AREAS,
    PROVINCE_VECTOR_LENGTH,
    DiplomacyState,
    GameOverError,
    Observation,
    Season,
)

__all__ = [
    "DEEPMIND_RULES",
    "MAX_ACTIONS",
    "MAX_ACTION_INDEX",
    "MAX_LEGAL_ACTIONS",
    "MAX_ORDERS",
    "MAX_UNIT_LEGAL_ACTIONS",
    "NUM_AREAS",
    "POSSIBLE_ACTIONS",
    "PROVINCE_VECTOR_LENGTH",
    "DiplomacyState",
    "GameOverError",
    "IllegalActionError",
    "Observation",
    "OrderCode",
    "Season",
    "action_of",
    "mila_action",
    "mila_list",
    "mila_strings",
    "order_of",
    "parts",
    "short_action",
    "short_string",
]
