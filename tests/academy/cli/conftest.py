"""A served game to look into, and the command line pointed at it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from typer.testing import CliRunner

from academy.cli.app import application
from academy.service.logs import configure as configure_logs
from academy.store.tokens import Role
from academy.v1 import contests_pb2
from tests.academy.service import examples
from tests.academy.service.running import Running, serving

PATTERNS = [("ann", "x", 0.9), ("bob", "xo-", 0.2), ("carl", "---", 0.5), ("ann lee", "o o\n- +", 0.01)]


@dataclass(frozen=True)
class CommandResult:
    """What a command printed and ended with."""

    exit_code: int
    out: str
    err: str

    def json(self) -> Any:
        assert self.exit_code == 0, self.err
        return json.loads(self.out)


Academy = Callable[..., CommandResult]


def run(*arguments: object, **environment: str) -> CommandResult:
    """Run `academy` with these arguments."""
    result = CliRunner().invoke(application, list(map(str, arguments)), env=environment, prog_name="academy")
    # `serve` has its log sent to what the runner has closed by now.
    configure_logs("error", "json")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return CommandResult(result.exit_code, result.stdout, result.stderr)


def run_in_a_process(*arguments: object) -> CommandResult:
    """Run `academy` as a process: LMDB wants one opening of a folder in each."""
    done = subprocess.run(
        [sys.executable, "-m", "academy", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr)


_EACH = """
import json, sys
from typer.testing import CliRunner
from academy.cli.app import application
for words in json.loads(sys.argv[1]):
    done = CliRunner().invoke(application, words, prog_name="academy")
    print(json.dumps({"exit_code": done.exit_code, "out": done.stdout, "err": done.stderr}), flush=True)
"""


def run_each_in_one_process(
    commands: Sequence[Sequence[object]], within: Callable[..., Sequence[str]] = lambda *words: words
) -> list[CommandResult]:
    """Run `academy` with each of these arguments, one after the other, in a process that none may end.

    `within` makes of the process's command the one that is started.
    """
    words = json.dumps([list(map(str, command)) for command in commands])
    done = subprocess.run(
        within(sys.executable, "-c", _EACH, words), capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stderr
    results = [CommandResult(**json.loads(line)) for line in done.stdout.splitlines()]
    assert len(results) == len(commands)
    return results


def pointed_at(server: Running) -> Academy:
    """The command line with a server's address and an admin's token in the environment."""

    def command(*arguments: object, **environment: str) -> CommandResult:
        settings = {
            "ACADEMY_ADDRESS": str(server.address),
            "ACADEMY_TOKEN": server.token("admin", Role.ADMIN),
        }
        return run(*arguments, **(settings | environment))

    return command


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with a game `go` of four patterns and some openings."""
    with serving(tmp_path_factory.mktemp("served") / "data") as server:
        arena = server.arena()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go("go")))
        examples.teach(server, "go", "taught", PATTERNS)
        for number, moves in enumerate((["c3", "a1"], ["c3", "b2", "d4"], ["b2", "c3"])):
            contest = examples.contest(f"lines/{number}", "go")
            arena.contests.ReportContest(examples.report(contest, moves, first="DRAW"))
        yield server


@pytest.fixture
def academy(running: Running) -> Academy:
    """The command line pointed at the served game."""
    return pointed_at(running)
