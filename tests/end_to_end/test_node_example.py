"""examples/node/bot.js plays in an arena."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.conftest import BIN
from tests.ports import free_ports

NODE = Path(__file__).parents[2] / "examples" / "node"
CONTROL = """\
[competition]
kind = "all-play-all"
rounds = 2

[game]
name = "hex"
board_size = 3

[players.rambler]
protocol = "grpc"
token_file = "token"

[players.chance]
protocol = "python"
command = "arena.players.random_moves:random_moves"

[remote]
address = "127.0.0.1:{port}"
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.skipif(
    not (NODE / "node_modules").exists(), reason="needs `npm ci --ignore-scripts --prefix examples/node`"
)
def test_the_bot_in_node_tells_of_its_games_and_not_of_the_check_before_them(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    (port,) = free_ports(1)
    control.write_text(CONTROL.format(port=port))
    (tmp_path / "token").write_text("sesame")
    environment = {"ARENA_ADDRESS": f"127.0.0.1:{port}", "ARENA_TOKEN_FILE": str(tmp_path / "token")}
    with subprocess.Popen(
        ["node", NODE / "bot.js", "rambler"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as bot:
        try:
            done = subprocess.run(
                [BIN / "arena", "run", control], capture_output=True, text=True, timeout=200
            )
            assert done.returncode == 0, done.stdout + done.stderr
        finally:
            bot.terminate()
        printed, trouble = bot.communicate()
    ends = [line for line in printed.splitlines() if line.startswith("game over: ")]
    assert len(ends) == 2 and "game over: interrupted" not in ends
    assert trouble.startswith(f"the arena at 127.0.0.1:{port} is away: ")
