"""The environment that DeepMind's Diplomacy agents play in: their observations and actions."""

from referees.diplomacy.deepmind.actions import (
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
    DiplomacyState,
    GameOverError,
    Observation,
)
from referees.diplomacy.deepmind.policy_host.__main__ import Season

__all__ = [
    "POSSIBLE_ACTIONS",
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
