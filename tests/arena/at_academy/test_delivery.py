"""Reports reach ACADEMY in the end, whatever happens to it in between, and count once."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest
from sqlalchemy import update

from academy.knowledge.spec import GameSpec
from academy.v1 import proposals_pb2
from arena.academy import delivery as module
from arena.academy.client import contest_message, contest_report
from arena.academy.delivery import OutboxDelivery
from arena.academy.session import AcademySession
from arena.control.settings import AcademySettings
from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.games import FinishedGame
from arena.results.own_tables import OUTBOX
from arena.results.series import PlannedGame
from referees.go import Go
from referees.hex import Hex
from tests.arena.contest_server import TOKEN, ContestServer
from tests.arena.results.examples import heading, registered, result
from tests.waiting import until

SPEC = Go.from_settings({"board_size": 9, "komi": 7.5}).spec()


class Scene:
    def __init__(self, folder: Path) -> None:
        self.server = ContestServer(folder)
        self.server.start()
        self.database = ResultsDatabase.open(sqlite_url(folder / "results.sqlite"))
        self.series = registered(self.database)
        settings = AcademySettings.model_construct(
            address=self.server.address, data=folder / "data", token=TOKEN
        )
        self.session = AcademySession(settings, SPEC, folder / "academy.log")
        self.reporter = OutboxDelivery(self.series.outbox, self.session)
        self.games = 0

    def finish_game(self, large: bool = False, spec: GameSpec = SPEC) -> str:
        attempt = self.series.next_attempt(f"AvB_{self.games}")
        self.games += 1
        contest = contest_message(attempt.contest_id, spec, ("a", "b"), (1000.0, 1000.0))
        self.series.begin(attempt, contest.SerializeToString(), PlannedGame("AvB", heading().players))
        game = result(attempt.game_id)
        message = contest_report(contest, game)
        if large:
            message.plies[0].board = "x" * 4 * 2**20
        report = message.SerializeToString()
        self.series.finish(
            attempt,
            FinishedGame.from_result("AvB", ("a", "b"), game, (1.0, 1.0), (1.0, 1.0)),
            game,
            1,
            report,
        )
        self.reporter.wake()
        return attempt.contest_id

    def fail_at(self, code: grpc.StatusCode) -> str:
        """Finish a game at whose report the server, away until it comes back, always fails."""
        self.server.stop()
        failing = self.finish_game()
        self.server.failing_reports[failing] = code
        return failing

    def come_back(self) -> None:
        """Start the server, and do not wait until it is tried again."""
        self.server.start()
        self.reporter.hurry()

    def warnings(self) -> list[str]:
        """What was warned of until the reporter ends: the outbox has a verdict before its warning."""
        self.reporter.stop()
        warnings = []
        while not self.reporter.warnings.empty():
            warnings.append(self.reporter.warnings.get())
        return warnings

    def close(self) -> None:
        self.reporter.stop()
        self.session.close()
        self.database.close()
        self.server.stop()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    scene.reporter.start()
    yield scene
    scene.close()


def test_reports_are_delivered_in_order_as_games_end(scene: Scene) -> None:
    contests = [scene.finish_game() for _ in range(3)]
    until(lambda: scene.reporter.waiting() == 0)
    assert list(scene.server.reports) == contests
    assert set(scene.server.counted.values()) == {1}
    assert scene.warnings() == []


def test_reports_wait_while_the_server_is_away(scene: Scene) -> None:
    scene.server.stop()
    contests = {scene.finish_game() for _ in range(2)}
    until(lambda: not scene.reporter.warnings.empty())
    assert scene.reporter.waiting() == 2
    scene.come_back()
    until(lambda: scene.reporter.waiting() == 0)
    assert set(scene.server.reports) == contests
    # Once, however many reports wait.
    assert sum("trying again" in warning for warning in scene.warnings()) == 1


def test_a_run_that_waits_for_the_rest_tries_again_after_two_seconds(
    monkeypatch: pytest.MonkeyPatch, scene: Scene
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE_SECONDS", 3600.0)
    scene.server.stop()
    scene.finish_game()
    until(lambda: not scene.reporter.warnings.empty())
    scene.reporter.hurry()
    until(lambda: scene.series.outbox.waiting()[0].attempts == 2)
    scene.server.start()
    until(lambda: scene.reporter.waiting() == 0)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FAILURES", 3)
    monkeypatch.setattr(module, "FIRST_PAUSE_SECONDS", 0.05)


@pytest.mark.parametrize("code", ["INTERNAL", "UNKNOWN", "ABORTED", "RESOURCE_EXHAUSTED"])
def test_a_report_at_which_academy_always_fails_is_given_up_in_the_end(
    impatient: None, scene: Scene, code: str
) -> None:
    failing, taken = scene.fail_at(grpc.StatusCode[code]), scene.finish_game()
    scene.come_back()
    until(lambda: scene.reporter.waiting() == 0)
    assert set(scene.server.reports) == {taken}
    ((contest, why),) = scene.series.outbox.refusals().items()
    assert contest == failing
    assert why.startswith(f"reporting the contest {failing}") and f"this one always [{code}]" in why
    assert scene.server.tried[failing] == 3


def test_a_report_too_large_for_the_server_is_given_up(impatient: None, scene: Scene) -> None:
    large, taken = scene.finish_game(large=True), scene.finish_game()
    until(lambda: scene.reporter.waiting() == 0)
    assert set(scene.server.reports) == {taken}
    assert "RESOURCE_EXHAUSTED" in scene.series.outbox.refusals()[large]


@pytest.mark.parametrize("code", ["UNAVAILABLE", "DEADLINE_EXCEEDED"])
def test_a_report_that_never_arrives_goes_on_waiting_and_does_not_block_the_others(
    impatient: None, scene: Scene, code: str
) -> None:
    failing, others = scene.fail_at(grpc.StatusCode[code]), {scene.finish_game() for _ in range(3)}
    scene.come_back()
    until(lambda: set(scene.server.reports) == others)
    until(lambda: scene.server.tried[failing] > 3)
    # The server has a report a moment before the outbox notes that.
    until(lambda: scene.series.outbox.counts() == {"waiting": 1, "acknowledged": 3, "refused": 0})


def test_a_busy_server_is_asked_again_however_often_it_says_so(impatient: None, scene: Scene) -> None:
    for _ in range(5):
        scene.server.put_off("ReportContest", 0.01)
    contest = scene.finish_game()
    until(lambda: scene.reporter.waiting() == 0)
    assert set(scene.server.reports) == {contest}


def test_games_that_end_do_not_make_a_busy_server_be_asked_earlier_than_it_wants(scene: Scene) -> None:
    scene.server.put_off("ReportContest", 1.5)
    # Before the server's answer, from which the time counts.
    began = time.monotonic()
    first = scene.finish_game()
    until(lambda: not scene.reporter.warnings.empty())
    contests = {first, *(scene.finish_game() for _ in range(5))}
    until(lambda: scene.reporter.waiting() == 0)
    assert time.monotonic() - began > 1.5
    assert set(scene.server.reports) == contests


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE_SECONDS", 600.0)


def test_games_that_end_do_not_shorten_the_pause_until_a_run_waits_for_the_rest(
    patient: None, scene: Scene
) -> None:
    scene.server.fail("ReportContest", grpc.StatusCode.PERMISSION_DENIED)
    scene.finish_game()
    until(lambda: not scene.reporter.warnings.empty())
    for _ in range(5):
        scene.finish_game()
        time.sleep(0.05)
    assert scene.series.outbox.counts() == {"waiting": 6, "acknowledged": 0, "refused": 0}
    scene.reporter.hurry()
    until(lambda: scene.reporter.waiting() == 0)


def test_games_that_end_are_reported_while_a_report_that_failed_waits_for_its_pause(
    patient: None, scene: Scene
) -> None:
    failing = scene.fail_at(grpc.StatusCode.INTERNAL)
    scene.come_back()
    until(lambda: scene.server.tried[failing] > 0)
    others = [scene.finish_game() for _ in range(5)]
    until(lambda: list(scene.server.reports) == others)
    assert scene.server.tried[failing] <= 2


def test_a_verdict_that_only_a_newer_academy_knows_holds_up_no_report(scene: Scene) -> None:
    newer: Any = 99
    scene.server.proposals.append(proposals_pb2.Proposal(seat=1, verdict=newer))
    contests = [scene.finish_game() for _ in range(2)]
    until(lambda: scene.reporter.waiting() == 0)
    assert list(scene.server.reports) == contests
    assert scene.warnings() == []


def test_a_report_that_cannot_be_sent_at_all_does_not_keep_the_others_from_it(
    impatient: None, tmp_path: Path
) -> None:
    with closing(Scene(tmp_path)) as scene:
        broken, taken = scene.finish_game(), scene.finish_game()
        with scene.database.transaction() as connection:
            connection.execute(update(OUTBOX).filter_by(ContestId=broken).values(Report=b"\xff"))
        scene.reporter.start()
        scene.reporter.hurry()
        until(lambda: scene.reporter.waiting() == 0)
        assert set(scene.server.reports) == {taken}
        ((contest, why),) = scene.series.outbox.refusals().items()
        assert contest == broken and why.startswith(f"sending the report of {broken}: DecodeError")
        assert f"{why}; this report is given up" in scene.warnings()


def test_a_refused_report_is_given_up_and_named(scene: Scene) -> None:
    scene.server.fail("ReportContest", grpc.StatusCode.INVALID_ARGUMENT)
    refused, taken = scene.finish_game(), scene.finish_game()
    until(lambda: scene.reporter.waiting() == 0)
    assert set(scene.server.reports) == {taken}
    assert scene.series.outbox.counts() == {"waiting": 0, "acknowledged": 1, "refused": 1}
    (warning,) = scene.warnings()
    assert refused in warning and "INVALID_ARGUMENT" in warning and "given up" in warning


def test_trouble_after_a_refused_report_is_named_again(impatient: None, scene: Scene) -> None:
    denied, refused = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.INVALID_ARGUMENT
    scene.server.fail("ReportContest", denied, denied, refused, denied)
    for _ in range(2):
        scene.finish_game()
    until(lambda: scene.reporter.waiting() == 0)
    assert scene.series.outbox.counts() == {"waiting": 0, "acknowledged": 1, "refused": 1}
    warnings = scene.warnings()
    assert "PERMISSION_DENIED" in warnings[0]
    endings = [warning.rpartition("; ")[2] for warning in warnings]
    assert endings == ["trying again", "this report is given up", "trying again"]


def test_a_server_that_lost_the_game_gets_it_again(scene: Scene) -> None:
    scene.server.games.clear()
    contest = scene.finish_game()
    until(lambda: scene.reporter.waiting() == 0)
    assert contest in scene.server.reports and "go-9x9" in scene.server.games


def test_reports_of_a_game_that_academy_lost_wait_until_a_run_plays_it_again(
    impatient: None, scene: Scene
) -> None:
    other = Hex.from_settings({"board_size": 5}).spec()
    waiting, taken = scene.finish_game(spec=other), scene.finish_game()
    noted = {"waiting": 1, "acknowledged": 1, "refused": 0}
    until(lambda: scene.series.outbox.counts() == noted)
    assert set(scene.server.reports) == {taken}
    until(lambda: not scene.reporter.warnings.empty())
    scene.session.know(other)
    scene.reporter.wake()
    until(lambda: scene.reporter.waiting() == 0)
    assert set(scene.server.reports) == {waiting, taken}
    (warning,) = scene.warnings()
    assert "trying again" in warning


def test_a_report_that_waits_when_a_run_ends_is_sent_by_the_next(scene: Scene) -> None:
    scene.server.stop()
    contest = scene.finish_game()
    until(lambda: not scene.reporter.warnings.empty())
    scene.reporter.stop()
    scene.server.start()
    scene.reporter = OutboxDelivery(scene.series.outbox, scene.session)
    scene.reporter.start()
    until(lambda: scene.reporter.waiting() == 0)
    assert set(scene.server.reports) == {contest}
