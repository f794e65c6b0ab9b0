"""A seat has a seed of its own; nothing that reaches it leads back to the game's, by any protocol."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.jobs import GameJob, PlayerSetup
from arena.match.game import play
from arena.match.game_seeds import GameSeeds, seat_seed
from arena.runner.player_check import check_player
from referees.api import Referee
from referees.diplomacy import Diplomacy
from referees.warlight import WarLight
from tests.arena.lobby.rooms import RawStream, open_lobby, remote
from tests.arena.players.card_game import CardGame
from tests.arena.players.test_remote import InBackground
from tests.referees.diplomacy.daide_server.rooms import HOLD, daide_player, game_of, hands, open_door

SEED = 7_311_842_901_446_190_001
PROGRAM = Path(__file__).with_name("card_player.py")
WAR_BOT = Path(__file__).parents[1] / "warlight_bot.py"
RANDOM = PlayerSetup("random", ("arena.players.random_moves:random_moves",), protocol="python")
WAR: Mapping[str, Any] = {"map": "double_small", "turn_limit": 3}
CHECKED: list[str] = []
HEARD: list[str] = []


@pytest.fixture(autouse=True)
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the card game as a package that nobody here wrote would be."""
    folder = tmp_path / "cards-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: cards\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[arena.referees]\ncards = tests.arena.players.card_game:CardGame\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    HEARD.clear()
    yield


def game(player: PlayerSetup, tmp_path: Path, name: str = "cards", **more: Any) -> GameJob:
    """A game against a random player in which the player under test has the second seat."""
    table = WAR if name == "warlight" else {}
    return GameJob("cup_7", name, table, (RANDOM, player), SEED, log_path=str(tmp_path / "log"), **more)


def listener(referee: Referee[Any, Any], seat: int, seed: int, environment: Mapping[str, str]) -> Any:
    """A Python player that notes all it is given, and moves at random."""
    HEARD.append(repr((vars(referee), seat, seed, environment)))

    class Listener:
        def __call__(self, view: Any) -> str:
            HEARD.append(repr(view))
            moves = referee.legal_moves(view, seat)
            return referee.move_text(moves[0]) if moves else "none"

        def told(self, seats: tuple[int, ...], view: Any) -> None:
            HEARD.append(repr((seats, view)))

    return Listener()


def assert_nothing_leads_to_the_seed(received: str, rules: Referee[Any, Any]) -> None:
    assert received, "nothing was sent"
    for written in (
        f"{SEED:x}",
        f"{SEED % 2**31:x}",
        repr(SEED.to_bytes(8, "big")),
        repr(SEED.to_bytes(8, "little")),
    ):
        assert written.strip("b'") not in received
    first = rules.start(SEED)
    for number in {int(digits) for digits in re.findall(r"\d+", received)}:
        for seed in (number, number - 2, number + 2, number ^ 1):
            assert seed % 2**63 not in (SEED, SEED % 2**31)
            if isinstance(rules, CardGame):
                assert rules.start(seed).hands != first.hands


def transcript_of(player: PlayerSetup, tmp_path: Path, name: str = "cards") -> str:
    transcript, notes = tmp_path / "transcript", tmp_path / "notes"
    result = play(game(player, tmp_path, name, transcript=str(transcript)), slot=0)
    assert result.outcome is not None, result.void_reason
    sent = [line for line in transcript.read_text().splitlines() if line.startswith(">> ")]
    assert sent
    return "\n".join([*sent, notes.read_text() if notes.exists() else ""])


def program(protocol: str, tmp_path: Path) -> PlayerSetup:
    words = (
        sys.executable,
        "-I",
        "-S",
        str(PROGRAM),
        protocol,
        str(tmp_path / "notes"),
        "{seed}",
        "x{seed}y",
    )
    return PlayerSetup("player", words, protocol=protocol, working_directory=str(tmp_path))


@pytest.mark.parametrize("protocol", ["gtp", "lines"])
@pytest.mark.threat("leaks")
def test_a_program_hears_nothing_that_leads_to_the_games_seed(protocol: str, tmp_path: Path) -> None:
    received = transcript_of(program(protocol, tmp_path), tmp_path)
    assert str(seat_seed(SEED, 2) % 2**31) in received
    assert_nothing_leads_to_the_seed(received, CardGame())


@pytest.mark.threat("leaks")
def test_a_policy_hears_nothing_that_leads_to_the_games_seed(tmp_path: Path) -> None:
    arguments = {"notes": str(tmp_path / "notes"), "seed": "{seed}"}
    setup = PlayerSetup(
        "player",
        ("card_player:NotingPolicy",),
        protocol="policy",
        working_directory=str(PROGRAM.parent),
        parameters={"arguments": arguments},
    )
    received = transcript_of(setup, tmp_path)
    assert str(seat_seed(SEED, 2) % 2**31) in received
    assert "hands=(None, " in received
    assert_nothing_leads_to_the_seed(received, CardGame())


@pytest.mark.parametrize("name", ["cards", "warlight"])
@pytest.mark.threat("leaks")
def test_a_python_player_hears_nothing_that_leads_to_the_games_seed(name: str, tmp_path: Path) -> None:
    setup = PlayerSetup("player", ("tests.arena.players.test_seat_seeds:listener",), protocol="python")
    play(game(setup, tmp_path, name))
    received = "\n".join(HEARD)
    assert str(seat_seed(SEED, 2)) in received
    assert_nothing_leads_to_the_seed(
        received, WarLight.from_settings(WAR) if name == "warlight" else CardGame()
    )


@pytest.mark.parametrize("dialogue", ["", "ai-challenge-2"])
@pytest.mark.threat("leaks")
def test_a_bot_of_warlight_hears_nothing_that_leads_to_the_games_seed(dialogue: str, tmp_path: Path) -> None:
    words = (sys.executable, "-I", "-S", str(WAR_BOT), "none", *([dialogue] if dialogue else []))
    setup = PlayerSetup(
        "player", words, protocol="lines", parameters={"dialogue": dialogue} if dialogue else {}
    )
    received = transcript_of(setup, tmp_path, "warlight")
    assert_nothing_leads_to_the_seed(received, WarLight.from_settings(WAR))


@pytest.mark.parametrize("name", ["cards", "warlight"])
@pytest.mark.threat("leaks")
def test_a_player_that_dials_in_hears_nothing_that_leads_to_the_games_seed(name: str, tmp_path: Path) -> None:
    with open_lobby() as lobby:
        stream = RawStream(lobby)
        stream.hello("one", want_legal_moves=True)
        played = InBackground(game(remote(lobby, "one"), tmp_path, name))
        received = []
        while not (heard := stream.hear()).HasField("game_end"):
            received.append(str(heard))
            if heard.HasField("game_start"):
                start = heard.game_start
                stream.ready(start)
            if heard.HasField("move_request"):
                stream.resign(heard.move_request)
        played.result()
        stream.vanish()
    assert start.seed == seat_seed(SEED, 2)
    assert_nothing_leads_to_the_seed(
        "\n".join(received), WarLight.from_settings(WAR) if name == "warlight" else CardGame()
    )


@pytest.mark.threat("leaks")
def test_a_bot_that_speaks_daide_hears_nothing_that_leads_to_the_games_seed() -> None:
    with open_door("n", "s") as door, hands(door, "n", "s") as clients:
        seats = [daide_player(door, "n"), daide_player(door, "s")]
        played = InBackground(replace(game_of(*seats, year_limit=1), seed=SEED))
        heard = [hand.until("TME") for hand in clients]
        for phase in range(2):
            for hand, orders in zip(clients, HOLD.values(), strict=True):
                hand.say(f"SUB {orders}")
            for messages, hand in zip(heard, clients, strict=True):
                messages += hand.until("TME" if phase == 0 else "SMR")
        played.result()
    for messages in heard:
        assert_nothing_leads_to_the_seed("\n".join(messages), Diplomacy.from_settings({"map": "straits"}))


def checked(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    CHECKED.append(str(seed))
    return lambda view: f"card {view.hands[view.plies % 2][0]}"


def test_the_startup_check_uses_no_seed_that_a_game_could_have() -> None:
    setup = PlayerSetup("player", ("tests.arena.players.test_seat_seeds:checked",), protocol="python")
    CHECKED.clear()
    for _ in range(2):
        check_player(setup, CardGame(), quiet=True)
    assert len(set(CHECKED)) == 2
    assert not {int(seed) for seed in CHECKED} & set(range(1000))


# How seeds are made

SEEDS = st.integers(0, 2**63 - 1)
KEYS = st.binary(min_size=32, max_size=32)


@given(seed=SEEDS, seat=st.integers(1, 8), key=KEYS, other=KEYS)
@settings(deadline=None)
def test_a_seats_seed_differs_from_the_games_by_seat_and_by_key(
    seed: int, seat: int, key: bytes, other: bytes
) -> None:
    own = seat_seed(seed, seat, key)
    assert 0 <= own < 2**63
    assert own == seat_seed(seed, seat, key)
    assert own not in (seed, seat_seed(seed, seat + 1, key), seat_seed(own, seat, key))
    assert (own == seat_seed(seed, seat, other)) == (key == other)


@given(public=SEEDS, attempt=st.integers(1, 5), key=KEYS, other=KEYS)
@settings(deadline=None)
@pytest.mark.threat("leaks")
def test_a_games_seed_does_not_follow_from_what_everybody_knows_of_it(
    public: int, attempt: int, key: bytes, other: bytes
) -> None:
    seeds = GameSeeds(key)
    assert seeds.game(public, attempt) == GameSeeds(key).game(public, attempt) != public
    assert (seeds.game(public, attempt) == GameSeeds(other).game(public, attempt)) == (key == other)
    # Who saw an attempt that came to nothing knows nothing of the next.
    assert seeds.game(public, attempt) != seeds.game(public, attempt + 1)


def test_a_seed_of_the_control_file_gives_the_same_games_everywhere() -> None:
    seeds = GameSeeds.of_seed(7)
    assert seeds.game(1234, 1) == GameSeeds.of_seed(7).game(1234, 1) == 1234
    assert seeds.seats(1234, 2) == GameSeeds.of_seed(7).seats(1234, 2) != GameSeeds.of_seed(8).seats(1234, 2)
    assert replace(seeds).seats(5, 2) == tuple(seat_seed(5, seat, seeds.key) for seat in (1, 2))
