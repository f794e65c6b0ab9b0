"""Keeps the pools of a service as their data say: begins and ends their runs, and lets members in."""

import asyncio
import fcntl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from academy.wire.errors import RefusedCallError
from arena.control.settings import ControlError
from arena.league.members import Member
from arena.league.players import Entrant
from arena.league.pools import ENDED, OPEN, Pools, StoredPool
from arena.lobby.lobby import RemoteSession
from arena.results.database import ResultsDatabase, ResultsError, reason, utc_now
from arena.results.series_reader import SeriesReader
from arena.runner.exit_status import ExitStatus
from arena.runner.files import CompetitionFiles
from arena.service.member_register import MemberRegister
from arena.service.pool_files import (
    check,
    check_own,
    control_text,
    is_own,
    openings_file,
    own_players,
    own_tables,
    schedule_of,
    write,
)
from arena.service.runs import Runs
from arena.v1 import pools_pb2

LOOK_SECONDS: Final = 0.5
# How often the members, and how much they have played at other services, are read again.
MEMBERS_SECONDS: Final = 10.0
LONGEST_PAUSE: Final = 60.0
MOST_MEMBERS_HERE: Final = 5_000
_log = structlog.get_logger()


class FolderKeptError(OSError):
    """Another service keeps the pools of the folder."""


@contextmanager
def sole_keeper(folder: Path) -> Iterator[None]:
    """Keep other services from the pools of a folder. Raises FolderKeptError."""
    with (folder / ".pools.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderKeptError(
                f"{folder}: another service keeps the pools here; end it, or serve another folder"
            ) from None
        yield


@dataclass
class _Kept:
    """What the keeper knows of a pool: its settings when it began to run, its members, its failures."""

    settings: bytes = b""
    game_id: str = ""
    seats: int = 2
    running_settings: bytes = b""
    roster: tuple[Member, ...] = ()
    others_here: int = 0
    stopping: bool = False
    begun: float = 0.0
    failures: int = 0
    not_before: float = 0.0
    remark: str = ""
    failure: str = ""
    present: set[str] = field(default_factory=set)
    looked_elsewhere: bool = False
    # The control file, and the settings, members and own tables that it was made of.
    control_text: str = ""
    written_from: tuple[bytes, tuple[Member, ...], dict[str, dict[str, Any]]] | None = None


class PoolKeeper:
    """Looks at the pools and at who has dialled in, twice a second. Use it within one event loop."""

    def __init__(
        self,
        pools: Pools,
        members: MemberRegister,
        runs: Runs,
        folder: Path,
        league: str,
        sessions: Callable[[], Sequence[RemoteSession]],
    ) -> None:
        self.pools = pools
        self.folder = folder
        self._members = members
        self._runs = runs
        self._league = league
        self._kept: dict[str, _Kept] = {}
        self._read_members = -MEMBERS_SECONDS
        self._sessions = sessions

    async def keep(self) -> None:
        """Keep the pools until this is cancelled."""
        fault = ""
        while True:
            fault = await self._try_to_look(fault)
            await asyncio.sleep(LOOK_SECONDS)

    async def _try_to_look(self, last_fault: str) -> str:
        """Look after the pools, and return what went wrong; the same fault again is not logged again."""
        try:
            await self._look()
        except (SQLAlchemyError, OSError, ResultsError) as error:
            fault = reason(error) if isinstance(error, SQLAlchemyError) else str(error)
            if fault != last_fault:
                _log.warning("pools can't be looked after", why=fault)
            return fault
        except Exception as error:
            # Nobody waits for this task: an end of it would leave the pools as they are, unseen.
            fault = repr(error)
            if fault != last_fault:
                _log.exception("pools can't be looked after")
            return fault
        if last_fault:
            _log.info("pools are looked after again")
        return ""

    def remark(self, name: str) -> str:
        """Why a pool does not run, or no rounds begin, where they should."""
        kept = self._kept.get(name)
        return kept.remark if kept is not None else ""

    def is_running(self, name: str) -> bool:
        """Whether a run of a pool goes on here, or begins."""
        return self._runs.running(self.folder / f"{name}.toml")

    async def _look(self) -> None:
        now = time.monotonic()
        if now > self._read_members + MEMBERS_SECONDS:
            await self._members.refresh()
            self._read_members = now
        pools = await asyncio.to_thread(self.pools.all)
        # A pool that gets the name of a removed one is another pool.
        for name in self._kept.keys() - {pool.name for pool in pools}:
            del self._kept[name]
        for pool in pools:
            await self._tend(pool)

    async def _tend(self, pool: StoredPool) -> None:
        kept = self._kept.setdefault(pool.name, _Kept())
        control = self.folder / f"{pool.name}.toml"
        here = self._runs.running(control)
        try:
            if kept.running_settings and not here:
                await self._note_end(pool, kept, control)
                # That may have ended the pool, so what follows is for the next look, which reads it again.
                return
            settings = pools_pb2.PoolSettings.FromString(pool.settings)
            if not is_open(pool, settings, utc_now()):
                await self._stop(kept, control, here)
                if pool.state == ENDED and not here:
                    # Why it failed once is not news of a pool that has ended.
                    self._runs.forget(control)
                return
            if kept.settings != pool.settings:
                rules = (await asyncio.to_thread(check, pool.name, settings, self.folder)).game.rules()
                kept.game_id, kept.seats = rules.spec().game_id, rules.seats
                kept.settings = pool.settings
            self._choose_members(pool.name, settings, kept)
            if here and kept.running_settings != pool.settings:
                # The new settings hold when the games in progress are over.
                await self._stop(kept, control, here)
                # A fault before the change is none of the new settings'.
                kept.remark = ""
            elif here or not await self._runs_elsewhere(control):
                await self._play(pool, settings, kept, control, here)
            else:
                kept.remark = "it waits for the end of a run that an earlier service began"
        except (RefusedCallError, ControlError) as error:
            kept.remark = str(error)
        except Exception as error:
            # A fault in one pool is not the others'. It comes again with each look, and is logged once.
            remark = f"it can't be looked after: {error}"
            if kept.remark != remark:
                _log.exception("a pool can't be looked after", name=pool.name)
            kept.remark = remark

    def _choose_members(self, name: str, settings: pools_pb2.PoolSettings, kept: _Kept) -> None:
        """Take in who has dialled in and plays this; those who came before stay while there is room."""
        here = {session.name for session in self._sessions()}
        # Removed members, and players that are none, are not looked at for ever.
        kept.present = {player for player in kept.present | here if self._members.named(player) is not None}
        now = utc_now()
        names = (settings.game, kept.game_id, name)
        by_presence = sorted(kept.present, key=lambda player: (player not in here, player))
        members = [self._members.named(player) for player in by_presence]
        kept.roster = tuple(
            member
            for member in members
            if member is not None and not member.is_banned(now) and member.plays(*names)
        )[:MOST_MEMBERS_HERE]
        kept.others_here = sum(
            member is not None and member.name in here and not member.plays(*names) for member in members
        )

    async def _runs_elsewhere(self, control: Path) -> bool:
        """Whether a run goes on that a service before this one began; it is asked to stop."""
        files = CompetitionFiles(control)
        if not control.exists() or not await asyncio.to_thread(files.running):
            return False
        # Its lobby is gone, so its players are.
        await asyncio.to_thread(files.request_stop)
        return True

    async def _play(
        self, pool: StoredPool, settings: pools_pb2.PoolSettings, kept: _Kept, control: Path, here: bool
    ) -> None:
        own = await asyncio.to_thread(own_tables, settings, self.folder)
        kept.roster = roster = tuple(member for member in kept.roster if not is_own(member.name, own))
        players = len(roster) + own_players(own)
        if not here:
            kept.stopping = False
        if players < kept.seats:
            # Also in a run, whose file needs as many to be read; present are those who have dialled in.
            kept.remark = _waiting(kept)
            return
        if not here and time.monotonic() < kept.not_before:
            return
        openings = openings_file(self.folder, pool.name, settings)

        def write_files() -> None:
            check_own(control)
            if kept.written_from is None or kept.written_from[2] != own:
                # A base is changed by hand. One that no run can use leaves the control file as it was.
                check(pool.name, settings, self.folder)
            if settings.openings and not here:
                write(openings, settings.openings)
            written_from = (pool.settings, roster, own)
            if kept.written_from != written_from:
                # The text takes long where members are thousands.
                entrants = [Entrant(member.name, member.version, member.family) for member in roster]
                kept.control_text = control_text(settings, self._league, openings, entrants, own)
                kept.written_from = written_from
            write(control, kept.control_text)

        await asyncio.to_thread(write_files)
        if not here:
            # It may have been ended and removed since it was read: nobody would end its run.
            if (await asyncio.to_thread(self.pools.named, pool.name)).state != OPEN:
                return
            await self._runs.start(control, {})
            kept.running_settings, kept.begun = pool.settings, time.monotonic()
            _log.info("pool runs", name=pool.name, players=players)
        # Also a fault while it runs, such as a full disk, is over.
        kept.remark = self._shortage(kept, own_players(own)) or _failure(kept)

    def _shortage(self, kept: _Kept, own: int) -> str:
        """Why a pool that runs has too few players for a game; "" if it has enough.

        `own` is how many players it has that are not members.
        """
        here = {session.name for session in self._sessions()}
        members = [member.name for member in kept.roster if member.name in here]
        may_play = [name for name in members if self._members.games_left(name) > 0]
        if own + len(may_play) >= kept.seats:
            return ""
        spent = len(members) - len(may_play)
        quota = f"; of those who are here, {spent} may play no more today by their quota" if spent else ""
        return f"{_waiting(kept)}{quota}"

    async def _note_end(self, pool: StoredPool, kept: _Kept, control: Path) -> None:
        """Note how a run ended; one that failed is begun again after a pause that grows."""
        played, kept.running_settings = kept.running_settings, b""
        last = self._runs.last(control)
        if kept.stopping or last is None:
            kept.failures = 0
        elif last.status == ExitStatus.DONE and await asyncio.to_thread(_all_played, control):
            # A run that `arena stop` ended before its last round is done too, and the pool goes on.
            await asyncio.to_thread(self.pools.end_played, pool.name, played)
        elif last.status != ExitStatus.DONE:
            now = time.monotonic()
            # What worked for a while is not a part of a row of failures.
            kept.failures = 1 if now - kept.begun > LONGEST_PAUSE else kept.failures + 1
            kept.not_before = now + min(LONGEST_PAUSE, 0.5 * 2.0 ** min(kept.failures, 10))
            kept.remark = kept.failure = last.words
            _log.warning("pool failed", name=pool.name, status=last.status, why=last.words)

    async def _stop(self, kept: _Kept, control: Path, here: bool) -> None:
        if here and not kept.stopping:
            await asyncio.to_thread(CompetitionFiles(control).request_stop)
            # Not before: where the disk is full this is tried again.
            kept.stopping = True
        elif not here:
            kept.stopping, kept.remark, kept.failure = False, "", ""
            # Only a service before this one can have left a run, so this is asked once.
            kept.looked_elsewhere = kept.looked_elsewhere or not await self._runs_elsewhere(control)


def _waiting(kept: _Kept) -> str:
    """What a pool waits for, and how many are here and do not play it: `--plays` may have a typo."""
    others = f"; here, but without it in `--plays`: {kept.others_here}" if kept.others_here else ""
    return f"it waits for {kept.seats} players{others}"


def _failure(kept: _Kept) -> str:
    """Why the last run failed, as long as the present one may fail in the same way."""
    is_young = time.monotonic() - kept.begun <= LONGEST_PAUSE
    return f"its last run failed: {kept.failure}" if kept.failures and kept.failure and is_young else ""


def _all_played(control: Path) -> bool:
    """Whether a pool's run has played all rounds of its settings. Raises ResultsError."""
    files = CompetitionFiles(control)
    if not files.results_exist():
        return False
    database = ResultsDatabase.to_look_at(files.results)
    with database.look():
        return SeriesReader.find(database, files.name).completed()


def is_open(pool: StoredPool, settings: pools_pb2.PoolSettings, now: datetime) -> bool:
    """Whether rounds of a pool may begin at a time."""
    if pool.state != OPEN:
        return False
    schedule = schedule_of(settings)
    return schedule is None or schedule.is_open(now)
