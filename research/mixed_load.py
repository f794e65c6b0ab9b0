"""Callers that play contests, consult, propose and administer until they are stopped.

They remember what was acknowledged.
"""

import math
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import grpc

from academy.v1 import (
    consultation_pb2,
    contests_pb2,
    game_pb2,
    libraries_pb2,
    libraries_pb2_grpc,
    pattern_pb2,
    proposals_pb2,
)
from research.server_processes import ServerProcesses
from tests.academy.service.running import SECONDS, Client
from tests.academy.store.examples import contest, endgame_proposal, go_game, report

GAME: Final = "go-9x9"
PLAYERS: Final = ("gnugo 1", "seki")
PLIES: Final = 30
# Libraries that fill up, so that eviction is part of the load.
SETTINGS: Final = game_pb2.LibrarySettings(opening_capacity=2_000, endgame_capacity=500)

_T = TypeVar("_T")
_SECONDS_BEFORE_AGAIN: Final = 0.05
_CONTESTS_PER_ADMIN_CHANGE: Final = 5


@dataclass
class Acknowledged:
    """What the servers acknowledged, how long it took them, and unexpected refusals."""

    reports: set[str] = field(default_factory=set)
    proposals: set[str] = field(default_factory=set)
    admin_changes: int = 0
    interrupted: int = 0
    unexpected: list[str] = field(default_factory=list)
    seconds: list[tuple[str, float]] = field(default_factory=list)


class Load:
    """Callers in threads, each playing one contest after another until they are stopped."""

    def __init__(
        self, servers: ServerProcesses, callers: int, name: str = "", contests_a_second: float = math.inf
    ) -> None:
        """Start them. Contests are named after `name`, which must be another for another load.

        All callers together begin `contests_a_second`; one that is late begins its next at once.
        """
        self._servers = servers
        self._name = name
        self._callers = callers
        self._rate = contests_a_second
        self._begun = time.monotonic()
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
            acknowledged = self.acknowledged
            return Acknowledged(
                set(acknowledged.reports),
                set(acknowledged.proposals),
                acknowledged.admin_changes,
                acknowledged.interrupted,
                list(acknowledged.unexpected),
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
            thread.join(2 * SECONDS)

    def _register(self) -> None:
        game = go_game(GAME)
        game.settings.CopyFrom(SETTINGS)
        with _channel(self._servers.addresses[0]) as channel:
            # A busy server may take in a connection later than one attempt at it lasts.
            Client(channel, self._servers.arena_token).contests.RegisterGame(
                contests_pb2.RegisterGameRequest(game=game), wait_for_ready=True
            )

    def _call(self, number: int) -> None:
        chance = random.Random(f"{self._name}/{number}")
        channels = _Channels(self._servers, chance)
        try:
            played = 0
            while not self._stopped.wait(self._until(played * self._callers + number)):
                self._play(f"{self._name}/{number}/{played}", chance, channels)
                played += 1
                # The first of them is followed by one, so that a short load has some.
                if played % _CONTESTS_PER_ADMIN_CHANGE == 1:
                    self._administer(chance, channels)
        except _StoppedError:
            pass
        except Exception as fault:
            with self._lock:
                self.acknowledged.unexpected.append(f"caller {number} ended: {fault!r}")
        finally:
            channels.close()

    def _until(self, contest: int) -> float:
        """Seconds until this contest of all is due."""
        return max(0.0, self._begun + contest / self._rate - time.monotonic())

    def _play(self, contest_id: str, chance: random.Random, channels: "_Channels") -> None:
        """One contest as an arena and a bot play it: the calls of one may reach different processes."""
        arena, acknowledged = self._servers.arena_token, self.acknowledged
        played = report(contest_id, GAME, plies=PLIES, names=PLAYERS, first_wins=chance.random() < 0.5)
        opening = contests_pb2.OpenContestRequest(contest=contest(contest_id, GAME, PLAYERS))
        opened = self._repeat("open", lambda: channels.any(arena).contests.OpenContest(opening))
        ticket = opened.tickets[0]
        looking = consultation_pb2.LookUpOpeningRequest(game_id=GAME, contest_id=contest_id, player=1)
        self._repeat("opening", lambda: channels.any(ticket).consultation.LookUpOpening(looking))
        positions = [
            consultation_pb2.Position(board=ply.board, player=1, expected_value=0.2)
            for ply in played.plies[::6]
        ]
        matching = consultation_pb2.MatchPatternsRequest(
            game_id=GAME, contest_id=contest_id, positions=positions
        )
        self._repeat("patterns", lambda: channels.any(ticket).consultation.MatchPatterns(matching))
        proposals = [endgame_proposal(played, back=2 * back) for back in range(2)]
        proposing = proposals_pb2.SubmitProposalsRequest(contest_id=contest_id, proposals=proposals)
        proposed = self._repeat("propose", lambda: channels.any(ticket).proposals.SubmitProposals(proposing))
        with self._lock:
            acknowledged.proposals |= {proposal.proposal_id for proposal in proposed.proposals}
        self._repeat("report", lambda: channels.any(arena).contests.ReportContest(played))
        with self._lock:
            acknowledged.reports.add(contest_id)

    def _administer(self, chance: random.Random, channels: "_Channels") -> None:
        """Change a setting, or delete the weakest pattern and take that back."""

        def libraries() -> libraries_pb2_grpc.LibraryServiceStub:
            return channels.any(self._servers.admin_token).libraries

        if chance.random() < 0.5:
            settings = game_pb2.LibrarySettings(opening_capacity=chance.randint(1_500, 2_000))
            request = libraries_pb2.UpdateSettingsRequest(
                game_id=GAME, settings=settings, fields=["opening_capacity"]
            )
            self._repeat("admin", lambda: libraries().UpdateSettings(request))
        else:
            listing = libraries_pb2.ListPatternsRequest(
                game_id=GAME, library=pattern_pb2.LIBRARY_ENDGAME, page_size=1
            )
            listed = self._repeat("admin", lambda: libraries().ListPatterns(listing))
            if not listed.patterns:
                return
            chosen: dict[str, Any] = {
                "game_id": GAME,
                "library": pattern_pb2.LIBRARY_ENDGAME,
                "pattern_id": listed.patterns[0].pattern_id,
            }
            # Another caller may have deleted it first, and so may have this one's call whose answer was lost.
            deleting = libraries_pb2.DeletePatternRequest(**chosen)
            self._repeat("admin", lambda: libraries().DeletePattern(deleting), may_miss=True)
            restoring = libraries_pb2.RestorePatternRequest(**chosen)
            self._repeat("admin", lambda: libraries().RestorePattern(restoring), may_miss=True)
        with self._lock:
            self.acknowledged.admin_changes += 1

    def _repeat(self, what: str, call: Callable[[], _T], *, may_miss: bool = False) -> _T:
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
                        raise _StoppedError from error
                if self._stopped.is_set():
                    raise _StoppedError from error
                time.sleep(_SECONDS_BEFORE_AGAIN)
                continue
            with self._lock:
                self.acknowledged.seconds.append((what, time.perf_counter() - begun))
            return answer


class _StoppedError(RuntimeError):
    """The load ends in the middle of a contest."""


class _Channels:
    """A caller's connections, one to each of the servers' addresses, which may change."""

    def __init__(self, servers: ServerProcesses, chance: random.Random) -> None:
        self._servers = servers
        self._chance = chance
        self._open: dict[tuple[int, str], grpc.Channel] = {}

    def any(self, token: str) -> Client:
        """Return a client with a token on one of them by chance, opened at its first use."""
        number, address = self._chance.choice(list(enumerate(self._servers.addresses)))
        if (number, address) not in self._open:
            self._close_former()
            self._open[number, address] = _channel(address)
        return Client(self._open[number, address], token)

    def _close_former(self) -> None:
        now = set(enumerate(self._servers.addresses))
        for former in [process for process in self._open if process not in now]:
            self._open.pop(former).close()

    def close(self) -> None:
        for channel in self._open.values():
            channel.close()


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
