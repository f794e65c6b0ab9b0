"""What docs/competitions.md shows is true."""

import re
import sqlite3
from pathlib import Path

import pytest

from arena.cli.app import application
from arena.control.toml_file import read
from arena.runner.files import CompetitionFiles
from arena.runner.run import RunOptions, run
from tests.arena.control_files import RANDOM, write_control

DOCUMENTS = Path(__file__).parents[2] / "docs"
DOCUMENT = (DOCUMENTS / "competitions.md").read_text(encoding="utf-8")
SERVICE_DOCUMENT = (DOCUMENTS / "arena_service.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    match = re.search(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    assert match is not None
    return match[1]


def test_its_control_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(block("toml"), encoding="utf-8")
    control = read(path)
    assert control.competitors == ("gnugo-1", "gnugo-5", "random")
    assert control.academy is not None and control.academy.embedded


@pytest.mark.parametrize(
    "heading", [r"\[competition\]", r"\[players\.NAME\]", r"\[academy\]", r"\[ratings\]"]
)
def test_every_setting_is_documented(tmp_path: Path, heading: str) -> None:
    table = heading.replace("\\", "").strip("[]").replace("NAME", "random")
    text = block("toml") + ("\n[ratings]\nstart = 1000\n" if table == "ratings" else "")
    path = tmp_path / "cup.toml"
    path.write_text(text.replace(f"[{table}]\n", f"[{table}]\nxyzzy = 1\n"), encoding="utf-8")
    with pytest.raises(ValueError, match="xyzzy: unknown setting; known here are: ") as error:
        read(path)
    section = re.split(r"\n##", DOCUMENT.split(f"`{heading.replace(chr(92), '')}`\n", 1)[1])[0]
    for setting in str(error.value).split("known here are: ")[1].split(", "):
        assert f"`{setting}`" in section, setting


def test_every_command_is_documented() -> None:
    for command in application.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        assert f"| `arena {name} " in DOCUMENT or f"| `arena {name}" in SERVICE_DOCUMENT


def test_its_query_finds_every_seat_of_every_game(tmp_path: Path) -> None:
    control = read(write_control(tmp_path, {"one": RANDOM, "two": RANDOM}))
    files = CompetitionFiles(control.path)
    run(control, files, RunOptions(quiet=True))
    with sqlite3.connect(str(files.results.database)) as database:
        rows = list(database.execute(block("sql")))
    assert [row[:2] for row in rows] == [
        ("AvB_0", "one"),
        ("AvB_0", "two"),
        ("AvB_1", "two"),
        ("AvB_1", "one"),
    ]
