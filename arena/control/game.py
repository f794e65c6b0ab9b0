"""The game of a competition, or of one of its matchups."""

import json
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

    @property
    def terms(self) -> dict[str, Any]:
        """All that a game's play depends on, as plain JSON values."""
        whole = {
            "name": self.name,
            **self.settings,
            "move_limit": self.move_limit,
            "scorer": self.scorer,
        }
        plain: dict[str, Any] = json.loads(json.dumps(whole, default=str))
        return plain
