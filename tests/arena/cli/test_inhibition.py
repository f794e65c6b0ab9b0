"""MARS players that do not get ready: they are left out, in later runs as well."""

import json
from pathlib import Path

import pytest

from arena.runner.competition import RunEnd
from arena.runner.options import Ended
from tests.arena.cli.command import arena
from tests.arena.control_files import PASSING, misbehaving

CONTROL = f"""[competition]
kind = "mars"
check_players = false

[game]
name = "go"
board_size = 5

[[series]]
name = "t1"
selector = "least-played"
clones = false
games = 4

[players.one]
{PASSING}
[players.two]
{PASSING}
[players.villain]
{misbehaving("exit-at-start")}
"""


@pytest.mark.usefixtures("games_here")
def test_a_player_that_does_not_get_ready_is_left_out_until_readmitted(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(CONTROL)
    first = arena("run", control, "-q")
    assert first.returncode == 0
    assert "player villain does not get ready: it is inhibited from now on for go-5x5" in first.stderr

    # It is not even started for the checks.
    control.write_text(CONTROL.replace("games = 4", "games = 6").replace("check_players = false", ""))
    second = arena("run", control, "-q")
    assert second.returncode == 0 and "is void" not in second.stderr
    assert "player villain did not get ready in an earlier run: it is inhibited" in second.stderr
    shown = arena("show", control).stdout
    assert "6/6 games played" in shown
    (line,) = [line for line in shown.splitlines() if line.endswith("inhibited")]
    assert line.split()[:2] == ["villain", "0"]

    third = arena("run", control, "-q", "--readmit")
    assert third.returncode == 1 and "player villain" in third.stderr


@pytest.mark.usefixtures("games_here")
def test_a_run_without_players_left_is_halted_and_not_complete(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(CONTROL.replace(f"[players.two]\n{PASSING}\n", ""))
    for options, complaint in (
        ((), "player villain does not get ready"),
        ((), "player villain did not get ready in an earlier run"),
        (("--readmit",), "player villain does not get ready"),
    ):
        run = arena("run", control, "-q", *options)
        assert run.returncode == 4
        assert complaint in run.stderr
        assert "series t1: 1 contestants are left, a game needs 2 (`arena run --readmit`" in run.stderr
        assert "arena: halted: games are missing, and no player is left for them" in run.stderr


def test_a_run_whose_missing_games_cannot_be_played_is_halted_and_not_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(CONTROL)
    # No kind of competition is known to end so.
    monkeypatch.setattr("arena.runner.run.run", lambda *_: Ended(RunEnd.NO_GAME, 0))
    done = arena("run", control, "-q")
    assert done.returncode == 4
    assert "arena: halted: games are missing, but none of them can be played" in done.stderr


def hanging(factory: str, seconds: float) -> str:
    late = f'protocol = "python"\ncommand = "tests.arena.engines:{factory}"\nmove_seconds = {seconds}'
    return CONTROL.replace(misbehaving("exit-at-start"), late).replace(f"[players.two]\n{PASSING}\n", "")


def villains_row(control: Path) -> tuple[int, int]:
    players = json.loads(arena("show", control, "--json").stdout)["players"]
    return next((player["games"], player["forfeits"]) for player in players if player["name"] == "villain")


def test_a_player_that_hangs_after_its_move_cannot_undo_the_game(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    # One that passes first would end the game with its opponent's pass.
    control.write_text(hanging("late_when_it_has_moved", 1.5).replace("games = 4", "games = 2"))
    done = arena("run", control, "-q")
    assert done.returncode == 0, done.stderr
    assert "is void" not in done.stderr
    assert villains_row(control) == (2, 2)


def test_a_game_whose_loser_never_answered_is_played_again_once_and_stops_no_run(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(hanging("late_at_once", 0.2))
    done = arena("run", control, "-q")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("is void") == 4
    assert villains_row(control) == (4, 4)
