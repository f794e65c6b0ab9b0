"""A Diplomacy bot's dealings with ACADEMY: a real server, and a competition as a user runs it."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from academy.knowledge.settings import Library
from academy.store import arenas
from academy.store.library_store import Store
from academy.store.proposal_tables import ProposalFilter
from academy.store.replica import read_view
from academy.v1 import contests_pb2
from academy.wire.games import game_message
from clients import Academy, Connection
from clients.bots.diplomacy.advisor import DiplomacyAdvisor, expected_value
from referees.diplomacy import Diplomacy, Season
from referees.diplomacy.game import begin
from tests.academy.service.running import Running, serving
from tests.arena.cli.command import arena
from tests.referees.diplomacy.positions import position

REFEREE = Diplomacy.from_settings({})
GAME = REFEREE.spec().game_id
FRANCE = 3
MAGINOT = "A PAR - BUR, F BRE - MAO, A MAR S A PAR - BUR"
PICARDY = "A PAR - PIC, F BRE - MAO, A MAR - SPA"
NAMES = tuple(f"p{seat}" for seat in range(1, 8))


class Never(random.Random):
    """Chance that never doubts."""

    def random(self) -> float:
        return 0.0


def contest(contest_id: str) -> contests_pb2.Contest:
    players = [contests_pb2.ContestPlayer(name=name, elo=1500.0) for name in NAMES]
    return contests_pb2.Contest(contest_id=contest_id, game_id=GAME, players=players)


def played(
    contest_id: str, springs: list[Mapping[int, str]], winner: int
) -> contests_pb2.ReportContestRequest:
    """A contest of some phases in which a power wins and the others lose."""
    game, plies = REFEREE.start(0), []
    for orders in springs:
        moves = {
            seat: REFEREE.read_move(game, seat, orders.get(seat, "NONE")) for seat in REFEREE.to_move(game)
        }
        known = {seat: REFEREE.opening_move(game, seat, move) for seat, move in moves.items()}
        game = REFEREE.play(game, moves)
        plies += [
            contests_pb2.Ply(player=seat, move=move, board=REFEREE.board(game, seat).letters)
            for seat, move in known.items()
        ]
    results = [
        contests_pb2.RESULT_WIN if seat == winner else contests_pb2.RESULT_LOSS for seat in range(1, 8)
    ]
    return contests_pb2.ReportContestRequest(contest=contest(contest_id), plies=plies, results=results)


@pytest.fixture(scope="module")
def academy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        arena = running.arena()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game_message(REFEREE.spec())))
        after_picardy = "A PIC - BEL, F MAO - POR, A SPA H"
        later = "A BUR - BEL, F MAO - POR, A MAR - SPA"
        for number, (spring, autumn, winner) in enumerate(
            [
                (MAGINOT, later, FRANCE),
                (PICARDY, after_picardy, 1),
                (PICARDY, after_picardy, 2),
                (MAGINOT, later, 4),
                (MAGINOT, later, FRANCE),
            ]
        ):
            arena.contests.ReportContest(
                played(f"old-{number}", [{FRANCE: spring}, {FRANCE: autumn}], winner)
            )
        yield running


def advisor(academy: Running, contest_id: str, chance: random.Random | None = None) -> DiplomacyAdvisor:
    tickets = (
        academy.arena()
        .contests.OpenContest(contests_pb2.OpenContestRequest(contest=contest(contest_id)))
        .tickets
    )
    connection = Connection(str(academy.address), tickets[FRANCE - 1])
    return DiplomacyAdvisor(Academy(connection), REFEREE, contest_id, FRANCE, chance or Never())


def test_the_opening_that_did_best_is_taken(academy: Running) -> None:
    known = advisor(academy, "spring").opening(REFEREE.start(0))
    assert known is not None and known == REFEREE.read_move(REFEREE.start(0), FRANCE, MAGINOT)


def test_what_few_games_tell_of_is_not_always_taken(academy: Running) -> None:
    chance = random.Random(4)
    start = REFEREE.start(0)
    taken = [advisor(academy, f"often-{number}", chance).opening(start) is not None for number in range(40)]
    # Three games know of it: three times in five.
    assert 15 <= sum(taken) <= 33


def test_fair_use_is_kept_without_asking_twice(academy: Running) -> None:
    asking = advisor(academy, "twice")
    assert asking.opening(REFEREE.start(0)) is not None
    assert asking.opening(REFEREE.start(0)) is None


def test_orders_known_for_another_situation_are_not_taken(academy: Running) -> None:
    far = begin(position("FRA A GAS, A MAR, F BRE", season=Season.AUTUMN))
    assert advisor(academy, "elsewhere").opening(far) is None


@pytest.mark.parametrize(("entered", "known"), [(False, True), (True, False)])
def test_orders_are_known_by_the_line_that_led_to_them(academy: Running, entered: bool, known: bool) -> None:
    asking = advisor(academy, f"autumn-{entered}")
    game = REFEREE.start(0)
    spring = REFEREE.read_move(game, FRANCE, MAGINOT)
    asking.gave(game, spring, 0.1)
    others = {seat: REFEREE.read_move(game, seat, "NONE") for seat in range(1, 8)}
    if entered:
        others[2] = REFEREE.read_move(game, 2, "F LON - ECH")
    game = REFEREE.play(game, others | {FRANCE: spring})
    asking.played(range(1, 8), game)
    opening = asking.opening(game)
    assert (opening is not None) == known
    if opening is not None:
        assert opening.text == "A BUR - BEL, F MAO - POR, A MAR - SPA"


def test_after_moves_that_were_made_for_it_the_tree_is_not_asked(academy: Running) -> None:
    asking = advisor(academy, "given")
    asking.played(range(1, 8), REFEREE.start(0))
    assert asking.opening(REFEREE.start(0)) is None


def test_the_bot_goes_on_alone_without_academy(capsys: pytest.CaptureFixture[str]) -> None:
    environment = {"ACADEMY_ADDRESS": "unix:/nowhere/academy.sock", "ACADEMY_CONTEST": "lost"}
    asking = DiplomacyAdvisor.from_environment(REFEREE, FRANCE, environment, Never())
    assert asking.opening(REFEREE.start(0)) is None
    asking.finish()
    assert capsys.readouterr().err.count("going on without ACADEMY's answers") == 1
    assert DiplomacyAdvisor.from_environment(REFEREE, FRANCE, {}, Never()).academy is None


@pytest.mark.parametrize(
    ("owned", "least", "most"),
    [
        ("GER BER", 0.0, 0.0),
        ("FRA PAR MAR BRE", 0.0, 0.1),
        ("FRA PAR MAR BRE SPA POR BEL HOL LON LVP", 0.49, 0.51),
    ],
)
def test_a_power_expects_more_with_more_centres(owned: str, least: float, most: float) -> None:
    start = position("GER A BER" if owned.startswith("GER") else "FRA A PAR", owned=owned)
    assert least <= expected_value(start, FRANCE - 1) <= most


CONTROL = """\
[competition]
kind = "playoff"

[game]
name = "diplomacy"
map = "straits"
year_limit = 4

[academy]
address = "embedded"

[[matchups]]
players = ["north", "south"]
games = 4
"""
PLAYER = """
[players.{name}]
protocol = "python"
command = "clients.bots.diplomacy.advisor:random_legal"
"""


def test_a_competition_fills_openings_and_patterns(tmp_path: Path) -> None:
    control = tmp_path / "straits.toml"
    control.write_text(CONTROL + "".join(PLAYER.format(name=name) for name in ("north", "south")))
    run = arena("run", "--quiet", control)
    assert run.returncode == 0, run.stdout + run.stderr
    log = (tmp_path / "straits.log").read_text()
    assert "without ACADEMY" not in log

    with Store(tmp_path / "straits.academy", read_only=True) as store:
        with store.environment.reading() as transaction:
            view = read_view(transaction, "diplomacy-straits")
        proposals = store.read(arenas.list_proposals, ProposalFilter())[0]
    assert view.opening_nodes > 10
    assert len(view.libraries[Library.ENDGAME]) > 0
    # Nobody asked about another game than was played, and every pattern stood on the board.
    assert not [
        proposal.reason
        for proposal in proposals
        if "consulted" in proposal.reason or "stood" in proposal.reason
    ]
