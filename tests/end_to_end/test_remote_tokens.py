"""A bot dials in to `arena run` with the token that was made for it; no other program plays for it."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from clients.connection import AcademyRefusedError, Connection
from clients.remote_play import dial_in
from tests.arena.cli.command import running_arena
from tests.arena.control_files import PASSING, write_control

REPOSITORY = Path(__file__).parents[2]
BOT = """
import sys
from clients.connection import Connection
from clients.remote_game import Engine
from clients.remote_play import dial_in

print(dial_in(Connection.to_arena(), "two", lambda game: lambda turn: "pass", redial_seconds=0))
"""


@pytest.mark.threat("impersonation")
def test_no_other_program_of_this_machine_takes_a_bots_games_over(tmp_path: Path) -> None:
    dials_in = 'protocol = "grpc"\nstart_seconds = 150'
    remote = '[remote]\naddress = "127.0.0.1:0"'
    control = write_control(tmp_path, {"one": PASSING, "two": dials_in}, more=remote)
    with running_arena(control) as (address, output, run):
        token = tmp_path / "contest.tokens" / "two"
        assert f"with the tokens in {token.parent}: two" in output.read_text()
        assert stat.S_IMODE(token.stat().st_mode) == 0o600
        for guess in ("", "guess"):
            with pytest.raises(AcademyRefusedError):
                dial_in(Connection(address, token=guess), "two", lambda _: pytest.fail("it got the game"))
        (tmp_path / "bot.py").write_text(BOT)
        bot = subprocess.run(
            [sys.executable, tmp_path / "bot.py"],
            env=os.environ
            | {"PYTHONPATH": str(REPOSITORY), "ARENA_ADDRESS": address, "ARENA_TOKEN_FILE": str(token)},
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert run.wait(60) == 0, output.read_text()
    # The check before the first game is none of them.
    assert (bot.returncode, bot.stdout) == (0, "2\n"), bot.stderr
