"""What the service reads of a competition while somebody follows it."""

import os
from pathlib import Path

from arena.service.competition_view import CompetitionView
from tests.arena.cli.command import arena
from tests.arena.control_files import RANDOM, write_control


def results_open() -> bool:
    files = (os.readlink(entry.path) for entry in os.scandir("/proc/self/fd") if os.path.islink(entry.path))
    return any(file.endswith("contest.results.sqlite") for file in files)


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
