"""The embedded ACADEMY: the real server as a child process, watched, restarted, and never left behind."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from academy.store.contest_tables import contest_record
from academy.store.library_store import Store
from academy.v1 import contests_pb2
from arena.academy import embedded as module
from arena.academy.client import AcademyClient
from arena.academy.embedded import EmbeddedAcademy, EmbeddedAcademyError
from arena.academy.session import AcademySession
from arena.control.settings import AcademySettings
from clients.connection import AcademyUnavailableError, Connection
from referees.go import Go
from tests.arena.control_files import AWAITING_THE_TEST, write_control
from tests.processes import children, left_running
from tests.waiting import until

A_GENEROUS_TIME = 120.0
SPEC = Go.from_settings({"board_size": 5, "komi": 0.5}).spec()


@pytest.fixture
def academy(tmp_path: Path) -> Iterator[EmbeddedAcademy]:
    academy = EmbeddedAcademy(tmp_path / "data", tmp_path / "academy.log")
    yield academy
    academy.close()


def register(connection: Connection) -> bool:
    link = AcademyClient(connection)
    try:
        return link.register_game(SPEC)
    finally:
        link.close()


def kill(academy: EmbeddedAcademy) -> None:
    assert academy.process_id is not None
    os.kill(academy.process_id, signal.SIGKILL)
    # Wait until it can be seen to have ended, but leave it to the arena to collect it.
    os.waitid(os.P_PID, academy.process_id, os.WEXITED | os.WNOWAIT)


def test_a_killed_server_is_started_again_with_all_it_knew_unless_it_keeps_ending(
    academy: EmbeddedAcademy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_RESTARTS", 1)
    assert register(academy.start())
    assert academy.restart_if_dead() is None
    kill(academy)
    address = academy.restart_if_dead()
    assert address is not None
    assert not register(address)
    kill(academy)
    with pytest.raises(EmbeddedAcademyError, match="keeps ending, last with status -9"):
        academy.restart_if_dead()


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("this is not a folder")
    settings = AcademySettings.model_construct(address="embedded", data=tmp_path / "data")
    with pytest.raises(
        EmbeddedAcademyError, match=r"embedded ACADEMY on .*data ended with status \d+; it wrote: \w+"
    ):
        AcademySession(settings, SPEC, tmp_path / "academy.log")


def test_a_shared_log_of_the_shell_is_not_that_of_an_embedded_academy(
    academy: EmbeddedAcademy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACADEMY_LOG", "nats://127.0.0.1:9")
    assert register(academy.start())


def test_an_embedded_academy_ends_with_an_arena_that_is_killed_and_when_it_is_closed(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from arena.academy.embedded import EmbeddedAcademy\n"
        f"academy = EmbeddedAcademy(Path({str(tmp_path / 'data')!r}), Path({str(tmp_path / 'log')!r}))\n"
        "academy.start(); print(academy.process_id, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as arena:
        assert arena.stdout is not None
        server = int(arena.stdout.readline())
        arena.kill()
    assert left_running([server]) == []
    # What is left of it in the folder for temporary files goes with the next run.
    again = EmbeddedAcademy(tmp_path / "data", tmp_path / "log")
    folder = Path(again.target.removeprefix("unix:")).parent
    assert folder.exists()
    address = again.start()
    assert folder.stat().st_mode & 0o077 == 0
    process_id = again.process_id
    assert process_id is not None and register(address)
    again.close()
    assert not folder.exists() and left_running([process_id]) == []
    with pytest.raises(AcademyUnavailableError):
        register(address)


def test_an_embedded_academy_ends_with_an_arena_that_is_killed_before_it_runs(tmp_path: Path) -> None:
    # Its interpreter waits where the arena cannot: until the arena is gone.
    module = tmp_path / "sitecustomize.py"
    module.write_text(
        "import os, sys, time\n"
        "while 'academy' in sys.orig_argv and os.getppid() == int(os.environ['ARENA']): time.sleep(0.01)\n"
    )
    program = (
        "import os, sys, threading, time; from pathlib import Path\n"
        "from arena.academy.embedded import EmbeddedAcademy\n"
        "os.environ['ARENA'] = str(os.getpid())\n"
        f"os.environ['PYTHONPATH'] = {str(tmp_path)!r} + os.pathsep + os.environ.get('PYTHONPATH', '')\n"
        f"academy = EmbeddedAcademy(Path({str(tmp_path / 'data')!r}), Path({str(tmp_path / 'log')!r}))\n"
        "threading.Thread(target=academy.start, daemon=True).start()\n"
        "while academy.process_id is None: time.sleep(0.01)\n"
        "print(academy.process_id, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as arena:
        assert arena.stdout is not None
        server = int(arena.stdout.readline())
        arena.kill()
    assert left_running([server]) == []


def test_a_socket_folder_of_somebody_else_is_refused(academy: EmbeddedAcademy, tmp_path: Path) -> None:
    folder = Path(academy.target.removeprefix("unix:")).parent
    folder.symlink_to(tmp_path)
    with pytest.raises(EmbeddedAcademyError, match="belongs to somebody else; remove it, or set TMPDIR"):
        academy.start()
    folder.unlink()


def test_a_competition_survives_the_death_of_its_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GO_ON", str(tmp_path))
    players = {"one": AWAITING_THE_TEST, "two": AWAITING_THE_TEST}
    control = write_control(tmp_path, players, None, "rounds = 6\nparallel = 2", "[academy]")
    games = [tmp_path / f"AvB_{number}" for number in range(6)]
    for game in games[:2]:
        game.touch()
    run = subprocess.Popen([sys.executable, "-m", "arena.cli", "run", str(control)], stderr=subprocess.PIPE)
    history = tmp_path / "contest.hist"
    try:
        until(lambda: history.exists() and len(history.read_text().splitlines()) >= 2, run, seconds=60)
        (server,) = (
            pid for pid in children(run.pid) if b"serve" in Path(f"/proc/{pid}/cmdline").read_bytes()
        )
        os.kill(server, signal.SIGKILL)
        for game in games[2:]:
            game.touch()
        _, stderr = run.communicate(timeout=A_GENEROUS_TIME)
    finally:
        run.kill()
        run.wait()
    assert run.returncode == 0, stderr
    assert b"the embedded ACADEMY had ended and was started again" in stderr

    with sqlite3.connect(tmp_path / "contest.results.sqlite") as database:
        outbox = list(database.execute('SELECT "ContestId", "State" FROM "ARENA_Outbox"'))
    assert len(outbox) == 6 and {state for _, state in outbox} == {"acknowledged"}
    with Store(tmp_path / "contest.academy", read_only=True) as academy:
        states = {academy.read(contest_record, contest_id).contest.state for contest_id, _ in outbox}
    assert states == {contests_pb2.CONTEST_STATE_REPORTED}
