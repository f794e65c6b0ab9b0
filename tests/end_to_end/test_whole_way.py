"""A competition's whole way: three games between an engine and bots, arena and server killed in between.

Afterwards every game counts once, ACADEMY is sound, and its opening tree says what the SGF files say,
recounted here without any code of the project.
"""

import json
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sgfmill import sgf

from tests.academy.cli.conftest import run
from tests.arena.cli.command import arena
from tests.arena.engines import needs_gnugo
from tests.end_to_end.conftest import ENVIRONMENT
from tests.waiting import until

# The server has the compiled kernel, as users have it.
SERVERS = {**ENVIRONMENT, "ACADEMY_MATCHING_KERNEL": "auto"}
GAMES = 3
SIZE = 7
# The tree is never cut at a smaller depth: the shortest average would be 20 plies.
DEPTH = 10

CONTROL = """\
[competition]
kind = "all-play-all"
competitors = ["gnugo", "random", "monte-carlo"]
rounds = 1
seed = 7
check_players = false

[game]
name = "go"
board_size = 7
komi = 7.5
move_limit = 150

[players.gnugo]
command = "gnugo --mode gtp --level 1 --chinese-rules --capture-all-dead"

[players.random]
command = "academy-bot go --set board_size=7 --set komi=7.5 --search random --academy"

[players.monte-carlo]
command = "academy-bot go --set board_size=7 --set komi=7.5 --playouts 10 --academy"

[academy]
address = "unix:{folder}/academy.sock"
token_file = "{folder}/token"
"""


class House:
    """A folder with a data folder, a control file, and the two programs run on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.control = folder / "games.toml"
        self.control.write_text(CONTROL.format(folder=folder))
        self.server: subprocess.Popen[bytes] | None = None

    def serve(self) -> None:
        token = self.folder / "token"
        token.unlink(missing_ok=True)
        with (self.folder / "academy.log").open("a") as log:
            self.server = subprocess.Popen(
                ["academy", "serve", "--data", self.folder / "library",
                 "--address", f"unix:{self.folder}/academy.sock", "--embedded-token-file", token],
                env=SERVERS, stdout=log, stderr=log,
            )  # fmt: skip
        until(token.exists, self.server)

    def kill_server(self) -> None:
        if self.server is not None:
            self.server.kill()
            self.server.wait()

    def arena(self, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["arena", "run", str(self.control), *options],
            env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def academy(self, *arguments: str) -> str:
        token = (self.folder / "token").read_text().strip()
        address = f"unix:{self.folder}/academy.sock"
        done = run(*arguments, ACADEMY_ADDRESS=address, ACADEMY_TOKEN=token)
        assert done.exit_code == 0, done.err
        return done.out

    def finished(self) -> list[Path]:
        return sorted((self.folder / "games.games").glob("*.sgf"))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.kill_server()


@needs_gnugo
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_games_survive_the_death_of_arena_and_server(house: House) -> None:
    house.serve()
    first = house.arena("--max-games", "0")
    assert first.wait(timeout=180) == 0, first.stdout and first.stdout.read()
    # Nothing is left out of this tree, so that it can be compared as a whole.
    house.academy("settings", "go-7x7", "opening_capacity=100000", "prune_below=0")

    interrupted = house.arena("--parallel", "2")
    while len(house.finished()) < GAMES // 3:
        assert interrupted.poll() is None, interrupted.stdout and interrupted.stdout.read()
        time.sleep(0.02)
    interrupted.send_signal(signal.SIGKILL)
    house.kill_server()
    interrupted.wait()
    survivors = len(house.finished())
    assert GAMES // 3 <= survivors < GAMES

    house.serve()
    resumed = house.arena("--parallel", "2")
    output, _ = resumed.communicate(timeout=400)
    assert resumed.returncode == 0, output

    shown = json.loads(arena("show", "--json", house.control).stdout)
    assert shown["games"] == GAMES
    # The games that were killed are reported too, as void.
    assert shown["reports"]["waiting"] == shown["reports"]["refused"] == 0
    assert GAMES <= shown["reports"]["acknowledged"] <= GAMES + 2
    assert all(player["games"] == 2 for player in shown["players"])
    assert len(house.finished()) == GAMES

    statistics = json.loads(house.academy("statistics", "go-7x7", "--json"))
    assert int(statistics["contests"]) == GAMES
    nodes = json.loads(house.academy("openings", "go-7x7", "--depth", "0", "--limit", "1000000", "--json"))
    house.kill_server()
    assert "sound" in run("check", "--data", house.folder / "library").out
    assert figures_by_line(nodes) == recounted(house.finished())


Line = tuple[str, ...]
Figures = tuple[int, int, int, int]


def figures_by_line(nodes: list[dict[str, Any]]) -> dict[Line, Figures]:
    """Visits, and the first player's wins, draws and losses, after each list of moves of the tree."""
    lines: dict[int, Line] = {0: ()}
    figures = {}
    for node in nodes:
        node_id = int(node["node_id"])
        if node_id:
            lines[node_id] = (*lines[int(node["parent_id"])], node["move"])
        if len(lines[node_id]) <= DEPTH:
            counts = (node["visits"], node["wins"][0], node["draws"][0], node["losses"][0])
            figures[least_image(lines[node_id])] = tuple(int(count) for count in counts)
    return figures  # type: ignore[return-value]


def recounted(files: list[Path]) -> dict[Line, Figures]:
    """The same from the game records."""
    figures: dict[Line, Counter[str]] = defaultdict(Counter)
    for file in files:
        game = sgf.Sgf_game.from_bytes(file.read_bytes())
        moves = [node.get_move() for node in game.get_main_sequence() if node.get_move()[0] is not None]
        names = ["pass" if point is None else vertex(point[0], point[1]) for _, point in moves]
        winner = game.get_winner()
        result = {"b": "win", "w": "loss", None: "draw"}[winner]
        for depth in range(min(DEPTH, len(names)) + 1):
            figures[least_image(tuple(names[:depth]))].update(["visit", result])
    return {
        line: (counts["visit"], counts["win"], counts["draw"], counts["loss"])
        for line, counts in figures.items()
    }


def vertex(row_from_bottom: int, column: int) -> str:
    return f"{'ABCDEFGHJ'[column]}{row_from_bottom + 1}"


def least_image(line: Line) -> Line:
    """The least of the eight images of a list of moves, found by turning and mirroring the board."""
    images = []
    for mirrored in (False, True):
        for quarter_turns in range(4):
            image = []
            for name in line:
                if name == "pass":
                    image.append(name)
                    continue
                row, column = int(name[1:]) - 1, "ABCDEFGHJ".index(name[0])
                if mirrored:
                    column = SIZE - 1 - column
                for _ in range(quarter_turns):
                    row, column = column, SIZE - 1 - row
                image.append(vertex(row, column))
            images.append(tuple(image))
    return min(images)
