"""Looking at results, and taking them out and in."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.arena.cli.command import ARENA, arena
from tests.arena.control_files import PASSING, TUNER, write_control
from tests.arena.inline_worker import games_in_this_process

pytestmark = pytest.mark.usefixtures("games_here")


@pytest.fixture(scope="module")
def played_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a competition that is over; for copies."""
    folder = tmp_path_factory.mktemp("played")
    control = write_control(folder, {"one": PASSING, "two": PASSING})
    with games_in_this_process():
        assert arena(control, "-q").returncode == 0
    return folder


@pytest.fixture
def played(played_once: Path, tmp_path: Path) -> Path:
    """The control file of a competition that is over."""
    shutil.copytree(played_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "contest.toml"


def test_a_report_is_written_as_a_page_or_printed_as_json(played: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert arena(played, "report", "--html", page).stdout == f"{page}\n"
    assert page.read_text().startswith("<!DOCTYPE html>") and "two" in page.read_text()

    printed = json.loads(arena("report", played, "--json").stdout)
    shown = json.loads(arena("show", played, "--json").stdout)
    assert printed == shown and printed["games"] == 2

    both = arena("report", played, "--json", "--html", page)
    assert json.loads(both.stdout) == shown and both.stderr == f"{page}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("report", "CONTROL", "--html", "missing/x.html"), "can't write missing/x.html: No such file or"),
        (("report", "CONTROL", "--html", "."), "can't write .: Is a directory"),
        (("replay", "CONTROL", "AvB_0", "--output", "missing/x.html"), "can't write missing/x.html: No"),
        (("export", "CONTROL", "missing/x.sqlite"), "missing/x.sqlite: cannot be written (No such file or"),
        (("export", "CONTROL", "contest.toml/x"), "contest.toml/x: cannot be written (Not a directory)"),
    ],
)
def test_a_file_that_cannot_be_written_is_named_with_the_reason(
    played: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(played.parent)
    refused = arena(*(played.name if word == "CONTROL" else word for word in words))
    assert refused.returncode in {1, 2} and "Errno" not in refused.stderr
    assert message in " ".join(refused.stderr.split())


def test_a_misspelt_player_is_not_taken_for_one_without_games(played: Path) -> None:
    refused = arena("games", played, "--player", "ones")
    assert refused.returncode == 2
    why = "'ones' is not a player of this competition; did you mean 'one'?"
    assert why in " ".join(refused.stderr.split())
    refused = arena("games", played, "--player", "one", "--opponent", "nobody")
    assert refused.returncode == 2 and "'nobody' is not a player" in " ".join(refused.stderr.split())
    known = arena("games", played, "--player", "two", "--min-moves", "400")
    assert known.returncode == 0 and "0 of 0 games" in known.stdout and "when (UTC)" in known.stdout


def test_json_has_its_lists_also_where_they_are_empty(played: Path) -> None:
    answer = json.loads(arena("games", played, "--player", "two", "--min-moves", "400", "--json").stdout)
    assert (answer["games"], answer["total"]) == ([], 0)
    assert json.loads(arena("schedule", played, "--json").stdout)["games"] == []


@pytest.mark.parametrize("option", ["--min-moves", "--max-moves"])
def test_a_number_of_moves_that_no_game_has_is_wrong_usage(played: Path, option: str) -> None:
    refused = arena("games", played, option, "99999999999")
    assert refused.returncode == 2 and "2147483647" in refused.stderr


def test_a_players_name_that_is_not_text_is_named(played: Path) -> None:
    refused = arena("games", played, "--player", "\udcff")
    assert (refused.returncode, refused.stderr) == (
        1, "arena: '\\udcff' is not text: give what is not a path in UTF-8\n"
    )  # fmt: skip


def test_games_against_a_tuners_candidates_change_no_rating(tmp_path: Path) -> None:
    control = tmp_path / "tuner.toml"
    control.write_text(TUNER)
    assert arena("run", control, "-q").returncode == 0
    # A candidate is not a competitor, but has games.
    listed = json.loads(arena("games", control, "--json").stdout)["games"]
    (candidate,) = {player["name"] for player in listed[0]["players"]} - {"steady"}
    assert arena("games", control, "--player", candidate, "--min-moves", "400").returncode == 0
    (steady,) = json.loads(arena("show", control, "--json").stdout)["players"]
    assert (steady["games"], steady["elo"]) == (6, 1000.0)
    with sqlite3.connect(tmp_path / "tuner.results.sqlite") as database:
        elos = database.execute("SELECT DISTINCT elo_before, elo_after FROM arena_results").fetchall()
    assert elos == [(None, None)]


def test_json_escapes_whatever_could_command_a_terminal(tmp_path: Path) -> None:
    description = 'description = "bell \\u0007, C1 \\u009b2J, DEL \\u007f, 囲碁"'
    control = write_control(
        tmp_path, {"one": PASSING, "two": PASSING}, competition=f"rounds = 1\n{description}"
    )
    arena(control, "-q")
    printed = arena(control, "show", "--json").stdout
    assert all(" " <= character <= "~" or character == "\n" for character in printed)
    assert json.loads(printed)["description"] == "bell \x07, C1 \x9b2J, DEL \x7f, 囲碁"


@pytest.mark.parametrize(
    ("edition", "table"), [((), "SAGA_Game"), (("--saga2",), "SAGA_Game"), (("--saga1",), "Dip_Game")]
)
def test_results_go_out_and_in_as_saga(
    played: Path, tmp_path: Path, edition: tuple[str, ...], table: str
) -> None:
    target = tmp_path / "out.sqlite"
    assert arena("export", played, target, *edition).stdout == f"{target}\n"
    with sqlite3.connect(target) as database:
        assert database.execute(f'SELECT count(*) FROM "{table}"').fetchone() == (2,)

    again = arena("export", played, target, *edition)
    assert again.returncode == 1 and "exists already" in again.stderr

    shared = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    taken = arena("import", played, target, "--results", shared)
    assert (taken.returncode, taken.stderr) == (0, "")
    assert taken.stdout.startswith("2 games of ")


def test_an_imported_series_is_neither_shown_nor_taken_for_a_competition_of_its_name(
    played: Path, tmp_path: Path
) -> None:
    target, shared = tmp_path / "out.sqlite", f"sqlite:///{tmp_path / 'shared.sqlite'}"
    arena("export", played, target)
    assert arena("import", played, target, "--results", shared).returncode == 0
    for command in ("show", "report"):
        looked = arena(command, played, "--results", shared)
        assert looked.returncode == 1
        assert looked.stderr.startswith("arena: there are no results of 'contest' yet: the series")

    run = arena("run", played, "-q", "--results", shared)
    assert run.returncode == 1
    assert "the series 'contest'" in run.stderr and "rename the control file" in run.stderr
    again = tmp_path / "again.sqlite"
    assert arena("export", played, again, "--results", shared).returncode == 0
    with sqlite3.connect(again) as database:
        assert database.execute('SELECT count(*) FROM "SAGA_Game"').fetchone() == (2,)


def test_results_may_be_kept_in_another_database_and_reset_there(played: Path, tmp_path: Path) -> None:
    shared = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    folder = tmp_path / "more"
    folder.mkdir()
    other = write_control(folder, {"one": PASSING, "two": PASSING}).rename(folder / "other.toml")
    for control in (played, other):
        assert arena(control, "-q", "--results", shared).returncode == 0
    assert not (folder / "other.results.sqlite").exists()
    assert "2/2 games played" in arena(other, "show", "--results", shared).stdout
    listed = arena(other, "games", "--results", shared).stdout
    assert "AvB_0" in listed and "AvB_1" in listed
    assert arena(other, "schedule", "--results", shared).stdout.startswith("No game is known")
    page = folder / "game.html"
    assert arena(other, "replay", "AvB_0", "--results", shared, "--output", page).stdout == f"{page}\n"
    assert arena(other, "games", "--results", "no url").stderr.startswith("arena: ")

    assert arena(other, "reset", "--really", "--results", shared).returncode == 0
    assert "there are no results of 'other' yet" in arena(other, "show", "--results", shared).stderr
    assert "2/2 games played" in arena(played, "show", "--results", shared).stdout


def test_the_control_file_may_say_where_the_results_are(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'elsewhere.sqlite'}"
    control = write_control(
        tmp_path, {"one": PASSING, "two": PASSING}, competition=f'rounds = 2\nresults = "{url}"'
    )
    assert arena(control, "-q").returncode == 0
    assert not (tmp_path / "contest.results.sqlite").exists()
    assert "2/2 games played" in arena(control, "show").stdout
    assert "the competition contest is not running" in arena("stop", control).stderr
    assert arena("reset", control, "--really").returncode == 0
    assert "there are no results of 'contest' yet" in arena(control, "show").stderr
    assert arena(control, "-q").returncode == 0
    assert "2/2 games played" in arena(control, "show").stdout


@pytest.mark.parametrize("url", ["nonsense://", "no url", "sqlite:////nowhere/at/all.sqlite"])
def test_a_database_that_cannot_be_used_is_an_error_of_one_line(played: Path, url: str) -> None:
    done = arena(played, "show", "--results", url)
    assert done.returncode == 1 and done.stderr.startswith("arena: ") and "Traceback" not in done.stderr


def test_a_reader_that_leaves_early_is_not_an_error(played: Path) -> None:
    done = subprocess.run(
        f'{" ".join(ARENA)} show "{played}" | head -n 1; echo "${{PIPESTATUS[0]}}"',
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.stderr == "" and done.stdout.splitlines()[-1] == "0"


def test_letters_that_the_output_lacks_are_escaped(played: Path) -> None:
    named = played.read_text().replace("[competition]", '[competition]\ndescription = "Pr\u00fcfung"', 1)
    played.write_text(named)
    shown = subprocess.run(
        [sys.executable, "-c", "from arena.cli import main; main()", "show", played],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Pr\\xfcfung" in shown.stdout
