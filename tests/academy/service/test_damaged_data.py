"""A file that is damaged under a server: reported clearly, with what to do, and once."""

import os
import signal
from pathlib import Path

import pytest

from academy.cli.commands import ExitCode
from academy.store.library_store import Store
from academy.store.maintenance import clean_shutdown
from academy.store.maintenance.backup import backup, restore
from academy.v1 import contests_pb2
from tests.academy.cli.conftest import run
from tests.academy.service import examples
from tests.academy.service.running import Client
from tests.academy.service.server_programs import served
from tests.processes import spawned

PAGE = 4096


def teach(client: Client, contests: int) -> None:
    client.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go("go")))
    for number in range(contests):
        client.contests.ReportContest(examples.report(examples.contest(f"c/{number}", "go"), ["c3", "b2"]))


def damage(folder: Path) -> None:
    """Write nonsense over all pages but the two with which the file begins."""
    file = folder / "data.mdb"
    with file.open("r+b") as content:
        content.seek(2 * PAGE)
        content.write(b"\x5a" * (file.stat().st_size - 2 * PAGE))


def refusal(folder: Path) -> str:
    """What a server says that will not begin."""
    refused = run("serve", "--data", folder, "--address", "127.0.0.1:0", "--log-level", "warning")
    assert (refused.exit_code, refused.out) == (ExitCode.FAULTY, ""), refused.err
    return refused.err


def contests(folder: Path) -> int:
    with Store(folder) as store:
        return store.follow().refresh("go").measures.contests


def test_processes_that_die_of_the_data_are_not_started_again(tmp_path: Path) -> None:
    folder, saved = tmp_path / "data", tmp_path / "backup"
    with served(folder, "--processes", "2", "--log-level", "warning") as academy:
        teach(academy.client(), 5)
        with Store(folder, read_only=True) as reading:
            backup(reading.environment, saved)
        damage(folder)
        # As LMDB's assertions do, on the first page that makes no sense.
        os.kill(spawned(academy.process.pid)[0], signal.SIGABRT)

        assert academy.ended() == ExitCode.FAULTY
        assert academy.process.stderr is not None
        complaint = academy.process.stderr.read().splitlines()[-1]

    assert "ended with -6" in complaint and "page" in complaint and "restore a backup" in complaint
    assert "restore a backup" in refusal(folder)
    restore(saved, tmp_path / "fresh")
    assert contests(tmp_path / "fresh") == 5


def test_after_a_bad_end_the_pages_are_looked_through_until_they_are_sound(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with served(folder) as academy:
        teach(academy.client(), 3)
        academy.process.kill()
        academy.ended()
    sound = (folder / "data.mdb").read_bytes()
    damage(folder)
    for _ in range(2):
        assert "restore a backup" in refusal(folder)
    (folder / "data.mdb").write_bytes(sound)
    with served(folder) as academy:
        assert [marker.name.split("-")[0] for marker in clean_shutdown.markers(folder)] == [
            str(academy.process.pid)
        ]
        academy.process.terminate()
        assert academy.ended() == 0
    assert clean_shutdown.markers(folder) == []


def test_a_server_that_runs_was_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with clean_shutdown.serving(tmp_path / "data"):
        monkeypatch.setattr(
            clean_shutdown, "check_pages", lambda data: pytest.fail("looked, though all are well")
        )
        with clean_shutdown.serving(tmp_path / "data"):
            pass
