"""A run of a competition from its control file: its lock, its workers, and then all else."""

import os
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import product

from arena.control import plans
from arena.control.settings import Control, ControlError
from arena.control.tokens import withheld_tokens
from arena.jobs import PlayerSetup, label_clash
from arena.runner.files import CompetitionFiles
from arena.runner.options import Ended, RunOptions
from arena.runner.remote_players import LOBBY_VARIABLE
from arena.runner.stopping import StopRequests
from arena.workers.interface import Workers
from arena.workers.local_workers import LocalWorkers
from arena.workers.nursery import Nursery
from arena.workers.worker import NO_SLOT


def run(
    control: Control, files: CompetitionFiles, options: RunOptions, nursery: Nursery | None = None
) -> Ended:
    """Run a competition, or take it up again where it was left; its workers are forked from the nursery.

    Raises CompetitionRunningError, SecretFileError, ResultsError, RunInterruptedError, PlayerError, and what
    `Competition.run` and `AcademySession` raise.
    """
    with ExitStack() as stack:
        stack.enter_context(withheld_tokens(control.token_variables))
        stack.enter_context(files.locked())
        if LOBBY_VARIABLE not in os.environ:
            # A service forgets requests of before by itself: it may have asked again since it started this.
            files.forget_stop()
        stopping = stack.enter_context(StopRequests(files))
        workers = stack.enter_context(open_workers(control, options, nursery))
        # Workers get ready while this process loads the rest, which takes it longer.
        from arena.runner.playing import play_games

        return play_games(control, files, options, stopping, workers)


def open_workers(control: Control, options: RunOptions, nursery: Nursery | None = None) -> Workers:
    """Where the games of a run are played. Raises RayUnavailableError and ControlError."""
    on = options.on or control.workers.on
    if on == "local":
        # Gomill's ringmaster leaves the slot out where games are not simultaneous.
        alone = control.ringmaster_rules and options.parallel == 1
        first_slot = NO_SLOT if alone else 0
        return LocalWorkers(options.parallel, pin=control.pin_cores, first_slot=first_slot, nursery=nursery)
    check_reachable(control, on)
    # It takes seconds to load, and few have it.
    from arena.workers.ray_workers import RayWorkers

    return RayWorkers(on, options.parallel, pin=control.pin_cores, runtime_env=control.workers.runtime_env)


def check_reachable(control: Control, on: str) -> None:
    """Raise ControlError for players, an ACADEMY or labels that games on a cluster cannot have."""
    from arena.players.protocols import added_protocols

    added = added_protocols()
    for name in control.competitors:
        if (protocol := control.players[name].protocol) in added:
            raise ControlError(
                f"players.{name}: games of protocol {protocol!r} can be played on the machine alone where "
                f"their players dial in; leave it out, or play without a cluster (workers.on = {on!r})"
            )
    if on != "ray" and control.academy is not None and control.academy.embedded:
        raise ControlError(
            f"academy: the embedded server is reached from this machine alone, and games are played on {on}: "
            "start `academy serve`, and give its address as academy.address"
        )
    if clash := next(filter(None, map(label_clash, certain_to_meet(control))), ""):
        raise ControlError(clash)


def certain_to_meet(control: Control) -> list[list[PlayerSetup]]:
    """Players each of whom meets all others of the group, as far as the control file tells."""
    names: Iterable[Iterable[str]]
    match control.plan:
        case plans.PlayoffPlan(matchups):
            names = (matchup.players for matchup in matchups if matchup.games != 0)
        case plans.GauntletPlan(challengers, opponents):
            names = product(challengers, opponents)
        case plans.AllPlayAllPlan() | plans.SprtPlan():
            names = [control.competitors]
        case _:
            names = ()
    return [[control.players[name] for name in group] for group in names]
