"""What the service reads of a competition while somebody follows it."""

from pathlib import Path

from arena.service.competition_view import CompetitionView
from tests.arena.cli.command import arena
from tests.arena.control_files import RANDOM, write_control


def results_open() -> bool:
    # The listing's own file is closed by the time its link is read.
    links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return any(link.readlink().name == "contest.results.sqlite" for link in links)


def test_a_watchers_looks_share_an_open_database_and_see_what_a_reset_and_another_run_made(
    tmp_path: Path,
) -> None:
    path = write_control(tmp_path, {"one": RANDOM, "two": RANDOM})
    view = CompetitionView("contest", path)
    view.watchers += 1
    assert view.games(0, 10) == []
    assert arena("run", path, "-q", "--max-games", "1").returncode == 0
    assert len(view.games(0, 10)) == 1 and results_open()
    assert arena("run", path, "-q", "--max-games", "1").returncode == 0
    assert len(view.games(0, 10)) == 2
    assert arena("reset", path, "--really").returncode == 0
    assert view.games(0, 10) == []
    assert arena("run", path, "-q", "--max-games", "1").returncode == 0
    assert len(view.games(0, 10)) == 1
    # Another one still looks.
    view.close()
    assert results_open()
    view.watchers -= 1
    view.close()
    assert not results_open()
    assert len(view.games(0, 10)) == 1 and not results_open()
