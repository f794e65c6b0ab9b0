"""Competitions that belong to a league go on where others ended, as a user of the command sees it."""

import json
import os
import signal
import stat
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from arena.runner import league as delivery
from tests.arena.cli.command import ARENA, Done, arena
from tests.arena.control_files import RANDOM
from tests.arena.inline_worker import games_in_this_process
from tests.arena.league.leagues import filled
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("games_here")

RESIGNING = 'protocol = "python"\ncommand = "tests.arena.engines:resigning"'
CUP = """
[competition]
kind = "all-play-all"
{competition}
check_players = false
[game]
name = "go"
board_size = 5
komi = 0.5
move_limit = 60
[players.winner]
{winner}
[players.loser]
{loser}
{more}
"""
LEAGUE = '[league]\nurl = "sqlite:///league.db"'


def cup(
    folder: Path,
    name: str,
    *,
    winner: str = "",
    loser: str = "",
    rounds: str = "rounds = 1",
    more: str = LEAGUE,
) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(
        CUP.format(competition=rounds, winner=f"{RANDOM}\n{winner}", loser=f"{RESIGNING}\n{loser}", more=more)
    )
    return path


def ok(done: Done) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def ratings(folder: Path) -> dict[str, dict[str, Any]]:
    shown = json.loads(ok(arena("league", "show", folder / "league.db", "go-5x5", "--json")))
    return {f"{line['name']} {line['version']}".strip(): line for line in shown["ratings"]}


def games_of(folder: Path, player: str) -> int:
    """How many games a player has, 0 before its first one."""
    shown = arena("league", "show", folder / "league.db", "go-5x5", "--json")
    lines = json.loads(shown.stdout)["ratings"] if shown.returncode == 0 else []
    return next((int(line["games"]) for line in lines if line["name"] == player), 0)


def test_a_competition_begins_with_the_elo_of_its_league(tmp_path: Path) -> None:
    ok(arena("run", cup(tmp_path, "first")))
    assert {name: line["elo"] for name, line in ratings(tmp_path).items()} == {"winner": 1015, "loser": 985}
    second = cup(tmp_path, "second", winner='version = "2"', loser="elo = 1300")
    ok(arena("run", second))
    shown = json.loads(ok(arena("show", second, "--json")))
    assert {player["name"]: player["elo_at_first"] for player in shown["players"]} == {
        "winner": 1015,
        "loser": 985,
    }
    assert {player["elo_at_first_from"] for player in shown["players"]} == {"earlier games"}
    lines = ratings(tmp_path)
    # The version before keeps its own rating.
    assert (lines["winner"]["elo"], lines["winner"]["games"]) == (1015, 1)
    assert lines["winner 2"]["elo"] > 1015 and lines["loser"]["elo"] < 985 and lines["loser"]["games"] == 2
    assert lines["winner 2"]["likeliest"] > 1000 > lines["loser"]["likeliest"]
    listed = ok(arena("league", "players", tmp_path / "league.db"))
    assert "winner 2  winner  winner" in listed
    assert "first        all-play-all      1" in ok(arena("league", "show", tmp_path / "league.db"))
    assert ok(arena("league", "history", tmp_path / "league.db", "loser")).count("go-5x5") == 2


def test_earlier_results_are_taken_in_once(tmp_path: Path) -> None:
    first = cup(tmp_path, "first", more="", winner='family = "walkers"', loser="fixed_elo = 500")
    ok(arena("run", first))
    league = tmp_path / "league.db"
    assert "first (all-play-all): 1 new games" in ok(arena("league", "import", league, first))
    database = tmp_path / "first.results.sqlite"
    assert "first (all-play-all): 0 new games" in ok(arena("league", "import", league, database))
    known = ratings(tmp_path)
    assert known["winner"]["games"] == 1
    # A control file gives families and fixed ratings, as its own runs do.
    assert known["winner"]["family"] == "walkers"
    assert (known["loser"]["anchored"], known["loser"]["elo"]) == (True, 500)


@pytest.mark.parametrize("bad", ["notes.db", "missing.sqlite"])
def test_no_league_is_made_or_changed_if_one_of_the_sources_cannot_be_read(tmp_path: Path, bad: str) -> None:
    league, good = tmp_path / "league.db", filled(tmp_path / "cup.sqlite", 3)
    (tmp_path / "notes.db").write_text("These are notes.")
    done = arena("league", "import", league, good, tmp_path / bad)
    assert done.returncode == 1 and bad in done.stderr
    assert not league.exists()


def test_a_leagues_new_file_is_its_users_alone(tmp_path: Path) -> None:
    league, results = tmp_path / "league.db", filled(tmp_path / "cup.sqlite", 3)
    assert arena("league", "import", league, results).returncode == 0
    assert stat.S_IMODE(league.stat().st_mode) == 0o600
    # What the user has set stays.
    league.chmod(0o640)
    assert arena("league", "import", league, results).returncode == 0
    assert stat.S_IMODE(league.stat().st_mode) == 0o640


def test_a_league_is_not_written_into_a_file_of_results(tmp_path: Path) -> None:
    first, second = filled(tmp_path / "first.sqlite", 3), filled(tmp_path / "second.sqlite", 3, name="second")
    done = arena("league", "import", first, second)
    assert done.returncode == 1
    assert "first.sqlite has the results of competitions, and a league is a file of its own" in done.stderr
    assert arena("league", "show", first).returncode == 1


def test_a_killed_run_leaves_the_next_one_to_fill_the_league(tmp_path: Path) -> None:
    control = cup(tmp_path, "long", rounds="")
    league = tmp_path / "league.db"
    process = subprocess.Popen(
        [*ARENA, "run", str(control), "-q"], start_new_session=True, stdout=subprocess.DEVNULL
    )
    try:
        until(lambda: league.exists() and games_of(tmp_path, "winner") >= 8, process)
    finally:
        # Where the run has ended, `until` says how.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    ok(arena("run", control, "-q", "-g", "1"))
    shown = json.loads(ok(arena("show", control, "--json")))
    winner = next(player for player in shown["players"] if player["name"] == "winner")
    line = ratings(tmp_path)["winner"]
    assert winner["games"] == line["games"] > 8
    assert winner["elo"] == pytest.approx(line["elo"], abs=0.01)


def test_a_fixed_elo_is_the_leagues_for_all_competitions(tmp_path: Path) -> None:
    ok(arena("run", cup(tmp_path, "first", loser="fixed_elo = 0")))
    ok(arena("run", cup(tmp_path, "second")))
    assert (ratings(tmp_path)["loser"]["elo"], ratings(tmp_path)["loser"]["error"]) == (0, 0)
    refused = arena("run", cup(tmp_path, "third", loser="fixed_elo = 100"))
    assert refused.returncode == 1
    assert "players.loser.fixed_elo: the league has loser at 0, the control file at 100" in refused.stderr


@pytest.fixture(scope="module")
def with_a_league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a competition and its league, which tests read."""
    folder = tmp_path_factory.mktemp("league")
    with games_in_this_process():
        ok(arena("run", cup(folder, "first")))
    return folder


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("show", "missing.db"), "there is no league missing.db: `arena league import` makes one"),
        (("show", "league.db", "chess"), "the league has no game 'chess'; its games: go-5x5"),
        (("history", "league.db", "nobody"), "the league has no player 'nobody'"),
        (("import", "league.db", "missing.sqlite"), "there is no results database missing.sqlite"),
        (("show", "mysql://host/league"), "results can't be kept in mysql:// databases"),
        (("show", ""), "'' is not a league's database: give a SQLite file, or a URL"),
        (("players", "."), "'.' is not a league's database: give a SQLite file, or a URL"),
        (("show", "first.results.sqlite"), "there is no league in"),
    ],
)
def test_wrong_words_are_answered_with_the_remedy(
    with_a_league: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], complaint: str
) -> None:
    monkeypatch.chdir(with_a_league)
    done = arena("league", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert complaint in done.stderr


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_league_whose_thread_ended_early_is_not_called_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> int:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(delivery, "take_in", fail)
    nothing: Any = None
    league = delivery.LeagueDelivery(nothing, nothing, nothing)
    league.start()
    assert not league.finish()
