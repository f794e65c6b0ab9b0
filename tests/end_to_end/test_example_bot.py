"""examples/bot.py plays, asks ACADEMY and proposes in an arena."""

import os
import subprocess
import sys
from pathlib import Path

from academy.store import event_log
from academy.store.event_log import Page
from academy.store.library_store import Store

EXAMPLE = Path(__file__).parents[2] / "examples" / "bot.py"
BIN = Path(sys.executable).parent
CONTROL = """\
[competition]
kind = "all-play-all"
rounds = 4

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


def test_the_bot_to_copy_plays_asks_and_proposes(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(CONTROL.format(python=sys.executable, bot=EXAMPLE))
    done = subprocess.run(
        [BIN / "arena", "run", control],
        env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr.lower()
    with Store(tmp_path / "cup.academy", read_only=True) as academy:
        events, _ = academy.read(event_log.read_page, Page(most=1000))
    contests = [event.contest_reported for event in events if event.HasField("contest_reported")]
    assert len(contests) == 4
    assert all(contest.report.termination == "score" for contest in contests)
    assert all(contest.proposals for contest in contests)
    # The random player tells nothing; the bot tells a value with each of its moves.
    assert all(any(ply.values for ply in contest.report.plies) for contest in contests)
