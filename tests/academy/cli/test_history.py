"""What happened, as the command line tells it."""

import itertools
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from academy.store.tokens import Role
from tests.academy.cli.conftest import Academy
from tests.academy.service import examples
from tests.academy.service.running import Running, limited
from tests.waiting import until


def test_the_contests_behind_an_opening_are_named_and_counted(academy: Academy) -> None:
    shown = academy("history", "opening", "go", "c3", "--min-elo", "1000")
    assert "lines/0" in shown.out and "ann (1500) drew, bob (1550) drew" in shown.out
    assert "of the newest 7 contests of the game 7 pass" in shown.out
    known = academy("history", "opening", "go", "c3", "--until", "2020-01-31", "--json").json()
    assert known["filtered"]["passed"] == 0 and known["strongest"]
    mistyped = academy("history", "opening", "go", "--since", "31.1.2026")
    assert mistyped.exit_code == 2 and "--since '31.1.2026': write a day as in 2026-01-31" in mistyped.err


def test_a_patterns_history_names_who_proposed_it_in_which_contest(academy: Academy) -> None:
    shown = academy("history", "pattern", "go", 1, "--library", "endgame")
    assert "inserted" in shown.out and "taught-0" in shown.out and "ann" in shown.out
    missing = academy("history", "pattern", "go", 99, "--library", "endgame")
    assert missing.exit_code == 1 and "99" in missing.err


def test_growth_and_a_players_games_are_printed(academy: Academy) -> None:
    points = academy("history", "growth", "go", "--json").json()["points"]
    assert [point["contests"] for point in points] == list(range(1, 8))
    assert points[3]["endgame_patterns"] == 4
    (figures,) = academy("history", "player", "ann", "--json").json()
    assert (figures["game_id"], figures["accepted_proposals"], figures["helped"]) == ("go", 1, 0)
    assert "proposals taken" in academy("history", "player", "ann").out
    assert "no game knows a player anne; `academy players list" in academy("history", "player", "anne").out


@contextmanager
def watching(server: Running, *words: str) -> Iterator[IO[str]]:
    """What `academy watch` prints, line by line."""
    command = [sys.executable, "-m", "academy", "watch", *words, "--address", str(server.address)]
    environment = os.environ | {"ACADEMY_TOKEN": server.token("admin", Role.ADMIN)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.terminate()


def test_what_is_learnt_is_printed_as_it_happens(running: Running) -> None:
    with watching(running, "go", "--after", "0") as lines:
        assert "go: game registered" in lines.readline()
        learnt = lines.readline()
    assert "contest reported taught-0: ann drew" in learnt and "inserted as pattern 1" in learnt


def test_what_happens_between_two_watches_is_printed_too(tmp_path: Path) -> None:
    # Each of these watches ends before it looks for the second time.
    with limited(tmp_path / "data", library_watch_seconds=0.01) as server:
        server.register(examples.tiny_go("go"))
        numbers = itertools.count()
        with watching(server) as lines:

            def printed() -> object:
                examples.teach(server, "go", f"taught{next(numbers)}", [("ann", "x", 0.9)])
                return select.select([lines], [], [], 0.5)[0]

            until(printed)
            assert "go: contest reported taught" in lines.readline()


def test_the_pages_are_a_command_of_academy_too() -> None:
    # Their program takes the place of the process.
    shown = subprocess.check_output([sys.executable, "-m", "academy", "web", "--help"], text=True)
    assert "--library" in shown and "--sign-in" in shown and "Usage: academy-web" in shown
