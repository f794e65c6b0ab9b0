"""A player begins a competition with the Elo that ACADEMY knows, or the control file gives; once for all."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from academy.store.tokens import Role
from tests.academy.service.running import Running, serving
from tests.arena.cli.command import arena
from tests.arena.contest_server import ContestServer
from tests.arena.control_files import PASSING, RANDOM, write_control

pytestmark = pytest.mark.usefixtures("games_here")


@pytest.fixture
def academy(tmp_path: Path) -> Iterator[Running]:
    with serving(tmp_path / "academy") as running:
        yield running


def control(folder: Path, name: str, academy: Running | None, more: str = "", loser: str = "") -> Path:
    path = folder / f"{name}.toml"
    at = ""
    if academy is not None:
        at = f'[academy]\naddress = "{academy.address}"\ntoken = "{academy.token("cups", Role.ARENA)}"\n'
    path.write_text(
        '[competition]\nkind = "all-play-all"\nrounds = 1\ncheck_players = false\n'
        '[game]\nname = "go"\nboard_size = 5\nkomi = 0.5\nmove_limit = 60\n'
        f"[players.winner]\n{RANDOM}\n"
        '[players.loser]\nprotocol = "python"\ncommand = "tests.arena.engines:resigning"\n'
        f"{loser}\n{at}{more}\n"
    )
    return path


def standing(path: Path) -> dict[str, dict[str, Any]]:
    shown = arena("show", path, "--json")
    assert shown.returncode == 0, shown.stderr
    return {player["name"]: player for player in json.loads(shown.stdout)["players"]}


def played(path: Path) -> dict[str, dict[str, Any]]:
    done = arena("run", path)
    assert done.returncode == 0, done.stderr
    return standing(path)


def test_players_begin_where_the_competition_before_ended(tmp_path: Path, academy: Running) -> None:
    first = played(control(tmp_path, "first", academy))
    assert {name: player["elo_at_first"] for name, player in first.items()} == {"winner": 1000, "loser": 1000}
    assert {player["elo_at_first_from"] for player in first.values()} == {"newcomer"}
    assert first["winner"]["elo"] == 1015

    path = control(tmp_path, "second", academy)
    second = played(path)
    assert {name: player["elo_at_first"] for name, player in second.items()} == {"winner": 1015, "loser": 985}
    assert {player["elo_at_first_from"] for player in second.values()} == {"academy"}
    assert second["winner"]["elo_at_first_game"] == "go-5x5"
    assert second["winner"]["elo"] > 1028
    remark = "began at Elo: winner 1015 (ACADEMY's Elo in go-5x5), loser 985 (ACADEMY's Elo in go-5x5)"
    assert remark in arena("show", path).stdout

    # Another competition goes on from there, and what this one began with stays.
    assert played(control(tmp_path, "third", academy))["winner"]["elo_at_first"] == second["winner"]["elo"]
    path.write_text(path.read_text().replace("rounds = 1", "rounds = 2"))
    assert played(path)["winner"]["elo_at_first"] == 1015


@pytest.mark.parametrize(
    ("more", "loser", "expected"),
    [
        ('[ratings]\nbegin = "fresh"\nstart = 1100', "", [(1100, "newcomer"), (1100, "newcomer")]),
        ("", "elo = 1200", [(1015, "academy"), (1200, "control file")]),
        ("", "fixed_elo = 0", [(1015, "academy"), (None, None)]),
    ],
    ids=["fresh", "elo of a player", "fixed"],
)
def test_the_control_file_comes_first(
    tmp_path: Path, academy: Running, more: str, loser: str, expected: list[tuple[float, str]]
) -> None:
    played(control(tmp_path, "first", academy))
    second = played(control(tmp_path, "second", academy, more, loser))
    began = [
        (second[name]["elo_at_first"], second[name]["elo_at_first_from"]) for name in ("winner", "loser")
    ]
    assert began == expected


def test_an_academy_without_ratings_causes_a_warning(tmp_path: Path) -> None:
    server = ContestServer(tmp_path)
    server.start()
    try:
        done = arena("run", write_control(tmp_path, {"one": PASSING, "two": PASSING}, server))
    finally:
        server.stop()
    assert done.returncode == 0, done.stderr
    assert "this ACADEMY is of a version that tells no ratings" in done.stdout + done.stderr


def test_players_of_a_database_from_before_began_where_their_games_did(tmp_path: Path) -> None:
    path = control(tmp_path, "old", None)
    played(path)
    with closing(sqlite3.connect(tmp_path / "old.results.sqlite")) as database:
        database.execute("DELETE FROM ARENA_FirstRating")
        database.commit()
    path.write_text(path.read_text().replace("rounds = 1", "rounds = 2") + "[ratings]\nstart = 1500\n")
    facts = played(path)
    assert (facts["loser"]["elo_at_first"], facts["loser"]["elo_at_first_from"]) == (
        1000,
        "earlier games",
    )
    assert facts["winner"]["elo"] > 1015


def test_without_academy_a_given_elo_counts_and_others_are_newcomers(tmp_path: Path) -> None:
    path = control(tmp_path, "alone", None, loser="elo = 1200")
    ratings = played(path)
    assert (ratings["winner"]["elo_at_first"], ratings["loser"]["elo_at_first"]) == (1000, 1200)
    assert "began at Elo: winner 1000 (newcomer), loser 1200 (control file)" in arena("show", path).stdout
    # Who has begun has begun.
    path.write_text(path.read_text().replace("elo = 1200", "elo = 1300").replace("rounds = 1", "rounds = 2"))
    assert played(path)["loser"]["elo_at_first"] == 1200


def test_an_elo_and_a_fixed_one_exclude_each_other(tmp_path: Path) -> None:
    done = arena("check", control(tmp_path, "both", None, loser="elo = 1200\nfixed_elo = 0"))
    assert done.returncode != 0
    assert "players.loser.elo: elo and fixed_elo exclude each other" in done.stderr
