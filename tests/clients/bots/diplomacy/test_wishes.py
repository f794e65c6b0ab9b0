"""What patterns say of moves: asked of a real server, and heeded by the bot that fights."""

import random
from collections.abc import Iterator

import pytest

from academy.v1 import contests_pb2, pattern_pb2, proposals_pb2
from academy.wire.games import game_message
from clients import Academy, Connection
from clients.bots.diplomacy.advisor import DiplomacyAdvisor
from clients.bots.diplomacy.bots import bot
from referees.diplomacy import Diplomacy, OrderKind, Position, Season
from referees.diplomacy.game import begin
from tests.academy.service.running import Running, serving
from tests.referees.diplomacy.positions import position

REFEREE = Diplomacy.from_settings({})
FRANCE = 3
SPAIN, GASCONY, PIEDMONT, MARSEILLES = map(REFEREE.map.province, ("SPA", "GAS", "PIE", "MAR"))


def contest(contest_id: str) -> contests_pb2.Contest:
    players = [contests_pb2.ContestPlayer(name=f"p{seat}", elo=1500.0) for seat in range(1, 8)]
    return contests_pb2.Contest(contest_id=contest_id, game_id=REFEREE.spec().game_id, players=players)


def standing() -> Position:
    return position("FRA A MAR; GER A MUN", season=Season.SPRING)


@pytest.fixture(scope="module")
def academy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An ACADEMY that knows of an army in Spain that it is worth 0.9 to France."""
    with serving(tmp_path_factory.mktemp("data")) as running:
        arena = running.arena()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game_message(REFEREE.spec())))
        first = contest("first")
        tickets = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=first)).tickets
        game = begin(position("FRA A SPA; GER A MUN", season=Season.SPRING))
        ply = contests_pb2.Ply(
            player=FRANCE,
            move="A SPA H",
            board=REFEREE.board(game, FRANCE).letters,
            values=[contests_pb2.SeatValue(player=FRANCE, value=0.81)],
        )
        proposal = proposals_pb2.NewProposal(
            library=pattern_pb2.LIBRARY_ENDGAME, cells="x SPA\n- MAR", ply=1, value=0.81
        )
        running.client(tickets[FRANCE - 1]).proposals.SubmitProposals(
            proposals_pb2.SubmitProposalsRequest(contest_id="first", proposals=[proposal])
        )
        results = [
            contests_pb2.RESULT_WIN if seat == FRANCE else contests_pb2.RESULT_LOSS for seat in range(1, 8)
        ]
        reported = arena.contests.ReportContest(
            contests_pb2.ReportContestRequest(contest=first, plies=[ply], results=results)
        )
        assert reported.accepted == 1
        yield running


def test_moves_into_a_known_pattern_are_wished_for(academy: Running) -> None:
    second = contest("second")
    tickets = academy.arena().contests.OpenContest(contests_pb2.OpenContestRequest(contest=second)).tickets
    connection = Connection(str(academy.address), tickets[FRANCE - 1])
    asking = DiplomacyAdvisor(Academy(connection), REFEREE, "second", FRANCE, random.Random(1))
    wishes = asking.wishes(begin(standing()), 0.1)
    assert wishes == {(MARSEILLES, SPAIN): pytest.approx(0.8)}
    assert asking.wishes(begin(standing()), 0.5) == {}, "where one stands well fair use forbids to ask"


@pytest.mark.parametrize(("wished", "feared"), [(PIEDMONT, GASCONY), (GASCONY, PIEDMONT)])
def test_the_bot_that_fights_heeds_wishes(wished: int, feared: int) -> None:
    # France owns both Spain and Portugal: an army in Marseilles has no need to go anywhere.
    start = position(
        "FRA A MAR, F MAO; GER A MUN", season=Season.SPRING, owned="FRA PAR MAR BRE SPA POR; GER MUN"
    )
    goes = []
    for seed in range(20):
        player = bot("tactical", seed)
        player.wishes = {(MARSEILLES, wished): 1.0, (MARSEILLES, feared): -1.0}
        orders = player.orders(start, FRANCE - 1)
        goes += [
            REFEREE.map.province_of[order.target]
            for order in orders
            if order.kind is OrderKind.MOVE and REFEREE.map.province_of[order.location] == MARSEILLES
        ]
    assert wished in goes and feared not in goes
