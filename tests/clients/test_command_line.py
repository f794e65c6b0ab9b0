"""What a user sees of every client program's command line: its version, and examples that it accepts."""

import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

from clients import analyst
from clients.bots import any_game, gtp_connector, lines_connector
from clients.bots.diplomacy import daide

PROGRAMS = {
    "academy-bot": any_game.argument_parser,
    "academy-analyst": analyst.argument_parser,
    "arena-gtp-connect": gtp_connector.argument_parser,
    "arena-lines-connect": lines_connector.argument_parser,
    "academy-daide-bot": daide.argument_parser,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_prints_its_version(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        PROGRAMS[name]().parse_args(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"{name} {version('academy-arena')}\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_examples_below_the_help_are_accepted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The examples name files of tokens.
    monkeypatch.setattr("pathlib.Path.is_file", lambda _: True)
    parser = PROGRAMS[name]()
    examples = re.findall(rf"^  .*?\b{name} (.*)$", parser.epilog or "", re.MULTILINE)
    assert examples
    for example in examples:
        parser.parse_args(shlex.split(example))


@pytest.mark.parametrize("program", [analyst, any_game, gtp_connector, lines_connector, daide])
def test_a_program_whose_reader_has_left_ends_quietly(program: ModuleType) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run_for("--version", program, writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("option", "unbuffered"), [("--version", ""), ("--help", ""), ("--help", "1")])
@pytest.mark.parametrize("program", [analyst, any_game, gtp_connector, lines_connector, daide])
def test_a_program_whose_output_has_no_room_says_so_in_one_line(
    program: ModuleType, option: str, unbuffered: str
) -> None:
    with Path("/dev/full").open("w") as full:
        done = run_for(option, program, full.fileno(), unbuffered)
    assert done.returncode == 1
    assert re.fullmatch(r"a[\w-]+: cannot write its output: No space left on device\n", done.stderr)


def test_a_program_without_an_output_ends_as_others_do() -> None:
    line = f"{shlex.quote(sys.executable)} -m clients.analyst --version >&-"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_engine_without_an_output_answers_nowhere() -> None:
    bot = f"{shlex.quote(sys.executable)} -m clients.bots.any_game go --set board_size=5 --playouts 1"
    line = f"echo name | {bot} >&-"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_engine_without_an_error_output_complains_nowhere_else() -> None:
    ask = "printf 'genmove b\nquit\n'"
    bot = f"{shlex.quote(sys.executable)} -m clients.bots.any_game go --set board_size=5 --playouts 1"
    line = f"{ask} | {bot} --academy 127.0.0.1:1"
    # A token, so that it asks, and a contest for it.
    environment = os.environ | {
        "ACADEMY_TOKEN": f"acd_{'0' * 16}_{'a' * 43}",
        "ACADEMY_CONTEST": "c",
        "ACADEMY_PLAYER": "1",
    }
    both, alone = (
        subprocess.run(
            ["/bin/sh", "-c", line + closed], capture_output=True, text=True, check=True, env=environment
        )
        for closed in ("", " 2>&-")
    )
    assert "going on without ACADEMY's answers" in both.stderr
    assert re.fullmatch(r"= [A-E][1-5]\n\n=\s+", alone.stdout), alone.stdout


@pytest.mark.parametrize(
    ("failing", "status", "why"),
    [
        ("sys.exit('no server answers')", 1, r"no server answers\n"),
        ("sys.exit(2)", 2, ""),
        ("raise ValueError('a fault')", 1, r"Traceback .*\nValueError: a fault\n"),
    ],
)
@pytest.mark.parametrize("room", ["nobody reads", "full"])
def test_a_failure_is_not_hidden_by_an_output_that_goes_nowhere(
    failing: str, status: int, why: str, room: str
) -> None:
    program = (
        "import sys; from clients.command_line import ending_with_its_output\n"
        f"with ending_with_its_output('x'):\n    print('waits to be written')\n    {failing}"
    )
    if room == "full":
        writer = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, writer = os.pipe()
        os.close(reader)
    # Without a buffer nothing would wait.
    variables = {**os.environ, "PYTHONUNBUFFERED": ""}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, env=variables
    )
    os.close(writer)
    assert done.returncode == status
    assert re.fullmatch(why, done.stderr, re.DOTALL)


def run_for(
    option: str, program: ModuleType, output: int, unbuffered: str = ""
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", program.__name__, option],
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_wrong_usage_is_named_without_commanding_the_terminal(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        PROGRAMS[name]().error("the game is \x1b[31m red")
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith("error: the game is \\x1b[31m red\n")
