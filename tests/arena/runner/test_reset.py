"""Deleting a competition: what ACADEMY still waits for is reported first, or named."""

import sqlite3
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from sqlalchemy import select

from academy.store.contest_tables import contest_record
from academy.store.library_store import Store
from academy.v1 import contests_pb2
from arena.academy import lifecycle, session
from arena.academy.client import contest_message
from arena.academy.session import AcademySession
from arena.control.settings import Control
from arena.control.toml_file import read
from arena.league.database import LeagueDatabase
from arena.league.tables import GAME
from arena.reports.text import text_report
from arena.results.database import ResultsDatabase, ResultsError, sqlite_url
from arena.results.run_lock import lock_competition
from arena.results.series import PlannedGame
from arena.runner.files import CompetitionFiles
from arena.runner.options import RunOptions
from arena.runner.report import read_report
from arena.runner.reset import LeftOpen, reset
from arena.runner.run import run
from tests.arena.cli.command import ARENA, arena
from tests.arena.contest_server import ContestServer
from tests.arena.control_files import PASSING, misbehaving, write_control
from tests.arena.results.examples import heading, registered
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("games_here")

HANGING = misbehaving("hang-in-genmove")


def opened(path: Path) -> tuple[Control, CompetitionFiles]:
    return read(path), CompetitionFiles(path)


def killed_in_a_game(path: Path) -> None:
    """Run a competition and kill the arena while its first game is played."""
    process = subprocess.Popen([*ARENA, "run", str(path), "-q"])
    log = path.with_suffix(".log")
    until(lambda: log.exists() and "game started" in log.read_text(), process)
    process.kill()
    process.wait()


def left_open(path: Path) -> str:
    """Leave a contest open at ACADEMY as an arena that is killed does; return its id."""
    control, files = opened(path)
    assert control.academy is not None
    spec = control.game.rules().spec()
    with (
        closing(ResultsDatabase.open(files.results)) as database,
        closing(AcademySession(control.academy, spec, files.academy_log)) as academy,
    ):
        series = registered(database, heading(name=files.name))
        attempt = series.next_attempt("AvB_0")
        contest = contest_message(attempt.contest_id, spec, ("one", "engine"), (1000.0, 1000.0))
        series.begin(attempt, contest.SerializeToString(), PlannedGame("AvB", heading().players))
        academy.link.open_contest(contest)
    return attempt.contest_id


def with_hanging_game(tmp_path: Path, server: ContestServer | None, more: str = "") -> Path:
    players = {"one": PASSING, "engine": HANGING}
    return write_control(tmp_path, players, server, "rounds = 1\ncheck_players = false", more)


def test_an_interrupted_games_contest_is_void_before_it_is_forgotten(
    tmp_path: Path, server: ContestServer
) -> None:
    path = with_hanging_game(tmp_path, server)
    killed_in_a_game(path)
    assert len(server.opened) == 1 and not server.reports

    assert reset(*opened(path)) is None

    assert server.void_reports == set(server.opened)
    assert {path.name for path in tmp_path.glob("contest*")} == {
        "contest.toml",
        "contest.lock",
        "contest.results.sqlite.contest.lock",
        "contests",
    }


def test_a_report_that_waits_is_delivered_before_it_is_forgotten(
    tmp_path: Path, server: ContestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "DELIVERY_SECONDS", 0.2)
    path = write_control(tmp_path, {"one": PASSING, "two": PASSING}, server, "rounds = 1")
    server.fail("ReportContest", *[grpc.StatusCode.UNAVAILABLE] * 20)
    control, files = opened(path)
    ended = run(control, files, RunOptions(quiet=True))
    assert ended.undelivered == 1
    server.failures.clear()

    assert reset(control, files) is None

    assert server.game_reports == set(server.opened)


def test_a_refused_report_is_sent_as_void(tmp_path: Path, server: ContestServer) -> None:
    path = write_control(tmp_path, {"one": PASSING, "two": PASSING}, server, "rounds = 1")
    server.fail("ReportContest", grpc.StatusCode.INVALID_ARGUMENT)
    control, files = opened(path)
    run(control, files, RunOptions(quiet=True))
    assert not server.reports

    assert reset(control, files) is None

    assert server.void_reports == set(server.opened)


def test_an_acknowledged_report_is_not_sent_again(tmp_path: Path, server: ContestServer) -> None:
    path = write_control(tmp_path, {"one": PASSING, "two": PASSING}, server, "rounds = 2")
    control, files = opened(path)
    run(control, files, RunOptions(quiet=True))
    server.stop()

    assert reset(control, files) is None

    assert set(server.tried.values()) == {1}


def test_contests_that_stay_open_are_named(
    tmp_path: Path, server: ContestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = with_hanging_game(tmp_path, server)
    contest_id = left_open(path)
    server.stop()
    monkeypatch.setattr(session, "FIRST_CALL_SECONDS", 0.2)

    left = reset(*opened(path))

    assert left is not None and left.contest_ids == (contest_id,)
    assert f"end them with: academy contests void {contest_id}" in str(left)
    assert not path.with_suffix(".results.sqlite").exists()


def test_contests_that_academy_refuses_to_end_are_named(tmp_path: Path, server: ContestServer) -> None:
    path = with_hanging_game(tmp_path, server)
    contest_id = left_open(path)
    server.failing_reports[contest_id] = grpc.StatusCode.PERMISSION_DENIED
    left = reset(*opened(path))
    assert left is not None and left.contest_ids == (contest_id,) and "this one always" in left.why


def test_results_that_cannot_be_read_are_deleted_all_the_same(tmp_path: Path, server: ContestServer) -> None:
    path = with_hanging_game(tmp_path, server)
    path.with_suffix(".results.sqlite").write_bytes(b"no database " * 100)
    left = reset(*opened(path))
    assert isinstance(left, LeftOpen) and "`academy contests list` shows them" in str(left)
    assert not path.with_suffix(".results.sqlite").exists()


def test_a_competition_that_was_never_run_is_reset_without_academy(tmp_path: Path) -> None:
    server = ContestServer(tmp_path)
    assert reset(*opened(with_hanging_game(tmp_path, server))) is None


def test_contests_of_an_embedded_academy_are_ended_too(tmp_path: Path) -> None:
    path = with_hanging_game(tmp_path, None, '[academy]\naddress = "embedded"')
    killed_in_a_game(path)
    with sqlite3.connect(path.with_suffix(".results.sqlite")) as database:
        ((contest_id,),) = database.execute('SELECT "ContestId" FROM "ARENA_Attempt"')

    assert reset(*opened(path)) is None

    with Store(path.with_suffix(".academy"), read_only=True) as academy:
        assert academy.read(contest_record, contest_id).contest.state == contests_pb2.CONTEST_STATE_VOID


def test_arena_reset_names_contests_that_stay_open_and_exits_with_5(
    tmp_path: Path, server: ContestServer
) -> None:
    path = with_hanging_game(tmp_path, server)
    contest_id = left_open(path)
    path.write_text(path.read_text().partition("[academy]")[0])
    done = arena("reset", path)
    assert done.returncode == 5
    assert done.stderr.startswith("arena: 1 contests stay open at ACADEMY") and contest_id in done.stderr


# Results files of several competitions


def played(folder: Path, results: str = "") -> tuple[Control, CompetitionFiles]:
    """A competition of one game, over."""
    folder.mkdir()
    path = write_control(folder, {"one": PASSING, "two": PASSING}, competition=f"rounds = 1\n{results}")
    control = read(path.rename(folder / f"{folder.name}.toml"))
    files = CompetitionFiles(control.path, control.results)
    run(control, files, RunOptions(quiet=True))
    return control, files


def test_games_that_the_league_has_not_are_taken_in_before_they_are_deleted(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "league.db")
    control, files = played(tmp_path / "one")
    again, files_again = played(tmp_path / "two")
    reset(replace(control, league=url), files)
    assert not (tmp_path / "league.db").exists()
    with closing(LeagueDatabase.open(url)) as league:
        reset(replace(again, league=url), files_again)
        assert len(league.rows(select(GAME.c.ContestId))) == 1


def test_games_that_the_league_cannot_take_in_are_not_deleted(tmp_path: Path) -> None:
    control, files = played(tmp_path / "one")
    (tmp_path / "league.db").write_text("no database")
    with pytest.raises(ResultsError, match="the league, which may lack games of one, can't be used"):
        reset(replace(control, league=sqlite_url(tmp_path / "league.db")), files)
    assert text_report(read_report(control, files))
    reset(control, files)


@pytest.mark.parametrize("results", ["", 'results = "sqlite:///owner.results.sqlite"'], ids=["own", "URL"])
def test_the_owner_of_a_shared_results_file_leaves_what_others_have_there(
    tmp_path: Path, results: str
) -> None:
    owner = played(tmp_path / "owner", results)
    guest = played(tmp_path / "guest", 'results = "sqlite:///../owner/owner.results.sqlite"')
    before = text_report(read_report(*guest))

    reset(*owner)

    assert text_report(read_report(*guest)) == before
    with pytest.raises(ResultsError, match="there are no results of 'owner' yet"):
        read_report(*owner)
    reset(*guest)
    reset(*owner)
    # A file that the control file names stays, as others may begin to use it.
    assert Path(str(owner[1].results.database)).exists() == bool(results)


def test_the_guest_of_a_results_file_leaves_it_to_its_owner(tmp_path: Path) -> None:
    owner = played(tmp_path / "owner")
    guest = played(tmp_path / "guest", 'results = "sqlite:///../owner/owner.results.sqlite"')
    before = text_report(read_report(*owner))
    reset(*guest)
    assert text_report(read_report(*owner)) == before


def test_reset_keeps_a_results_file_that_another_competition_begins_to_use(tmp_path: Path) -> None:
    owner, files = played(tmp_path / "owner")
    with closing(ResultsDatabase.open(files.results)) as database, lock_competition(database, "beginning"):
        reset(owner, files)
        assert Path(str(files.results.database)).exists()
    reset(owner, files)
    assert not Path(str(files.results.database)).exists()


def test_an_unreadable_results_file_that_is_in_use_is_not_deleted(tmp_path: Path) -> None:
    owner, files = played(tmp_path / "owner")
    file = Path(str(files.results.database))
    with closing(ResultsDatabase.open(files.results)) as database, lock_competition(database, "other"):
        database.close()
        file.write_bytes(b"no database " * 100)
        with pytest.raises(ResultsError, match="can't open the results database"):
            reset(owner, files)
    assert file.exists()


def test_a_competition_that_runs_from_another_control_file_of_the_name_is_not_reset(tmp_path: Path) -> None:
    owner, files = played(tmp_path / "owner")
    refusal = r"the competition owner of the database .* is already running"
    with closing(ResultsDatabase.open(files.results)) as database, lock_competition(database, "owner"):
        with pytest.raises(ResultsError, match=refusal):
            reset(owner, files)
        with pytest.raises(ResultsError, match=refusal):
            run(owner, files, RunOptions(quiet=True))
    assert "1/1 games played" in text_report(read_report(owner, files))
