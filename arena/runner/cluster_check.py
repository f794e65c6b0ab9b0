"""Checking players on a Ray cluster: each is started on every kind of node that has what it needs."""

import os
from collections.abc import Callable

from arena.control.plans import GameSettings
from arena.control.settings import Control, ControlError
from arena.jobs import GameJob, PlayerSetup
from arena.players.player import InvalidPlayerParametersError, PlayerError
from arena.runner.player_check import CheckedPlayer, check_player
from arena.runner.run import check_reachable
from arena.selection.kinds import players_to_check
from arena.workers.ray_pool import RayPool, Shape
from arena.workers.ray_worker import moved_to_copy


def check_on_cluster(control: Control, on: str, tell: Callable[[str], None]) -> None:
    """Start each competitor on each kind of node that has what it needs, and say how that went.

    Raises RayUnavailableError; ControlError where a player works nowhere, or on some nodes that may be given
    its games it does not.
    """
    check_reachable(control, on)
    broken = 0
    with RayPool(on, 1, runtime_env=control.workers.runtime_env) as pool:
        kinds = pool.kinds()
        for kind in kinds:
            tell(f"{kind.name}: {kind.offer}")
        for setup, game in players_to_check(control):
            fitting = [kind for kind in kinds if kind.fits(_shape(setup, game))]
            if not fitting:
                tell(f"player {setup.name}: no node has {_shape(setup, game).text}")
                broken += 1
            for kind in fitting:
                failure = pool.call_on(kind, _check, setup, game, control.academy is not None, pool.copied)
                broken += bool(failure)
                tell(f"player {setup.name} on {kind.name}: {failure or 'works'}")
    if broken:
        raise ControlError(f"{broken} checks failed: see above what is missing where")


def _shape(setup: PlayerSetup, game: GameSettings) -> Shape:
    return Shape.of(GameJob("check", game.name, game.settings, (setup,), 0))


def _check(setup: PlayerSetup, game: GameSettings, academy: bool, copied: str | None) -> str:
    """On the node: why the player does not work; empty if it does."""
    there = moved_to_copy(setup, copied, os.getcwd())  # noqa: PTH109 - it is compared with text
    try:
        _checked: CheckedPlayer = check_player(there, game.rules(), True, game.located, academy)
    except (PlayerError, InvalidPlayerParametersError, OSError) as error:
        return str(error)
    return ""
