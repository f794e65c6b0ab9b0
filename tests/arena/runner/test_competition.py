"""The loop: every game is selected, played, recorded, rated and reported, and counts once."""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import grpc
import pytest

from academy.v1 import contests_pb2
from arena.academy import client
from arena.academy import lifecycle as academy_desk
from arena.academy.session import AcademySession
from arena.control.toml_file import read
from arena.jobs import GameResult
from arena.results.database import ResultsDatabase, ResultsError, sqlite_url
from arena.results.registration import Heading
from arena.results.series import Series
from arena.runner.competition import Competition, RunEnd, RunResources
from arena.runner.event_log import EventLog
from arena.runner.files import CompetitionFiles
from arena.runner.game_jobs import JobMaker, setting_of
from arena.runner.stopping import RunInterruptedError, StopRequests
from arena.selection.kinds import selector_for
from arena.terminal.display import Display
from arena.terminal.progress import RunProgress
from arena.workers.interface import WorkerLost
from arena.workers.local_workers import LocalWorkers
from arena.workers.nursery import Nursery
from clients.connection import AcademyUnavailableError
from referees.api import referee
from tests.arena.contest_server import ContestServer
from tests.arena.control_files import MISSING, PASSING, RANDOM, SLOW, write_control
from tests.arena.inline_worker import InlineWorker


class RecordingDisplay(Display):
    def __init__(self) -> None:
        self.results: list[str] = []
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.progress: list[RunProgress] = []

    def show(self, progress: Callable[[], RunProgress]) -> None:
        self.progress.append(progress())

    def note(self, text: str) -> None:
        self.notes.append(text)

    def acknowledge(self, text: str) -> None:
        self.notes.append(text)

    def result(self, text: str) -> None:
        self.results.append(text)

    def warning(self, text: str) -> None:
        self.warnings.append(text)


class Arena:
    """Runs the competition of a control file in this process, again and again."""

    def __init__(self, control_path: Path, nursery: Nursery | None = None) -> None:
        """Where there are games at a time, their workers are forked from the nursery."""
        self.control = read(control_path)
        self.nursery = nursery
        self.files = CompetitionFiles(control_path)
        self.display = RecordingDisplay()
        self.checks = 0

    def run(self, max_games: int | None = None, interrupt_after: int | None = None) -> RunEnd:
        control, files, selector = self.control, self.files, selector_for(self.control)
        rules = referee("go").from_settings(control.game.settings)

        class Stopping(StopRequests):
            def look(stopping) -> str:
                reached = interrupt_after is not None and len(self.display.results) >= interrupt_after
                # Results that come together leave no game in progress for a moment.
                if reached and series.open_attempts():
                    raise RunInterruptedError
                return super().look()

        heading = Heading(
            files.name, control.kind, "", selector.description, selector.total,
            setting_of(control.game), [control.players[name] for name in control.competitors],
        )  # fmt: skip
        with (
            closing(ResultsDatabase.open(files.results)) as database,
            EventLog(files.log) as log,
            ExitStack() as stack,
        ):
            workers: Any = InlineWorker()
            if control.parallel > 1:
                workers = stack.enter_context(LocalWorkers(control.parallel, nursery=self.nursery))
            series = Series.register(database, heading)
            series.describe(heading)
            session = None
            if control.academy is not None:
                session = AcademySession(control.academy, rules.spec(), files.academy_log)
            try:
                resources = RunResources(files, series, log, Stopping(files), workers, session, self.display)
                return Competition(control, selector, JobMaker(control, files), resources).run(max_games)
            finally:
                if session is not None:
                    session.close()

    def finished(self) -> Sequence[str]:
        with closing(ResultsDatabase.open(self.files.results)) as database:
            return [game.game_id for game in Series.find(database, self.files.name).finished_games()]


def game_ids(contests: set[str]) -> list[str]:
    return sorted(contest_id.split("/")[1] for contest_id in contests)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


ALL_GAMES = ["AvB_0", "AvB_1", "AvC_0", "AvC_1", "BvC_0", "BvC_1"]
THREE = {"one": RANDOM, "two": RANDOM, "three": PASSING}


def test_a_competition_from_beginning_to_end(tmp_path: Path, server: ContestServer, nursery: Nursery) -> None:
    arena = Arena(write_control(tmp_path, THREE, server, "rounds = 2\nparallel = 2"), nursery)
    assert arena.run() is RunEnd.COMPLETED
    assert sorted(arena.finished()) == ALL_GAMES
    assert game_ids(server.game_reports) == ALL_GAMES and not server.void_reports
    assert set(server.opened) == set(server.reports)
    assert {path.stem for path in arena.files.games.iterdir()} == set(ALL_GAMES)
    assert all(path.read_text().startswith("(;FF[4]") for path in arena.files.games.iterdir())
    assert len(arena.files.history.read_text().splitlines()) == 6
    assert len(arena.display.results) == 6
    assert arena.display.progress[-1].standings.games == 6


def test_contests_are_opened_with_the_ratings_of_the_moment(tmp_path: Path, server: ContestServer) -> None:
    ratings = "[ratings]\nstart = 1500"
    players = {"one": RANDOM, "anchor": f"{RANDOM}\nfixed_elo = 0"}
    arena = Arena(write_control(tmp_path, players, server, more=ratings))
    arena.run()
    contests = {contest_id.split("/")[1]: contest for contest_id, contest in server.opened.items()}
    reports = {contest_id.split("/")[1]: report for contest_id, report in server.reports.items()}
    elo = {player.name: player.elo for player in contests["AvB_0"].players}
    assert elo == {"one": 1500.0, "anchor": 0.0}
    second = {player.name: player.elo for player in contests["AvB_1"].players}
    won = reports["AvB_0"].results[0] == contests_pb2.RESULT_WIN
    assert second["anchor"] == 0.0
    assert second["one"] > 1500.0 if won else second["one"] < 1475.0


def test_a_completed_competition_has_nothing_left_to_do(tmp_path: Path, server: ContestServer) -> None:
    arena = Arena(write_control(tmp_path, THREE, server))
    arena.run()
    history = arena.files.history.read_text()
    assert arena.run() is RunEnd.COMPLETED
    assert sorted(arena.finished()) == ALL_GAMES
    assert set(server.counted.values()) == {1}
    assert arena.files.history.read_text() == history


def test_a_run_of_limited_games_is_taken_up_again(tmp_path: Path, server: ContestServer) -> None:
    arena = Arena(write_control(tmp_path, THREE, server))
    assert arena.run(max_games=0) is RunEnd.GAME_LIMIT
    assert arena.run(max_games=4) is RunEnd.GAME_LIMIT
    assert len(arena.finished()) == 4
    assert arena.run() is RunEnd.COMPLETED
    assert sorted(arena.finished()) == game_ids(server.game_reports) == ALL_GAMES


def test_games_that_are_played_again_after_a_backup_was_put_back_are_other_contests(
    tmp_path: Path, server: ContestServer
) -> None:
    arena = Arena(write_control(tmp_path, THREE, server))
    results, backup = Path(str(arena.files.results.database)), tmp_path / "backup"
    arena.run(max_games=2)
    shutil.copyfile(results, backup)
    arena.run(max_games=2)
    assert len(server.game_reports) == 4
    shutil.copyfile(backup, results)
    assert arena.run() is RunEnd.COMPLETED
    # ACADEMY takes no contest again.
    assert len(server.game_reports) == 4 + 4
    assert set(game_ids(server.game_reports)) == set(ALL_GAMES)


def test_an_interrupted_game_is_reported_void_and_played_again(
    tmp_path: Path, server: ContestServer, nursery: Nursery
) -> None:
    slow = {"one": SLOW, "two": SLOW}
    arena = Arena(write_control(tmp_path, slow, server, "rounds = 6\nparallel = 2"), nursery)
    with pytest.raises(RunInterruptedError):
        arena.run(interrupt_after=2)
    assert 2 <= len(arena.finished()) < 6
    assert arena.run() is RunEnd.COMPLETED
    assert sorted(arena.finished()) == game_ids(server.game_reports) == [f"AvB_{n}" for n in range(6)]
    assert server.void_reports
    assert set(server.opened) == set(server.reports)


def test_a_request_to_stop_lets_games_in_progress_finish(tmp_path: Path, nursery: Nursery) -> None:
    arena = Arena(write_control(tmp_path, {"one": SLOW, "two": SLOW}, None, "parallel = 2"), nursery)
    show = arena.display.show
    requested: list[bool] = []

    def stop_once(progress: Callable[[], RunProgress]) -> None:
        show(progress)
        if progress().standings.games >= 1 and not requested:
            requested.append(True)
            arena.files.request_stop()

    arena.display.show = stop_once  # type: ignore[method-assign]
    assert arena.run() is RunEnd.STOPPED
    assert not arena.files.stop_requested()
    assert any("waiting for the games in progress" in note for note in arena.display.notes)


def test_a_player_that_never_works_halts_the_run(tmp_path: Path, server: ContestServer) -> None:
    players = {"one": PASSING, "villain": MISSING}
    arena = Arena(write_control(tmp_path, players, server, "rounds = 10\nvoid_retries = 0"))
    assert arena.run() is RunEnd.HALTED
    assert arena.finished() == []
    assert game_ids(server.void_reports) == ["AvB_0"] and not server.game_reports
    (warning,) = arena.display.warnings
    assert "game AvB_0 is void" in warning and "villain" in warning
    # The next run tries the same game again.
    assert arena.run() is RunEnd.HALTED
    assert game_ids(server.void_reports) == ["AvB_0", "AvB_0"]


def test_a_game_lost_by_a_player_that_never_got_ready_is_void_for_academy(
    tmp_path: Path, server: ContestServer
) -> None:
    players = {"one": PASSING, "villain": MISSING, "two": PASSING}
    arena = Arena(
        write_control(tmp_path, players, server, 'rounds = 1\nvoid_retries = 0\non_void = "forfeit"')
    )
    assert arena.run() is RunEnd.COMPLETED
    assert sorted(arena.finished()) == ["AvB_0", "AvC_0", "BvC_0"]
    assert game_ids(server.void_reports) == ["AvB_0", "BvC_0"]
    assert game_ids(server.game_reports) == ["AvC_0"]


def test_a_void_game_is_tried_again_once(tmp_path: Path, server: ContestServer) -> None:
    players = {
        "one": PASSING,
        "moody": 'protocol = "python"\ncommand = "tests.arena.runner.test_competition:moody"',
    }
    arena = Arena(write_control(tmp_path, players, server, "rounds = 4"))
    MOODS.clear()
    assert arena.run() is RunEnd.COMPLETED
    assert sorted(arena.finished()) == [f"AvB_{n}" for n in range(4)]
    assert len(server.void_reports) == 1
    (void,) = server.void_reports
    assert any(void.split("/")[1] in warning and "a mood" in warning for warning in arena.display.warnings)


MOODS: list[int] = []


def moody(referee: object, seat: int, seed: int) -> object:
    """A player that can't be made the third time it is asked."""
    MOODS.append(seed)
    if len(MOODS) == 3:
        raise RuntimeError("a mood")
    return lambda view: "pass"


def test_a_missing_record_file_is_written_again(tmp_path: Path) -> None:
    arena = Arena(write_control(tmp_path, {"one": PASSING, "two": PASSING}))
    arena.run()
    record = arena.files.games / "AvB_1.sgf"
    content = record.read_text()
    record.unlink()
    arena.files.history.write_text("")
    arena.run()
    assert record.read_text() == content
    assert len(arena.files.history.read_text().splitlines()) == 2


@pytest.mark.parametrize("clock_set_by", [0.0, 86_400.0])
def test_games_wait_for_an_academy_that_is_away_for_a_moment_whatever_becomes_of_the_clock(
    tmp_path: Path, server: ContestServer, monkeypatch: pytest.MonkeyPatch, clock_set_by: float
) -> None:
    if clock_set_by:
        # Each time that it is looked at.
        monkeypatch.setattr(time, "time", count(time.time(), clock_set_by).__next__)
    arena = Arena(write_control(tmp_path, {"one": PASSING, "two": PASSING}, server))
    server.fail("OpenContest", *[grpc.StatusCode.UNAVAILABLE] * 4)
    assert arena.run() is RunEnd.COMPLETED
    assert game_ids(server.game_reports) == ["AvB_0", "AvB_1"]
    # Once, however often it is tried.
    assert sum("trying again" in warning for warning in arena.display.warnings) == 1


def test_a_result_that_was_not_stored_is_not_shown_and_its_game_is_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nursery: Nursery
) -> None:
    arena = Arena(write_control(tmp_path, THREE, None, "rounds = 2\nparallel = 2"), nursery)

    @contextmanager
    def full_disk(database: ResultsDatabase) -> Iterator[None]:
        with together(database):
            yield
            raise OSError("disk full")

    together = ResultsDatabase.together
    with monkeypatch.context() as patch:
        patch.setattr(ResultsDatabase, "together", full_disk)
        with pytest.raises(OSError, match="disk full"):
            arena.run()
    assert (arena.display.results, arena.files.history.read_text(), arena.finished()) == ([], "", [])
    assert arena.run() is RunEnd.COMPLETED
    assert sorted(arena.finished()) == ALL_GAMES


@pytest.mark.parametrize("replaced", [True, False], ids=["replaced", "moved"])
def test_a_run_whose_results_were_taken_away_stores_no_more_games_in_the_file_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    arena = Arena(write_control(tmp_path, THREE, None, "rounds = 2"))
    results, aside = Path(str(arena.files.results.database)), tmp_path / "aside.sqlite"

    def take_away(text: str) -> None:
        arena.display.results.append(text)
        if len(arena.display.results) == 2:
            for ending in ("", "-wal", "-shm"):
                Path(f"{results}{ending}").rename(f"{aside}{ending}")
            if replaced:
                ResultsDatabase.open(sqlite_url(results)).close()

    with monkeypatch.context() as patch:
        patch.setattr(arena.display, "result", take_away)
        with pytest.raises(ResultsError, match=r"\.results\.sqlite was moved, deleted or replaced while"):
            arena.run()
    assert len(arena.display.results) == 2
    for ending in ("", "-wal"):
        Path(f"{aside}{ending}").rename(f"{results}{ending}")
    assert arena.finished() == ["AvB_0", "AvC_0"]
    assert arena.run() is RunEnd.COMPLETED
    assert sorted(arena.finished()) == ALL_GAMES


class LosingMachines(InlineWorker):
    """Loses the machine of each first attempt, which is heard of later all the same."""

    def __init__(self) -> None:
        super().__init__()
        self.late: GameResult | None = None

    def next_result(self, timeout: float) -> GameResult | WorkerLost | None:
        if self.late is not None:
            late, self.late = self.late, None
            return late
        result = super().next_result(timeout)
        if isinstance(result, GameResult) and result.attempt == 1:
            self.late = result
            return WorkerLost(result.game_id, "its machine was lost", 1, machine_lost=True)
        return result


def test_a_game_of_a_lost_machine_is_played_again_and_its_late_result_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: ContestServer
) -> None:
    monkeypatch.setattr("tests.arena.runner.test_competition.InlineWorker", LosingMachines)
    # Their games have results whatever the seed of the second attempt.
    players = dict.fromkeys(THREE, PASSING)
    arena = Arena(write_control(tmp_path, players, server, "rounds = 2\nvoid_retries = 0"))
    assert arena.run() is RunEnd.COMPLETED
    assert sorted(arena.finished()) == game_ids(server.game_reports) == ALL_GAMES
    assert game_ids(server.void_reports) == ALL_GAMES
    assert arena.files.log.read_text().count("late result refused") == 6


def test_a_run_ends_when_academy_stays_away(
    tmp_path: Path, server: ContestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(academy_desk, "OPENING_GIVE_UP_SECONDS", 0.5)
    arena = Arena(write_control(tmp_path, {"one": PASSING, "two": PASSING}, server))
    server.fail("OpenContest", *[grpc.StatusCode.UNAVAILABLE] * 10)
    with pytest.raises(AcademyUnavailableError, match="opening the contest") as stopped:
        arena.run()
    assert "`arena run` goes on where it stopped" in "".join(stopped.value.__notes__)
    server.failures.clear()
    assert arena.run() is RunEnd.COMPLETED
    assert game_ids(server.game_reports) == ["AvB_0", "AvB_1"]


def test_a_report_too_large_is_shortened_and_the_log_says_so(
    tmp_path: Path, server: ContestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MAX_REPORT_BYTES", 180)
    arena = Arena(write_control(tmp_path, {"one": PASSING, "two": PASSING}, server))
    assert arena.run() is RunEnd.COMPLETED
    assert game_ids(server.game_reports) == ["AvB_0", "AvB_1"]
    assert not any(ply.board for report in server.reports.values() for ply in report.plies)
    assert "game AvB_0: its report of" in arena.files.log.read_text()


def test_without_update_academy_learns_nothing(tmp_path: Path, server: ContestServer) -> None:
    players = {"one": PASSING, "two": PASSING}
    arena = Arena(write_control(tmp_path, players, server, more="update = false"))
    assert arena.run() is RunEnd.COMPLETED
    assert game_ids(server.void_reports) == ["AvB_0", "AvB_1"] and not server.game_reports
