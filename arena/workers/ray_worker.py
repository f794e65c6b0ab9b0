"""The worker of a Ray cluster: an actor that plays games on its node, in a process of its own beside it.

The process is one of `LocalWorkers`, so players are treated alike, and end with the actor. What the game
writes to files is sent back, because the node's disk is not the arena's.
"""

import asyncio
import os
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from math import ceil
from pathlib import Path
from typing import Final

from arena.jobs import GameJob, GameResult, PlayerSetup
from arena.temporary_folder import temporary_folder
from arena.workers.interface import WorkerLost
from arena.workers.local_workers import LocalWorkers
from arena.workers.ray_lobby import NodeLobby, Piece, at_lobby, lobby_of, start_loop

# The most that is sent at once of a game in progress.
_MOST_LIVE: Final = 1 << 20
_LOOK_SECONDS: Final = 0.2
# How long a call waits for something to carry to the arena's lobby.
_CARRY_SECONDS: Final = 1.0
# Players write no more than this to the files of one game; the rest is left out.
_MOST_WRITTEN: Final = 16 << 20


# Where Ray says which graphics processors a process may use.
_GPU_VARIABLES: Final = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


@dataclass(frozen=True)
class PlayedJob:
    """What came of a job, and what its players wrote: standard errors, and the lines of their protocols.

    `to_lobby` is what the game has sent last to players that dialled in.
    """

    result: GameResult | WorkerLost
    errors: bytes = b""
    transcript: bytes = b""
    to_lobby: Sequence[Piece] = ()


def moved_to_copy(player: PlayerSetup, folder: str | None, copy: str) -> PlayerSetup:
    """The player with all paths in a folder of the arena as paths in the node's copy; None: there is none.

    A player whose working directory has that folder in it, as the control file's has, works in the copy where
    the node has no such directory.
    """
    if folder is None:
        return player

    def there(word: str) -> str:
        return copy + word[len(folder) :] if word == folder or word.startswith(folder + os.sep) else word

    place = player.working_directory
    if place is not None:
        within = folder.startswith(place.rstrip(os.sep) + os.sep)
        place = copy if within and not Path(place).is_dir() else there(place)
    return replace(player, command=tuple(map(there, player.command)), working_directory=place)


def gpus_of(amounts: Sequence[float]) -> list[range]:
    """Which of a game's graphics processors each player takes, of amounts that are whole or parts of one.

    Whole ones are a player's own; parts share one as far as they fit in it.
    """
    left: list[float] = []
    taken = [range(0)] * len(amounts)
    for seat in sorted(range(len(amounts)), key=lambda seat: -amounts[seat]):
        amount = amounts[seat]
        if amount <= 0:
            continue
        # Sums of parts may miss one by an error of rounding.
        shared = (gpu for gpu, part in enumerate(left) if part > amount - 1e-9)
        first = next(shared, len(left))
        if first == len(left):
            left += [max(0.0, 1 - amount)] * ceil(amount)
        else:
            left[first] -= amount
        taken[seat] = range(first, first + ceil(amount))
    return taken


def with_own_gpus(players: tuple[PlayerSetup, ...]) -> list[PlayerSetup]:
    """The players, each of which sees its own graphics processors of those that Ray gave to the game."""
    amounts = [player.resources.gpus for player in players]
    if not any(amounts):
        return list(players)
    variables = {name: value.split(",") for name in _GPU_VARIABLES if (value := os.environ.get(name))}
    return [
        replace(
            player,
            environment={name: ",".join(gpus[taken.start : taken.stop]) for name, gpus in variables.items()}
            | dict(player.environment),
        )
        for player, taken in zip(players, gpus_of(amounts), strict=True)
    ]


def other_release(release: str) -> str:
    """Why an arena of this release cannot use this node; empty if it can."""
    if release == (own := version("academy-arena")):
        return ""
    return f"it has academy-arena {own}, the arena is {release}: install the same"


class RayWorker:
    """Plays one game at a time. `slot` is what players see as GOMILL_SLOT.

    `copied` is the arena's folder that is this process's working directory here.
    """

    def __init__(self, slot: int, pin: bool, copied: str | None) -> None:
        self._live: Path | None = None
        self._copied = copied
        # Rights at the cluster are not for players.
        for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
            os.environ.pop(name, None)
        self._slot, self._pin = slot, pin
        self._workers: LocalWorkers | None = None
        # That of the latest attempt at a game whose players dialled in.
        self._lobby: tuple[tuple[str, int], NodeLobby] | None = None
        self._lobby_changed = threading.Condition()

    def play(self, job: GameJob, release: str) -> PlayedJob:
        """Play a game of an arena of this release."""
        if why := other_release(release):
            return PlayedJob(WorkerLost(job.game_id, f"{self.node()}: {why}", job.attempt))
        if self._workers is None:
            # In the thread that lives as long as this process: the workers end with their maker.
            self._workers = LocalWorkers(1, pin=self._pin, first_slot=self._slot)
        # Ray ends actors without notice, so nothing is left on the disk between games.
        with temporary_folder() as folder:
            if lobby_of(job) is None:
                return self._played(job, self._workers, folder)
            lobby = NodeLobby(folder, self._loop)
            with self._lobby_changed:
                self._lobby = (job.game_id, job.attempt), lobby
                self._lobby_changed.notify_all()
            players = tuple(at_lobby(player, lobby.path) for player in job.players)
            played = self._played(replace(job, players=players), self._workers, folder)
            return replace(played, to_lobby=lobby.end())

    def _played(self, job: GameJob, workers: LocalWorkers, folder: Path) -> PlayedJob:
        errors, transcript, self._live = folder / "errors", folder / "transcript", folder / "live"
        here = replace(
            job,
            players=tuple(
                moved_to_copy(player, self._copied, str(Path.cwd())) for player in with_own_gpus(job.players)
            ),
            log_path=None if job.log_path is None else str(errors),
            transcript=None if job.transcript is None else str(transcript),
            live_path=None if job.live_path is None else str(self._live),
        )
        workers.submit(here)
        result = None
        while result is None:
            result = workers.next_result(_LOOK_SECONDS)
        return PlayedJob(result, _read(errors, _MOST_WRITTEN), _read(transcript, _MOST_WRITTEN))

    def receive_for_lobby(self, attempt: tuple[str, int]) -> Sequence[Piece] | None:
        """What an attempt at a game has sent to the arena's lobby; None once it is over."""
        with self._lobby_changed:
            lobby = self._lobby_changed.wait_for(lambda: self._lobby_for(attempt), _CARRY_SECONDS)
        return () if lobby is None else lobby.receive(_CARRY_SECONDS)

    def send_from_lobby(self, attempt: tuple[str, int], piece: Piece) -> None:
        """Send an attempt at a game what the arena's lobby sent."""
        if (lobby := self._lobby_for(attempt)) is not None:
            lobby.send(piece)

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return start_loop("lobby")

    def _lobby_for(self, attempt: tuple[str, int]) -> NodeLobby | None:
        latest = self._lobby
        return latest[1] if latest is not None and latest[0] == attempt else None

    def live(self, offset: int) -> bytes:
        """What the game in progress has added to its file for watchers since `offset`."""
        return b"" if self._live is None else _read(self._live, _MOST_LIVE, offset)

    def node(self) -> str:
        """The node, for people."""
        import ray

        return f"{socket.gethostname()} ({ray.get_runtime_context().get_node_id()[:6]})"


def _read(file: Path, most: int, offset: int = 0) -> bytes:
    try:
        with file.open("rb") as opened:
            opened.seek(offset)
            return opened.read(most)
    except FileNotFoundError:
        return b""
