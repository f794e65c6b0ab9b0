"""A served game to look into, and the command line pointed at it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from academy.cli.app import application
from academy.store.tokens import Role
from academy.wire.logs import configure as configure_logs
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
Beside = Callable[..., CommandResult]


@cache
def _command() -> Any:
    """What Typer makes of the functions' signatures; its own runner makes it for each call."""
    return get_command(application)


def run(*arguments: object, **environment: str) -> CommandResult:
    """Run `academy` with these arguments."""
    try:
        with CliRunner().isolation(env=environment) as (out, err, _):
            code: object = 0
            try:
                _command().main(list(map(str, arguments)), prog_name="academy")
            except SystemExit as ended:
                code = ended.code or 0
            assert isinstance(code, int), code
            sys.stdout.flush()
            sys.stderr.flush()
            # The runner closes both.
            return CommandResult(code, out.getvalue().decode(), err.getvalue().decode())
    finally:
        # `serve` has its log sent to what the runner has closed by now.
        configure_logs("error", "json")


_EACH = """
import json, sys
from typer.testing import CliRunner
from academy.cli.app import application
for words in sys.stdin:
    done = CliRunner().invoke(application, json.loads(words), prog_name="academy")
    print(json.dumps({"exit_code": done.exit_code, "out": done.stdout, "err": done.stderr}), flush=True)
"""


def _as_line(words: Sequence[object]) -> str:
    return json.dumps(list(map(str, words))) + "\n"


@pytest.fixture(scope="session")
def beside() -> Iterator[Beside]:
    """Runs `academy` in a process beside this one: LMDB wants one opening of a folder in each."""
    command = (sys.executable, "-c", _EACH)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:

        def run_there(*words: object) -> CommandResult:
            assert other.stdin is not None and other.stdout is not None
            other.stdin.write(_as_line(words))
            other.stdin.flush()
            return CommandResult(**json.loads(other.stdout.readline()))

        yield run_there


def run_each_in_one_process(
    commands: Sequence[Sequence[object]], within: Callable[..., Sequence[str]] = lambda *words: words
) -> list[CommandResult]:
    """Run `academy` with each of these arguments, one after the other, in a process that none may end.

    `within` makes of the process's command the one that is started.
    """
    done = subprocess.run(
        within(sys.executable, "-c", _EACH),
        input="".join(map(_as_line, commands)),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
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
        server.register(examples.tiny_go("go"))
        examples.teach(server, "go", "taught", PATTERNS)
        for number, moves in enumerate((["c3", "a1"], ["c3", "b2", "d4"], ["b2", "c3"])):
            contest = examples.contest(f"lines/{number}", "go")
            server.report(examples.report(contest, moves, first="DRAW"))
        yield server


@pytest.fixture
def academy(running: Running) -> Academy:
    """The command line pointed at the served game."""
    return pointed_at(running)
