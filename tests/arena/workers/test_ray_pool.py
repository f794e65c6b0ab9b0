"""Games on a Ray cluster of three nodes on this machine, whose nodes are lost while games are played."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'academy-arena[ray]'")

from arena.results.database import ResultsDatabase
from arena.results.series_reader import SeriesReader
from arena.runner.files import CompetitionFiles
from tests.arena.engines import ENGINE

_LOOPBACK = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without processors, and two nodes of one, of which one offers `left` and the other `right`."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _LOOPBACK.items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        noticed_soon = {
            "health_check_initial_delay_ms": 5000,
            "health_check_period_ms": 1000,
            "health_check_failure_threshold": 3,
        }
        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": noticed_soon}
        made = Cluster(initialize_head=True, head_node_args={**head, "node_ip_address": "127.0.0.1"})
        try:
            for name in ("left", "right"):
                made.add_node(num_cpus=1, node_ip_address="127.0.0.1", resources={name: 1})
            yield made
        finally:
            made.shutdown()


def write_cup(folder: Path, players: str, competition: str = "rounds = 6\nparallel = 2") -> Path:
    path = folder / "cup.toml"
    path.write_text(
        f'[competition]\nkind = "all-play-all"\nseed = 2\n{competition}\n'
        f'[game]\nname = "go"\nboard_size = 5\nkomi = 0.5\n{players}'
    )
    return path


def engine(name: str, fault: str, more: str = "") -> str:
    return f'[players.{name}]\ncommand = ["{sys.executable}", "-I", "-S", "{ENGINE}", "{fault}"]\n{more}'


RANDOM = "".join(
    f'[players.{name}]\nprotocol = "python"\ncommand = "arena.players.random_moves:random_moves"\n'
    for name in "ab"
)


def arena(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "arena.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)


def results(control: Path) -> list[tuple[str, str]]:
    with closing(ResultsDatabase.open(CompetitionFiles(control).results)) as database:
        return sorted(
            (game.game_id, game.describe())
            for game in SeriesReader.find(database, control.stem).finished_games()
        )


def test_a_cluster_plays_the_same_games_as_this_machine(cluster: Any, tmp_path: Path) -> None:
    folders = [tmp_path / "here", tmp_path / "there"]
    for folder in folders:
        folder.mkdir()
    here, there = (write_cup(folder, RANDOM) for folder in folders)
    assert arena("run", "--quiet", str(here)).returncode == 0
    done = arena("run", str(there), "--log-protocol", "--on", cluster.address)
    assert (done.returncode, done.stderr) == (0, "")
    assert "ray" not in done.stdout.lower()
    assert results(there) == results(here) and len(results(there)) == 6
    assert {file.name for file in (tmp_path / "there" / "cup.games").iterdir()} == {
        f"AvB_{number}.sgf" for number in range(6)
    }


def test_the_check_says_which_kind_of_node_cannot_start_a_player(cluster: Any, tmp_path: Path) -> None:
    needs = "[players.{0}.resources]\ncustom = {{ {1} = 1 }}\n"
    players = engine("a", "none", needs.format("a", "left")) + engine(
        "b", "none", needs.format("b", "middle")
    )
    done = arena("check", str(write_cup(tmp_path, players)), "--on", cluster.address)
    assert done.returncode == 1
    assert "player b: no node has 0.5 CPU, 1 middle" in done.stdout
    assert "player a on" in done.stdout and ": works" in done.stdout


def test_what_players_write_to_their_standard_error_comes_back(cluster: Any, tmp_path: Path) -> None:
    path = write_cup(tmp_path, engine("a", "flood-stderr") + engine("b", "none"), "rounds = 1")
    done = arena("run", "--quiet", str(path), "--log-protocol", "--on", cluster.address)
    assert done.returncode == 0 and "ray" not in done.stderr.lower()
    assert "a: so much to say" in (tmp_path / "cup.log").read_text()
    assert "genmove" in (tmp_path / "cup.protocol" / "AvB_0.log").read_text()


def test_a_game_whose_node_is_lost_is_played_again_and_every_game_counts_once(
    cluster: Any, tmp_path: Path
) -> None:
    playing, path = start_sleepy(cluster, tmp_path, rounds=2)
    files = CompetitionFiles(path)
    deadline = time.monotonic() + 60
    # Both games are watched, so both nodes play.
    while len(list(files.live.glob("*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
    cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
    output, errors = playing.communicate(timeout=180)
    assert playing.returncode == 0
    assert [game_id for game_id, _ in results(path)] == ["AvB_0", "AvB_1"]
    assert "raylet" not in output and "raylet" not in errors
    assert "has gone" in output
    assert errors.count("is played again: ") == 1


def test_a_cluster_that_shrinks_to_nothing_and_grows_again_plays_every_game_once(
    cluster: Any, tmp_path: Path
) -> None:
    playing, path = start_sleepy(cluster, tmp_path, rounds=4)
    await_played(path, 1)
    for node in cluster.list_all_nodes()[1:]:
        cluster.remove_node(node, allow_graceful=False)
    # Until the run has noticed that nobody is left to play.
    time.sleep(8.0)
    assert playing.poll() is None
    for name in ("left", "right"):
        cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1", resources={name: 1})
    output, errors = playing.communicate(timeout=180)
    assert playing.returncode == 0, output + errors
    assert [game_id for game_id, _ in results(path)] == [f"AvB_{number}" for number in range(4)]


def test_a_run_that_is_killed_goes_on_with_the_cluster_and_plays_every_game_once(
    cluster: Any, tmp_path: Path
) -> None:
    playing, path = start_sleepy(cluster, tmp_path, rounds=4)
    await_played(path, 1)
    known = results(path)
    playing.kill()
    playing.communicate()
    assert arena("run", "--quiet", str(path), "--on", cluster.address).returncode == 0
    assert set(known) <= set(results(path))
    assert [game_id for game_id, _ in results(path)] == [f"AvB_{number}" for number in range(4)]


def start_sleepy(cluster: Any, folder: Path, rounds: int) -> "tuple[subprocess.Popen[str], Path]":
    (folder / "sleepy.py").write_text(SLEEPY)
    players = "".join(f'[players.{name}]\nprotocol = "python"\ncommand = "sleepy:player"\n' for name in "ab")
    path = write_cup(folder, players, f"rounds = {rounds}\nparallel = 2")
    command = [sys.executable, "-m", "arena.cli", "run", str(path), "--on", cluster.address]
    playing = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return playing, path


def await_played(path: Path, games: int) -> None:
    deadline = time.monotonic() + 120
    while not path.with_suffix(".results.sqlite").exists() or len(results(path)) < games:
        assert time.monotonic() < deadline
        time.sleep(0.1)


SLEEPY = """
import time
from arena.players.random_moves import random_moves

def player(referee, seat, seed):
    choose = random_moves(referee, seat, seed)
    def sleepy(view):
        time.sleep(0.2)
        return choose(view)
    return sleepy
"""
