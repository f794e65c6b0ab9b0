"""Games on a Ray cluster of three nodes on this machine, whose nodes are lost while games are played."""

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'academy-arena[ray]'")

from arena.results.database import NoResultsYetError, ResultsDatabase
from arena.results.series_reader import SeriesReader
from arena.runner.files import CompetitionFiles
from arena.workers.ray_connection import RayUnavailableError, connect
from tests.arena.engines import ENGINE
from tests.ports import free_ports
from tests.waiting import until

_LOOPBACK = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A head without processors, and two nodes of one, of which one offers `left` and the other `right`.

    `only-right` is a program that the node `right` alone has.
    """
    programs = tmp_path_factory.mktemp("programs")
    program = programs / "only-right"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S {ENGINE} none\n")
    program.chmod(0o700)
    with started(num_cpus=0) as made:
        for name, path in (("left", os.defpath), ("right", f"{programs}:{os.defpath}")):
            made.add_node(
                num_cpus=1, node_ip_address="127.0.0.1", resources={name: 1}, env_vars={"PATH": path}
            )
        yield made


@contextlib.contextmanager
def started(num_cpus: int) -> Iterator[Any]:
    """A cluster of a head."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _LOOPBACK.items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        noticed_soon = {
            "health_check_initial_delay_ms": 5000,
            "health_check_period_ms": 1000,
            "health_check_failure_threshold": 3,
        }
        head = {"num_cpus": num_cpus, "include_dashboard": False, "_system_config": noticed_soon}
        made = Cluster(initialize_head=True, head_node_args={**head, "node_ip_address": "127.0.0.1"})
        try:
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


def test_a_cluster_plays_the_same_games_as_this_machine_and_no_more_at_a_time_than_it_can(
    cluster: Any, tmp_path: Path
) -> None:
    folders = [tmp_path / "here", tmp_path / "there"]
    for folder in folders:
        folder.mkdir()
    here, there = (write_cup(folder, RANDOM) for folder in folders)
    assert arena("run", "--quiet", str(here)).returncode == 0
    done = arena("run", str(there), "--log-protocol", "--on", cluster.address, "--parallel", "5")
    assert (done.returncode, done.stderr) == (0, "")
    # Its last line names the folder.
    assert "ray" not in done.stdout.replace(str(tmp_path), "").lower()
    assert results(there) == results(here) and len(results(there)) == 6
    assert {file.name for file in (tmp_path / "there" / "cup.games").iterdir()} == {
        f"AvB_{number}.sgf" for number in range(6)
    }


def test_a_cluster_of_ones_own_checks_players_first_and_plays_with_them(tmp_path: Path) -> None:
    path = write_cup(tmp_path, '[players.a]\ncommand = "missing"\n' + engine("b", "none"), "rounds = 2")
    done = arena("run", str(path), "--on", "ray")
    assert done.returncode == 1 and "player a: cannot run 'missing'" in done.stderr
    path = write_cup(tmp_path, engine("a", "none") + engine("b", "none"), "rounds = 2")
    done = arena("run", str(path), "--on", "ray")
    assert done.returncode == 0 and len(results(path)) == 2, done.stderr
    # The check ends what its players left, and nothing of the cluster's.
    assert "checking 2 players" in done.stdout
    assert "has gone" not in done.stdout and "is played again" not in done.stderr


def test_a_run_that_is_ended_while_ray_starts_is_interrupted(tmp_path: Path) -> None:
    path = write_cup(tmp_path, RANDOM)
    command = [sys.executable, "-m", "arena.cli", "run", str(path), "--on", "ray"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        until(lambda: any("raylet/raylet" in name for name in commands_of_children(run.pid)))
        run.terminate()
        _, complaint = run.communicate(timeout=60)
    assert (run.returncode, complaint) == (3, "arena: interrupted; games in progress will be played again\n")


def commands_of_children(process: int) -> list[str]:
    names = []
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        # It may have ended meanwhile.
        with contextlib.suppress(OSError):
            names.append(Path(f"/proc/{child}/cmdline").read_text())
    return names


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_head_that_ray_start_made_is_reached_on_its_machine_by_localhost(host: str, tmp_path: Path) -> None:
    # Ray gives such a node the machine's own address, whatever its head is called here.
    head, clients = free_ports(2)
    (tmp_path / "token").write_text("secret" * 8)
    environment = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(tmp_path / "token")}
    ports = f"--port {head} --ray-client-server-port {clients} --min-worker-port 0 --max-worker-port 0"
    options = f"--head --block {ports} --num-cpus 1 --include-dashboard false --disable-usage-stats"
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", *options.split()]
    with pytest.MonkeyPatch.context() as patch, (tmp_path / "head.log").open("w") as log:
        patch.delenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        with subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT) as process:
            try:
                until(lambda: "runtime started" in (tmp_path / "head.log").read_text(), process)
                done = arena("check", str(write_cup(tmp_path, RANDOM)), "--on", f"{host}:{head}")
            finally:
                process.terminate()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count(": works") == 2


def test_a_run_on_a_machine_without_a_node_says_so_before_ray_looks_for_one(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The nodes of the cluster are on this machine.
    monkeypatch.setattr("ray._private.services.find_node_ids", lambda: set())
    with pytest.raises(
        RayUnavailableError, match=r"this machine is not a node .* ray://HOST:10001 needs none"
    ):
        connect(cluster.address, {})


def test_the_check_says_what_is_missing_on_which_node(cluster: Any, tmp_path: Path) -> None:
    players = '[players.a]\ncommand = "only-right"\n[players.b]\ncommand = "only-right"\n' + engine(
        "c", "none", "[players.c.resources]\ncustom = { middle = 1 }\n"
    )
    done = arena("check", str(write_cup(tmp_path, players)), "--on", cluster.address)
    assert done.returncode == 1
    lines = re.sub(r"\S+ \(\w{6}\)", "NODE", done.stdout).splitlines()
    missing = "cannot run 'only-right': there is no such program; install it, or give its path"
    assert lines == [
        "node NODE: 1 CPU, 1 left",
        "node NODE: 1 CPU, 1 right",
        "node NODE: nothing to offer",
        "games of a and c: no node has 1 CPU, 1 middle, which they need together",
        f"player a on NODE: {missing}",
        "player a on NODE: works",
        "player a on NODE: no game fits, for want of 1 CPU",
        f"player b on NODE: {missing}",
        "player b on NODE: works",
        "player b on NODE: no game fits, for want of 1 CPU",
        *["player c on NODE: no game fits, for want of 1 middle"] * 2,
        "player c on NODE: no game fits, for want of 0.5 CPU, 1 middle",
    ]
    assert done.stderr.startswith("arena: 3 of the checks failed")


@pytest.mark.parametrize("place", ["engines", "engines/.venv", "engines/venv"])
def test_a_program_in_the_working_folder_is_copied_also_where_git_ignores_it(
    place: str, cluster: Any, tmp_path: Path
) -> None:
    folder = tmp_path / place
    folder.mkdir(parents=True)
    built = folder / "built"
    built.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S {ENGINE} none\n")
    built.chmod(0o700)
    (tmp_path / "engines" / ".gitignore").write_text("built\n")
    players = "".join(f'[players.{name}]\ncommand = "{place}/built"\n' for name in "ab")
    path = write_cup(tmp_path, players + '[workers]\nworking_folder = "engines"\n')
    done = arena("check", str(path), "--on", cluster.address)
    assert done.returncode == 0, done.stdout + done.stderr


def test_games_wait_for_a_node_with_gpus_and_the_label_and_each_player_sees_its_own_gpu(
    cluster: Any, tmp_path: Path
) -> None:
    show = (
        f'echo \\"sees gpu $CUDA_VISIBLE_DEVICES in $GOMILL_GAME_ID\\" >&2;'
        f" exec {sys.executable} -I -S {ENGINE} none"
    )
    players = "".join(
        f'[players.{name}]\ncommand = ["sh", "-c", "{show}"]\n'
        f'[players.{name}.resources]\ngpus = 1\nlabels = {{ place = "cellar" }}\n'
        for name in "ab"
    )
    playing, path = start(cluster, write_cup(tmp_path, players, "rounds = 2\nparallel = 2"))
    log = CompetitionFiles(path).log
    added = []
    try:
        until(lambda: log.exists() and "wait for a node" in log.read_text())
        # It has the processors, and is not where they want to be.
        gpus = {"num_cpus": 1, "num_gpus": 2, "node_ip_address": "127.0.0.1"}
        added.append(cluster.add_node(**gpus, labels={"place": "attic"}))
        until(lambda: "attic" in log.read_text())
        added.append(cluster.add_node(**gpus, labels={"place": "cellar"}))
        output, errors = playing.communicate(timeout=180)
    finally:
        playing.kill()
        for node in added:
            cluster.remove_node(node)
    assert playing.returncode == 0, errors
    assert "lacks 2 GPU, the label place = cellar" in output
    assert "has what games waited for: 1 CPU, 2 GPU, the label place = cellar" in output
    seen = re.findall(r"(\w): sees gpu (\S*) in (\w+)", log.read_text())
    assert sorted((game, gpu) for _, gpu, game in seen) == [
        (game, gpu) for game in ("AvB_0", "AvB_1") for gpu in "01"
    ]
    assert len({(game, player) for player, _, game in seen}) == 4


def test_the_standard_error_of_players_comes_back(cluster: Any, tmp_path: Path) -> None:
    path = write_cup(tmp_path, engine("a", "flood-stderr") + engine("b", "none"), "rounds = 1")
    done = arena("run", "--quiet", str(path), "--log-protocol", "--on", cluster.address)
    assert done.returncode == 0 and "ray" not in done.stderr.lower()
    assert "a: so much to say" in (tmp_path / "cup.log").read_text()
    assert "genmove" in (tmp_path / "cup.protocol" / "AvB_0.log").read_text()


def test_a_pool_is_played_on_the_cluster_that_its_base_names(cluster: Any, tmp_path: Path) -> None:
    only_there = "".join(
        f'[players.{name}]\ncommand = "only-right"\n[players.{name}.resources]\ncustom = {{ right = 0.5 }}\n'
        for name in "ab"
    )
    (tmp_path / "house.pool").write_text(f'[workers]\non = "{cluster.address}"\n{only_there}')
    tokens = str(tmp_path / "tokens")
    made = arena("token", "me", "--role", "operator", "--tokens", tokens)
    assert made.returncode == 0, made.stderr
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    league = ("--league", str(tmp_path / "league.db"))
    serve = [*(sys.executable, "-m", "arena.cli", "serve", str(tmp_path), "--tokens", tokens, *league)]
    with subprocess.Popen([*serve, "--address", address], stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None and address in service.stdout.readline()
            settings = ("--set", "board_size=5", "--set", "komi=0.5", "--rounds", "1", "--base", "house")
            reached = ("--address", address, "--token", made.stdout.split()[-1])
            added = arena("pool", "add", "far", "--game", "go", *settings, *reached)
            assert added.returncode == 0, added.stderr
            await_played(tmp_path / "far.toml", 1)
        finally:
            service.terminate()


class DiallingIn:
    """A bot that dials in from this machine and passes: what it says of its games.

    It is a process of its own: Ray forks this one, which a client of gRPC in it would not survive.
    """

    def __init__(self, folder: Path, port: int, pause: float) -> None:
        (folder / "bot.py").write_text(DIALS_IN)
        self._notes = folder / "bot.txt"
        with self._notes.open("w") as out:
            command = [sys.executable, str(folder / "bot.py"), str(port), str(pause)]
            self._process = subprocess.Popen(command, stdout=out)

    def __enter__(self) -> "DiallingIn":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def began(self) -> int:
        """How many games it has begun."""
        return self._notes.read_text().split().count("began")

    @property
    def counted(self) -> list[str]:
        """How games ended that count."""
        return sorted(word for word in self._notes.read_text().split() if word != "began")


def write_remote_cup(folder: Path, port: int, rounds: int) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "token").write_text("secret")
    remote = '[players.remote]\nprotocol = "grpc"\ntoken_file = "token"\nstart_seconds = 60\n'
    address = f'[remote]\naddress = "127.0.0.1:{port}"\n'
    return write_cup(folder, RANDOM + remote + address, f"rounds = {rounds}\nparallel = 2")


def test_players_that_dial_in_play_from_any_node_as_from_here_and_hear_their_end(
    cluster: Any, tmp_path: Path
) -> None:
    played, ended = [], []
    for name, options in (("here", ()), ("there", ("--on", cluster.address))):
        (port,) = free_ports(1)
        path = write_remote_cup(tmp_path / name, port, rounds=2)
        with DiallingIn(tmp_path / name, port, pause=0.0) as bot:
            done = arena("run", "--quiet", str(path), *options)
            assert (done.returncode, done.stderr) == (0, "")
            until(lambda bot=bot: len(bot.counted) == 4)  # type: ignore[misc]
            ended.append(bot.counted)
        played.append(results(path))
    assert played[0] == played[1] and len(played[0]) == 6
    assert ended[0] == ended[1]
    checked = arena("check", str(path), "--on", cluster.address)
    assert checked.returncode == 0, checked.stderr
    assert "player remote: dials in here, and is not started" in checked.stdout


def test_a_player_that_dialled_in_plays_again_where_its_games_nodes_are_lost(
    cluster: Any, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    path = write_remote_cup(tmp_path / "cup", port, rounds=1)
    with DiallingIn(tmp_path / "cup", port, pause=0.2) as bot:
        playing, _ = start(cluster, path)
        until(lambda: bot.began > 0)
        for node in cluster.list_all_nodes()[1:]:
            cluster.remove_node(node, allow_graceful=False)
        for name in ("left", "right"):
            cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1", resources={name: 1})
        output, errors = playing.communicate(timeout=180)
        assert playing.returncode == 0, output + errors
        until(lambda: len(bot.counted) == 2)
        assert bot.began > 2
    assert [game_id for game_id, _ in results(path)] == ["AvB_0", "AvC_0", "BvC_0"]
    assert "is played again: " in errors
    assert "Traceback" not in errors and "never retrieved" not in errors


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


def test_a_run_whose_own_node_is_lost_ends_and_says_how_to_go_on(tmp_path: Path) -> None:
    with started(num_cpus=1) as alone:
        playing, path = start_sleepy(alone, tmp_path, rounds=4)
        await_played(path, 1)
        # The head's services for the whole cluster stay.
        alone.head_node.kill_raylet()
        output, errors = playing.communicate(timeout=180)
    assert playing.returncode == 1, output + errors
    assert "by which this run was in the cluster, has gone" in errors


def start_sleepy(cluster: Any, folder: Path, rounds: int) -> "tuple[subprocess.Popen[str], Path]":
    (folder / "sleepy.py").write_text(SLEEPY)
    players = "".join(f'[players.{name}]\nprotocol = "python"\ncommand = "sleepy:player"\n' for name in "ab")
    return start(cluster, write_cup(folder, players, f"rounds = {rounds}\nparallel = 2"))


def start(cluster: Any, path: Path) -> "tuple[subprocess.Popen[str], Path]":
    command = [sys.executable, "-m", "arena.cli", "run", str(path), "--on", cluster.address]
    playing = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return playing, path


def await_played(path: Path, games: int) -> None:
    def played() -> bool:
        with contextlib.suppress(NoResultsYetError):
            return path.with_suffix(".results.sqlite").exists() and len(results(path)) >= games
        return False

    until(played)


DIALS_IN = """
import sys, time
from clients.connection import Connection
from clients.remote_game import Engine
from clients.remote_play import dial_in

def begin(game):
    print("began", flush=True)
    def choose(turn):
        time.sleep(float(sys.argv[2]))
        return "pass"
    return choose

def over(game, end):
    # Before the first game on this machine players are checked, in games that do not count.
    if end.winners:
        print("won" if game.seat in end.winners else "lost", flush=True)

there = Connection(f"127.0.0.1:{sys.argv[1]}", token="secret")
dial_in(there, "remote", begin, Engine(games_at_once=8), redial_seconds=60, game_over=over)
"""

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
