"""The simple bot: one file of its own, spoken to as the game's page says."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from clients.bots.warlight import simple

MAP = """\
Map
TerritoryDefinition 1 West 2
TerritoryDefinition 2 Middle 1 3
TerritoryDefinition 3 East 2 4
TerritoryDefinition 4 Far.East 3
BonusDefinition 3 Occident 1 2
EndMap
"""


def test_the_simple_bot_needs_only_python(tmp_path: Path) -> None:
    copy = tmp_path / "my_bot.py"
    copy.write_text(Path(simple.__file__).read_text())
    heard = MAP + (
        "Turn 1\nTerritory 1 ownedBy You withArmies 5\n"
        "Territory 2 ownedBy Neutral withArmies 2\nEndStanding\n"
        "Turn 2\nTerritory 1 ownedBy You withArmies 1\nTerritory 2 ownedBy You withArmies 8\n"
        "Territory 3 ownedBy Opponent withArmies 9\nEndStanding\nGameOver\n"
    )
    bot = subprocess.run(
        [sys.executable, "-I", "-S", str(copy)], input=heard, capture_output=True, text=True, check=True
    )
    assert bot.stderr == ""
    # With both territories of the bonus there are 8 armies to place; 15 are too few to attack 9.
    assert bot.stdout.splitlines() == [
        "Deploy 5 on 1",
        "AttackTransfer 9 from 1 to 2",
        "end",
        "Deploy 8 on 2",
        "end",
    ]


@pytest.mark.parametrize("name", ["simple", "decent"])
def test_a_bot_deploys_its_whole_income(name: str) -> None:
    heard = MAP + (
        "Turn 1\nTerritory 1 ownedBy You withArmies 5\nTerritory 2 ownedBy You withArmies 1\n"
        "Territory 3 ownedBy Neutral withArmies 2\nEndStanding\nGameOver\n"
    )
    command = [sys.executable, "-m", f"clients.bots.warlight.{name}", "--income=11", "--stack-armies=20"]
    bot = subprocess.run(command, input=heard, capture_output=True, text=True, check=True)
    deployed = [line.split() for line in bot.stdout.splitlines() if line.startswith("Deploy ")]
    assert sum(int(words[1]) for words in deployed) == 11 + 3


@pytest.mark.parametrize("name", ["simple", "decent"])
def test_a_bot_without_an_error_output_complains_nowhere_else(name: str) -> None:
    line = f"{shlex.quote(sys.executable)} -m clients.bots.warlight.{name} --academy"
    both, alone = (
        subprocess.run(
            ["/bin/sh", "-c", line + closed],
            input=f"{MAP}GameOver\n",
            env=os.environ | {"ACADEMY_CONTEST": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        for closed in ("", " 2>&-")
    )
    assert both.stderr.startswith("playing without ACADEMY: ")
    assert (both.stdout, alone.stdout) == ("", "")


def test_a_startup_check_which_has_no_contest_gets_no_warning() -> None:
    bot = subprocess.run(
        [sys.executable, "-m", "clients.bots.warlight.simple", "--academy"],
        input=f"{MAP}GameOver\n",
        env=os.environ | {"ACADEMY_CONTEST": "", "GOMILL_GAME_ID": "startup-check"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert bot.stderr == ""


@pytest.mark.parametrize(
    ("owner", "armies", "orders"),
    [
        # The armies that have nobody beside them walk to the front.
        (
            {1: "You", 2: "You", 3: "Neutral"},
            {1: 4, 2: 1, 3: 2},
            ["Deploy 8 on 2", "AttackTransfer 3 from 1 to 2", "AttackTransfer 8 from 2 to 3"],
        ),
        # All of them, where the last target is attacked; a target without armies takes one.
        ({2: "You", 1: "Neutral", 3: "Neutral"}, {2: 1, 1: 0, 3: 2},
         ["Deploy 5 on 2", "AttackTransfer 1 from 2 to 1", "AttackTransfer 4 from 2 to 3"]),
        ({3: "Neutral"}, {3: 2}, []),
    ],
)  # fmt: skip
def test_orders(owner: dict[int, str], armies: dict[int, int], orders: list[str]) -> None:
    neighbours, bonuses = simple.read_map(MAP.splitlines())
    assert simple.decide(neighbours, bonuses, owner, armies, Random(1), {}) == orders


def test_what_is_liked_is_attacked_first() -> None:
    neighbours, bonuses = simple.read_map(MAP.splitlines())
    owner, armies = {2: "You", 1: "Neutral", 3: "Neutral"}, {2: 1, 1: 2, 3: 2}
    orders = simple.decide(neighbours, bonuses, owner, armies, Random(1), {3: 0.4})
    assert orders == ["Deploy 5 on 2", "AttackTransfer 5 from 2 to 3"]
