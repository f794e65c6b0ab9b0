"""Who takes part in a standing arena follows its control file, round by round."""

import resource
from pathlib import Path

import pytest

from arena.control.control_file import read_control
from arena.runner.remote_players import LOBBY_VARIABLE, at_service
from arena.runner.roster import Roster
from tests.arena.control_files import random_players

DIALS_IN = 'protocol = "grpc"\n'
CONTROL = f"""
[competition]
kind = "standing"
[game]
name = "go"
board_size = 5
{random_players("anchor")}[players.ann]
{DIALS_IN}[players.bob]
{DIALS_IN}"""
CYD = f"[players.cyd]\n{DIALS_IN}"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The control file of a pool that a service runs."""
    monkeypatch.setenv(LOBBY_VARIABLE, str(tmp_path / "lobby"))
    path = tmp_path / "pool.toml"
    path.write_text(CONTROL)
    return path


def roster_of(file: Path, complaints: list[str]) -> Roster:
    return Roster(at_service(read_control(file)), lambda changed: changed, complaints.append)


def test_a_bot_that_came_while_the_run_was_starting_is_in_its_first_round(file: Path) -> None:
    complaints: list[str] = []
    roster = roster_of(file, complaints)
    file.write_text(CONTROL + CYD)
    changed = roster.look()
    assert changed is not None and changed.competitors == ("anchor", "ann", "bob", "cyd")
    assert roster.look() is None, "the file is as before"
    assert not complaints


def test_bots_that_dial_in_come_and_go_and_all_else_of_the_control_file_holds_until_the_run_ends(
    file: Path,
) -> None:
    roster = roster_of(file, [])
    text = f'{CONTROL}version = "2"\n{CYD}{random_players("late")}'
    for old, new in (
        ("board_size = 5", "board_size = 7"),
        (random_players("anchor"), f"[players.anchor]\n{DIALS_IN}"),
        (f"[players.ann]\n{DIALS_IN}", ""),
    ):
        text = text.replace(old, new)
    file.write_text(text)
    changed = roster.look()
    assert changed is not None and changed.competitors == ("anchor", "bob", "cyd")
    assert (changed.game.settings["board_size"], changed.players["anchor"].protocol) == (5, "python")
    assert changed.players["bob"].version == "2"


def test_a_changed_control_file_that_cannot_be_used_leaves_players_as_they_are_and_is_reported_once(
    file: Path,
) -> None:
    complaints: list[str] = []
    roster = roster_of(file, complaints)
    file.write_text(CONTROL.replace("standing", "standig"))
    assert [roster.look(), roster.look()] == [None, None]
    (complaint,) = complaints
    assert "so players stay as they are: competition.kind: " in complaint
    file.write_text(CONTROL + CYD)
    changed = roster.look()
    assert changed is not None and "cyd" in changed.competitors


def test_a_changed_control_file_that_could_not_be_read_for_once_is_read_before_the_next_round(
    file: Path,
) -> None:
    complaints: list[str] = []
    roster = roster_of(file, complaints)
    file.write_text(CONTROL + CYD)
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, most))
    try:
        assert [roster.look(), roster.look()] == [None, None]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    assert len(complaints) == 1 and "Too many open files" in complaints[0]
    changed = roster.look()
    assert changed is not None and "cyd" in changed.competitors
