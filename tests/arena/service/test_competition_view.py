"""What the service reads of a competition while somebody follows it."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from arena.results.database import ResultsError
from arena.results.own_tables import META
from arena.runner.files import CompetitionFiles
from arena.service.competition_view import CompetitionView
from tests.arena.cli.command import arena
from tests.arena.control_files import MISSING, RANDOM, write_control

pytestmark = pytest.mark.usefixtures("games_here")


def results_open(folder: Path) -> list[str]:
    """The results in a folder that this process has open; other tests may leave theirs open."""
    # The listing's own file is closed by the time its link is read.
    links = [link.readlink() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return [
        link.name
        for link in links
        if link.parent == folder and link.name.startswith("contest.results.sqlite")
    ]


def test_a_view_shows_results_after_a_reset_or_restore_and_holds_no_file_open(
    tmp_path: Path,
) -> None:
    path = write_control(tmp_path, {"one": RANDOM, "two": RANDOM})
    results, backup = tmp_path / "contest.results.sqlite", tmp_path / "backup.sqlite"
    view = CompetitionView("contest", path)

    def look() -> int:
        counts, games = view.counts(), view.games(0, 10)
        assert (counts.games if counts else 0) == len(games)
        assert results_open(tmp_path) == []
        return len(games)

    assert look() == 0
    assert arena("run", path, "-q", "--max-games", "1").returncode == 0
    assert look() == 1
    shutil.copyfile(results, backup)
    assert arena("run", path, "-q", "--max-games", "1").returncode == 0
    assert look() == 2
    # The file is whole: nothing stands in a write-ahead log alone, which would undo a restore as well.
    assert list(tmp_path.glob("contest.results.sqlite-*")) == []
    shutil.copyfile(backup, results)
    assert look() == 1
    assert arena("reset", path, "--really").returncode == 0
    assert look() == 0
    assert arena("run", path, "-q", "--max-games", "1").returncode == 0
    assert look() == 1


def test_results_that_a_newer_program_has_changed_meanwhile_are_refused_at_the_next_look(
    tmp_path: Path,
) -> None:
    path = write_control(tmp_path, {"one": RANDOM, "two": RANDOM})
    assert arena("run", path, "-q", "--max-games", "1").returncode == 0
    view = CompetitionView("contest", path)
    assert len(view.games(0, 10)) == 1
    with sqlite3.connect(tmp_path / "contest.results.sqlite") as database:
        database.execute(f'UPDATE "{META.name}" SET Value = 99')
    with pytest.raises(ResultsError, match="has schema version 99"):
        view.games(0, 10)


def test_the_history_of_a_competition_that_became_another_kind_has_its_ratings(tmp_path: Path) -> None:
    players = {"one": RANDOM, "two": RANDOM, "three": RANDOM}
    path = write_control(tmp_path, players)
    assert arena("run", path, "-q").returncode == 0
    sprt = 'competitors = ["one", "two"]\nelo0 = 0\nelo1 = 50\nalpha = 0.05\nbeta = 0.05'
    path.write_text(path.read_text().replace('"all-play-all"', '"sprt"').replace("rounds = 2", sprt))
    history = CompetitionView("contest", path).history("", 10)
    assert [player.player for player in history.players] == ["one", "three", "two"]
    assert not history.llr.games


def test_generations_whose_players_do_not_start_have_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "contest.toml"
    path.write_text(
        f"""
        [competition]
        kind = "generations"
        generations = 2
        rounds = 2
        seed = 1
        check_players = false
        [game]
        name = "hex"
        board_size = 3
        [families.absent]
        size = 2
        keep = 1
        [families.absent.player]
        {MISSING}
        environment = {{ LEVEL = "{{level}}" }}
        [families.absent.parameters.level]
        low = 0
        high = 9
        """
    )
    assert arena("run", path, "-q").returncode == 4
    standings = CompetitionView("contest", path).standings()
    assert (standings.games, list(standings.standings), bool(standings.lines)) == (0, [], True)


def test_what_is_shown_of_a_run_that_ends_meanwhile_has_its_last_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_control(tmp_path, {"one": RANDOM, "two": RANDOM})
    view = CompetitionView("contest", path)

    def end_just_now(_: CompetitionFiles) -> bool:
        assert arena("run", path, "-q", "--max-games", "1").returncode == 0
        return False

    monkeypatch.setattr(CompetitionFiles, "running", end_just_now)
    assert view.competition(False, None).games_played == 1
