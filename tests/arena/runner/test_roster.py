"""Who takes part in a standing arena follows its control file, round by round."""

from pathlib import Path

import pytest

from arena.control.control_file import read_control
from arena.runner.remote_players import LOBBY_VARIABLE, at_service
from arena.runner.roster import Roster

CONTROL = """
[competition]
kind = "standing"
[game]
name = "go"
board_size = 5
[players.ann]
protocol = "grpc"
[players.bob]
protocol = "grpc"
"""


def test_a_bot_that_came_while_the_run_was_starting_is_in_its_first_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LOBBY_VARIABLE, str(tmp_path / "lobby"))
    file = tmp_path / "pool.toml"
    file.write_text(CONTROL)
    control = at_service(read_control(file))
    file.write_text(CONTROL + '[players.cyd]\nprotocol = "grpc"\n')
    complaints: list[str] = []
    roster = Roster(control, lambda changed: changed, complaints.append)
    changed = roster.look()
    assert changed is not None and changed.competitors == ("ann", "bob", "cyd")
    assert roster.look() is None, "the file is as before"
    assert not complaints
