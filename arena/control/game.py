"""The game of a competition, or of one of its matchups."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class GameSettings:
    """The game: its referee's name and settings, the limit in plies, and who counts the end."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    move_limit: int = 1000
    scorer: str = "internal"
