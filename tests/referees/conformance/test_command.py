"""The command `python -m referees.conformance`."""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import pytest

from academy.knowledge.boards import GraphGeometry
from referees.api import InvalidSettingError
from referees.conformance import LAWS
from referees.conformance.__main__ import main
from referees.go import Go, GoPosition


def test_the_command_prints_what_was_checked() -> None:
    command = [sys.executable, "-m", "referees.conformance", "go", "--games", "2", "--max-plies", "30"]
    # Both names of the option are good: `--set` is that of academy-bot.
    options = ["--set", "board_size=5", "--setting", "ko=positional_superko", "--set", "komi=0.5"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    first, *checked = done.stdout.splitlines()
    assert first.startswith("go-5x5: 2 games, ")
    assert [line.split(None, 1)[1] for line in checked] == [f"{law}: {text}" for law, text in LAWS.items()]
    assert all(int(line.split()[0]) > 0 for line in checked)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["go", "--setting", "board_size=99"], "99 is not a whole number"),
        (["go", "--setting", "board_size=nine"], "'nine' is not a whole number"),
        (["go", "--setting", "board_size"], "'board_size': NAME=VALUE is needed"),
        (["noughts"], "no referee for the game 'noughts'"),
        (["go", "--setting", "board_size=9", "--games", "0"], "0 is not a positive number"),
        (["go", "--setting", "board_size=9", "--games", "few"], "'few' is not a whole number"),
        (["go", "--setting", "board_size=9", "--seed", "1e3"], "'1e3' is not a whole number"),
        (["go", "--setting", "board_size=9", "--seed", "-1"], f"-1 is not a seed: give 0 to {2**63 - 1}"),
        (["go", "--setting", "board_size=9", "--seed", str(2**63)], f"give 0 to {2**63 - 1}"),
        (["warlight", "--setting", "map=double_small"], "call referees.conformance.check_referee"),
    ],
)
def test_bad_arguments_are_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("entry_point", "message"),
    [
        (
            "missing_rules:Nim",
            "the game 'nim' of the package 'odd' cannot be loaded: ModuleNotFoundError: No module named",
        ),
        ("unfinished_rules:Nim", "the game 'nim': unfinished_rules.Nim lacks board, record; a referee"),
        ("os:getcwd", "the game 'nim': its entry point 'os:getcwd' names no referee"),
    ],
    ids=["cannot be loaded", "lacks methods", "something else"],
)
def test_a_package_that_brings_no_whole_referee_is_refused_with_what_is_wrong(
    entry_point: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    package = tmp_path / "odd-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(f"[arena.referees]\nnim = {entry_point}\n")
    (tmp_path / "unfinished_rules.py").write_text(
        "from referees.hex import Hex\n"
        "from referees.api import Referee\n"
        "class Nim(Hex):\n"
        "    board = Referee.board\n"
        "    record = Referee.record\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["nim"])
    assert left.value.code == 2
    assert message in capsys.readouterr().err


def test_the_command_ends_quietly_where_nobody_reads_on() -> None:
    command = [sys.executable, "-m", "referees.conformance", "hex", "--set", "board_size=2", "--games", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout and done.stderr
        done.stdout.close()
        assert (done.stderr.read(), done.wait()) == (b"", 0)


class Generous(Go):
    def check(self, position: GoPosition, seat: int, move: int) -> None:
        pass


def test_a_broken_law_ends_the_command_with_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("referees.conformance.__main__.referee", {"generous": Generous}.__getitem__)
    assert main(["generous", "--setting", "board_size=5"]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("foreign moves: ") and not printed.out


class Loud(Go):
    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        if not settings:
            raise RuntimeError("\x1b[31m no settings")
        if "map" in settings:
            GraphGeometry(("north", "east"), ((0, 2),))
        return super().from_settings(settings)

    def legal_moves(self, position: GoPosition, seat: int) -> Sequence[int]:
        raise RuntimeError("\x1b[31m no moves")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ([], "settings: RuntimeError: \\x1b[31m no settings. The law: "),
        (["--set", "board_size=5"], "RuntimeError: \\x1b[31m no moves (game seed 0, ply 0). The law: "),
        (["--set", "map=1"], "spec: InvalidBoardError: edge (0, 2): its two ends must be different nodes"),
    ],
)
def test_what_a_referee_raises_takes_a_line_that_commands_no_terminal(
    settings: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("referees.conformance.__main__.referee", {"loud": Loud}.__getitem__)
    assert main(["loud", *settings]) == 1
    printed = capsys.readouterr().err
    assert message in printed and printed.count("\n") == 1
    assert re.search(rf" It was raised by {re.escape(__file__)}, line \d+\.$", printed)


class Refusing(Go):
    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        raise InvalidSettingError("komi", "\x1b[31m never")


def test_a_refused_setting_commands_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("referees.conformance.__main__.referee", {"refusing": Refusing}.__getitem__)
    with pytest.raises(SystemExit):
        main(["refusing"])
    assert "'komi': \\x1b[31m never" in capsys.readouterr().err
