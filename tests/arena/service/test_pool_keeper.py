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


class Night:
    """A keeper of one pool, `night`, and all that it looks at, as a test likes."""

    def __init__(self, folder: Path, league: LeagueDatabase) -> None:
        self.control, self.house = folder / "night.toml", folder / "house.pool"
        self.clock = Clock()
        self.runs = FailingRuns(folder / "lobby", self.clock)
        self.register = MemberRegister(Members(league))
        # Who has dialled in.
        self.here: list[str] = []
        self.house.write_text(random_players("one", "two"))
        pools, url = Pools(league), f"sqlite:///{folder / 'league.db'}"
        pools.add("night", SETTINGS.SerializeToString(deterministic=True))
        self.keeper = PoolKeeper(pools, self.register, self.runs, folder, url, self._sessions)

    def join(self, *applications: Application) -> None:
        """Register members."""
        for number, application in enumerate(applications):
            self.register.members.register(application, "", f"key-{number:016}", open_to_all=True)

    def look(self, times: int = 1, every: float = 0.5) -> str:
        """Let the keeper look at its pool again and again; what it remarks then."""

        async def look() -> None:
            for _ in range(times):
                await self.keeper._look()
                self.clock.now += every

        asyncio.run(look())
        return self.keeper.remark("night")

    def _sessions(self) -> list[RemoteSession]:
        return [RemoteSession(players_pb2.Hello(player=name), b"", 10) for name in self.here]


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Night]:
    with closing(open_league(str(tmp_path / "league.db"), create=True)) as league:
        night = Night(tmp_path, league)
        monkeypatch.setattr(pool_keeper, "time", night.clock)
        yield night


@pytest.fixture
def capture_faults(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is logged as a warning or an error, as it comes."""
    faults: list[str] = []
    for level in ("warning", "exception"):
        monkeypatch.setattr(pool_keeper._log, level, lambda event, **_: faults.append(event), raising=False)
    return faults


def pauses(begun: Sequence[float]) -> list[float]:
    return [later - before for before, later in pairwise(begun)]


def test_a_pool_that_fails_all_night_is_begun_again_each_minute(night: Night) -> None:
    # One look to see that it failed, and one after the pause.
    night.look(40, LONGEST_PAUSE)
    # Later its number of failures is more than a power of two can have.
    night.keeper._kept["night"].failures += 1_100
    assert night.look(10, LONGEST_PAUSE) == "no database"
    assert set(pauses(night.runs.begun)) == {2.0 * LONGEST_PAUSE} and len(night.runs.begun) == 25


def test_a_pool_that_ran_for_long_is_begun_again_at_once_whatever_failed_before(night: Night) -> None:
    night.look(60, 5.0)
    assert pauses(night.runs.begun)[-1] >= LONGEST_PAUSE
    before, night.runs.lasting = len(night.runs.begun), 10.0 * LONGEST_PAUSE
    night.look(500, 5.0)
    # A look to see that it failed, and one after the pause of a first failure.
    assert set(pauses(night.runs.begun[before:])) == {night.runs.lasting + 5.0}


def test_a_pool_that_waits_long_before_it_fails_says_why_all_the_time(night: Night) -> None:
    night.runs.lasting = 0.5 * LONGEST_PAUSE
    assert night.look() == ""
    assert night.look(100) == "its last run failed: no database" and len(night.runs.begun) == 2
    night.runs.lasting = 10.0 * LONGEST_PAUSE
    assert night.look(10, LONGEST_PAUSE / 2.0) == "" and len(night.runs.begun) == 2


def test_a_fault_of_a_pool_is_logged_once_and_its_remark_ends_with_it(
    night: Night, capture_faults: list[str]
) -> None:
    night.runs.lasting = LONGEST_PAUSE
    night.look()
    control, kept = night.control, night.control.with_name("kept.toml")
    control.rename(kept)
    control.mkdir()
    assert "Is a directory" in night.look(20)
    assert capture_faults == ["a pool can't be looked after"]
    control.rmdir()
    kept.rename(control)
    assert night.look() == ""


def test_a_remark_is_about_what_keeps_a_pool_now_also_while_it_runs(night: Night) -> None:
    night.runs.lasting = LONGEST_PAUSE
    night.look()
    control, kept, house = night.control, night.control.with_name("kept.toml"), night.house
    control.rename(kept)
    control.mkdir()
    assert "Is a directory" in night.look()
    control.rmdir()
    kept.rename(control)
    players = house.read_text()
    house.write_text("")
    assert night.look() == "it waits for 2 players"
    house.write_text(players)
    assert night.look() == ""
    control.rename(kept)
    control.mkdir()
    house.write_text(players.replace("two", "three"))
    assert "Is a directory" in night.look()
    changed = pools_pb2.PoolSettings.FromString(SETTINGS.SerializeToString())
    changed.rounds += 1
    night.keeper.pools.change("night", changed.SerializeToString(deterministic=True))
    assert night.look() == "" and len(night.runs.begun) == 1


def test_a_pool_that_runs_names_what_keeps_its_members_from_a_game(night: Night) -> None:
    night.house.write_text("")
    night.join(Application("ann"), Application("bob"))
    night.register.members.set_quota("ann", 0, 1)
    night.runs.lasting = LONGEST_PAUSE

    def remark_with(*names: str) -> str:
        night.here[:] = names
        return night.look()

    assert remark_with("ann", "bob") == "" and night.runs.begun
    # Who has left is still in the control file.
    assert remark_with("ann") == "it waits for 2 players"
    night.register.note_game("ann")
    spent = "it waits for 2 players; of those who are here, 1 may play no more today by their quota"
    assert remark_with("ann", "bob") == spent
    night.register.members.set_quota("ann", 0, 2)
    night.clock.now += MEMBERS_SECONDS
    assert remark_with("ann", "bob") == ""


def test_a_pool_that_waits_says_how_many_are_here_who_do_not_play_it(night: Night) -> None:
    night.house.write_text("")
    night.join(Application("ann", games=("go",)), Application("bob", games=("goo",)))
    night.here += ["ann", "bob", "a-stranger"]
    assert night.look() == "it waits for 2 players; here, but without it in `--plays`: 1"


def test_a_member_whose_name_a_player_of_the_base_has_is_not_counted(night: Night) -> None:
    night.house.write_text(random_players("ann"))
    night.join(Application("ann"), Application("bob"))
    night.here.append("ann")
    assert night.look() == "it waits for 2 players" and not night.runs.begun
    night.runs.lasting = LONGEST_PAUSE
    night.here.append("bob")
    assert night.look() == "" and read_control(night.control).competitors == ("bob", "ann")
    night.here.remove("bob")
    assert night.look() == "it waits for 2 players"


def test_a_base_that_no_run_can_use_is_named_and_leaves_the_control_file(night: Night) -> None:
    night.runs.lasting = LONGEST_PAUSE
    night.look()
    control, house = night.control, night.house
    before, players = control.read_text(), house.read_text()
    house.write_text(players.replace('"python"', '"pithon"'))
    assert "players.one.protocol" in night.look(2) and control.read_text() == before
    house.write_text(players.replace("two", "three"))
    assert night.look() == "" and read_control(control).competitors == ("one", "three")


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
    night: Night, capture_faults: list[str]
) -> None:
    with closing(sqlite3.connect(night.control.with_name("league.db"))) as database:
        database.execute("ALTER TABLE LEAGUE_Pool RENAME TO away")
        fault = ""
        for _ in range(10):
            fault = asyncio.run(night.keeper._try_to_look(fault))
        assert capture_faults == ["pools can't be looked after"] and "LEAGUE_Pool" in fault
        database.execute("ALTER TABLE away RENAME TO LEAGUE_Pool")
    assert asyncio.run(night.keeper._try_to_look(fault)) == ""


def test_of_more_members_than_a_control_file_has_room_for_those_who_are_here_play(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    night.join(*(Application(name, "v" * 64, "f" * 64) for name in ("ann", "bob", "cyd")))
    night.runs.lasting = LONGEST_PAUSE

    def competitors_with(*names: str) -> list[str]:
        night.here[:] = names
        night.look()
        return sorted(read_control(night.control).competitors)

    assert competitors_with("ann", "bob", "cyd") == ["ann", "bob", "cyd", "one", "two"]
    # 5,000 members with the longest names and versions are more than a control file may have.
    monkeypatch.setattr(pool_files, "MAX_BYTES", night.control.stat().st_size - 1)
    assert competitors_with("cyd", "bob") == ["bob", "cyd", "one", "two"]
    # Who left stays while there is room.
    assert competitors_with("ann") == ["ann", "bob", "one", "two"]


def test_a_pools_control_file_is_made_when_its_members_change_and_put_back_where_it_is_gone(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_in: list[int] = []

    def control_text(*arguments: Any) -> str:
        made_in.append(threading.get_ident())
        return pool_files.control_text(*arguments)

    monkeypatch.setattr(pool_keeper, "control_text", control_text)
    control, night.runs.lasting = night.control, LONGEST_PAUSE
    night.look(10)
    # The text takes long where members are thousands, and games wait for the loop.
    assert len(made_in) == 1 and threading.get_ident() not in made_in
    control.unlink()
    night.look()
    assert len(made_in) == 1 and sorted(read_control(control).competitors) == ["one", "two"]
    night.join(Application("ann"))
    night.here.append("ann")
    night.clock.now += MEMBERS_SECONDS
    night.look()
    assert len(made_in) == 2 and sorted(read_control(control).competitors) == ["ann", "one", "two"]


def test_a_banned_member_is_in_no_round_though_it_is_still_here(night: Night) -> None:
    night.join(Application("ann"), Application("bob"))
    night.here += ["ann", "bob"]
    night.runs.lasting = LONGEST_PAUSE
    night.look()
    night.register.members.ban("bob", "", None)
    night.clock.now += MEMBERS_SECONDS + 1.0
    night.look(2)
    assert sorted(read_control(night.control).competitors) == ["ann", "one", "two"]


def test_removed_pools_and_members_are_forgotten(night: Night) -> None:
    night.join(Application("ann"), Application("bob"))
    night.here += ["ann", "bob", "no member"]
    night.look(2)
    assert night.keeper._kept["night"].present == {"ann", "bob"}

    night.here.clear()
    night.register.members.remove("bob")
    night.clock.now += MEMBERS_SECONDS
    night.look(2)
    # She may come back.
    assert night.keeper._kept["night"].present == {"ann"}

    night.keeper.pools.set_state("night", ENDED)
    night.keeper.pools.remove("night")
    night.look()
    assert not night.keeper._kept


def test_a_pool_that_is_removed_while_it_is_looked_after_is_not_run(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_late(*arguments: Any) -> Any:
        night.keeper.pools.set_state("night", ENDED)
        night.keeper.pools.remove("night")
        return pool_files.check(*arguments)

    monkeypatch.setattr(pool_keeper, "check", check_late)
    night.look(3)
    assert not night.runs.begun


def test_a_pool_that_gets_more_rounds_as_its_last_one_ends_goes_on(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    night.runs.status, night.runs.lasting = ExitStatus.DONE, 1.0
    more = pools_pb2.PoolSettings(rounds=20)
    more.MergeFrom(SETTINGS)

    def all_played(_: Path) -> bool:
        if len(night.runs.begun) == 1:
            night.keeper.pools.change("night", more.SerializeToString(deterministic=True))
        return True

    monkeypatch.setattr(pool_keeper, "_all_played", all_played)
    night.look(4)
    assert night.keeper.pools.named("night").state == OPEN and len(night.runs.begun) == 2
    night.look(4)
    assert night.keeper.pools.named("night").state == ENDED and len(night.runs.begun) == 2
