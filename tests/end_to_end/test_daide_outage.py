"""All bots of a game lose their connections under `arena run`; a test writes every byte for them."""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tests.arena.cli.command import running_arena
from tests.referees.diplomacy.daide_server.rooms import PATIENCE, RawClient

CONTROL = """
[competition]
kind = "mars"
void_retries = 0

[game]
name = "diplomacy"
move_limit = 500
mtl = 600
year_limit = 1

[daide]
address = "127.0.0.1:0"

[[series]]
name = "seven"
selector = "least-played"
games = 1

[players.bot]
protocol = "daide"
reconnect_seconds = {}
start_seconds = 150
exit_seconds = 0.2
"""


Run = tuple[tuple[str, int], list[RawClient], Path]


@contextmanager
def run_of(tmp_path: Path, reconnect_seconds: float) -> Iterator[Run]:
    """A run with seven clients that have introduced themselves: its address, the clients, its output."""
    control = tmp_path / "seven.toml"
    control.write_text(CONTROL.format(reconnect_seconds))
    with ExitStack() as stack:
        at, output, _ = stack.enter_context(running_arena(control))
        address = ("127.0.0.1", int(at.rpartition(":")[2]))
        clients = [RawClient(address).introduce("bot") for _ in range(7)]
        for client in clients:
            stack.callback(client.close)
        yield address, clients, output


@pytest.mark.threat("unproven_results")
def test_an_outage_of_all_bots_is_void_and_rates_nobody(tmp_path: Path) -> None:
    with run_of(tmp_path, 1.0) as (_, clients, output):
        for client in clients:
            client.until("TME")
        lost = time.monotonic()
        for client in clients:
            client.close()
        while "is void: nobody plays any more" not in output.read_text():
            assert time.monotonic() < lost + PATIENCE, output.read_text()
            time.sleep(0.05)
        assert time.monotonic() - lost >= 1.0
    with create_engine(f"sqlite:///{tmp_path / 'seven.results.sqlite'}").connect() as database:
        games = database.execute(text('SELECT "Termination" FROM "SAGA_Game"')).all()
        scores = database.execute(text('SELECT * FROM "ARENA_Score"')).all()
    assert not scores and not [game for game in games if game.Termination]


def _has_history(file: Path) -> bool:
    return file.exists() and bool(file.read_text().strip())


@pytest.mark.threat("unproven_results")
def test_a_draw_waits_for_the_lost_bot_that_comes_back_and_agrees(tmp_path: Path) -> None:
    with run_of(tmp_path, 600.0) as (address, clients, _):
        hello = re.match(r"HLO (\(\w+\)) (\(\d+\))", clients[0].until("HLO"))
        assert hello is not None
        for client in clients:
            client.until("TME")
        assert clients[0].ask("DRW") == "YES (DRW)"
        clients[0].close()
        for client in clients[1:]:
            client.until("CCD")
            assert client.ask("DRW") == "YES (DRW)"
        assert clients[1].ask("NOW").startswith("NOW (SPR 1901)")
        back = RawClient(address)
        assert back.ask(f"IAM {hello[1]} {hello[2]}") == f"YES (IAM {hello[1]} {hello[2]})"
        assert back.until("NOT") == f"NOT (CCD {hello[1]})"
        assert back.ask("DRW") == "YES (DRW)"
        for client in (*clients[1:], back):
            client.until("DRW")
            assert client.is_sent_off()
        # The bots hear of the end before it is stored; leaving interrupts the run.
        deadline = time.monotonic() + 60
        while not _has_history(tmp_path / "seven.hist") and time.monotonic() < deadline:
            time.sleep(0.1)
    with create_engine(f"sqlite:///{tmp_path / 'seven.results.sqlite'}").connect() as database:
        assert [game.Termination for game in database.execute(text('SELECT * FROM "SAGA_Game"'))] == [3]
