"""What every player receives at its seat."""

import json
import sys
from pathlib import Path

import pytest

from arena.jobs import AcademyAccess, PlayerSetup
from arena.match.game import play, seatings
from referees.go import Go
from tests.arena.engines import job, python_player

REFEREE = Go.from_settings({"board_size": 5, "komi": 0.5})


def commands(seed: int, *command: str) -> list[tuple[str, ...]]:
    """What the programs of both seats are started by in a game of this seed."""
    setup = PlayerSetup("engine", command)
    game = job(setup, setup, seed=seed)
    return [seating.command for seating in seatings(game, REFEREE, REFEREE.start(seed), None, None)]


def test_a_seed_in_the_command_differs_by_game_and_seat() -> None:
    command = ("engine", "--seed", "{seed}", "--file=x{seed}.log")
    first, second = commands(7, *command)
    assert first == ("engine", "--seed", first[2], f"--file=x{first[2]}.log")
    assert len({first, second, *commands(1009, *command)}) == 4
    assert commands(7, *command) == [first, second]


@pytest.mark.parametrize("seed", [0, 7, 2**31, 2**63 - 1])
def test_a_seed_stays_in_the_range_that_engines_take(seed: int) -> None:
    assert all(0 <= int(word) < 2**31 for (word,) in commands(seed, "{seed}"))


def test_program_gets_academys_address_and_certificates(tmp_path: Path) -> None:
    variables = tmp_path / "variables"
    program = f"import json, os; json.dump(dict(os.environ), open({str(variables)!r}, 'w'))"
    access = AcademyAccess("academy:50551", "cup/1", ("ticket-1", "ticket-2"), tls_ca="/etc/authority.pem")
    own = {"ACADEMY_TLS_CA": "/home/ann/authority.pem", "ACADEMY_TLS_CERT": "/home/ann/own.pem"}
    player = PlayerSetup("engine", (sys.executable, "-c", program), environment=own)
    play(job(player, python_player("other"), game_id="0_7", academy=access))
    environment = json.loads(variables.read_text())
    assert {
        name: value for name, value in environment.items() if name.startswith(("ACADEMY_", "GOMILL_"))
    } == {
        "ACADEMY_ADDRESS": "academy:50551",
        "ACADEMY_CONTEST": "cup/1",
        "ACADEMY_GAME": "go-5x5",
        "ACADEMY_PLAYER": "1",
        "ACADEMY_TOKEN": "ticket-1",
        "ACADEMY_TLS_CA": "/home/ann/authority.pem",
        "ACADEMY_TLS_CERT": "/home/ann/own.pem",
        "GOMILL_GAME_ID": "0_7",
    }
