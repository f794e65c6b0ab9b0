"""Programs run in processes of their own, which are forked from one that has loaded what they need."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path

from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from tests.academy.store.examples import contest, endgame_proposal, go_game, report, submission


@cache
def _nursery() -> ForkServerContext:
    """Where programs are forked: each would take half a second of processor time to load its modules."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "academy.store.shared_log.moving"])
    return context


def _become(program: str, arguments: Sequence[str], *streams: Connection) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
        stream.close()
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w", buffering=1)
    sys.argv = ["-c", *arguments]
    exec(textwrap.dedent(program), {"__name__": "__main__"})


class Program:
    """A Python program that runs, with the methods of a `Popen` whose input and output are pipes."""

    def __init__(self, program: str, arguments: Sequence[str]) -> None:
        theirs, ours = zip(os.pipe(), os.pipe()[::-1], strict=True)
        self.stdin, self.stdout = os.fdopen(ours[0], "w"), os.fdopen(ours[1])
        with ExitStack() as given:
            streams = [given.enter_context(Connection(stream)) for stream in (*theirs, os.dup(2))]
            given_to_it = (program, arguments, *streams)
            self._process = _nursery().Process(target=_become, args=given_to_it, daemon=True)
            self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Wait for its end. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("python", timeout)
        return self.returncode

    def communicate(self, text: str = "", timeout: float = 180) -> tuple[str, None]:
        """Give it its last input, and return the rest of its output when it has ended."""
        self.stdin.write(text)
        self.stdin.close()
        with self.stdout:
            output = self.stdout.read()
        self.wait(timeout)
        return output, None

    def send_signal(self, number: signal.Signals) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def start_python(program: str, *arguments: str, says: str = "") -> Program:
    """Start a Python program, and wait for its first line where it `says` one."""
    process = Program(program, arguments)
    assert not says or process.stdout.readline() == f"{says}\n"
    return process


def run_python(program: str, *arguments: str) -> str:
    """Run a Python program to its end and return what it printed; it must succeed."""
    process = start_python(program, *arguments)
    output, _ = process.communicate()
    assert process.returncode == 0, output
    return output


def write_and_tell(folder: Path, name: str, most: int) -> None:
    """Play contests, several at a time, and print what has been acknowledged."""
    with Store(folder) as store:
        store.run(RegisterGame(go_game(), "arena"))
        print("ready")
        for first in range(0, most, 4):
            waiting = []
            for number in range(first, first + 4):
                contest_id = f"{name}-{number}"
                players = "gnugo 1", name
                request = report(contest_id, plies=30, names=players)
                store.submit(OpenContest(contest(contest_id, names=players)))
                proposals = [endgame_proposal(request, back=back) for back in range(2)]
                proposed = store.submit(submission(contest_id, 1, proposals, "gnugo 1"))
                waiting.append((contest_id, proposed, store.submit(ReportContest(request, "arena"))))
            for contest_id, proposed, reported in waiting:
                for proposal in proposed.result(30):
                    print(f"proposed {proposal.proposal_id}")
                assert reported.result(30).counted
                print(f"reported {contest_id}")
