"""Worker processes: games side by side, and what is left when something is killed."""

import contextlib
import errno
import itertools
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sgfmill.sgf import Sgf_game

from arena.jobs import Fault, GameJob, GameResult, JobMove, PlayerSetup
from arena.match.game import GameProgress
from arena.players.player import Choice
from arena.players.program import MAX_KEPT
from arena.players.random_moves import random_moves
from arena.workers.interface import WorkerLost, WorkersError
from arena.workers.local_workers import LocalWorkers
from arena.workers.nursery import Nursery
from arena.workers.worker import Stage, Wait, make_interrupted_result
from referees.api import Outcome, Referee, Termination, referee
from referees.go import Go
from tests.arena.engines import job, misbehaving, noted, python_player, stuck
from tests.processes import children, left_running, open_files, running
from tests.waiting import until

PASSERS = python_player("a"), python_player("b")


def place_of_play(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], Choice]:
    """Says in its comments which process plays, and on which cores."""
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    return lambda view: Choice("pass", comment=f"{os.getpid()} {cores}")


# The second could be one of Python's own.
WITHHELD = ("CLUB_TOKEN", "PYTHON_BOT_TOKEN")


def variables_of_play(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], Choice]:
    """Says in its comments which of the test's variables its process has, now or since its program began."""
    first = Path("/proc/self/environ").read_text()
    seen = [name for name in (*WITHHELD, "GIVEN") if name in os.environ or name in first]
    return lambda view: Choice("pass", comment=" ".join(seen))


def interrupted(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    def choose(view: Any) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "pass"

    return choose


def leaves_in_the_second_turn(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    moves = iter([random_moves(referee, seat, seed)])
    return lambda view: next(moves)(view)


def stuck_in_the_second_turn(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    moves = iter([random_moves(referee, seat, seed)])
    return lambda view: next(moves, stuck(referee, seat, seed))(view)


def finished(workers: LocalWorkers, count: int) -> list[GameResult]:
    results = [workers.next_result(180) for _ in range(count)]
    played = [result for result in results if isinstance(result, GameResult)]
    assert len(played) == count
    return played


def outcome(result: GameResult) -> Outcome:
    assert result.outcome is not None
    return result.outcome


def hanging(tmp_path: Path, first: str = "forking") -> tuple[PlayerSetup, PlayerSetup]:
    """Two engines, of which the first has a child that ignores SIGTERM, and the second never moves."""
    environment = {"MISBEHAVING_PIDS": str(tmp_path / "pids")}
    return (
        misbehaving(first, environment=environment),
        misbehaving("hang-in-genmove", "hanging", environment=environment, move_seconds=100.0),
    )


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def wait_for_engines(tmp_path: Path, count: int) -> list[int]:
    until(lambda: len(noted(tmp_path / "pids")) >= count)
    pids = noted(tmp_path / "pids")
    assert len(pids) == count
    return pids


@pytest.fixture(scope="module")
def go_on(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder in which games of `workers` whose players await the test look for files of their names."""
    folder = tmp_path_factory.mktemp("go_on")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("GO_ON", str(folder))
        yield folder


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    """Where tests that show nothing of nurseries have their workers forked."""
    with Nursery() as nursery:
        yield nursery


@pytest.fixture(scope="module")
def workers(go_on: Path, nursery: Nursery) -> Iterator[LocalWorkers]:
    """Two workers; each test takes the results of its games, and a worker that it ends is replaced."""
    with LocalWorkers(2, nursery=nursery) as workers:
        yield workers


@pytest.fixture(scope="module")
def worker(nursery: Nursery) -> Iterator[LocalWorkers]:
    """One worker, so that a game has the engines of the one before."""
    with LocalWorkers(1, nursery=nursery) as worker:
        yield worker


@pytest.fixture
def leaver(tmp_path: Path) -> tuple[PlayerSetup, PlayerSetup]:
    """An engine with a child in a session of its own, and one that never moves."""
    return hanging(tmp_path, "leaving-the-session")


def test_every_game_comes_back_once(workers: LocalWorkers) -> None:
    ids = [f"0_{number}" for number in range(7)]
    for game_id in ids:
        workers.submit(job(*PASSERS, game_id=game_id))
    results = finished(workers, 7)
    assert sorted(result.game_id for result in results) == ids
    assert {outcome(result).summary for result in results} == {"W+0.5"}
    assert workers.next_result(1_000) is None


def test_results_come_in_the_order_in_which_games_finish(workers: LocalWorkers, go_on: Path) -> None:
    slow = python_player("slow", "tests.arena.engines:awaiting_the_test")
    workers.submit(job(PASSERS[0], slow, game_id="slow"))
    workers.submit(job(*PASSERS, game_id="quick"))
    assert finished(workers, 1)[0].game_id == "quick"
    (go_on / "slow").touch()
    assert finished(workers, 1)[0].game_id == "slow"


def test_waiting_for_a_result_ends_at_the_timeout(workers: LocalWorkers, go_on: Path) -> None:
    slow = python_player("slow", "tests.arena.engines:awaiting_the_test")
    workers.submit(job(slow, slow, game_id="slower"))
    assert workers.next_result(0.05) is None
    (go_on / "slower").touch()
    finished(workers, 1)


def places(workers: LocalWorkers, games: int) -> list[tuple[int, list[int]]]:
    """The process that played each of some games, and its cores."""
    teller = python_player("teller", "tests.arena.workers.test_local_workers:place_of_play")
    for number in range(games):
        workers.submit(job(teller, teller, game_id=str(number)))
    comments = [result.moves[0].comment.split() for result in finished(workers, games)]
    return [(int(process), [*map(int, cores.split(","))]) for process, cores in comments]


def test_workers_of_several_runs_keep_to_a_core_each_where_that_is_asked(
    monkeypatch: pytest.MonkeyPatch, nursery: Nursery
) -> None:
    monkeypatch.setattr("arena.workers.cores._PREFIX", f"test-{os.getpid()}/core")
    allowed = sorted(os.sched_getaffinity(0))
    # As on a cluster: each game has `LocalWorkers` of its own there, and numbers are the whole run's.
    with (
        LocalWorkers(1, pin=True, nursery=nursery) as one_run,
        LocalWorkers(1, pin=True, first_slot=len(allowed), nursery=nursery) as another,
    ):
        cores = [own for workers in (one_run, another) for _, own in places(workers, 1)]
    assert cores == [[allowed[0]], [allowed[1 % len(allowed)]]]


def test_workers_are_processes_of_their_own_that_use_any_core_where_nothing_else_is_asked(
    workers: LocalWorkers,
) -> None:
    ((process, cores),) = places(workers, 1)
    assert process != os.getpid() and cores == sorted(os.sched_getaffinity(0))


def test_engines_get_the_slot_of_their_worker(workers: LocalWorkers, tmp_path: Path) -> None:
    engine = ("sh", "-c", 'echo "slot $GOMILL_SLOT" >&2; sleep 0.3')
    for number in range(2):
        slotted = type(PASSERS[0])("slotted", engine)
        workers.submit(job(slotted, PASSERS[1], game_id=str(number), log_path=str(tmp_path / "log")))
    finished(workers, 2)
    slots = {line.split(": ", 1)[1] for line in (tmp_path / "log").read_text().splitlines()}
    assert slots == {"slot 0", "slot 1"}


def test_a_killed_worker_costs_its_game_ends_its_players_and_is_replaced(
    workers: LocalWorkers, leaver: tuple[PlayerSetup, PlayerSetup], tmp_path: Path
) -> None:
    workers.submit(job(*leaver, game_id="doomed"))
    pids = wait_for_engines(tmp_path, 3)
    engine = next(
        pid for pid in pids if Path(f"/proc/{pid}/cmdline").read_bytes().endswith(b"hang-in-genmove\0")
    )
    workers.submit(job(*PASSERS, game_id="other"))
    assert finished(workers, 1)[0].game_id == "other"
    os.kill(parent(engine), signal.SIGKILL)
    assert workers.next_result(180) == WorkerLost("doomed", "the worker that played it was killed by SIGKILL")
    assert not left_running(pids)
    for number in range(4):
        workers.submit(job(*PASSERS, game_id=str(number)))
    assert {result.game_id for result in finished(workers, 4)} == set("0123")


def test_a_worker_that_ended_while_idle_costs_nothing(workers: LocalWorkers) -> None:
    pids = {process for process, _ in places(workers, 4)}
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    assert left_running([*pids]) == []
    for worker in workers._workers:
        # Its guardian ends a moment later.
        assert worker.process.ends_within(60)
    for number in range(4):
        workers.submit(job(*PASSERS, game_id=str(number)))
    assert all(isinstance(result, GameResult) for result in finished(workers, 4))


def test_a_killed_nursery_costs_the_games_in_progress_ends_their_players_and_is_replaced(
    leaver: tuple[PlayerSetup, PlayerSetup], tmp_path: Path
) -> None:
    with LocalWorkers(1) as workers:
        workers.submit(job(*leaver, game_id="doomed"))
        pids = wait_for_engines(tmp_path, 3)
        (nursery,) = {parent(worker.process.pid) for worker in workers._workers}
        os.kill(nursery, signal.SIGKILL)
        assert workers.next_result(180) == WorkerLost(
            "doomed", "the worker that played it was killed by SIGTERM"
        )
        assert not left_running([*pids, nursery])
        workers.submit(job(*PASSERS))
        finished(workers, 1)


@pytest.mark.parametrize("withheld", WITHHELD)
def test_players_see_the_variables_of_when_workers_are_hired_and_none_that_were_withheld_by_then(
    withheld: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = python_player("viewer", "tests.arena.workers.test_local_workers:variables_of_play")
    monkeypatch.setenv(withheld, "a token")
    with Nursery() as nursery:
        monkeypatch.delenv(withheld)
        monkeypatch.setenv("GIVEN", "a folder")
        with LocalWorkers(1, nursery=nursery) as workers:
            workers.submit(job(player, player))
            [result] = finished(workers, 1)
    assert result.moves[0].comment == "GIVEN"


ENDS_WHEN_IT_IS_TO_FORK = f"""#!{sys.executable} -I
import os, sys
from multiprocessing.connection import Connection
connection = Connection(int(sys.argv[4]))
connection.recv(), connection.recv(), os.read(connection.fileno(), 1)
"""


@pytest.mark.parametrize("program", ["#!/bin/sh\n", ENDS_WHEN_IT_IS_TO_FORK])
def test_a_nursery_that_ends_whenever_it_is_started_ends_the_run_with_the_cause(
    program: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text(program)
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr("arena.workers.local_workers._HIRE_SECONDS", 0.0)
    with pytest.raises(WorkersError, match=r"the process that forks them has ended.*--parallel"):
        LocalWorkers(1)


GUARDS_WHERE_ONE_PROCESS_MORE_IS_TOO_MANY = """
import errno, os, sys
from arena.workers.guardian import guard
def fork():
    raise OSError(errno.EAGAIN, "too many processes")
os.fork = fork
sys.exit(guard(print, [], os.getppid()))
"""


def test_a_guardian_that_can_start_no_worker_says_so_in_a_line() -> None:
    program = [sys.executable, "-c", GUARDS_WHERE_ONE_PROCESS_MORE_IS_TOO_MANY]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"arena: a worker cannot be started: [Errno {errno.EAGAIN}] too many processes\n"


@contextmanager
def all_files_open() -> Iterator[Callable[[], None]]:
    """This process can open no file, as to start another one, until the function is called."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The limit is that of their numbers: those of the workers must be below it.
    greatest = max(int(file.name) for file in Path("/proc/self/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (greatest + 1, limits[1]))
    with ExitStack() as opened:
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        with contextlib.suppress(OSError):
            while True:
                opened.enter_context(Path(os.devnull).open())
        yield opened.close


def test_a_machine_that_can_start_no_process_for_a_moment_costs_a_killed_workers_game_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GO_ON", str(tmp_path))
    player = python_player("slow", "tests.arena.engines:awaiting_the_test")
    with LocalWorkers(2) as workers:
        for number in range(2):
            workers.submit(job(PASSERS[0], player, game_id=str(number)))
        files = open_files()
        with all_files_open() as end:
            workers._workers[0].process.send_signal(signal.SIGKILL)
            threading.Timer(1.2, end).start()
            lost = workers.next_result(60)
        (tmp_path / "1").touch()
        assert isinstance(lost, WorkerLost)
        assert lost.game_id == "0"
        assert finished(workers, 1)[0].game_id == "1"
        assert open_files() <= files
        workers.submit(job(*PASSERS))
        finished(workers, 1)


def test_a_run_whose_machine_can_start_no_process_any_more_ends_with_the_cause_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("arena.workers.local_workers._HIRE_SECONDS", 0.0)
    files = open_files()
    with LocalWorkers(2) as workers:
        workers.submit(job(*hanging(tmp_path), game_id="doomed"))
        workers.submit(job(*hanging(tmp_path), game_id="other"))
        pids = wait_for_engines(tmp_path, 6)
        with all_files_open(), pytest.raises(WorkersError, match=r"Too many open files.*--parallel"):
            workers._workers[0].process.send_signal(signal.SIGKILL)
            workers.next_result(60)
        # Who goes on when processes can be started again has lost that game alone.
        assert isinstance(workers.next_result(60), WorkerLost)
        workers.submit(job(*PASSERS))
        finished(workers, 1)
    assert not left_running(pids)
    assert open_files() <= files


def test_referees_exception_costs_one_game(capfd: pytest.CaptureFixture[str]) -> None:
    with LocalWorkers(1) as workers:
        workers.submit(job(*PASSERS, game_id="bad", settings={"board_size": 77}))
        workers.submit(job(*PASSERS, game_id="good"))
        lost, result = workers.next_result(180), workers.next_result(180)
    assert isinstance(lost, WorkerLost)
    assert lost.game_id == "bad"
    assert lost.reason.startswith("InvalidSettingError: 'board_size'")
    assert isinstance(result, GameResult)
    assert "game bad: Traceback" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("factory", "how"),
    [
        ("hanging", ""),
        ("stubborn", "; it could only be ended with its worker"),
        ("stuck", "; it could only be ended with its worker"),
    ],
)
def test_a_python_player_that_never_answers_loses_its_game(
    workers: LocalWorkers, monkeypatch: pytest.MonkeyPatch, factory: str, how: str
) -> None:
    if factory == "hanging":
        # It ends by itself: a busy machine gets the time for it.
        monkeypatch.setattr("arena.workers.local_workers.GRACE_SECONDS", 60.0)
    player = python_player("late", f"tests.arena.engines:{factory}", move_seconds=0.3)
    workers.submit(job(player, PASSERS[1], game_id="late"))
    workers.submit(job(*PASSERS, game_id="other"))
    results = {result.game_id: result for result in finished(workers, 2)}
    late = results["late"]
    assert (outcome(late).summary, outcome(late).termination) == ("W+F", Termination.FORFEIT)
    assert late.usage[0].fault is Fault.LATE
    assert late.usage[0].remark == f"player late: no answer within 0.3 s{how}"
    assert late.usage[0].own_moves == 1 and late.usage[0].wall_seconds > 0.05
    assert outcome(results["other"]).summary == "W+0.5"
    workers.submit(job(*PASSERS, game_id="next"))
    assert finished(workers, 1)[0].game_id == "next"


@pytest.mark.parametrize("factory", ["slow_starter", "stuck_at_start"])
def test_a_python_player_that_never_gets_ready_makes_the_game_void(
    workers: LocalWorkers, factory: str
) -> None:
    workers.submit(
        job(PASSERS[0], python_player("late", f"tests.arena.engines:{factory}", start_seconds=0.3))
    )
    [result] = finished(workers, 1)
    assert result.outcome is None
    assert result.void_reason.startswith("player late: not ready within 0.3 s")
    assert [usage.fault for usage in result.usage] == [Fault.NONE, Fault.LATE]
    assert result.usage[1].remark == result.void_reason
    assert (result.absent, result.moves, result.record) == (2, (), "")
    assert result.setup_seconds > 0.25


def test_a_worker_is_left_alone_while_its_player_has_time(
    workers: LocalWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that a deadline without the player's time is seen while the player thinks.
    monkeypatch.setattr("arena.workers.local_workers.GRACE_SECONDS", 0.0)
    monkeypatch.setattr("arena.workers.local_workers._LOOK_SECONDS", 0.02)
    slow = python_player("slow", "tests.arena.engines:sleepy", move_seconds=60.0)
    workers.submit(job(slow, slow, settings={"board_size": 5, "komi": 0.5}))
    assert outcome(finished(workers, 1)[0]).summary == "W+0.5"


def test_workers_leave_interrupts_to_the_parent(workers: LocalWorkers) -> None:
    workers.submit(job(python_player("i", "tests.arena.workers.test_local_workers:interrupted"), PASSERS[1]))
    assert isinstance(finished(workers, 1)[0], GameResult)


def test_stopping_interrupts_games_and_leaves_nothing(tmp_path: Path, nursery: Nursery) -> None:
    workers = LocalWorkers(1, nursery=nursery)
    workers.submit(job(*hanging(tmp_path)))
    pids = wait_for_engines(tmp_path, 3)
    workers.stop()
    assert not left_running(pids)
    assert workers.next_result(1_000) is None


def test_the_moves_of_a_player_that_could_only_be_ended_with_its_worker_are_kept(
    workers: LocalWorkers,
) -> None:
    player = python_player("late", "tests.arena.engines:stuck_in_the_end", move_seconds=2.5)
    workers.submit(job(player, PASSERS[1]))
    [result] = finished(workers, 1)
    assert (outcome(result).summary, result.usage[0].fault) == ("W+F", Fault.LATE)
    assert [move.text for move in result.moves] == ["A1", "pass", "B1", "pass"]
    game = Sgf_game.from_string(result.record)
    assert [node.get_move()[1] for node in game.get_main_sequence()[1:]] == [(0, 0), None, (0, 1), None]
    assert outcome(result).detail in game.get_last_node().get("C")


# What engines leave behind


def test_processes_that_left_the_engines_session_end_with_the_game(
    workers: LocalWorkers, leaver: tuple[PlayerSetup, PlayerSetup], tmp_path: Path
) -> None:
    workers.submit(job(leaver[0], PASSERS[1]))
    assert outcome(finished(workers, 1)[0]).summary == "B+24.5"
    assert len(noted(tmp_path / "pids")) == 2
    assert not left_running(noted(tmp_path / "pids"))


def test_players_end_with_a_killed_arena_even_where_one_of_them_is_stuck(tmp_path: Path) -> None:
    program = (
        "import os, sys; from arena.workers.local_workers import LocalWorkers\n"
        "from tests.arena.engines import job, misbehaving, python_player\n"
        f"environment = {{'MISBEHAVING_PIDS': {str(tmp_path / 'pids')!r}}}\n"
        "leaver = misbehaving('leaving-the-session', environment=environment)\n"
        "stuck = python_player('stuck', 'tests.arena.engines:stuck', move_seconds=1000.0)\n"
        "workers = LocalWorkers(2); workers.submit(job(leaver, stuck))\n"
        "print(*[worker.process.pid for worker in workers._workers], flush=True)\n"
        "while not any(len(worker.progress) > 1 for worker in workers._workers): workers.next_result(0.05)\n"
        "print('stuck', flush=True); workers.next_result(1000)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as arena:
        assert arena.stdout is not None
        guardians = [int(pid) for pid in arena.stdout.readline().split()]
        pids = [*guardians, *wait_for_engines(tmp_path, 2)]
        assert arena.stdout.readline() == "stuck\n"
        until(lambda: all(map(children, guardians)))
        pids += [child for guardian in guardians for child in children(guardian)]
        assert len(running(pids)) == len(pids) == 6
        arena.send_signal(signal.SIGKILL)
    assert not left_running(pids)


# Engines that are kept


def keeping(fault: str, tmp_path: Path, **setup: Any) -> PlayerSetup:
    environment = {"MISBEHAVING_PIDS": str(tmp_path / "pids")}
    return misbehaving(fault, environment=environment, restart=False, **setup)


def played_in_turn(workers: LocalWorkers, player: PlayerSetup, count: int) -> list[GameResult]:
    for number in range(count):
        workers.submit(job(player, PASSERS[1], game_id=str(number)))
    return finished(workers, count)


def test_an_engine_can_be_kept_for_its_players_next_games(tmp_path: Path, nursery: Nursery) -> None:
    with LocalWorkers(1, nursery=nursery) as workers:
        results = played_in_turn(
            workers, keeping("none", tmp_path, parameters={"startup_commands": ["hello"]}), 3
        )
        assert [outcome(result).summary for result in results] == ["B+24.5"] * 3
        assert [result.usage[0].cpu_seconds for result in results] == [12.25] * 3
        assert all(result.usage[0].peak_memory_bytes for result in results)
        assert {result.usage[0].engine_name for result in results} == {"Misbehaving:1.5"}
        assert all(result.warnings == () for result in results)
        assert len(running(noted(tmp_path / "pids"))) == 1
    assert not left_running(noted(tmp_path / "pids"))


@pytest.mark.parametrize(
    ("fault", "summary"),
    [
        ("illegal-move", "W+F"),
        ("exit-in-genmove", "W+F"),
        ("garbage-in-genmove", "W+F"),
        ("dies-when-idle", "B+24.5"),
    ],
)
def test_failures_are_not_carried_into_the_next_game(
    worker: LocalWorkers, fault: str, summary: str, tmp_path: Path
) -> None:
    results = played_in_turn(worker, keeping(fault, tmp_path), 2)
    assert [outcome(result).summary for result in results] == [summary] * 2
    assert results[0].usage[0].fault is results[1].usage[0].fault
    assert len(noted(tmp_path / "pids")) == 2


def test_another_setup_is_another_engine(worker: LocalWorkers, tmp_path: Path) -> None:
    for limit in (20.0, 20.0, 21.0):
        played_in_turn(worker, keeping("none", tmp_path, move_seconds=limit), 1)
    assert len(running(noted(tmp_path / "pids"))) == 2


def test_idle_engines_are_not_hoarded(worker: LocalWorkers, tmp_path: Path) -> None:
    for number in range(MAX_KEPT + 2):
        played_in_turn(worker, keeping("none", tmp_path, name=str(number)), 1)
    assert len(noted(tmp_path / "pids")) == MAX_KEPT + 2
    assert len(running(noted(tmp_path / "pids"))) == MAX_KEPT


def test_a_player_in_both_seats_has_two_kept_engines(worker: LocalWorkers, tmp_path: Path) -> None:
    player = keeping("resigns", tmp_path)
    for number in range(2):
        worker.submit(job(player, player, game_id=str(number)))
    assert [outcome(result).summary for result in finished(worker, 2)] == ["W+R"] * 2
    assert len(noted(tmp_path / "pids")) == 2


def test_there_must_be_a_worker() -> None:
    with pytest.raises(ValueError, match="0 workers: there must be at least one"):
        LocalWorkers(0)


@pytest.mark.parametrize("set_by", [86_400.0, -86_400.0])
def test_a_clock_that_is_set_makes_no_game_longer_or_shorter(
    workers: LocalWorkers, monkeypatch: pytest.MonkeyPatch, set_by: float
) -> None:
    # Each time that it is looked at.
    monkeypatch.setattr(time, "time", itertools.count(time.time(), set_by).__next__)
    workers.submit(job(python_player("late", "tests.arena.engines:stuck", move_seconds=0.3), PASSERS[1]))
    [result] = finished(workers, 1)
    assert 0.0 < result.play_seconds < 86_400.0


def test_a_referee_that_fails_after_a_worker_had_to_be_ended_costs_its_game_and_not_the_run(
    workers: LocalWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers.submit(job(python_player("late", "tests.arena.engines:stuck", move_seconds=0.3), PASSERS[1]))
    monkeypatch.setattr(Go, "record", lambda self, game: None)
    result = workers.next_result(180)
    assert isinstance(result, WorkerLost)
    assert result.reason == "TypeError: the record of the referee 'go' is not text: NoneType"


DIPLOMACY = referee("diplomacy").from_settings({})


def powers(**odd: str) -> tuple[PlayerSetup, ...]:
    """A player of each power who plays at random, but for those whose function is named."""
    functions = {f"power{seat}": "arena.players.random_moves:random_moves" for seat in range(1, 8)}
    return tuple(
        python_player(name, function, move_seconds=4.0 if name in odd else 60.0)
        for name, function in (functions | odd).items()
    )


def test_a_player_that_had_left_wins_no_game_that_ends_with_its_worker(workers: LocalWorkers) -> None:
    # The fourth leaves in the turn in which the fifth hangs, the second one turn before.
    players = powers(
        power2="tests.arena.engines:confused",
        power4="tests.arena.workers.test_local_workers:leaves_in_the_second_turn",
        power5="tests.arena.workers.test_local_workers:stuck_in_the_second_turn",
    )
    workers.submit(GameJob("0_1", "diplomacy", {}, players, seed=1))
    [result] = finished(workers, 1)
    assert result.usage[4].fault is Fault.LATE
    assert outcome(result).winners == (1, 3, 6, 7)


def test_a_player_that_missed_a_turn_wins_a_game_that_ends_with_the_worker_of_another() -> None:
    moves = tuple(
        JobMove(
            seat,
            DIPLOMACY.move_text(DIPLOMACY.stand_in_move(DIPLOMACY.start(1), seat)),
            board=None,
            legal_moves=None,
            interaction=None,
            seconds=0.1,
            values={},
            stand_in=seat == 2,
        )
        for seat in DIPLOMACY.to_move(DIPLOMACY.start(1))
    )
    result = make_interrupted_result(
        GameJob("0_1", "diplomacy", {}, powers(), seed=1),
        [GameProgress("0_1", moves, None)],
        Wait(Stage.MOVE, 5, 1.0),
        time.time(),
        1.0,
    )
    assert outcome(result).winners == (1, 2, 3, 4, 6, 7)
