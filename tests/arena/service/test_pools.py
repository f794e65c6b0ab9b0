"""Pools are data: a real service plays them, through kills, with members that come while it runs."""

import asyncio
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from arena.league.database import open_league
from arena.league.errors import InvalidPoolError
from arena.league.pools import PAUSED, Pools, Schedule
from arena.v1 import competitions_pb2, members_pb2
from arena.v1 import pools_pb2 as messages
from clients import Connection, Engine, Game, GameTurn, Membership, dial_in_async, membership, register
from tests.arena.cli.command import arena
from tests.arena.control_files import random_players
from tests.arena.service.serving import Service, refused
from tests.arena.visits import Visits
from tests.ports import free_ports
from tests.waiting import until

SETTINGS = messages.PoolSettings(
    game="go", settings_json='{"board_size": 5, "komi": 0.5, "ko": "positional_superko"}', move_limit=60
)


def rambler(game: Game) -> Callable[[GameTurn], Awaitable[str]]:
    chance = random.Random(game.seed)

    async def choose(turn: GameTurn) -> str:
        # Slow enough to be killed within a round.
        await asyncio.sleep(0.003)
        return chance.choice(turn.legal_moves)

    return choose


class Bots(Visits):
    """Members that play until they are closed."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address

    def join(self, name: str, invitation: str = "") -> str:
        """Register a member and let it play; it dials again where the service is killed. Its token."""
        token = register(Connection(self._address), Membership(name, "1"), invitation)
        where = Connection(self._address, token=token)
        engine = Engine(legal_moves=True, games_at_once=1)
        self.begin(dial_in_async(where, name, rambler, engine, redial_seconds=180.0))
        return token


def settings_with(**more: Any) -> messages.PoolSettings:
    """The settings of a pool of quick games of Go, and others beside or instead of them."""
    settings = messages.PoolSettings()
    for part in (SETTINGS, messages.PoolSettings(**more)):
        settings.MergeFrom(part)
    return settings


def add_pool(service: Service, name: str, base: str = "", **more: Any) -> messages.PoolSettings:
    """Add a pool of quick games of Go, on a base of its name if there is the text of one; its settings."""
    if base:
        (service.tokens_file.parent / f"{name}.pool").write_text(base)
        more["base"] = name
    settings = settings_with(**more)
    service.call("AddPool", messages.AddPoolRequest(name=name, settings=settings), service="Pool")
    return settings


def rows(database: Path, query: str) -> list[tuple[object, ...]]:
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
            return connection.execute(query).fetchall()
    except sqlite3.OperationalError:
        # It is not made yet.
        return []


def test_a_pool_outlives_kills_in_mid_round_with_its_members_and_newcomers_and_is_paused_after_one(
    tmp_path: Path,
) -> None:
    address = f"unix:{tmp_path / 's'}"
    options = ("--league", str(tmp_path / "league.db"), "--open-registration")
    service = Service(tmp_path, *options, address=address)
    bots = Bots(address)
    results, league = tmp_path / "blitz.results.sqlite", tmp_path / "league.db"
    finished = "SELECT ContestId FROM ARENA_Game"
    try:
        add = messages.AddPoolRequest(name="blitz", settings=SETTINGS)
        for _ in range(2):
            # The same again changes nothing.
            assert service.call("AddPool", add, service="Pool").pool.state == messages.POOL_STATE_OPEN
        bots.join("ann")
        bots.join("bob")
        until((tmp_path / "blitz.toml").exists)
        # The league's address in it may hold a password.
        assert (tmp_path / "blitz.toml").stat().st_mode & 0o077 == 0
        until(lambda: len(rows(results, finished)) >= 2)
        known = set(rows(results, finished))
        for process in (service.process.pid, int((tmp_path / "blitz.lock").read_text())):
            os.kill(process, signal.SIGKILL)
        service.process.wait()
        service.channel.close()
        service = Service(tmp_path, *options, address=address, tokens=service.tokens)
        # Without a restart, from the next round on.
        cyd = Connection(address, token=bots.join("cyd"))
        until(lambda: any("cyd" in str(row[0]) for row in rows(results, "SELECT Name FROM ARENA_Rating")))
        registered = membership(cyd).registered
        known |= set(rows(results, finished))
        run = int((tmp_path / "blitz.lock").read_text())
        service.process.kill()
        service.process.wait()
        service.channel.close()
        # As when it is killed before it stops the run of a pool that is paused.
        with closing(open_league(str(league))) as kept:
            Pools(kept).set_state("blitz", PAUSED)
        os.kill(run, 0)
        service = Service(tmp_path, *options, address=address, tokens=service.tokens)
        service.wait_for("blitz", lambda pool: pool.state == competitions_pb2.COMPETITION_STATE_STOPPED)
        pool = service.call("ListPools", messages.ListPoolsRequest(), "eye", service="Pool").pools[0]
        assert pool.state == messages.POOL_STATE_PAUSED
        # The service forgot no member, and bounds the registrations of one address.
        assert membership(cyd) == Membership("cyd", "1", "cyd", registered=registered)
        reasons = [refused(lambda: register(cyd, Membership("0"))) for _ in range(31)]
        assert reasons[0] == "INVALID_MEMBER" and reasons[-1] == "TOO_MANY"
    finally:
        service.close()
        bots.close()
    # No game that was stored is lost, and the league has each once.
    games = rows(results, finished)
    assert known <= set(games) and len(games) == len(set(games))
    assert sorted(rows(league, "SELECT ContestId FROM LEAGUE_Game")) == sorted(games)
    # Nobody lost a game because the arena was killed.
    ended = rows(results, "SELECT DISTINCT Termination FROM ARENA_Game")
    assert ("forfeit",) not in ended


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("pools")
    (folder / "cup.toml").write_text('[competition]\nkind = "standing"\n')
    (folder / "tuned.pool").write_text("[game]\nkomi = 7.5\n")
    with closing(Service(folder, "--league", str(folder / "league.db"))) as running:
        yield running


def test_a_pool_with_an_academy_and_an_anchor_of_its_own_plays_with_one_member(service: Service) -> None:
    folder = service.tokens_file.parent
    invitation = service.call("CreateInvitation", members_pb2.CreateInvitationRequest(uses=2)).code
    bots = Bots(service.address)
    results, league = folder / "house.results.sqlite", folder / "league.db"
    learnt = "SELECT ContestId FROM ARENA_Outbox WHERE State = 'acknowledged'"
    try:
        anchor = f"{random_players('ann')}fixed_elo = 700\n"
        add_pool(service, "house", f'[academy]\naddress = "embedded"\n{anchor}')
        # A member of the anchor's name does not take its place.
        bots.join("ann", invitation)
        bots.join("bob", invitation)
        until(lambda: len(rows(results, learnt)) >= 2)
        service.call("PausePool", messages.PausePoolRequest(name="house"), service="Pool")
        service.wait_for("house", lambda pool: pool.state == competitions_pb2.COMPETITION_STATE_STOPPED)
    finally:
        bots.close()
    assert set(rows(results, "SELECT Name FROM ARENA_Rating")) == {("ann",), ("bob",)}
    anchored = 'SELECT "Elo" FROM LEAGUE_Rating NATURAL JOIN LEAGUE_Player WHERE "Name" = \'ann\''
    assert rows(league, anchored) == [(700.0,)]


@pytest.mark.parametrize(
    ("name", "changes", "who", "why"),
    [
        ("x", {"settings_json": '{"board_size": 99}'}, "me", "INVALID_CONTROL"),
        ("x", {"settings_json": "[]"}, "me", "INVALID_POOL"),
        ("x", {"settings_json": '{"komi": null}'}, "me", "INVALID_POOL"),
        ("x", {"settings_json": '{"komi": 1e999}'}, "me", "INVALID_POOL"),
        ("x", {"settings_json": '{"komi": 1, "komi": 2}'}, "me", "INVALID_POOL"),
        ("x", {"settings_json": '{"name": "hex"}'}, "me", "INVALID_POOL"),
        ("x", {"settings_json": '{"komi": ' + "[" * 900 + "]" * 900 + "}"}, "me", "INVALID_POOL"),
        ("x", {"move_time": Duration(seconds=10**12)}, "me", "INVALID_CONTROL"),
        ("x", {"move_time": Duration(nanos=2 * 10**9)}, "me", "INVALID_POOL"),
        ("x", {"game": "no such game"}, "me", "INVALID_CONTROL"),
        ("x", {"schedule": "every day"}, "me", "INVALID_POOL"),
        ("x", {"schedule": "0 20 * * 6"}, "me", "INVALID_POOL"),
        ("x", {"openings": "name: Z99"}, "me", "INVALID_POOL"),
        ("x", {"base": "nowhere"}, "me", "INVALID_POOL"),
        ("x", {"base": "../elsewhere"}, "me", "INVALID_POOL"),
        ("x", {"base": "tuned"}, "me", "INVALID_POOL"),
        ("../x", {}, "me", "INVALID_POOL"),
        ("cup", {}, "me", "POOL_CONFLICT"),
        ("x", {}, "eye", "NOT_PERMITTED"),
    ],
)
def test_a_pool_that_cannot_be_is_refused_by_name(
    service: Service, name: str, changes: dict[str, Any], who: str, why: str
) -> None:
    request = messages.AddPoolRequest(name=name, settings=settings_with(**changes))
    assert refused(lambda: service.call("AddPool", request, who, "Pool")) == why


def test_a_pool_is_changed_and_ended_from_the_command_line(service: Service) -> None:
    def pool(*words: str) -> str:
        done = service.arena("pool", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    # It is closed whenever the test runs.
    later = f"0 {(datetime.now(UTC).hour + 3) % 24} * * *"
    made = pool("add", "hexes", "--game", "hex", "--set", "board_size=5", "--schedule", later, "--hours", "2")
    assert re.search(r"closed until \S+ \S+ UTC", made) and f"{later} for 2:00:00" in made
    assert "60 s + 1 s" in pool("change", "hexes", "--main", "60", "--increment", "1")
    assert "ended" in pool("end", "hexes")
    resume = messages.ResumePoolRequest(name="hexes")
    assert refused(lambda: service.call("ResumePool", resume, service="Pool")) == "POOL_CONFLICT"


def test_pools_with_long_openings_are_listed_and_changed_and_keep_them(service: Service) -> None:
    names, book = [f"book{number}" for number in range(5)], "first: C3\n" + "\n" * 1_000_000
    for name in names:
        settings = add_pool(service, name, openings=book, schedule="0 20 * * 6", open_for=Duration(seconds=1))
    listed = service.arena("pool", "list")
    assert listed.returncode == 0 and all(name in listed.stdout for name in names), listed.stderr
    changed = service.arena("pool", "change", "book3", "--move-limit", "40")
    assert changed.returncode == 0, changed.stderr
    settings.move_limit = 40
    got = service.call("GetPool", messages.GetPoolRequest(name="book3"), "eye", service="Pool").pool
    assert got.settings == settings
    missing = service.arena("pool", "change", "nowhere", "--move-limit", "40")
    assert missing.returncode != 0 and "there is no pool 'nowhere'" in missing.stderr
    for name in names:
        service.call("EndPool", messages.EndPoolRequest(name=name), service="Pool")


def test_the_list_does_not_repeat_why_a_pool_failed_that_has_ended(service: Service) -> None:
    # No ACADEMY has its data there.
    (service.tokens_file.parent / "lost.academy").touch()
    academy = '[academy]\naddress = "embedded"\ndata = "lost.academy"\n'
    add_pool(service, "lost", academy + random_players("one", "two"))
    until((service.tokens_file.parent / "lost.toml").exists)
    halted = service.wait_for("lost", lambda pool: bool(pool.remark))
    assert halted.state == competitions_pb2.COMPETITION_STATE_HALTED and "lost.academy" in halted.remark
    service.call("EndPool", messages.EndPoolRequest(name="lost"), service="Pool")
    service.wait_for("lost", lambda pool: not pool.remark)


def test_a_service_whose_league_failed_is_not_called_absent(service: Service) -> None:
    with closing(sqlite3.connect(service.tokens_file.parent / "league.db", timeout=30)) as database:
        database.execute("ALTER TABLE LEAGUE_Pool RENAME TO away")
        try:
            failed = service.arena("pool", "list")
        finally:
            database.execute("ALTER TABLE away RENAME TO LEAGUE_Pool")
    assert failed.returncode == 1 and failed.stderr.endswith(" [STORE_FAILED]\n"), failed.stderr


def test_a_pool_with_rounds_to_play_goes_on_after_arena_stop_and_ends_with_its_last_round(
    service: Service,
) -> None:
    folder = service.tokens_file.parent
    settings = add_pool(service, "long", random_players("one", "two"), rounds=100_000)
    until((folder / "long.toml").exists)
    service.wait_for("long", lambda pool: pool.games_played > 0)
    run = (folder / "long.lock").read_text()
    service.ask("StopCompetition", competitions_pb2.StopCompetitionRequest(name="long"))
    until(lambda: (folder / "long.lock").read_text() not in ("", run))
    get = messages.GetPoolRequest(name="long")
    assert service.call("GetPool", get, service="Pool").pool.state == messages.POOL_STATE_OPEN
    # It has played more rounds than these, or plays them now.
    settings.rounds = 1
    service.call("ChangePool", messages.ChangePoolRequest(name="long", settings=settings), service="Pool")
    until(lambda: service.call("GetPool", get, service="Pool").pool.state == messages.POOL_STATE_ENDED)
    # No run follows the one that was the last.
    idle = service.wait_for("long", lambda pool: pool.state != competitions_pb2.COMPETITION_STATE_RUNNING)
    assert idle.state == competitions_pb2.COMPETITION_STATE_COMPLETED


def test_seven_play_diplomacy_in_a_pool_and_one_of_them_dials_in_over_daide(service: Service) -> None:
    (port,) = free_ports(1)
    folder = service.tokens_file.parent
    (folder / "powers.pool").write_text(
        f'[daide]\naddress = "127.0.0.1:{port}"\n[players.albert]\nprotocol = "daide"\nclient = "Albert"\n'
        + random_players(*"abcdef")
    )
    settings = messages.PoolSettings(game="diplomacy", base="powers", move_limit=10, rounds=1)
    service.call("AddPool", messages.AddPoolRequest(name="powers", settings=settings), service="Pool")
    until((folder / "powers.toml").exists)
    service.wait_for("powers", lambda pool: pool.state == competitions_pb2.COMPETITION_STATE_RUNNING)
    bot = ("-m", "clients.bots.diplomacy.daide", "--bot", "random", "--name", "Albert", "--port", str(port))
    with subprocess.Popen([sys.executable, *bot]) as albert:
        played = service.wait_for("powers", lambda pool: pool.games_played == 1)
        albert.terminate()
    assert "albert" in played.players and len(played.players) == 7


def test_a_schedule_opens_and_closes_by_the_clock() -> None:
    saturdays = Schedule.of("0 20 * * 6", timedelta(hours=2))
    assert saturdays is not None
    evening = datetime(2026, 11, 28, 20)
    for minutes, is_open in ((-1, False), (0, True), (119, True), (120, False)):
        assert saturdays.is_open(evening + timedelta(minutes=minutes)) is is_open
    assert saturdays.opens(evening) == evening + timedelta(days=7)
    with pytest.raises(InvalidPoolError, match="minute, hour, day"):
        Schedule.of("0 25 * * 6", timedelta(hours=2))


@pytest.mark.parametrize("cron", ["0 0 30 2 *", "0 0 * * * *", "0 0 1 1 *" + " " * 200 + "junk"])
def test_a_schedule_that_never_comes_or_is_none_is_refused(cron: str) -> None:
    with pytest.raises(InvalidPoolError, match="minute, hour, day"):
        Schedule.of(cron, timedelta(hours=2))


def test_a_pool_that_never_ran_is_removed_once_it_has_ended(service: Service) -> None:
    def call(method: str) -> None:
        request = getattr(messages, f"{method}Request")(name="typo")
        service.call(method, request, service="Pool")

    add_pool(service, "typo")
    assert refused(lambda: call("RemovePool")) == "POOL_CONFLICT"
    call("EndPool")
    call("RemovePool")
    listed = service.call("ListPools", messages.ListPoolsRequest(), service="Pool").pools
    assert "typo" not in [pool.name for pool in listed]
    assert refused(lambda: call("EndPool")) == "UNKNOWN_POOL"


def test_a_pool_that_was_added_by_mistake_is_not_removed_while_its_run_begins(service: Service) -> None:
    add_pool(service, "slip", random_players("one", "two"))
    until((service.tokens_file.parent / "slip.toml").exists)
    service.wait_for("slip", lambda pool: pool.state == competitions_pb2.COMPETITION_STATE_RUNNING)
    service.call("EndPool", messages.EndPoolRequest(name="slip"), service="Pool")
    remove = messages.RemovePoolRequest(name="slip")
    assert refused(lambda: service.call("RemovePool", remove, service="Pool")) == "POOL_CONFLICT"
    service.wait_for("slip", lambda pool: pool.state != competitions_pb2.COMPETITION_STATE_RUNNING)


def test_a_second_service_does_not_take_a_folders_pools(service: Service, tmp_path: Path) -> None:
    folder = service.tokens_file.parent
    done = arena("serve", folder, "--tokens", service.tokens_file, "--league", tmp_path / "league.db")
    assert done.returncode == 1 and "another service keeps the pools here" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--hours", "2"), "--hours: give --schedule too, such as '0 20 * * 6'"),
        (("--schedule", "0 20 * * 6"), "--schedule: say with --hours how long"),
        (
            ("--schedule", "0 20 * * 6", "--hours", "0"),
            "--schedule: say with --hours how long the pool is open",
        ),
    ],
)
def test_half_a_schedule_is_refused_by_its_option(
    service: Service, words: tuple[str, ...], message: str
) -> None:
    done = service.arena("pool", "add", "x", "--game", "go", *words)
    assert done.returncode == 2 and message in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "words",
    [
        ("pool", "add", "x", "--game", "go", "--main", "inf"),
        ("pool", "add", "x", "--game", "go", "--move-seconds", "nan"),
        ("pool", "add", "x", "--game", "go", "--rounds", "99999999999"),
        ("pool", "add", "x", "--game", "go", "--hours", "1e300"),
        ("member", "invite", "--days", "inf"),
    ],
)
def test_a_number_out_of_range_is_refused_by_its_option(service: Service, words: tuple[str, ...]) -> None:
    done = service.arena(*words)
    assert done.returncode == 2
    assert words[-2] in done.stderr and "Traceback" not in done.stderr
