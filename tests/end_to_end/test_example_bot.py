"""examples/bot.py plays, asks ACADEMY and proposes in an arena, also in the contest of its tutorial."""

import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

from academy.store import event_log
from academy.store.library_store import Store
from tests.arena.cli.command import Done, arena

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "bot.py"
TUTORIAL = ROOT / "docs" / "tutorials" / "first-bot.md"
CONTROL = """\
[competition]
kind = "all-play-all"
rounds = 2

[game]
name = "hex"
board_size = 4

[players.mine]
command = ["{python}", "{bot}"]

[players.chance]
protocol = "python"
command = "arena.players.random_moves:random_moves"

[academy]
address = "embedded"
"""


def run(control: Path) -> Done:
    with chdir(control.parent):
        return arena("run", control)


def test_the_bot_to_copy_plays_asks_and_proposes(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(CONTROL.format(python=sys.executable, bot=EXAMPLE))
    done = run(control)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr.lower()
    with Store(tmp_path / "cup.academy", read_only=True) as academy:
        events, _ = academy.read(event_log.read_page, 1000)
    contests = [event.contest_reported for event in events if event.HasField("contest_reported")]
    assert len(contests) == 2
    assert all(contest.report.termination == "score" for contest in contests)
    assert all(contest.proposals for contest in contests)
    # The random player tells nothing; the bot tells a value with each of its moves.
    assert all(any(ply.values for ply in contest.report.plies) for contest in contests)


def test_the_tutorials_contest_runs_with_the_bot_as_it_stands(tmp_path: Path) -> None:
    (text,) = re.findall(r"## 5\. Take part\n.*?```toml\n(.*?)```", TUTORIAL.read_text(), re.DOTALL)
    shutil.copy(EXAMPLE, tmp_path / "my_bot.py")
    control = tmp_path / "contest.toml"
    control.write_text(text.replace("rounds = 10", "rounds = 2"))
    assert control.read_text() != text
    done = run(control)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2/2 games played" in arena("show", control).stdout


def test_the_bot_refuses_what_is_not_a_command_move_or_board_and_plays_on() -> None:
    dialogue = [
        *(("clear_board", "="), ("genmove b", "="), ("boardsize 500", "?"), ("boardsize 5", "=")),
        *(("play b z9", "?"), ("play b c3", "="), ("play w c3", "?"), ("clear_board", "=")),
        *(("boardsize", "?"), ("boardsize x", "?"), ("play b", "?"), ("play", "?"), ("genmove", "?")),
        *(("genmove b", "="), ("boardsize 2", "="), ("play b a1", "="), ("play w b1", "=")),
        *(("play b a2", "="), ("genmove w", "?"), ("play w b2", "?"), ("quit", "=")),
    ]
    done = subprocess.run(
        [sys.executable, EXAMPLE],
        input="".join(f"{command}\n" for command, _ in dialogue),
        env={name: value for name, value in os.environ.items() if not name.startswith("ACADEMY_")},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    marks = [answer[0] for answer in done.stdout.strip().split("\n\n")]
    assert [(command, mark) for (command, _), mark in zip(dialogue, marks, strict=True)] == dialogue


def test_the_bot_ends_cleanly_when_academy_is_away() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, EXAMPLE],
            input="boardsize 4\nclear_board\ngenmove b\nquit\n",
            env={**os.environ, "ACADEMY_ADDRESS": address, "ACADEMY_CONTEST": "cup/0", "ACADEMY_PLAYER": "1"},
            capture_output=True,
            text=True,
            timeout=100,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\n\n=\n\n") and "?" not in done.stdout
