"""A control file that was changed between two runs: what does not fit the games so far is refused."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.arena.cli.command import arena
from tests.arena.control_files import PASSING

pytestmark = pytest.mark.usefixtures("games_here")

GAME = '[game]\nname = "go"\nboard_size = 5\nkomi = 0.5\nmove_limit = 60\n'
PLAYERS = f"[players.one]\n{PASSING}\n[players.two]\n{PASSING}\n"
CANDIDATE = f"[candidate]\n{PASSING}\nenvironment = {{ X = '{{x}}' }}\n"
CROSS_ENTROPY = f"""[competition]
kind = "ce_tuner"
opponent = "one"
generations = 2
samples = 2
batch = 1
elite_proportion = 0.5
step_size = 0.5
{GAME}{PLAYERS}{CANDIDATE}[parameters.x]
initial_mean = 0
initial_variance = 1
"""
MONTE_CARLO = f"""[competition]
kind = "mc_tuner"
opponent = "one"
games = 3
exploration = 0.5
initial_visits = 10
initial_wins = 5
{GAME}{PLAYERS}{CANDIDATE}[parameters.x]
scale = "linear"
low = 0
high = 1
split = 4
"""
PLAYOFF = f"""[competition]
kind = "playoff"
games = 2
{GAME}{PLAYERS}[[matchups]]
id = "final"
players = ["one", "two"]
"""
SWISS = f"""[competition]
kind = "swiss"
rounds = 1
games = 2
{GAME}{PLAYERS}"""
SPRT = f"""[competition]
kind = "sprt"
competitors = ["one", "two"]
elo0 = 0
elo1 = 10
games = 2
{GAME}{PLAYERS}"""
ALL_PLAY_ALL = f"""[competition]
kind = "all-play-all"
competitors = ["one", "two"]
rounds = 2
{GAME}{PLAYERS}"""
GAUNTLET = f"""[competition]
kind = "gauntlet"
rounds = 2
challengers = ["one"]
opponents = ["two"]
{GAME}{PLAYERS}[players.three]
{PASSING}
"""
MARS = f"""[competition]
kind = "mars"
{GAME}{PLAYERS}[[series]]
name = "t1"
games = 2
"""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a competition whose first game has been played, by its control file; for copies."""
    folders: dict[str, Path] = {}

    def begin(control: str) -> Path:
        if control not in folders:
            folders[control] = tmp_path_factory.mktemp("begun")
            path = folders[control] / "cup.toml"
            path.write_text(control)
            first = arena("run", path, "-q", "--max-games", "1")
            assert (first.returncode, first.stderr) == (0, "")
        return folders[control]

    return begin


@pytest.mark.parametrize(
    ("control", "old", "new", "complaint"),
    [
        (CROSS_ENTROPY, "samples = 2", "samples = 3", "competition.samples: "),
        (CROSS_ENTROPY, "initial_mean = 0", "initial_mean = 1", "parameters.x.initial_mean: "),
        (CROSS_ENTROPY, 'opponent = "one"', 'opponent = "one"\nseed = 7', "competition.seed: "),
        (CROSS_ENTROPY, "X = '{x}'", "X = 'x={x}'", "candidate: "),
        (MONTE_CARLO, "initial_wins = 5", "initial_wins = 4", "competition.initial_wins: "),
        (MONTE_CARLO, "split = 4", "split = 2", "parameters.x.split: "),
        (MONTE_CARLO, "high = 1", "high = 2", "parameters.x.high: "),
        (
            MONTE_CARLO,
            'opponent = "one"',
            'opponent = "one"\ncandidate_seat = "white"',
            "competition.candidate_seat: the games so far were played with random, the control file now has "
            "white; ",
        ),
        (PLAYOFF, "komi = 0.5", "komi = 1.5", "matchups[final].game.komi: "),
        (SWISS, "games = 2", "games = 4", "competition.games: "),
        (SPRT, '["one", "two"]', '["two", "one"]', "competition.competitors: "),
        (
            SPRT,
            "elo1 = 10",
            "elo1 = 20",
            "competition.elo1: the games so far were played with 10, the control file now has 20; ",
        ),
        (SPRT, "elo0 = 0", 'elo0 = 0\nmodel = "logistic"', "competition.model: "),
        (ALL_PLAY_ALL, "komi = 0.5", "komi = 1.5", "game.komi: "),
        (ALL_PLAY_ALL, "move_limit = 60", "move_limit = 50", "game.move_limit: "),
        (
            ALL_PLAY_ALL,
            'kind = "all-play-all"\ncompetitors = ["one", "two"]',
            'kind = "gauntlet"\nchallengers = ["one"]',
            "competition.kind: the games so far were played with all-play-all, the control file now has "
            "gauntlet; put it back, delete the games with `arena reset --really`, or ",
        ),
        (ALL_PLAY_ALL, '["one", "two"]', '["two", "one"]', "competition.competitors: "),
        (
            GAUNTLET,
            'opponents = ["two"]',
            'opponents = ["three"]',
            "competition.opponents: the games so far were played with two as B, the control file now has "
            "three as B; put it back, delete the games with `arena reset --really`, or ",
        ),
        (GAUNTLET, 'challengers = ["one"]', 'challengers = ["three"]', "competition.challengers: "),
        (SWISS, SWISS, MARS, "competition.kind: the games so far were played with swiss, the control file "),
        (MARS, "komi = 0.5", "komi = 1.5", "series[t1].settings: "),
        (
            MARS,
            "games = 2",
            'games = 2\nselector = "slow-knockout"',
            "series[t1].selector: the games so far were played with weighted, the control file now has "
            "slow-knockout; put it back, delete",
        ),
        (MARS, "games = 2", "games = 2\npure = false", "series[t1].pure: "),
        (MARS, "games = 2", "games = 2\ncontestants = { one = 1 }", "series[t1].contestants: "),
    ],
)
def test_a_change_that_does_not_fit_the_games_so_far_is_refused_before_any_game(
    tmp_path: Path, begun: Callable[[str], Path], control: str, old: str, new: str, complaint: str
) -> None:
    shutil.copytree(begun(control), tmp_path, dirs_exist_ok=True)
    path = tmp_path / "cup.toml"
    history = (tmp_path / "cup.hist").read_text()

    path.write_text(control.replace(old, new))
    done = arena("run", path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"arena: {complaint}") and done.stderr.count("\n") == 1
    shown = arena("show", path)
    assert shown.returncode == 0 and f"`arena run` refuses it:\n{complaint}" in shown.stdout
    assert (tmp_path / "cup.hist").read_text() == history


def test_games_of_a_matchup_that_is_gone_are_kept_and_named(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(PLAYOFF)
    assert arena("run", path, "-q").returncode == 0
    path.write_text(PLAYOFF.replace('"final"', '"return"'))
    done = arena("run", path, "-q")
    assert done.returncode == 0
    assert "the control file no longer has final; results of earlier games are kept" in done.stderr
    shown = arena("show", path).stdout
    assert "?? (missing from control file)" in shown and shown.count("(2") == 2


def test_results_can_still_be_seen_after_the_control_file_changed(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(MARS)
    assert arena("run", path, "-q").returncode == 0
    path.write_text(SWISS)

    shown = arena("show", path).stdout
    assert "competition.kind: the games so far were played with mars, " in shown
    assert "series t1 (2 games)\nboard size: 5   komi: 0.5\n" in shown
    facts = json.loads(arena("show", path, "--json").stdout)
    assert facts["kind"] == "mars" and facts["warning"].startswith("competition.kind: ")
    assert facts["games"] == 2 and sum(player["games"] for player in facts["players"]) == 4
    assert arena("report", path).returncode == 0
    assert arena("report", path, "--html", tmp_path / "page.html").returncode == 0
    assert "competition.kind: the games" in (tmp_path / "page.html").read_text()


def test_a_refused_run_leaves_the_description_of_the_competition(tmp_path: Path) -> None:
    def stored_series() -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(tmp_path / "cup.results.sqlite")) as results:
            query = "SELECT Selector, State, Pure, Weight, GameLim, Notes FROM SAGA_Series"
            return results.execute(query).fetchall()

    path = tmp_path / "cup.toml"
    path.write_text(MARS)
    assert arena("run", path, "-q").returncode == 0
    before = stored_series()

    path.write_text(
        MARS.replace("games = 2", 'games = 3\nselector = "slow-knockout"\npure = false\nweight = 9')
    )
    assert arena("run", path, "-q").returncode == 1

    assert stored_series() == before
