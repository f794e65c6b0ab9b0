"""What ACADEMY is loaded with to see whether it lasts: contests, consultations, proposals and admins.

`Site` runs the server processes of one data folder, `Load` the callers, who remember what was acknowledged.
"""

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import grpc

from academy.store.library_store import Store
from academy.store.tokens import CreateToken, Role
from academy.v1 import (
    consultation_pb2,
    consultation_pb2_grpc,
    contests_pb2,
    contests_pb2_grpc,
    game_pb2,
    libraries_pb2,
    libraries_pb2_grpc,
    pattern_pb2,
    proposals_pb2,
    proposals_pb2_grpc,
)
from tests.academy.store.examples import contest, endgame_proposal, go_game, report

GAME: Final = "go-9x9"
PLAYERS: Final = ("gnugo 1", "seki")
PLIES: Final = 30
# Longer than other work may keep the servers from the processor.
CALL_SECONDS: Final = 60.0
START_SECONDS: Final = 30.0
# Libraries that fill up, so that eviction is part of the load.
SETTINGS: Final = game_pb2.LibrarySettings(opening_capacity=2_000, endgame_capacity=500)

_T = TypeVar("_T")
_SECONDS_BEFORE_AGAIN: Final = 0.05
_CONTESTS_PER_ADMIN_CHANGE: Final = 5


class Site:
    """One data folder and the server processes on it, each on a socket of its own."""

    def __init__(self, folder: Path, processes: int, options: Sequence[str] = ()) -> None:
        """Make the folder with its tokens and start the processes."""
        self.data = folder / "data"
        self._folder = folder
        self._options = options
        with Store(self.data) as store:
            self.arena_token = store.run(CreateToken("arena", Role.ARENA))[1]
            self.admin_token = store.run(CreateToken("admin", Role.ADMIN))[1]
        self.addresses = [f"unix:{folder / f'{number}.sock'}" for number in range(processes)]
        self.running: list[subprocess.Popen[str]] = []
        try:
            for number in range(processes):
                self.running.append(self._started(number))
            for process in self.running:
                _await_line(process)
        except BaseException:
            self.close()
            raise

    def _started(self, number: int) -> "subprocess.Popen[str]":
        with (self._folder / f"{number}.log").open("a") as log:
            return subprocess.Popen(
                [
                    *(sys.executable, "-m", "academy", "serve", "--data", str(self.data)),
                    *("--address", self.addresses[number], "--log-level", "warning"),
                    *self._options,
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                stdin=subprocess.DEVNULL,
                text=True,
            )

    def kill(self, number: int) -> None:
        """End a process as a loss of power would."""
        self.running[number].send_signal(signal.SIGKILL)
        self.running[number].wait()
        _close_output(self.running[number])

    def start(self, number: int) -> None:
        """Start a process again."""
        self.running[number] = self._started(number)
        _await_line(self.running[number])

    def memory(self) -> int:
        """Bytes of memory that all processes have for themselves, the shared map left out."""
        total = 0
        for process in self.running:
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    total += int(line.split()[1]) * 1024
        return total

    def close(self) -> None:
        """End all processes."""
        for process in self.running:
            process.kill()
            process.wait()
            _close_output(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _await_line(process: "subprocess.Popen[str]") -> None:
    """Wait until a server says where it listens."""
    assert process.stdout is not None
    hurry = threading.Timer(START_SECONDS, process.kill)
    hurry.start()
    line = process.stdout.readline()
    hurry.cancel()
    if " at " not in line:
        raise RuntimeError(f"a server did not start: {line!r}, exit status {process.poll()}")


def _close_output(process: "subprocess.Popen[str]") -> None:
    if process.stdout is not None:
        process.stdout.close()


@dataclass
class Acknowledged:
    """What the servers said they had kept, how long it took them, and refusals nobody expected."""

    reports: set[str] = field(default_factory=set)
    proposals: set[str] = field(default_factory=set)
    admin_changes: int = 0
    interrupted: int = 0
    unexpected: list[str] = field(default_factory=list)
    seconds: list[tuple[str, float]] = field(default_factory=list)


class Load:
    """Callers in threads, each playing one contest after another until told to stop."""

    def __init__(self, site: Site, callers: int, name: str = "") -> None:
        """Start them. Contests are named after `name`, which must be another for another load."""
        self._site = site
        self._name = name
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self.acknowledged = Acknowledged()
        self._register()
        self._threads = [
            threading.Thread(target=self._call, args=(number,), daemon=True) for number in range(callers)
        ]
        for thread in self._threads:
            thread.start()

    def taken(self) -> Acknowledged:
        """A copy of what has been acknowledged up to now."""
        with self._lock:
            told = self.acknowledged
            return Acknowledged(
                set(told.reports),
                set(told.proposals),
                told.admin_changes,
                told.interrupted,
                list(told.unexpected),
            )

    def take_seconds(self) -> list[tuple[str, float]]:
        """The calls since the last time: what was asked, and the seconds until the answer."""
        with self._lock:
            taken, self.acknowledged.seconds = self.acknowledged.seconds, []
        return taken

    def stop(self) -> None:
        """Let every caller finish its contest, and wait for it."""
        self._stopped.set()
        for thread in self._threads:
            thread.join(2 * CALL_SECONDS)

    def _register(self) -> None:
        game = go_game(GAME)
        game.settings.CopyFrom(SETTINGS)
        with _channel(self._site.addresses[0]) as channel:
            contests_pb2_grpc.ContestServiceStub(channel).RegisterGame(
                contests_pb2.RegisterGameRequest(game=game),
                metadata=_bearer(self._site.arena_token),
                timeout=CALL_SECONDS,
            )

    def _call(self, number: int) -> None:
        chance = random.Random(f"{self._name}/{number}")
        channels = [_channel(address) for address in self._site.addresses]
        try:
            played = 0
            while not self._stopped.is_set():
                self._play(f"{self._name}/{number}/{played}", chance, channels)
                played += 1
                if played % _CONTESTS_PER_ADMIN_CHANGE == 0:
                    self._administer(chance, channels)
        except _Stopped:
            pass
        except Exception as fault:
            with self._lock:
                self.acknowledged.unexpected.append(f"caller {number} ended: {fault!r}")
        finally:
            for channel in channels:
                channel.close()

    def _play(self, contest_id: str, chance: random.Random, channels: list[grpc.Channel]) -> None:
        """One contest as an arena and a bot play it: the calls of one may reach different processes."""

        def any_channel() -> grpc.Channel:
            return chance.choice(channels)

        told = report(contest_id, GAME, plies=PLIES, names=PLAYERS, first_wins=chance.random() < 0.5)
        opened = self._answered(
            "open",
            lambda: contests_pb2_grpc.ContestServiceStub(any_channel()).OpenContest(
                contests_pb2.OpenContestRequest(contest=contest(contest_id, GAME, PLAYERS)),
                metadata=_bearer(self._site.arena_token),
                timeout=CALL_SECONDS,
            ),
        )
        ticket = _bearer(opened.tickets[0])
        question = consultation_pb2.LookUpOpeningRequest(game_id=GAME, contest_id=contest_id, player=1)
        self._answered(
            "opening",
            lambda: consultation_pb2_grpc.ConsultationServiceStub(any_channel()).LookUpOpening(
                question, metadata=ticket, timeout=CALL_SECONDS
            ),
        )
        positions = [
            consultation_pb2.Position(board=told.plies[place].board, player=1, expected_value=0.2)
            for place in range(0, PLIES, 6)
        ]
        matching = consultation_pb2.MatchPatternsRequest(
            game_id=GAME, contest_id=contest_id, positions=positions
        )
        self._answered(
            "patterns",
            lambda: consultation_pb2_grpc.ConsultationServiceStub(any_channel()).MatchPatterns(
                matching, metadata=ticket, timeout=CALL_SECONDS
            ),
        )
        proposing = proposals_pb2.SubmitProposalsRequest(
            contest_id=contest_id, proposals=[endgame_proposal(told, back=2 * back) for back in range(2)]
        )
        proposed = self._answered(
            "propose",
            lambda: proposals_pb2_grpc.ProposalServiceStub(any_channel()).SubmitProposals(
                proposing, metadata=ticket, timeout=CALL_SECONDS
            ),
        )
        with self._lock:
            self.acknowledged.proposals |= {proposal.proposal_id for proposal in proposed.proposals}
        self._answered(
            "report",
            lambda: contests_pb2_grpc.ContestServiceStub(any_channel()).ReportContest(
                told, metadata=_bearer(self._site.arena_token), timeout=CALL_SECONDS
            ),
        )
        with self._lock:
            self.acknowledged.reports.add(contest_id)

    def _administer(self, chance: random.Random, channels: list[grpc.Channel]) -> None:
        """Change a setting, or delete the weakest pattern and take that back."""
        libraries = libraries_pb2_grpc.LibraryServiceStub(chance.choice(channels))
        call: dict[str, Any] = {"metadata": _bearer(self._site.admin_token), "timeout": CALL_SECONDS}
        if chance.random() < 0.5:
            settings = game_pb2.LibrarySettings(opening_capacity=chance.randint(1_500, 2_000))
            request = libraries_pb2.UpdateSettingsRequest(game_id=GAME, settings=settings)
            self._answered("admin", lambda: libraries.UpdateSettings(request, **call))
        else:
            listing = libraries_pb2.ListPatternsRequest(
                game_id=GAME, library=pattern_pb2.LIBRARY_ENDGAME, page_size=1
            )
            listed = self._answered("admin", lambda: libraries.ListPatterns(listing, **call))
            if not listed.patterns:
                return
            chosen = {
                "game_id": GAME,
                "library": pattern_pb2.LIBRARY_ENDGAME,
                "pattern_id": listed.patterns[0].pattern_id,
            }
            # Another caller may have deleted it first, and so may have this one's call whose answer was lost.
            deleting = libraries_pb2.DeletePatternRequest(**chosen)
            self._answered("admin", lambda: libraries.DeletePattern(deleting, **call), may_miss=True)
            restoring = libraries_pb2.RestorePatternRequest(**chosen)
            self._answered("admin", lambda: libraries.RestorePattern(restoring, **call), may_miss=True)
        with self._lock:
            self.acknowledged.admin_changes += 1

    def _answered(self, what: str, call: Callable[[], _T], *, may_miss: bool = False) -> _T:
        """Repeat a call until a server answers it, as an arena with an outbox does."""
        while True:
            begun = time.perf_counter()
            try:
                answer = call()
            except grpc.RpcError as error:
                code = error.code()
                if may_miss and code is grpc.StatusCode.NOT_FOUND:
                    return None  # type: ignore[return-value]
                with self._lock:
                    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
                        self.acknowledged.interrupted += 1
                    else:
                        self.acknowledged.unexpected.append(f"{what}: {code.name} {error.details()}")
                        raise _Stopped from error
                if self._stopped.is_set():
                    raise _Stopped from error
                time.sleep(_SECONDS_BEFORE_AGAIN)
                continue
            with self._lock:
                self.acknowledged.seconds.append((what, time.perf_counter() - begun))
            return answer


class _Stopped(RuntimeError):
    """The load ends in the middle of a contest."""


def _channel(address: str) -> grpc.Channel:
    return grpc.insecure_channel(
        address,
        options=[
            ("grpc.initial_reconnect_backoff_ms", 50),
            ("grpc.min_reconnect_backoff_ms", 50),
            ("grpc.max_reconnect_backoff_ms", 100),
            # Unanswered calls are repeated here, where they are counted.
            ("grpc.enable_retries", 0),
            ("grpc.use_local_subchannel_pool", 1),
        ],
    )


def _bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)
