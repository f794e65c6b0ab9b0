"""What players say commands no terminal and turns no text round, wherever it is kept or shown."""

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import update

from arena.control.toml_file import read
from arena.reports.as_json import json_report
from arena.reports.html_page import html_page
from arena.reports.text import text_report
from arena.results import own_tables as own
from arena.results.database import ResultsDatabase
from arena.results.series_reader import SeriesReader
from arena.runner.files import CompetitionFiles
from arena.runner.options import RunOptions
from arena.runner.report import read_report
from arena.runner.run import run
from tests.arena.control_files import PASSING, write_control
from tests.arena.rude_engine import EVIL

pytestmark = pytest.mark.usefixtures("games_here")

RUDE = Path(__file__).with_name("rude_engine.py")


@pytest.fixture
def played(tmp_path: Path) -> Path:
    rude = f'command = "{sys.executable} -I -S {RUDE}"'
    path = write_control(tmp_path, {"rude": rude, "polite": PASSING})
    run(read(path), CompetitionFiles(path), RunOptions(quiet=True, log_protocol=True))
    return path


def marks(text: str) -> set[str]:
    return {mark for mark in (*EVIL, "\x1b", "\x07") if not mark.isascii() or mark in "\x1b\x07"} & set(text)


@pytest.mark.threat("bad_input")
def test_no_file_of_a_competition_holds_characters_that_command_a_terminal(played: Path) -> None:
    files = [file for file in played.parent.rglob("*") if file.is_file() and file.suffix != ".sqlite"]
    assert len(files) > 5
    marked = {file.name: marks(file.read_text(encoding="utf-8", errors="replace")) for file in files}
    assert {name: bad for name, bad in marked.items() if bad} == {}
    database = next(played.parent.glob("*.sqlite")).read_bytes()
    assert "\u202e".encode() not in database and b"\\u202e" in database


@pytest.mark.threat("bad_input")
def test_what_a_control_file_says_of_its_competition_commands_no_terminal(tmp_path: Path) -> None:
    evil = r"\u001b[31m\u202eevil"
    matchup = f'[[matchups]]\nplayers = ["one", "two"]\nname = "<td><a href=evil>{evil}"\n'
    path = write_control(tmp_path, {"one": PASSING, "two": PASSING}, competition="games = 2", more=matchup)
    described = f'kind = "playoff"\ndescription = "{evil}"'
    path.write_text(path.read_text().replace('kind = "all-play-all"', described))
    run(read(path), CompetitionFiles(path), RunOptions(quiet=True))
    report = read_report(read(path), CompetitionFiles(path))
    for shown in (CompetitionFiles(path).report.read_text(), html_page(report)):
        assert shown.count("\\x1b[31m\\u202eevil") > 1 and not marks(shown)
    assert "<td><a" not in html_page(report)


@pytest.mark.threat("bad_input")
def test_no_report_shows_characters_that_command_a_terminal_that_an_earlier_release_stored(
    played: Path,
) -> None:
    files = CompetitionFiles(played)
    with closing(ResultsDatabase.open(files.results)) as database, database.transaction() as connection:
        seat = {"EngineDescription": f"I am {EVIL}", "Remark": EVIL, "Fault": "late"}
        connection.execute(update(own.SEAT).values(seat))
        connection.execute(update(own.GAME_DETAIL).values(Detail=EVIL))
    report = read_report(read(played), files)
    for shown in (
        text_report(report),
        html_page(report),
        json.dumps(json_report(report), ensure_ascii=False),
    ):
        assert "\\u202e" in shown and not marks(shown)
    with closing(ResultsDatabase.open(files.results)) as database:
        (listed, *_) = SeriesReader.find(database, "contest").games_after(0, 9)
        assert not marks(listed.game.outcome.detail)
