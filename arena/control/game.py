"""The game of a competition, or of one of its matchups."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class GameSettings:
    """The game: its referee's name and settings, the limit in plies, and who counts the end.

    `move_limit_given` tells that the control file says the limit.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    move_limit: int = 1000
    scorer: str = "internal"
    move_limit_given: bool = field(default=False, compare=False)

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
