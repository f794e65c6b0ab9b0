"""Games with policies of DeepMind's shape, and what a policy notes of them."""

import json
from pathlib import Path
from typing import Any

from arena.jobs import GameJob, GameResult, PlayerSetup
from arena.match.game import play

FOLDER = Path(__file__).parent
RANDOM = PlayerSetup("other", ("arena.players.random_moves:random_moves",), protocol="python")


def policy(interpreter: str, factory: str = "seeded", **settings: Any) -> PlayerSetup:
    """The foreign policy; what is not a setting of the player is an argument of the factory."""
    own: dict[str, Any] = {name: settings.pop(name) for name in ("faults", "late_turns") if name in settings}
    of_setup: dict[str, Any] = {
        name: settings.pop(name) for name in ("move_seconds", "start_seconds") if name in settings
    }
    module = settings.pop("module", "foreign_policy")
    return PlayerSetup(
        "foreign",
        (f"{module}:{factory}",),
        protocol="policy",
        working_directory=str(FOLDER),
        parameters={"interpreter": interpreter, "arguments": settings, **own},
        **{"start_seconds": 100.0, **of_setup},
    )


def game(players: list[PlayerSetup], tmp_path: Path, **settings: Any) -> GameResult:
    """A game; what is not a part of the job is a setting of the game."""
    more = {name: settings.pop(name) for name in ("academy", "transcript") if name in settings}
    return play(
        GameJob(
            "11",
            "diplomacy",
            {"year_limit": 3, "edition": "deepmind", **settings},
            tuple(players),
            seed=5,
            log_path=str(tmp_path / "log"),
            **more,
        )
    )


def diary(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
