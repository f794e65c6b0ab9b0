"""What docs/how-to/remote-players.md shows really runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

from arena.cli.app import make_application
from tests.ports import free_ports

DOCUMENT = (Path(__file__).parents[3] / "docs" / "how-to" / "remote-players.md").read_text(encoding="utf-8")
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_the_tour_of_the_page_on_the_service_runs(tmp_path: Path) -> None:
    bot, start = PYTHON.findall(DOCUMENT)
    serve, follow = SHELL.findall(DOCUMENT)
    (tmp_path / "bot.py").write_text(bot)
    (tmp_path / "start.py").write_text(start)
    script = (
        f"set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{serve.strip()}\n"
        "until (exec 3<>/dev/tcp/127.0.0.1/50561) 2>/dev/null; do sleep 0.1; done\n"
        f"ARENA_TOKEN_FILE=rambler python bot.py &\n{follow}python start.py\n"
    ).replace("50561", str(*free_ports(1)))
    port = re.search(r"--address (127\.0\.0\.1:\d+)", script)
    assert port is not None
    for name in ("bot.py", "start.py"):
        path = tmp_path / name
        path.write_text(path.read_text().replace("127.0.0.1:50561", port[1]))
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "ARENA_ADDRESS": port[1],
        },
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^player +games", done.stdout, re.MULTILINE)
    assert "random (all-play-all, go): completed, 4/4 games played" in done.stdout


def test_the_actions_that_the_page_on_the_service_names_exist() -> None:
    actions = {
        command.name or command.callback.__name__
        for command in make_application().registered_commands
        if command.callback
    }
    for action in ("serve", "start", "list", "stop", "show", "watch", "players", "token", "tokens"):
        assert action in actions and re.search(rf"\| `arena {action}[ `]", DOCUMENT)
