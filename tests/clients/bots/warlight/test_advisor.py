"""Both bots with ACADEMY, in a competition as a user runs it."""

import json
import sys
from pathlib import Path

from academy.knowledge.settings import Library
from academy.store import arenas
from academy.store.library_store import Store
from academy.store.proposal_tables import ProposalFilter
from academy.store.replica import read_view
from tests.arena.cli.command import arena

GAME = "warlight-double_small"
CONTROL = """\
[competition]
kind = "playoff"
record_games = true
check_players = false

[game]
name = "warlight"
map = "double_small"
turn_limit = 30

[academy]
address = "embedded"

[[matchups]]
players = ["simple", "decent"]
games = 1
"""
PLAYER = """
[players.{name}]
protocol = "lines"
command = {command}
move_seconds = 60
start_seconds = 120
"""


def test_both_consult_and_propose_from_what_they_see(tmp_path: Path) -> None:
    control = tmp_path / "war.toml"
    players = "".join(
        PLAYER.format(
            name=name,
            command=json.dumps(
                [sys.executable, "-m", f"clients.bots.warlight.{name}", "--academy", "--seed", "1"]
            ),
        )
        for name in ("simple", "decent")
    )
    control.write_text(CONTROL + players)
    run = arena("run", "--quiet", control)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "without ACADEMY" not in (tmp_path / "war.log").read_text()

    with Store(tmp_path / "war.academy", read_only=True) as store:
        with store.environment.reading() as transaction:
            view = read_view(transaction, GAME)
        proposals = store.read(arenas.list_proposals, ProposalFilter("decent"))[0]
    assert view.opening_nodes > 1
    assert len(view.libraries[Library.ENDGAME]) > 0
    assert {proposal.verdict for proposal in proposals}
    # Only what the bot saw is in its patterns: its own territory, and what lies beside it.
    assert all(len(entry.pattern.cells) >= 2 for entry in view.libraries[Library.ENDGAME].values())
