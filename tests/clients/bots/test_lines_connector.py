"""Bots that speak lines dial in to a pool of a real service, and play there as at home."""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

from arena.v1 import competitions_pb2
from arena.v1 import pools_pb2 as messages
from clients import Connection, Game, GameDeclinedError, GameTurn, Membership, register
from clients.bots import lines_connector
from clients.bots.lines_connector import SeatedBot
from referees.warlight import WarLight
from tests.arena.service.serving import Service
from tests.arena.service.test_pools import rows
from tests.waiting import until

BOT = Path(__file__).parents[2] / "arena" / "warlight_bot.py"
TURNS = 5
# What the bot that is late in turn 2 answers in turn 3.
LATE_ORDER = "424242"
SETTINGS = messages.PoolSettings(
    game="warlight", settings_json=f'{{"map": "double_small", "turn_limit": {TURNS}}}'
)
SETTINGS.move_time.FromSeconds(4)
DAN_LATE = "forfeit by dan: player dan: no answer within 4 s"
TERMINATIONS = "SELECT Termination FROM ARENA_Game"


class Bots:
    """Bots that dial in to a service as its members, each with a connector of its own."""

    def __init__(self, address: str, folder: Path) -> None:
        self._address, self._folder = address, folder
        self.connectors: dict[str, subprocess.Popen[str]] = {}

    def join(self, name: str, fault: str, dialogue: str = "") -> None:
        token = self._folder / f"{name}.token"
        token.write_text(register(Connection(self._address), Membership(name, "1")))
        options = ["--dialogue", dialogue] if dialogue else []
        bot = [sys.executable, "-I", "-S", str(BOT), fault, *([dialogue] if dialogue else [])]
        self.connectors[name] = subprocess.Popen(
            [
                *(sys.executable, "-m", "clients.bots.lines_connector", "--player", name),
                *("--address", self._address, "--token-file", str(token), *options, "--", *bot),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self) -> dict[str, tuple[str, str]]:
        """What each connector has written."""
        for connector in self.connectors.values():
            connector.terminate()
        return {name: connector.communicate() for name, connector in self.connectors.items()}


def test_bots_of_both_dialogues_play_and_faults_cost_what_they_cost_at_home(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 's'}"
    service = Service(
        tmp_path, "--league", str(tmp_path / "league.db"), "--open-registration", address=address
    )
    bots = Bots(address, tmp_path)
    results = tmp_path / "war.results.sqlite"

    def enough() -> bool:
        ends = rows(results, TERMINATIONS)
        return len(ends) >= 6 and ends.count(("resignation",)) >= 2

    try:
        bots.join("ann", "none")
        bots.join("bob", "none", "ai-challenge-2")
        bots.join("cyd", "exit-in-game")
        bots.join("dan", "late-once")
        service.call("AddPool", messages.AddPoolRequest(name="war", settings=SETTINGS), service="Pool")
        until(enough)
        service.call("PausePool", messages.PausePoolRequest(name="war"), service="Pool")
        service.wait_for("war", lambda pool: pool.state == competitions_pb2.COMPETITION_STATE_STOPPED)
    finally:
        written = bots.end()
        service.close()
    orders, results_of = played(tmp_path / "war.games")
    # A standing reaches both, and what they answer is played: they deploy in each turn. An opponent may end a
    # game before its first.
    for name in ("ann", "bob"):
        assert "+" * TURNS in orders[name] and set("".join(orders[name])) == {"+"}
    # A turn that is answered too late has no orders, and the late answer is none to the next turn's.
    assert "+-+++" in orders["dan"]
    assert not any(LATE_ORDER in file.read_text() for file in (tmp_path / "war.games").iterdir())
    assert "turn 2: no answer within 4 s, the turn is passed" in written["dan"][1]
    # A bot that ends gives up that game, and is started again for the next.
    # The arena may find dan late before his connector has passed: then that game ends sooner.
    of_cyd = [how for how, why in results_of["cyd"] if why != DAN_LATE]
    assert len(of_cyd) >= 2 and set(of_cyd) == {"resignation"}
    assert "resigned in turn 3" in written["cyd"][1] and "has ended, with status 4" in written["cyd"][1]
    assert written["ann"][1] == written["bob"][1] == ""


def played(records: Path) -> tuple[dict[str, list[str]], dict[str, list[tuple[str, str]]]]:
    """By player, of each game: in which turns it deployed (`+`) or did not (`-`); apart, its end and why."""
    orders: dict[str, list[str]] = defaultdict(list)
    ends: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for file in records.iterdir():
        record = json.loads(file.read_text())
        for at, name in enumerate(record["players"]):
            given = ["+" if "Deploy" in " ".join(turn["orders"][at]) else "-" for turn in record["turns"]]
            orders[name].append("".join(given))
            ends[name].append((record["result"]["termination"], record["result"]["detail"]))
    return orders, ends


def test_game_that_is_not_played_in_lines_is_declined_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(GameDeclinedError, match="'go' is not played over 'lines'"):
        SeatedBot(game("go", {"board_size": 9}), ["cat"], "")
    with pytest.raises(GameDeclinedError, match="'warlight' is not played over 'lines:chess'"):
        SeatedBot(game("warlight", {"map": "double_small"}), ["cat"], "chess")
    with pytest.raises(GameDeclinedError, match=r"island\.txt"):
        SeatedBot(game("warlight", {"map": str(tmp_path / "island.txt")}), ["cat"], "")


RULES = WarLight.from_settings({"map": "double_earth"})
VIEW = RULES.view_text(RULES.view(RULES.start(1), 1))


@pytest.mark.parametrize(
    "program",
    [
        "import time; time.sleep(600)",
        "import os\nwhile True: os.write(1, b'Deploy 1 on 1\\n' * 1000)",
        "import os\nwhile True: os.write(1, b'x' * 100_000)",
    ],
)
def test_bot_that_neither_reads_nor_ends_its_answer_is_late_thrice_and_then_gives_up(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A bot that floods keeps this process busy as long as it is waited for.
    monkeypatch.setattr(lines_connector, "END_SECONDS", 0.1)
    bot = SeatedBot(game("warlight", {"map": "double_earth"}), [sys.executable, "-c", program], "")
    try:
        turn = GameTurn("", (), (), 0.1, 0, VIEW)
        answers = [bot.choose(turn) for _ in range(3)]
    finally:
        bot.end()
    assert [answer.text for answer in answers] == ["pass", "pass", None]
    assert answers[-1].comment == "late in 3 turns"


def test_arena_that_sends_no_view_makes_the_bot_give_up_with_the_reason() -> None:
    bot = SeatedBot(game("warlight", {"map": "double_earth"}), ["cat"], "")
    try:
        answer = bot.choose(GameTurn("", (), (), 5.0, 0))
    finally:
        bot.end()
    assert answer.text is None and "is not a view of WarLight" in answer.comment


def game(name: str, settings: Mapping[str, object]) -> Game:
    return Game("r1_0", name, settings, 1, ("ann", "bob"), 1, 2.0, resumed=False)
