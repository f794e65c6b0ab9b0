"""A bot's questions to a real server: the answer is the same by calls and streams, blocking and not."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import pytest

from academy.knowledge.boards import Board, HexGeometry, SquareGeometry
from academy.knowledge.fair_use import FairUse
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells
from academy.store.codec.games import spec_to_proto
from academy.store.tokens import Role
from academy.v1 import contests_pb2, game_pb2, libraries_pb2
from academy.wire.games import read_spec
from clients import (
    Academy,
    AcademyRefusedError,
    AsyncAcademy,
    Connection,
    FairUseError,
    MatchOptions,
    Seat,
)
from clients.local_weights import LocalWeights, held_weights
from clients.responses import Analysis
from tests.academy.service.examples import contest, report, teach, teach_weights, tiny_go
from tests.academy.service.running import Running, serving
from tests.clients.ways import CALLS, STREAMS, Question, Way

GAME = "tiny"
SPEC = read_spec(tiny_go(GAME))
OTHER_BOARDS = [GameSpec("go-9x9", SquareGeometry(9, 9)), GameSpec("hex-5x5", HexGeometry(5, 5))]
BOARDS = [
    Board.from_letters(SPEC.geometry, "x-----o" + "-" * 18),
    Board.from_letters(SPEC.geometry, "-" * 25),
]
# A stone more, one less and one taken, and a pass.
AFTER = [
    Board.from_letters(SPEC.geometry, letters)
    for letters in ("x-----o---x" + "-" * 14, "------o" + "-" * 18, "x---x--" + "-" * 18, BOARDS[0].letters)
]

ENDGAME = MatchOptions([Library.ENDGAME])


@pytest.fixture(scope="module")
def academy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        arena = running.arena()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=tiny_go(GAME)))
        arena.contests.ReportContest(report(contest("first", GAME), ["c3", "b2"]))
        teach(running, GAME, "second", [("ann", "x-\n-o", 0.9), ("bob", "x", 0.7)])
        yield running


@pytest.fixture
def connection(academy: Running) -> Connection:
    return Connection(str(academy.address), academy.token("reader"))


def opening(seat: Seat) -> Question:
    return lambda client: client.opening(seat, [], 0)


def patterns(seat: Seat, **options: Any) -> Question:
    return lambda client: client.patterns(seat, BOARDS, **options)


WAYS = pytest.mark.parametrize("ask", [*CALLS, *STREAMS])
BY_CALLS = pytest.mark.parametrize("ask", CALLS)


@WAYS
def test_openings_and_patterns_are_answered(connection: Connection, ask: Way) -> None:
    seat = Seat(GAME, SPEC.geometry, 1)
    moves, (corner, empty) = ask(connection, opening(seat), patterns(seat))
    assert {move.move for move in moves} == {"c3"} and moves[0].visits == 3
    assert {match.library for match in corner} == {Library.ENDGAME}
    assert {match.cells for match in corner} == {""}
    assert len({match.pattern_id for match in corner}) == 2 and empty == []


@WAYS
def test_cells_are_listed_on_request(connection: Connection, ask: Way) -> None:
    seat = Seat(GAME, SPEC.geometry, 1)
    ((corner, _),) = ask(connection, patterns(seat, options=MatchOptions(with_cells=True)))
    assert corner and all("x" in match.cells or "o" in match.cells for match in corner)


def test_a_match_lies_on_the_reversed_board_for_player_2_and_its_covered_cells_on_the_board_itself(
    academy: Running,
) -> None:
    spec = GameSpec("turned", SquareGeometry(5, 5), reversal="rotate_180")
    academy.arena().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=spec_to_proto(spec)))
    teach(academy, "turned", "turned/1", [("carl", "xo", 0.9)])
    # For either player "xo" lies in the top left corner, seen from the own side of the board.
    board = Board.from_letters(spec.geometry, "xo" + "-" * 23)
    options = MatchOptions(with_cells=True)
    with Academy(Connection(str(academy.address), academy.token("reader"))) as asking:
        for player, place in ((1, (0, 0)), (2, (4, 3))):
            seat = Seat("turned", spec.geometry, player)
            ((match,),) = asking.patterns(seat, [board], options=options)
            assert (match.row, match.column) == place
            assert match.covered_cells(spec, player) == {0, 1}
            ((bare,),) = asking.patterns(seat, [board])
            with pytest.raises(ValueError, match=r"ask with MatchOptions\(with_cells=True\)"):
                bare.covered_cells(spec, player)


@WAYS
@pytest.mark.parametrize(
    ("libraries", "most", "matches"),
    [([Library.ENDGAME], 0, 2), ([Library.ENDGAME], 1, 1), ([Library.MIDDLE_GAME], 0, 0)],
)
def test_libraries_and_numbers_are_chosen(
    connection: Connection, ask: Way, libraries: Sequence[Library], most: int, matches: int
) -> None:
    seat = Seat(GAME, SPEC.geometry, 1)
    ((corner, _),) = ask(connection, patterns(seat, options=MatchOptions(libraries, most)))
    assert len({match.pattern_id for match in corner}) == matches


def gains(seat: Seat, value: float | None) -> Question:
    return lambda client: client.opponent_gains(seat, BOARDS[0], AFTER, value, options=ENDGAME)


@BY_CALLS
@pytest.mark.parametrize("player", [1, 2])
def test_the_opponent_gains_his_matches_that_are_new(connection: Connection, ask: Way, player: int) -> None:
    seat = Seat(GAME, SPEC.geometry, player)
    with Academy(connection) as academy:
        here, *there = academy.patterns(seat, [BOARDS[0], *AFTER], options=ENDGAME, both_players=True)

    (gained,) = ask(connection, gains(seat, None))

    assert gained == [
        [match for match in matches if match.for_opponent and match not in here] for matches in there
    ]
    # None of these is a gain: what was there, and what is one's own.
    assert any(gained) and any(match.for_opponent for match in here)
    assert any(not match.for_opponent and match not in here for matches in there for match in matches)
    with pytest.raises(FairUseError):
        ask(connection, gains(Seat(GAME, SPEC.geometry, player, "nowhere"), 0.5))


@WAYS
def test_what_fair_use_forbids_is_not_asked(connection: Connection, ask: Way) -> None:
    # The contest is unknown: a question about it would be refused.
    seat = Seat(GAME, SPEC.geometry, 1, contest_id="nowhere")
    seat.build_opening_request([], 0)
    with pytest.raises(FairUseError, match="ask again before own move 5"):
        ask(connection, opening(seat))


def test_where_academy_is_must_be_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACADEMY_ADDRESS", raising=False)
    for kind in (Academy, AsyncAcademy):
        with pytest.raises(ValueError, match=r"^where is ACADEMY\? Set ACADEMY_ADDRESS to host:port, or"):
            kind(Connection.from_environment())


@WAYS
def test_a_refusal_says_why(connection: Connection, ask: Way) -> None:
    with pytest.raises(AcademyRefusedError) as refusal:
        ask(connection, opening(Seat("chess", SPEC.geometry, 1)))
    assert (refusal.value.code, refusal.value.reason) == ("NOT_FOUND", "UNKNOWN_GAME")


def seated(ask: Way, connection: Connection, **of_contest: Any) -> Seat:
    seat: Seat
    (seat,) = ask(connection, lambda client: client.seat(**{"spec": SPEC, **of_contest}))
    return seat


@pytest.fixture
def no_contest(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACADEMY_CONTEST", "ACADEMY_GAME", "ACADEMY_PLAYER"):
        monkeypatch.delenv(name, raising=False)


@BY_CALLS
@pytest.mark.usefixtures("no_contest")
def test_a_seat_has_its_contests_game_and_rules(
    academy: Running, monkeypatch: pytest.MonkeyPatch, ask: Way
) -> None:
    # ACADEMY knows the game by another name than the referee.
    name = f"fork-{ask.__name__}"
    arena = academy.arena()
    arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=tiny_go(name)))
    opened = contest(name, name)
    opened.fair_use.opening_moves_per_consultation = 8
    tickets = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=opened)).tickets
    connection = Connection(str(academy.address), tickets[1])

    seat = seated(ask, connection, contest_id=name, player=2)

    assert seat == Seat(name, SPEC.geometry, 2, name, FairUse(opening_moves_per_consultation=8))
    with pytest.raises(ValueError, match="ACADEMY_PLAYER"):
        seated(ask, connection, contest_id=name)
    monkeypatch.setenv("ACADEMY_CONTEST", name)
    monkeypatch.setenv("ACADEMY_PLAYER", "two")
    with pytest.raises(ValueError, match="ACADEMY_PLAYER"):
        seated(ask, connection)
    monkeypatch.setenv("ACADEMY_PLAYER", "2")
    assert seated(ask, connection) == seat


@BY_CALLS
@pytest.mark.usefixtures("no_contest")
@pytest.mark.parametrize("stricter", [False, True])
def test_a_seat_of_a_game_on_another_board_is_refused(academy: Running, ask: Way, stricter: bool) -> None:
    name = f"other-board-{ask.__name__}-{stricter}"
    opened = contest(name, GAME)
    if stricter:
        opened.fair_use.opening_moves_per_consultation = 8
    (ticket, _) = (
        academy.arena().contests.OpenContest(contests_pb2.OpenContestRequest(contest=opened)).tickets
    )
    for spec in OTHER_BOARDS:
        with pytest.raises(
            ValueError, match=f"{spec.game_id} is played on another board than {GAME} at ACADE"
        ):
            seated(ask, Connection(str(academy.address), ticket), spec=spec, contest_id=name, player=1)


@BY_CALLS
@pytest.mark.usefixtures("no_contest")
def test_a_seat_outside_of_a_contest_is_one_for_analysis(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, ask: Way
) -> None:
    assert seated(ask, connection) == Seat(GAME, SPEC.geometry, 1)
    assert seated(ask, connection, player=2) == Seat(GAME, SPEC.geometry, 2)
    monkeypatch.setenv("ACADEMY_GAME", "tiny-fork")
    assert seated(ask, connection) == Seat("tiny-fork", SPEC.geometry, 1)


CELLS = str.maketrans("01", "xo")


def submitted(ask: Way, connection: Connection, seat: Seat) -> list[int]:
    """The plies of what the seat submits after a hundred."""
    (statuses,) = ask(connection, lambda client: client.propose(seat, 100))
    return [status.ply for status in statuses]


@BY_CALLS
def test_where_few_proposals_are_allowed_the_best_are_submitted(academy: Running, ask: Way) -> None:
    name = f"few-{ask.__name__}"
    arena, admin = academy.arena(), academy.admin()
    game = tiny_go(name)
    game.expected_length = 100.0
    arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
    tickets = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=contest(name, name))).tickets
    connection = Connection(str(academy.address), tickets[0])

    def limited_to(allowed: int) -> Seat:
        settings = game_pb2.LibrarySettings(max_submissions_per_contest=allowed)
        admin.libraries.UpdateSettings(libraries_pb2.UpdateSettingsRequest(game_id=name, settings=settings))
        seat = Seat(name, SPEC.geometry, 1, contest_id=name)
        for number in range(8):
            pattern = read_cells(f"{number:03b}".translate(CELLS), SPEC.geometry)
            seat.record_move(pattern, 81 + number, None, 0.5 + number / 20)
        return seat

    assert submitted(ask, connection, limited_to(0)) == []
    seat = limited_to(3)
    assert submitted(ask, connection, seat) == [88, 87, 86]
    # The seat knows which ACADEMY holds, and that there is no room for others.
    assert submitted(ask, connection, seat) == []
    limited_to(5)
    assert submitted(ask, connection, seat) == [85, 84]
    # Another seat does not know, and may submit them again.
    assert submitted(ask, connection, limited_to(5)) == [88, 87, 86, 85, 84]


@BY_CALLS
def test_proposals_that_a_seat_does_not_know_of_leave_room_for_the_best(academy: Running, ask: Way) -> None:
    name = f"room-{ask.__name__}"
    arena = academy.arena()
    arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=tiny_go(name)))
    tickets = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=contest(name, name))).tickets
    connection = Connection(str(academy.address), tickets[0])

    def seat_with(cells: str, *plies: int) -> Seat:
        seat = Seat(name, SPEC.geometry, 1, contest_id=name)
        for ply in plies:
            seat.record_move(read_cells(cells, SPEC.geometry), ply, None, 0.5 + ply / 1000)
        return seat

    assert len(submitted(ask, connection, seat_with("x-", *range(95, 101)))) == 6
    seat = seat_with("xo", *range(95, 101))
    assert submitted(ask, connection, seat) == [100, 99, 98, 97]
    assert submitted(ask, connection, seat) == []


def successors_of(seat: Seat, value: float | None) -> Question:
    return lambda client: client.successors(seat, BOARDS[0], AFTER, value)


@WAYS
def test_moves_are_answered_with_what_they_change(connection: Connection, ask: Way) -> None:
    seat = Seat(GAME, SPEC.geometry, 1)
    with Academy(connection) as academy:
        here, *there = academy.patterns(seat, [BOARDS[0], *AFTER])

    (successors,) = ask(connection, successors_of(seat, None))

    assert list(successors.position) == here
    assert [set(successors.after(move)) for move in range(len(AFTER))] == [set(matches) for matches in there]
    assert any(successors.gained) and any(successors.lost)
    with pytest.raises(FairUseError):
        ask(connection, successors_of(Seat(GAME, SPEC.geometry, 1, contest_id="nowhere"), 0.5))


def test_a_bot_reads_what_it_gave_and_took(academy: Running) -> None:
    with Academy(Connection(str(academy.address), academy.token("ann"))) as own:
        (figures,) = own.own_statistics()
    assert (figures.game_id, figures.player, figures.accepted_proposals) == (GAME, "ann", 1)
    assert figures.contests >= 2 and figures.new_openings >= 2


def test_anybody_reads_the_sums_of_what_all_players_gave_and_took(academy: Running) -> None:
    with Academy(Connection(str(academy.address), academy.token("reader"))) as reader:
        everybody = reader.statistics(GAME).everybody
    request = libraries_pb2.ListPlayerStatisticsRequest(game_id=GAME)
    players = academy.admin().libraries.ListPlayerStatistics(request).players
    assert all(figures.player for figures in players) and everybody.accepted_proposals == 2
    for field in libraries_pb2.PlayerStatistics.DESCRIPTOR.fields[2:]:
        assert getattr(everybody, field.name) == sum(getattr(figures, field.name) for figures in players)


READER = Seat(GAME, SPEC.geometry, 1)


@pytest.fixture(scope="module")
def analysing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with openings, patterns and weights of a game, where no contest is open."""
    with serving(tmp_path_factory.mktemp("analysing")) as running:
        teach_weights(running, GAME)
        running.arena().contests.ReportContest(report(contest("first", GAME), ["c3", "b2"]))
        teach(running, GAME, "second", [("ann", "x-\n-o", 0.9), ("bob", "x", 0.7)])
        yield running


def weights_in_figures(weights: LocalWeights) -> tuple[str, int, tuple[float, ...]]:
    return weights.revision, weights.contests, weights.features


@pytest.mark.parametrize(
    "ask",
    [
        lambda academy: academy.advise(READER, BOARDS[0], AFTER[:2], line=[]),
        lambda academy: academy.book_move(READER, [], 0),
        lambda academy: academy.average_length(GAME),
        lambda academy: academy.fair_use(GAME),
        lambda academy: academy.statistics(GAME),
        lambda academy: academy.own_statistics(),
        lambda academy: academy.own_proposals(),
        lambda academy: academy.weights(READER, SPEC),
    ],
    ids=[
        *("advise", "book_move", "average_length", "fair_use", "statistics", "own_statistics"),
        *("own_proposals", "weights"),
    ],
)
def test_every_question_is_answered_alike_by_asyncio(analysing: Running, ask: Callable[[Any], Any]) -> None:
    connection = Connection(str(analysing.address), analysing.token("ann"))

    async def answer() -> Any:
        async with AsyncAcademy(connection) as client:
            answers = ask(client)
            return [item async for item in answers] if isinstance(answers, AsyncIterator) else await answers

    # What has been downloaded is not sent again.
    held_weights.clear()
    by_asyncio = asyncio.run(answer())
    held_weights.clear()
    with Academy(connection) as client:
        by_calls = ask(client)
        if isinstance(by_calls, Iterator):
            by_calls = list(by_calls)
    if isinstance(by_calls, LocalWeights):
        by_calls, by_asyncio = weights_in_figures(by_calls), weights_in_figures(by_asyncio)
    assert by_calls and by_asyncio == by_calls


def test_an_analysis_reported_by_asyncio_is_known_when_a_call_repeats_it(analysing: Running) -> None:
    connection = Connection(str(analysing.address), analysing.token("night owl", Role.ANALYST))

    async def report_analysis() -> bool:
        async with AsyncAcademy(connection) as client:
            return await client.report_analysis(GAME, ["c3"], Analysis(0.5, 200))

    assert asyncio.run(report_analysis())
    with Academy(connection) as client:
        assert not client.report_analysis(GAME, ["c3"], Analysis(0.5, 200))


def test_an_admins_program_deletes_a_tesuji_by_the_code_that_advice_named(analysing: Running) -> None:
    connection = Connection(str(analysing.address), analysing.token("admin", Role.ADMIN))
    seat = Seat(GAME, SPEC.geometry, 1, with_ids=True)

    async def deleted(code: int) -> int:
        async with AsyncAcademy(connection) as client:
            return (await client.delete_tesuji(GAME, code)).tesuji.code

    with Academy(connection) as client:
        first, second, *_ = client.advise(seat, BOARDS[1], [0, 2, 12]).tesuji_ids
        done = client.delete_tesuji(GAME, first)
        assert done.tesuji.code == first and done.removal
        assert asyncio.run(deleted(second)) == second
        assert not {first, second} & {*client.advise(seat, BOARDS[1], [0, 2, 12]).tesuji_ids}
        with pytest.raises(AcademyRefusedError, match="has no tesuji of code"):
            client.delete_tesuji(GAME, first)
        with pytest.raises(ValueError, match="code -1: it is from 0"):
            client.delete_tesuji(GAME, -1)
    with (
        Academy(Connection(str(analysing.address), analysing.token("ann"))) as player,
        pytest.raises(AcademyRefusedError, match="admin"),
    ):
        player.delete_tesuji(GAME, second)
