"""Child processes over pipes: lines under deadlines, limits, and ends that leave nothing behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.players.logs import ErrorLog
from arena.players.player import (
    IllFormedAnswerError,
    PlayerDisconnectedError,
    PlayerStartError,
    PlayerTimeoutError,
)
from arena.players.process import MAX_LINE, ChildProcess
from tests.processes import left_running, open_files, running
from tests.waiting import until

PYTHON = (sys.executable, "-I", "-S", "-c")


def start(*command: str, **options: Any) -> ChildProcess:
    return ChildProcess(command, **({"environment": {}} | options))


def soon(seconds: float = 180.0) -> float:
    return time.monotonic() + seconds


@pytest.fixture
def echo() -> Iterator[ChildProcess]:
    process = start("cat")
    yield process
    process.end(1.0)


def test_lines_go_out_and_come_back(echo: ChildProcess) -> None:
    for line in (b"genmove b", b"", b"\xff\x00 \r"):
        echo.write_line(line, soon())
        assert echo.read_line(soon()) == line


@pytest.fixture(params=["one core", "all cores"])
def cores(request: pytest.FixtureRequest) -> Iterator[None]:
    """Child and parent share one core, or do not need to."""
    before = os.sched_getaffinity(0)
    if request.param == "one core":
        os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


def test_an_exchange_is_a_line_and_what_comes_next(cores: None) -> None:
    echo = start("cat")
    assert echo.exchange(b"genmove b\n", 60.0) == b"genmove b\n"
    echo.put_back(b"genmove b\n")
    assert echo.unread == b"genmove b\n"
    assert echo.read_line(soon()) == b"genmove b"
    echo.end(1.0)


@pytest.mark.parametrize(
    ("program", "line", "seconds"),
    [
        ("import sys; print('tell me!', file=sys.stderr, flush=True); print(len(input()))", b"12345", 60.0),
        ("print(len(input()))", b"x" * 100_000, 60.0),
        ("import time; n = len(input()); time.sleep(0.2); print(n)", b"12345", 0.1),
    ],
    ids=["messages of errors", "more than a pipe holds", "a late answer"],
)
def test_output_that_an_exchange_does_not_read_is_there_for_the_other_reads(
    program: str, line: bytes, seconds: float, tmp_path: Path, cores: None
) -> None:
    process = start(*PYTHON, program, stderr=ErrorLog(tmp_path / "log", "p"))
    try:
        process.put_back(process.exchange(line + b"\n", seconds))
        assert process.read_line(soon(60)) == b"%d" % len(line)
    finally:
        process.end(1.0)


def test_there_is_no_exchange_with_a_program_that_has_exited(cores: None) -> None:
    process = start("true")
    until(lambda: not process.runs)
    with pytest.raises(PlayerDisconnectedError, match="exited with status 0"):
        process.exchange(b"name\n", 10.0)
    process.end(0.0)


def test_any_lines_come_back_in_order() -> None:
    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.binary(max_size=300).map(lambda line: line.replace(b"\n", b"")), max_size=20))
    def holds(lines: list[bytes]) -> None:
        for line in lines:
            process.write_line(line, soon())
        assert [process.read_line(soon()) for _ in lines] == lines

    process = start("cat")
    try:
        holds()
    finally:
        process.end(1.0)


def test_the_last_output_is_a_line_without_its_end_and_then_there_is_none() -> None:
    process = start("printf", "one\\ntwo")
    assert [process.read_line(soon()) for _ in range(3)] == [b"one", b"two", None]
    assert process.end(1.0).killed is False


def test_reading_ends_at_the_deadline(echo: ChildProcess) -> None:
    started = time.monotonic()
    with pytest.raises(PlayerTimeoutError):
        echo.read_line(soon(0.1))
    assert time.monotonic() - started >= 0.1


def test_writing_to_a_process_that_does_not_read_ends_at_the_deadline() -> None:
    process = start("sleep", "100")
    with pytest.raises(PlayerTimeoutError):
        process.write_line(b"x" * (1 << 20), soon(0.2))
    assert process.end(0.0).killed


def test_writing_to_a_process_that_reports_its_troubles_first_goes_on(tmp_path: Path) -> None:
    program = "import sys; sys.stderr.write('trouble ' * 100_000); print(len(sys.stdin.readline()))"
    process = start(*PYTHON, program, stderr=ErrorLog(tmp_path / "log", "p"))
    process.write_line(b"x" * (1 << 18), soon())
    assert process.read_line(soon()) == str((1 << 18) + 1).encode()
    process.end(5.0)


def test_a_line_without_an_end_is_refused() -> None:
    process = start("cat", "/dev/zero")
    with pytest.raises(IllFormedAnswerError, match=f"more than {MAX_LINE} bytes"):
        process.read_line(soon())
    process.end(0.0)


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("import sys; sys.exit(7)", "exited with status 7"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        ("import os, time; os.close(0); os.close(1); time.sleep(100)", "closed its channel"),
        ("import sys; sys.exit('out of stones')", 'exited with status 1; its last words: "out of stones"'),
    ],
)
def test_end_of_a_process_is_reported_with_its_last_words(
    request: pytest.FixtureRequest, program: str, how: str, tmp_path: Path
) -> None:
    if how != "closed its channel":
        request.getfixturevalue("patient_obituary")
    process = start(*PYTHON, program, stderr=ErrorLog(tmp_path / "log", "p"))
    assert process.read_line(soon()) is None
    assert process.obituary() == how
    with pytest.raises(PlayerDisconnectedError, match=how.split(";")[0]):
        process.write_line(b"hello", soon())
    process.end(0.0)


def test_the_end_is_noticed_while_a_descendant_holds_the_pipes() -> None:
    process = start("sh", "-c", "sleep 100 & echo $!")
    child = int(process.read_line(soon()) or 0)
    assert process.read_line(soon()) is None
    assert running([child])
    process.end(0.0)
    assert not left_running([child])


@pytest.mark.parametrize(
    ("command", "options", "says"),
    [
        ((), {}, "the command is empty"),
        (("no-such-program",), {}, "'no-such-program': there is no such program; install it, or give"),
        (("./no-such-program",), {}, "'./no-such-program': there is no such program"),
        (("./passwd",), {"working_directory": "/etc"}, "'./passwd': it is not an executable file"),
        (("/etc/passwd",), {}, "'/etc/passwd': it is not an executable file"),
        (("true", "a\0b"), {}, "null byte"),
        (("true",), {"working_directory": "/etc/passwd"}, "'/etc/passwd' is not a directory"),
    ],
)
@pytest.mark.parametrize("memory_bytes", [None, 256 << 20])
def test_a_program_that_cannot_be_started_is_an_error_that_says_why(
    command: tuple[str, ...], options: dict[str, Any], says: str, memory_bytes: int | None
) -> None:
    with pytest.raises(PlayerStartError, match=says):
        start(*command, **options, memory_bytes=memory_bytes)


@pytest.mark.parametrize("memory_bytes", [None, 256 << 20])
@pytest.mark.parametrize("command", ["./program", "program"])
def test_a_program_of_its_own_folder_or_path_is_found(
    command: str, memory_bytes: int | None, tmp_path: Path
) -> None:
    (tmp_path / "program").write_text("#!/bin/sh\necho plays\n")
    (tmp_path / "program").chmod(0o755)
    process = start(
        command,
        working_directory=str(tmp_path),
        environment={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        memory_bytes=memory_bytes,
    )
    assert process.read_line(soon()) == b"plays"
    process.end(1.0)


def test_a_file_that_is_not_a_program_is_an_error(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x01\x02\x03")
    program.chmod(0o755)
    with pytest.raises(PlayerStartError, match="format error"):
        start(str(program))


def test_environment_and_working_directory_are_the_childs(tmp_path: Path) -> None:
    process = start(
        "sh", "-c", "echo $STONES $HOME; pwd", environment={"STONES": "9"}, working_directory=str(tmp_path)
    )
    assert process.read_line(soon()) == f"9 {os.environ['HOME']}".encode()
    assert process.read_line(soon()) == str(tmp_path.resolve()).encode()
    process.end(1.0)


@pytest.mark.usefixtures("patient_obituary")
def test_memory_is_limited() -> None:
    program = "x = bytearray(1 << 30); print('got it')"
    process = start(*PYTHON, program, memory_bytes=256 << 20, stderr=subprocess.DEVNULL)
    assert process.read_line(soon()) is None
    assert process.obituary() == "exited with status 1"
    process.end(0.0)


def test_cpu_time_and_peak_memory_are_those_of_the_program() -> None:
    ballast = bytearray(100 << 20)
    lines = ("import time", "x = b'x' * (50 << 20); del x", "while time.process_time() < 0.2: pass")
    process = start(*PYTHON, "\n".join((*lines, "print(flush=True)", "input()")))
    process.read_line(soon())
    cost = process.end(0.0)
    del ballast
    assert cost.cpu_seconds is not None and cost.peak_memory_bytes is not None
    assert 0.2 <= cost.cpu_seconds < 2.0
    assert 50 << 20 < cost.peak_memory_bytes < 80 << 20


def test_ending_closes_the_input_waits_terminates_and_kills() -> None:
    assert start("cat").end(5.0).killed is False
    process = start("sleep", "100")
    assert process.end(0.1).killed is True
    stubborn = start(
        *PYTHON, "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(100)"
    )
    stubborn.read_line(soon())
    started = time.monotonic()
    assert stubborn.end(0.1).killed is True
    assert time.monotonic() - started > 0.5
    assert not left_running([process.pid, stubborn.pid])


def test_the_arenas_own_rights_at_academy_are_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACADEMY_TOKEN", "the arena's")
    monkeypatch.setenv("ACADEMY_ADDRESS", "localhost:1")
    process = start(
        "sh", "-c", "echo $ACADEMY_ADDRESS $ACADEMY_TOKEN", environment={"ACADEMY_TOKEN": "a ticket"}
    )
    assert process.read_line(soon()) == b"a ticket"
    process.end(1.0)


def test_a_process_that_leaves_its_group_is_ended_too() -> None:
    lines = (
        "import os, time",
        "os.setpgid(0, os.getpgid(os.getppid()))",
        "print(flush=True)",
        "time.sleep(100)",
    )
    process = start(*PYTHON, "\n".join(lines))
    assert process.read_line(soon()) == b""
    assert process.end(0.0).killed
    assert not left_running([process.pid])


@pytest.mark.skipif(os.geteuid() != 0, reason="a process of another user needs root")
@pytest.mark.parametrize("ended", ["process.end(0.1).killed", "end_children()", "kill_session(os.getsid(0))"])
def test_a_program_that_may_not_be_killed_holds_nothing_up_and_is_not_an_error(ended: str) -> None:
    # As of `sudo -u guest engine`.
    program = (
        "import os\n"
        "from arena.players.process import ChildProcess\n"
        "from arena.players.process_tree import end_children, kill_session\n"
        "process = ChildProcess(['sleep', '100'], environment={})\n"
        "os.setresuid(65534, 65534, 65534)\n"
        f"print(process.pid, {ended}, flush=True)\n"
        "os._exit(0)"
    )
    command = (sys.executable, "-c", program)
    result = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=90, start_new_session=True
    )
    pid, answer = result.stdout.split()
    assert answer in ("True", "None")
    os.kill(int(pid), signal.SIGKILL)


def test_a_process_in_the_middle_of_a_flood_exits_by_itself_when_it_is_let() -> None:
    process = start(
        *PYTHON,
        "import sys; sys.stdout.write('x' * (1 << 21)); sys.stderr.write('done')",
        stderr=subprocess.DEVNULL,
    )
    assert process.end(10.0).killed is False


def test_descriptors_are_not_used_up() -> None:
    before = open_files()
    for _ in range(5):
        start("cat").end(1.0)
        start("sh", "-c", "exec 2>&-", stderr=ErrorLog(os.devnull, "p")).end(1.0)
        with pytest.raises(PlayerStartError):
            start("no-such-program", stderr=ErrorLog(os.devnull, "p"))
    assert open_files() <= before


@pytest.mark.parametrize("seconds", [0.0, 10.0])
def test_last_words_are_kept_of_a_process_that_is_gone_before_it_is_ended(
    seconds: float, tmp_path: Path
) -> None:
    process = start(*PYTHON, "import sys; sys.exit('out of stones')", stderr=ErrorLog(tmp_path / "log", "p"))
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not process.end(seconds).killed
    assert (tmp_path / "log").read_text() == "p: out of stones\n"


@pytest.mark.parametrize("memory_bytes", [None, 1 << 30])
def test_children_do_not_outlive_a_killed_parent(memory_bytes: int | None) -> None:
    # The second child is started while the first one lives, and must not keep it alive.
    program = (
        "import time; from arena.players.process import ChildProcess\n"
        "command = ['sh', '-c', 'sleep 100 & echo $! $$; wait']\n"
        f"children = [ChildProcess(command, environment={{}}, memory_bytes={memory_bytes}) for _ in 'ab']\n"
        "for child in children: print(child.read_line(time.monotonic() + 180).decode(), flush=True)\n"
        "time.sleep(100)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        children = [int(pid) for _ in "ab" for pid in parent.stdout.readline().split()]
        assert len(running(children)) == 4
        parent.send_signal(signal.SIGKILL)
    assert not left_running(children)


def test_children_outlive_the_thread_that_started_them() -> None:
    started = []
    thread = threading.Thread(target=lambda: started.append(start("cat")))
    thread.start()
    thread.join()
    (process,) = started
    process.write_line(b"still there", soon())
    assert process.read_line(soon()) == b"still there"
    process.end(1.0)


def test_threads_of_grpc_are_not_a_hindrance() -> None:
    servers = [grpc.server(futures.ThreadPoolExecutor(2)) for _ in range(3)]
    for server in servers:
        server.add_insecure_port("127.0.0.1:0")
        server.start()
    try:
        for _ in range(30):
            process = start("cat")
            process.write_line(b"1", soon())
            assert process.read_line(soon()) == b"1"
            process.end(1.0)
    finally:
        for server in servers:
            server.stop(0).wait()


def test_children_can_be_interrupted_though_the_arena_cannot() -> None:
    program = (
        "import os, signal, time; from arena.players.process import ChildProcess\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "child = ChildProcess(['sleep', '100'], environment={})\n"
        "os.kill(child.pid, signal.SIGINT)\n"
        "print(child.obituary(), signal.getsignal(signal.SIGINT).name)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=180)
    assert done.stdout == "was killed by SIGINT SIG_IGN\n", done.stderr


def test_the_log_holds_whole_lines_under_their_label_and_is_bounded(tmp_path: Path) -> None:
    path = Path(tmp_path / "log")
    log = ErrorLog(path, "0_1 alpha", limit=40)
    log.add(b"one\ntw")
    assert log.last_words == "tw"
    log.add(b"o\n\n")
    assert log.last_words == "two"
    log.add(b"\xff\n" + b"y" * 40 + b"\nnever shown\n")
    log.close()
    assert path.read_bytes() == (
        b"0_1 alpha: one\n0_1 alpha: two\n0_1 alpha: \n0_1 alpha: \xff\n"
        b"0_1 alpha: (more than fits in the log: what follows is dropped)\n"
    )
    assert log.last_words == "never shown"


def test_a_line_however_long_is_read_by_its_beginning() -> None:
    length = 3 * MAX_LINE
    process = start(*PYTHON, f"print('x' * {length}); print('next'); print('end', end='')")
    try:
        assert process.read_line(soon(), cut=True) == b"x" * MAX_LINE
        assert process.read_line(soon(), cut=True) == b"next"
        assert process.read_line(soon(), cut=True) == b"end"
        assert process.read_line(soon(), cut=True) is None
    finally:
        process.end(1.0)


def test_the_rest_of_a_long_line_that_was_late_is_not_a_line_of_its_own() -> None:
    program = f"print('x' * {2 * MAX_LINE}, end='', flush=True); input(); print('tail'); print('next')"
    process = start(*PYTHON, program)
    try:
        with pytest.raises(PlayerTimeoutError):
            process.read_line(soon(2.0), cut=True)
        process.write_line(b"go on", soon())
        assert process.read_line(soon(), cut=True) == b"x" * MAX_LINE
        assert process.read_line(soon(), cut=True) == b"next"
    finally:
        process.end(1.0)


def test_whole_lines_that_have_come_are_there_without_waiting(echo: ChildProcess) -> None:
    assert echo.arrived_lines() == []
    echo.write_line(b"one", soon())
    echo.first_byte(soon())
    assert echo.arrived_lines() == [b"one"]
    assert echo.unread == b""
    echo.write_line(b"kept", soon())
    assert echo.read_line(soon()) == b"kept"


def test_last_words_are_kept_of_what_fits_in_the_log_no_longer(tmp_path: Path) -> None:
    log = ErrorLog(tmp_path / "log", "p", limit=10)
    log.add(b"a line too long for it\n")
    log.add(b"first\nout of \x1b stones\n\n \n")
    assert log.last_words == r"out of \x1b stones"
    log.add(b"\n")
    assert log.last_words == r"out of \x1b stones"
    log.close()
    assert (tmp_path / "log").read_bytes() == b"p: (more than fits in the log: what follows is dropped)\n"
