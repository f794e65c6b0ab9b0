"""Checking players on a Ray cluster: each is started on every node that may be given its games."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import combinations_with_replacement
from math import comb
from typing import Final

from arena.control import plans
from arena.control.plans import GameSettings
from arena.control.settings import Control, ControlError
from arena.control.values import MAX_AT_ONCE
from arena.jobs import REMOTE, PlayerSetup
from arena.players.player import InvalidPlayerParametersError, PlayerError
from arena.runner.player_check import check_player
from arena.runner.run import certain_to_meet, check_reachable
from arena.selection.kinds import players_to_check
from arena.workers.ray_connection import RayUnavailableError
from arena.workers.ray_nodes import Node, Shape, grouped, in_groups, node_name
from arena.workers.ray_worker import moved_to_copy, other_release
from arena.workers.ray_workers import RayWorkers

# What a node may take to start a process, which installs packages first if there are any.
_START_SECONDS: Final = 300.0
_WORKS: Final = "works"
_ABOUT_PROGRAMS: Final = (
    ". A player's program must be on each node, at the same path as here, or in workers.working_folder, and "
    "so must its working_directory, by default the control file's folder"
)
_ABOUT_AMOUNTS: Final = ". Amounts and labels are what a node was given at its start, as by `ray start`"


def check_on_cluster(control: Control, on: str, tell: Callable[[str], None]) -> None:
    """Start each competitor on each node that may be given its games, and say how that went.

    There is a line for each player and kind of node. Raises RayUnavailableError; ControlError where a player
    does not work on a node, or no node has what a game needs.
    """
    check_reachable(control, on)
    checked = players_to_check(control)
    line_ups = _line_ups(control, [setup for setup, _ in checked])
    impossible, broken, unasked = 0, 0, 0
    with RayWorkers(on, 1, runtime_env=control.workers.runtime_env) as workers:
        kinds = workers.kinds()
        nodes = [node for kind in kinds.values() for node in kind]
        _describe(kinds, control, tell)
        for shape, (players, _) in line_ups.items():
            if not any(map(shape.fits, nodes)):
                together = " and ".join(player.name for player in players)
                tell(f"games of {together}: no node has {shape.text}, which they need together")
                impossible += 1
        for setup, game in _started(checked, tell):
            games = [shape for shape, (_, names) in line_ups.items() if setup.name in names]
            if not any(shape.fits(node) for shape in games for node in nodes):
                games = [Shape.of([setup])]
            call = (
                _check,
                setup,
                game,
                control.academy is not None,
                workers.copied,
                version("academy-arena"),
            )
            lacks = {
                node_name(node): min((shape.lacking(node) for shape in games), key=len) for node in nodes
            }
            able = [node for node in nodes if not lacks[node_name(node)]]
            outcomes = {name: f"no game fits, for want of {lack}" for name, lack in lacks.items()}
            seconds = _START_SECONDS + setup.start_seconds + setup.move_seconds
            answers = workers.call_on(able, seconds, *call)
            for name, answer in answers.items():
                outcomes[name] = str(answer).removeprefix(f"player {setup.name}: ") or _WORKS
            for kind in kinds.values():
                for outcome, names in grouped(map(node_name, kind), outcomes.__getitem__).items():
                    tell(f"player {setup.name} on {in_groups(names)}: {outcome}")
                    if not lacks[names[0]] and outcome != _WORKS:
                        silent = isinstance(answers[names[0]], RayUnavailableError)
                        broken, unasked = broken + (not silent), unasked + silent
    if failures := impossible + broken + unasked:
        remedies = _ABOUT_PROGRAMS * bool(broken) + _ABOUT_AMOUNTS * bool(impossible)
        raise ControlError(f"{failures} of the checks failed (see above){remedies}")


def _describe(kinds: Mapping[str, Sequence[Node]], control: Control, tell: Callable[[str], None]) -> None:
    """Say which nodes there are, and what they do before they answer."""
    for offer, kind in kinds.items():
        tell(f"node {in_groups(map(node_name, kind))}: {offer}")
    if "pip" in control.workers.runtime_env:
        tell("packages are installed on each node first, which takes minutes where they cannot be")


def _started(
    checked: Iterable[tuple[PlayerSetup, GameSettings]], tell: Callable[[str], None]
) -> Iterator[tuple[PlayerSetup, GameSettings]]:
    """Those that the arena starts; others dial in to it, wherever their games are played."""
    for setup, game in checked:
        if setup.protocol == REMOTE:
            tell(f"player {setup.name}: dials in here, and is not started")
        else:
            yield setup, game


def _line_ups(
    control: Control, checked: Sequence[PlayerSetup]
) -> dict[Shape, tuple[Sequence[PlayerSetup], set[str]]]:
    """Who may meet in a game: of games that need the same, one line-up, and the names of all players."""
    met: Iterable[tuple[Sequence[PlayerSetup], Iterable[str]]]
    match control.plan:
        case plans.PlayoffPlan() | plans.GauntletPlan():
            met = ((pair, [player.name for player in pair]) for pair in certain_to_meet(control))
        case _:
            alike: defaultdict[Shape, list[PlayerSetup]] = defaultdict(list)
            for setup in checked:
                alike[Shape.of([setup])].append(setup)
            seats = control.game.rules().seats
            few = len(checked) < seats
            # All of these are gone through, also where few of them have a player for each seat.
            ways = comb(len(alike) + seats - 1, seats)
            if ways > MAX_AT_ONCE:
                raise ControlError(
                    f"players with {len(alike)} different resources are {ways:,} combinations in a game "
                    f"of {seats}, at most {MAX_AT_ONCE:,} are checked: give more players the same resources"
                )
            met = (
                (
                    [alike[shape][place % len(alike[shape])] for place, shape in enumerate(shapes)],
                    [player.name for shape in set(shapes) for player in alike[shape]],
                )
                for shapes in combinations_with_replacement(alike, seats)
                if few or all(shapes.count(shape) <= len(alike[shape]) for shape in shapes)
            )
    line_ups: dict[Shape, tuple[Sequence[PlayerSetup], set[str]]] = {}
    for players, names in met:
        line_ups.setdefault(Shape.of(players), (players, set()))[1].update(names)
    return line_ups


def _check(setup: PlayerSetup, game: GameSettings, academy: bool, copied: str | None, release: str) -> str:
    """On the node: why the player does not work; empty if it does."""
    if why := other_release(release):
        return why
    moved_setup = moved_to_copy(setup, copied, os.getcwd())  # noqa: PTH109 - it is compared with text
    try:
        check_player(moved_setup, game.rules(), True, game.located, academy)
    except (PlayerError, InvalidPlayerParametersError, OSError) as error:
        return str(error)
    return ""
