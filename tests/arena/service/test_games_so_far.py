"""What the service says of a competition's state while its games come in, without reading them all again."""

import shutil
from pathlib import Path

import pytest

from arena.reports.contents import CompetitionReport
from arena.runner.report import read_report
from arena.service.competition_view import CompetitionView
from tests.arena.cli.command import arena
from tests.arena.control_files import RANDOM, write_control

pytestmark = pytest.mark.usefixtures("games_here")


def read_again(view: CompetitionView) -> CompetitionReport:
    return read_report(view.control, view.files)


def test_a_swiss_table_and_the_rounds_games_follow_the_results(tmp_path: Path) -> None:
    players = dict.fromkeys(("ann", "bob", "cy", "dee"), RANDOM)
    path = write_control(tmp_path, players, competition="rounds = 2")
    path.write_text(path.read_text().replace("all-play-all", "swiss"))
    view = CompetitionView("contest", path)
    first_round = [game.game_id for game in view.schedule(10).games]
    assert len(first_round) == 4 and all(game_id.startswith("r1_") for game_id in first_round)
    for more, left in ((1, 3), (2, 1), (1, 4)):
        assert arena("run", path, "-q", "--max-games", str(more)).returncode == 0
        answer = view.standings()
        assert list(answer.lines) == read_again(view).lines
        assert [line.player for line in answer.standings] == [
            player.name for player in read_again(view).standings.table()
        ]
        assert len(view.schedule(10).games) == left
    assert arena("schedule", path, "--limit", "1").stdout.startswith("r2_")
    # A list is as long as its limit.
    others = tmp_path / "others"
    others.mkdir()
    view_of_all = CompetitionView("contest", write_control(others, players))
    assert len(view_of_all.schedule(100).games) == 12
    assert len(view_of_all.schedule(5).games) == 5


def test_results_that_were_put_back_from_a_backup_are_read_again(tmp_path: Path) -> None:
    path = write_control(
        tmp_path, dict.fromkeys(("ann", "bob", "cy", "dee"), RANDOM), competition="rounds = 2"
    )
    path.write_text(path.read_text().replace("all-play-all", "swiss"))
    results, backup = tmp_path / "contest.results.sqlite", tmp_path / "backup.sqlite"
    view = CompetitionView("contest", path)
    assert arena("run", path, "-q", "--max-games", "1").returncode == 0
    shutil.copyfile(results, backup)
    assert arena("run", path, "-q", "--max-games", "2").returncode == 0
    assert len(view.schedule(10).games) == 1
    shutil.copyfile(backup, results)
    assert list(view.standings().lines) == read_again(view).lines
    assert len(view.schedule(10).games) == 3
    assert arena("run", path, "-q", "--max-games", "2").returncode == 0
    assert list(view.standings().lines) == read_again(view).lines
    assert len(view.schedule(10).games) == 1


def test_a_sequential_test_has_its_state_and_no_schedule(tmp_path: Path) -> None:
    path = write_control(tmp_path, dict.fromkeys(("ann", "bob"), RANDOM), competition="")
    test = 'kind = "sprt"\ncompetitors = ["ann", "bob"]\nelo0 = 0\nelo1 = 50\ngames = 20'
    path.write_text(path.read_text().replace('kind = "all-play-all"', test))
    view = CompetitionView("contest", path)
    for more in (2, 4):
        assert arena("run", path, "-q", "--max-games", str(more)).returncode == 0
        answer, again = view.standings(), read_again(view)
        assert list(answer.lines) == again.lines and again.sprt is not None
        assert list(answer.test.pairs) == list(again.sprt.pairs) and answer.games == again.standings.games
        assert not view.schedule(10).games
