"""The game of a competition, or of one of its matchups."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from referees.api import Referee, referee


@dataclass(frozen=True)
class GameSettings:
    """The game: its referee's name and settings, the limit in plies, and who counts the end.

    `settings` are as the control file has them; `folder` is that of the control file, from which the paths
    among them lead. `move_limit_given` tells that the control file says the limit.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    move_limit: int = 1000
    scorer: str = "internal"
    move_limit_given: bool = field(default=False, compare=False)
    folder: Path = field(default=Path(), compare=False)

    # Asked for every game, and looking through all installed packages takes longer than a short one.
    @cached_property
    def located(self) -> dict[str, Any]:
        """The settings with files that they name as paths from anywhere. Raises UnknownGame."""
        return dict(referee(self.name).located(self.settings, self.folder))

    def rules(self) -> Referee[Any, Any]:
        """The referee of the game. Raises UnknownGame and InvalidSettingError."""
        return referee(self.name).from_settings(self.located)

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
