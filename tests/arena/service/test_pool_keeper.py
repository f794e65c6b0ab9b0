"""When the keeper begins a pool's runs again, and whom it lets in."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.control.control_file import read_control
from arena.control.settings import ControlError
from arena.league.database import LeagueDatabase, open_league
from arena.league.members import Application, Members
from arena.league.pools import ENDED, OPEN, Pools
from arena.lobby.lobby import RemoteSession
from arena.runner.exit_status import ExitStatus
from arena.service import pool_files, pool_keeper
from arena.service.member_register import MemberRegister
from arena.service.pool_keeper import LONGEST_PAUSE, MEMBERS_SECONDS, PoolKeeper
from arena.service.runs import LastRun, Runs
from arena.v1 import players_pb2, pools_pb2
from tests.arena.control_files import random_players

SETTINGS = pools_pb2.PoolSettings(game="go", settings_json='{"board_size": 5}', base="house")


class Clock:
    """The time, which passes as a test likes: a night is too long for one."""

    def __init__(self) -> None:
        self.now = 1e6

    def monotonic(self) -> float:
        return self.now


class FailingRuns(Runs):
    """Runs that fail after a while."""

    def __init__(self, lobby: Path, clock: Clock) -> None:
        super().__init__(lobby)
        self.begun: list[float] = []
        self.lasting = 0.0
        self.status = ExitStatus.ERROR
        self._clock = clock

    def running(self, control: Path) -> bool:
        return bool(self.begun) and self._clock.now < self.begun[-1] + self.lasting

    async def _begin(self, control: Path, *_: object) -> None:
        self.begun.append(self._clock.now)
        self._ended[control] = LastRun(self.status, "no database")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(pool_keeper, "time", clock)
    return clock


@pytest.fixture
def runs(tmp_path: Path, clock: Clock) -> FailingRuns:
    return FailingRuns(tmp_path / "lobby", clock)


@pytest.fixture
def league(tmp_path: Path) -> Iterator[LeagueDatabase]:
    with closing(open_league(str(tmp_path / "league.db"), create=True)) as opened:
        yield opened


@pytest.fixture
def register(league: LeagueDatabase) -> MemberRegister:
    return MemberRegister(Members(league))


def join(register: MemberRegister, *applications: Application) -> None:
    for number, application in enumerate(applications):
        register.members.register(application, "", f"key-{number:016}", open_to_all=True)


@pytest.fixture
def here() -> list[str]:
    """Who has dialled in."""
    return []


@pytest.fixture
def keeper(
    tmp_path: Path, runs: Runs, league: LeagueDatabase, register: MemberRegister, here: list[str]
) -> PoolKeeper:
    (tmp_path / "house.pool").write_text(random_players("one", "two"))
    Pools(league).add("night", SETTINGS.SerializeToString(deterministic=True))

    def sessions() -> list[RemoteSession]:
        return [RemoteSession(players_pb2.Hello(player=name), b"", 10) for name in here]

    return PoolKeeper(
        Pools(league), register, runs, tmp_path, f"sqlite:///{tmp_path / 'league.db'}", sessions
    )


@pytest.fixture
def capture_faults(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is logged as a warning or an error, as it comes."""
    faults: list[str] = []
    for level in ("warning", "exception"):
        monkeypatch.setattr(pool_keeper._log, level, lambda event, **_: faults.append(event), raising=False)
    return faults


async def look(keeper: PoolKeeper, clock: Clock, times: int, every: float) -> None:
    for _ in range(times):
        await keeper._look()
        clock.now += every


def pauses(begun: Sequence[float]) -> list[float]:
    return [later - before for before, later in pairwise(begun)]


def test_a_pool_that_fails_all_night_is_begun_again_each_minute(
    keeper: PoolKeeper, runs: FailingRuns, clock: Clock
) -> None:
    # One look to see that it failed, and one after the pause.
    asyncio.run(look(keeper, clock, 40, LONGEST_PAUSE))
    # Later its number of failures is more than a power of two can have.
    keeper._kept["night"].failures += 1_100
    asyncio.run(look(keeper, clock, 10, LONGEST_PAUSE))
    assert set(pauses(runs.begun)) == {2.0 * LONGEST_PAUSE} and len(runs.begun) == 25
    assert keeper.remark("night") == "no database"


def test_a_pool_that_ran_for_long_is_begun_again_at_once_whatever_failed_before(
    keeper: PoolKeeper, runs: FailingRuns, clock: Clock
) -> None:
    asyncio.run(look(keeper, clock, 60, 5.0))
    assert pauses(runs.begun)[-1] >= LONGEST_PAUSE
    before, runs.lasting = len(runs.begun), 10.0 * LONGEST_PAUSE
    asyncio.run(look(keeper, clock, 500, 5.0))
    # A look to see that it failed, and one after the pause of a first failure.
    assert set(pauses(runs.begun[before:])) == {runs.lasting + 5.0}


def test_a_pool_that_waits_long_before_it_fails_says_why_all_the_time(
    keeper: PoolKeeper, runs: FailingRuns, clock: Clock
) -> None:
    runs.lasting = 0.5 * LONGEST_PAUSE
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert keeper.remark("night") == ""
    asyncio.run(look(keeper, clock, 100, 0.5))
    assert len(runs.begun) == 2 and keeper.remark("night") == "its last run failed: no database"
    runs.lasting = 10.0 * LONGEST_PAUSE
    asyncio.run(look(keeper, clock, 10, LONGEST_PAUSE / 2.0))
    assert len(runs.begun) == 2 and keeper.remark("night") == ""


def test_a_fault_of_a_pool_is_logged_once_and_its_remark_ends_with_it(
    keeper: PoolKeeper, runs: FailingRuns, clock: Clock, tmp_path: Path, capture_faults: list[str]
) -> None:
    runs.lasting = LONGEST_PAUSE
    asyncio.run(look(keeper, clock, 1, 0.5))
    control, kept = tmp_path / "night.toml", tmp_path / "kept.toml"
    control.rename(kept)
    control.mkdir()
    asyncio.run(look(keeper, clock, 20, 0.5))
    assert capture_faults == ["a pool can't be looked after"]
    assert "Is a directory" in keeper.remark("night")
    control.rmdir()
    kept.rename(control)
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert keeper.remark("night") == ""


def test_a_remark_is_about_what_keeps_a_pool_now_also_while_it_runs(
    keeper: PoolKeeper, runs: FailingRuns, clock: Clock, tmp_path: Path
) -> None:
    runs.lasting = LONGEST_PAUSE
    asyncio.run(look(keeper, clock, 1, 0.5))
    control, kept, house = tmp_path / "night.toml", tmp_path / "kept.toml", tmp_path / "house.pool"
    control.rename(kept)
    control.mkdir()
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert "Is a directory" in keeper.remark("night")
    control.rmdir()
    kept.rename(control)
    players = house.read_text()
    house.write_text("")
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert keeper.remark("night") == "it waits for 2 players"
    house.write_text(players)
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert keeper.remark("night") == ""
    control.rename(kept)
    control.mkdir()
    house.write_text(players.replace("two", "three"))
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert "Is a directory" in keeper.remark("night")
    changed = pools_pb2.PoolSettings.FromString(SETTINGS.SerializeToString())
    changed.rounds += 1
    keeper.pools.change("night", changed.SerializeToString(deterministic=True))
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert len(runs.begun) == 1 and keeper.remark("night") == ""


def test_a_pool_that_runs_names_what_keeps_its_members_from_a_game(
    keeper: PoolKeeper,
    runs: FailingRuns,
    clock: Clock,
    register: MemberRegister,
    here: list[str],
    tmp_path: Path,
) -> None:
    (tmp_path / "house.pool").write_text("")
    join(register, Application("ann"), Application("bob"))
    register.members.set_quota("ann", 0, 1)
    runs.lasting = LONGEST_PAUSE

    def remark_with(*names: str) -> str:
        here[:] = names
        asyncio.run(look(keeper, clock, 1, 0.5))
        return keeper.remark("night")

    assert remark_with("ann", "bob") == "" and runs.begun
    # Who has left is still in the control file.
    assert remark_with("ann") == "it waits for 2 players"
    register.note_game("ann")
    spent = "it waits for 2 players; of those who are here, 1 may play no more today by their quota"
    assert remark_with("ann", "bob") == spent
    register.members.set_quota("ann", 0, 2)
    clock.now += MEMBERS_SECONDS
    assert remark_with("ann", "bob") == ""


def test_a_pool_that_waits_says_how_many_are_here_who_do_not_play_it(
    keeper: PoolKeeper, clock: Clock, register: MemberRegister, here: list[str], tmp_path: Path
) -> None:
    (tmp_path / "house.pool").write_text("")
    join(register, Application("ann", games=("go",)), Application("bob", games=("goo",)))
    here += ["ann", "bob", "a-stranger"]
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert keeper.remark("night") == "it waits for 2 players; here, but without it in `--plays`: 1"


def test_a_base_that_no_run_can_use_is_named_and_leaves_the_control_file(
    keeper: PoolKeeper, runs: FailingRuns, clock: Clock, tmp_path: Path
) -> None:
    runs.lasting = LONGEST_PAUSE
    asyncio.run(look(keeper, clock, 1, 0.5))
    control, house = tmp_path / "night.toml", tmp_path / "house.pool"
    before, players = control.read_text(), house.read_text()
    house.write_text(players.replace('"python"', '"pithon"'))
    asyncio.run(look(keeper, clock, 2, 0.5))
    assert "players.one.protocol" in keeper.remark("night") and control.read_text() == before
    house.write_text(players.replace("two", "three"))
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert keeper.remark("night") == "" and read_control(control).competitors == ("one", "three")


def test_settings_that_are_checked_at_once_are_not_taken_for_each_other(tmp_path: Path) -> None:
    unknown = pools_pb2.PoolSettings(game="go", settings_json='{"board_size": 5, "nonsense": 1}')
    good = pools_pb2.PoolSettings(game="go", settings_json='{"board_size": 5}')

    def is_accepted(settings: pools_pb2.PoolSettings) -> bool:
        try:
            pool_files.check("night", settings, tmp_path)
        except ControlError as error:
            assert "nonsense" in str(error)
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        accepted = list(threads.map(is_accepted, [good, unknown] * 20))
    assert accepted == [True, False] * 20


def test_what_keeps_all_pools_from_being_looked_after_is_logged_once(
    keeper: PoolKeeper, tmp_path: Path, capture_faults: list[str]
) -> None:
    with closing(sqlite3.connect(tmp_path / "league.db")) as database:
        database.execute("ALTER TABLE LEAGUE_Pool RENAME TO away")
        fault = ""
        for _ in range(10):
            fault = asyncio.run(keeper._try_to_look(fault))
        assert capture_faults == ["pools can't be looked after"] and "LEAGUE_Pool" in fault
        database.execute("ALTER TABLE away RENAME TO LEAGUE_Pool")
    assert asyncio.run(keeper._try_to_look(fault)) == ""


def test_of_more_members_than_a_control_file_has_room_for_those_who_are_here_play(
    keeper: PoolKeeper,
    runs: FailingRuns,
    clock: Clock,
    register: MemberRegister,
    here: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    join(register, *(Application(name, "v" * 64, "f" * 64) for name in ("ann", "bob", "cyd")))
    runs.lasting = LONGEST_PAUSE

    def competitors_with(*names: str) -> list[str]:
        here[:] = names
        asyncio.run(look(keeper, clock, 1, 0.5))
        return sorted(read_control(tmp_path / "night.toml").competitors)

    assert competitors_with("ann", "bob", "cyd") == ["ann", "bob", "cyd", "one", "two"]
    # 5,000 members with the longest names and versions are more than a control file may have.
    monkeypatch.setattr(pool_files, "MAX_BYTES", (tmp_path / "night.toml").stat().st_size - 1)
    assert competitors_with("cyd", "bob") == ["bob", "cyd", "one", "two"]
    # Who left stays while there is room.
    assert competitors_with("ann") == ["ann", "bob", "one", "two"]


def test_a_pools_control_file_is_made_when_its_members_change_and_put_back_where_it_is_gone(
    keeper: PoolKeeper,
    runs: FailingRuns,
    clock: Clock,
    register: MemberRegister,
    here: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_in: list[int] = []

    def control_text(*arguments: Any) -> str:
        made_in.append(threading.get_ident())
        return pool_files.control_text(*arguments)

    monkeypatch.setattr(pool_keeper, "control_text", control_text)
    control, runs.lasting = tmp_path / "night.toml", LONGEST_PAUSE
    asyncio.run(look(keeper, clock, 10, 0.5))
    # The text takes long where members are thousands, and games wait for the loop.
    assert len(made_in) == 1 and threading.get_ident() not in made_in
    control.unlink()
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert len(made_in) == 1 and sorted(read_control(control).competitors) == ["one", "two"]
    join(register, Application("ann"))
    here.append("ann")
    clock.now += MEMBERS_SECONDS
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert len(made_in) == 2 and sorted(read_control(control).competitors) == ["ann", "one", "two"]


def test_removed_pools_and_members_are_forgotten(
    keeper: PoolKeeper, clock: Clock, register: MemberRegister, here: list[str]
) -> None:
    join(register, Application("ann"), Application("bob"))
    here += ["ann", "bob", "no member"]
    asyncio.run(look(keeper, clock, 2, 0.5))
    assert keeper._kept["night"].present == {"ann", "bob"}

    here.clear()
    register.members.remove("bob")
    clock.now += MEMBERS_SECONDS
    asyncio.run(look(keeper, clock, 2, 0.5))
    # She may come back.
    assert keeper._kept["night"].present == {"ann"}

    keeper.pools.set_state("night", ENDED)
    keeper.pools.remove("night")
    asyncio.run(look(keeper, clock, 1, 0.5))
    assert not keeper._kept


def test_a_pool_that_is_removed_while_it_is_looked_after_is_not_run(
    keeper: PoolKeeper, runs: FailingRuns, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_late(*arguments: Any) -> Any:
        keeper.pools.set_state("night", ENDED)
        keeper.pools.remove("night")
        return pool_files.check(*arguments)

    monkeypatch.setattr(pool_keeper, "check", check_late)
    asyncio.run(look(keeper, clock, 3, 0.5))
    assert not runs.begun


def test_a_pool_that_gets_more_rounds_as_its_last_one_ends_goes_on(
    keeper: PoolKeeper, runs: FailingRuns, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.status, runs.lasting = ExitStatus.DONE, 1.0
    more = pools_pb2.PoolSettings(rounds=20)
    more.MergeFrom(SETTINGS)

    def all_played(_: Path) -> bool:
        if len(runs.begun) == 1:
            keeper.pools.change("night", more.SerializeToString(deterministic=True))
        return True

    monkeypatch.setattr(pool_keeper, "_all_played", all_played)
    asyncio.run(look(keeper, clock, 4, 0.5))
    assert keeper.pools.named("night").state == OPEN and len(runs.begun) == 2
    asyncio.run(look(keeper, clock, 4, 0.5))
    assert keeper.pools.named("night").state == ENDED and len(runs.begun) == 2
