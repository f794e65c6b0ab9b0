"""Disks that are full, folders that may not be written, records of another version, clocks that go backwards.

Each gives a clear error; what can still be answered is; and nothing that was acknowledged is lost.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from academy.store.environment import Environment, TableName
from academy.store.errors import StoreError
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.backup import backup
from academy.store.maintenance.check import check
from academy.store.tokens import CreateToken, Role
from academy.v1 import consultation_pb2, contests_pb2
from tests.academy.cli.conftest import run, run_each_in_one_process
from tests.academy.service import examples
from tests.academy.service.disks import fill, small_disk
from tests.academy.service.examples import EMPTY, position
from tests.academy.service.running import Refused, Running, refusal, serving
from tests.rights import obeying

GAME = "faults"


def report_of(number: int) -> contests_pb2.ReportContestRequest:
    """A report of about a hundred kilobytes that does not compress."""
    moves = [os.urandom(500).hex() for _ in range(100)]
    return examples.report(examples.contest(f"{GAME}/{number}", GAME), ["c3", *moves])


def reports_until_refused(academy: Running, first: int = 0) -> tuple[int, Refused]:
    """Report contests until one is refused; return how many were not, and how it was."""
    for number in range(first, first + 1_000):
        try:
            assert academy.report(report_of(number)).counted
        except grpc.RpcError:
            return number, refusal(lambda: academy.report(report_of(10_000)))
    raise AssertionError("the disk is never full")


def check_reads_go_on(academy: Running) -> None:
    reader = academy.bot("reader")
    assert reader.consultation.LookUpOpening(
        consultation_pb2.LookUpOpeningRequest(game_id=GAME, player=1, moves=["c3"])
    ).known
    request = consultation_pb2.MatchPatternsRequest(game_id=GAME, positions=[position(EMPTY)])
    assert len(reader.consultation.MatchPatterns(request).positions) == 1
    assert reader.contests.GetGame(contests_pb2.GetGameRequest(game_id=GAME)).game.game_id == GAME


def check_kept(store: Store, reports: int) -> None:
    """Every acknowledged report is there once, and the folder is sound."""
    assert store.follow().refresh(GAME).measures.contests == reports
    assert list(check(store.environment)) == []


def prepare(academy: Running) -> None:
    academy.register(examples.tiny_go(GAME))
    academy.token("reader")


@pytest.mark.threat("faults")
def test_a_full_disk_refuses_writes_answers_reads_and_recovers(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 8) as disk, serving(disk / "data") as academy:
        prepare(academy)
        assert academy.report(report_of(0)).counted
        ballast = fill(disk)

        reports, refused = reports_until_refused(academy, first=1)

        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
        check_reads_go_on(academy)
        check_kept(academy.store, reports)
        ballast.unlink()
        assert academy.report(report_of(reports)).counted
        check_kept(academy.store, reports + 1)


def test_a_backup_to_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 1) as disk, Store(tmp_path / "data") as store:
        store.run(RegisterGame(examples.tiny_go(GAME), "arena"))
        ballast = fill(disk)
        with pytest.raises(StoreError, match=r"room|No space"):
            backup(store.environment, disk / "backup")
        assert list(disk.iterdir()) == [ballast]


def test_a_full_map_refuses_writes_and_answers_reads(tmp_path: Path) -> None:
    with serving(tmp_path, largest_map=2 << 20) as academy:
        prepare(academy)
        reports, refused = reports_until_refused(academy)
        assert reports > 5
        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
        assert refused.retry_after == 30.0 and str(tmp_path) not in refused.message
        check_reads_go_on(academy)
        check_kept(academy.store, reports)
    # With a larger limit everything is there, and goes on.
    with serving(tmp_path) as academy:
        assert academy.report(report_of(reports)).counted
        check_kept(academy.store, reports + 1)


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A data folder that may not be written."""
    data = tmp_path / "data"
    Store(data).close()
    for path, mode in ((data / "data.mdb", 0o444), (data / "lock.mdb", 0o444), (data, 0o555)):
        path.chmod(mode)
    yield data
    data.chmod(0o755)


def test_a_folder_that_may_not_be_written_is_named_with_the_remedy(read_only: Path) -> None:
    commands = [("serve", "--address", "127.0.0.1:0"), ("tokens", "create", "x")]
    for refused in run_each_in_one_process([(*words, "--data", read_only) for words in commands], obeying):
        assert refused.exit_code == 1, refused.err
        (line,) = refused.err.strip().splitlines()
        assert str(read_only) in line and "check owner and mode" in line


def test_records_of_another_version_are_refused_by_the_server(tmp_path: Path) -> None:
    with Environment(tmp_path) as environment:
        environment.write(lambda transaction: transaction.put(TableName.META, b"schema", b"7"))
    output = run("serve", "--data", tmp_path, "--address", "127.0.0.1:0")
    assert output.exit_code == 1
    assert "schema version 7" in output.err and "export the libraries with the program" in output.err


def test_a_clock_that_goes_backwards_changes_the_order_of_nothing(tmp_path: Path) -> None:
    now = [2_000_000_000.0]
    with serving(tmp_path, clock=lambda: now[0]) as academy:
        prepare(academy)
        for number in range(6):
            now[0] -= 3_600 * number
            player, _ = academy.open(examples.contest(f"{GAME}/{number}", GAME))
            question = consultation_pb2.LookUpOpeningRequest(
                game_id=GAME, contest_id=f"{GAME}/{number}", player=1
            )
            assert player.consultation.LookUpOpening(question).known
            assert academy.report(report_of(number)).counted
        # What has no end ends by no clock, and a token made later is good earlier.
        _, text = academy.store.run(CreateToken("later", Role.BOT, now[0] + 60))
        now[0] -= 86_400 * 365
        academy.client(text).contests.ListGames(contests_pb2.ListGamesRequest())
        check_kept(academy.store, 6)
        with academy.store.environment.reading() as transaction:
            sequences = [int.from_bytes(key) for key, _ in transaction.scan(TableName.EVENTS)]
        assert sequences == [*range(1, 8)]
