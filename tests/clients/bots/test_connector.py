"""Programs that let engines dial in refuse what cannot work before they dial."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

# Nothing listens there: who dials all the same says so, with status 1.
NOWHERE = "unix:/nonexistent/arena"
BOT = ("--", sys.executable, "bot.py")


def connect(module: str, *arguments: str, address: str = "") -> subprocess.CompletedProcess[str]:
    """Run a connector; `address` is what the environment says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
    if address:
        environment["ARENA_ADDRESS"] = address
    return subprocess.run(
        [sys.executable, "-m", f"clients.bots.{module}", "--player", "ann", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )


@pytest.mark.parametrize("module", ["gtp_connector", "lines_connector"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--address", NOWHERE, "--", "no-such-engine"), "no program 'no-such-engine' .* install it"),
        (("--address", NOWHERE, "--games", "0", *BOT), "'0' is no number from 1 to"),
        (("--address", NOWHERE, "--games", "²", *BOT), "'²' is no number from 1 to"),
        (("--address", NOWHERE, "--token-file", "gone.token", *BOT), "no file 'gone.token': keep the token"),
        (("--address", "nonsense", *BOT), "'nonsense': write host:port"),
        (("--address", "127.0.0.1:0", *BOT), "nothing listens at port 0"),
        (("--address", NOWHERE), "COMMAND"),
    ],
)
def test_what_cannot_work_is_refused_before_dialling(
    module: str, arguments: tuple[str, ...], message: str
) -> None:
    tried = connect(module, *arguments)
    assert tried.returncode == 2, tried.stderr
    assert re.search(message, tried.stderr.replace("\n", " ")), tried.stderr


def test_token_file_without_a_token_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "ann.token"
    empty.touch()
    tried = connect("gtp_connector", "--address", NOWHERE, "--token-file", str(empty), *BOT)
    assert tried.returncode == 1 and f"{empty}: holds no token" in tried.stderr


def test_address_of_the_environment_is_checked_too() -> None:
    tried = connect("lines_connector", *BOT, address="nonsense")
    assert tried.returncode == 2 and "'nonsense': write host:port" in tried.stderr
