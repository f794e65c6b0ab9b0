"""What the sample bots tell ACADEMY, and what they ask of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from academy.knowledge.advice import ENOUGH_CONTESTS
from academy.knowledge.cells import State
from academy.knowledge.cutting import cell_of_move
from academy.knowledge.position_evaluator import PositionEvaluator
from academy.knowledge.settings import Library, LibrarySettings
from academy.store.codec.games import spec_to_proto
from academy.v1 import contests_pb2, game_pb2, libraries_pb2, pattern_pb2, proposals_pb2
from clients import Academy, Connection
from clients.bots.advice import Adviser, as_experience
from clients.bots.advised_player import AdvisedPlayer
from clients.bots.alpha_beta import AlphaBetaThinker
from clients.bots.strength import Strength
from clients.bots.thinking import Advice, Candidate, Experience, Thought, no_advice
from clients.connection import AcademyRefusedError, AcademyUnavailableError
from clients.seat import Seat
from referees.api import Referee
from referees.draughts import Draughts
from referees.go import Go, GoPosition
from referees.hex import Hex
from referees.openspiel import OpenSpiel
from tests.academy.service.examples import contest
from tests.academy.service.running import Running, serving

MOVES = ("C3", "A1", "D4", "A2", "B4")
GO = Go.from_settings({"board_size": 5, "komi": 0.5})
GO_SPEC = GO.spec()
WON = (contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS)


def go_seat(contest_id: str, player: int = 1) -> Seat:
    return Seat(GO_SPEC.game_id, GO_SPEC.geometry, player, contest_id)


def seated(server: Running, played: contests_pb2.Contest, player: int = 1) -> Academy:
    """Open a contest; one of its players asks."""
    opened = server.arena().contests.OpenContest(contests_pb2.OpenContestRequest(contest=played))
    return Academy(Connection(str(server.address), opened.tickets[player - 1]))


@dataclass
class Scripted:
    """Thinks of one move at a time: what it expects before and after it."""

    script: Iterator[tuple[str, float, float]]

    def think(self, referee: Go, position: GoPosition, advice: Advice[int] = no_advice) -> Thought[int]:
        move, before, after = next(self.script)
        point = referee.read_move(position, position.mover, move)
        return Thought(before, (Candidate(point, after),))


def test_an_advised_players_tesuji_are_measured_by_its_last_reported_value(tmp_path: Path) -> None:
    opened = contest("scholar/1", GO_SPEC.game_id)
    # It thinks worse of every position than it reported after its move before; by that all would be tesuji.
    script = {"C3": (0.1, 0.5), "D4": (0.3, 0.6), "B4": (0.5, 0.85)}
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        # What is cut out of so small a board says little.
        game = spec_to_proto(GO_SPEC, LibrarySettings(least_information=0))
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
        ticket = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=opened)).tickets[0]
        report = contests_pb2.ReportContestRequest(contest=opened, results=WON, termination="score")
        with Academy(Connection(str(server.address), ticket)) as academy:
            thinker = Scripted((move, *values) for move, values in script.items())
            scholar = AdvisedPlayer(thinker, GO, academy, go_seat("scholar/1"))
            position = GO.start(0)
            for number, move in enumerate(MOVES):
                ply = report.plies.add(player=1 + number % 2, move=move)
                if ply.player == 1:
                    chosen = scholar.choose(position, MOVES[:number], number // 2)
                    assert GO.move_text(chosen.move) == move
                    ply.values.add(player=1, value=chosen.value)
                point = GO.read_move(position, position.mover, move)
                position = GO.play(position, {position.mover: point})
                ply.board = GO.board(position, 1).letters
            scholar.finish(len(MOVES))
        arena.contests.ReportContest(report)
        own = server.client(ticket).proposals.ListProposals(proposals_pb2.ListProposalsRequest()).proposals
    # Only the third move gained enough; the endgame of five plies is its last one.
    assert {proposal.content.ply for proposal in own} == {5}
    assert {
        proposal.content.value_before for proposal in own if proposal.content.HasField("value_before")
    } == {0.6}
    assert [proposal.reason for proposal in own if proposal.verdict == proposals_pb2.VERDICT_DROPPED] == []


def test_a_value_before_a_move_that_was_high_already_makes_no_tesuji() -> None:
    # Before its second move it thinks better of the position than after its first.
    script = [("C3", 0.4, 0.3), ("D4", 0.55, 0.6), ("B4", 0.5, 0.85)]
    seat = go_seat("scholar/2")
    scholar = AdvisedPlayer(Scripted(iter(script)), GO, cast(Academy, Unheard()), seat)
    position = GO.start(0)
    for number, move in enumerate(MOVES):
        if number % 2 == 0:
            scholar.choose(position, MOVES[:number], number // 2)
        point = GO.read_move(position, position.mover, move)
        position = GO.play(position, {position.mover: point})
    scholar.finish(len(MOVES))
    request = seat.build_proposals(len(MOVES), 5.0)
    assert request is not None
    tesuji = {
        proposal.ply for proposal in request.proposals if proposal.library == pattern_pb2.LIBRARY_MIDDLE_GAME
    }
    assert tesuji == {5}


class Unheard:
    """An ACADEMY that does not answer."""

    def __getattr__(self, name: str) -> Any:
        raise AcademyUnavailableError("away")


@dataclass
class Listening:
    """Stands as badly as its value says, asks for advice, and plays the first legal move."""

    value: float
    heard: list[Mapping[Any, Experience]] = field(default_factory=list)

    def think(
        self, referee: Referee[Any, Any], position: Any, advice: Advice[Any] = no_advice
    ) -> Thought[Any]:
        moves = referee.legal_moves(position, referee.to_move(position)[0])
        assert moves
        self.heard.append(advice(self.value, moves))
        return Thought(self.value, (Candidate(moves[0], self.value),))


def test_an_advised_player_plays_the_book_by_the_rules_and_asks_for_patterns_where_it_stands_badly(
    tmp_path: Path,
) -> None:
    with serving(tmp_path / "data") as server:
        arena, admin = server.arena(), server.admin()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=spec_to_proto(GO_SPEC)))
        plies = [contests_pb2.Ply(player=1, move="C3"), contests_pb2.Ply(player=2, move="A5")]
        for number in range(4):
            learnt = contest(f"learnt/{number}", GO_SPEC.game_id)
            arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=learnt))
            arena.contests.ReportContest(
                contests_pb2.ReportContestRequest(
                    contest=learnt,
                    plies=plies,
                    results=WON,
                    termination="score",
                )
            )
        # A stone in a corner is a pattern; all four corners are its images.
        stone = pattern_pb2.PatternRecord(
            library=pattern_pb2.LIBRARY_ENDGAME,
            cells="+ +\n+ x",
            player=1,
            votes=[pattern_pb2.Vote(player="cy", elo_hundredths=150_000, value_millionths=900_000, event=1)],
        )
        header = libraries_pb2.ImportHeader(game_id=GO_SPEC.game_id)
        admin.libraries.ImportLibrary(
            iter(
                [
                    libraries_pb2.ImportLibraryRequest(header=header),
                    libraries_pb2.ImportLibraryRequest(pattern=stone),
                ]
            )
        )
        opened = contest("asked/1", GO_SPEC.game_id)
        with seated(server, opened) as academy:
            position = GO.start(0)
            listening = Listening(0.5)
            scholar = AdvisedPlayer(listening, GO, academy, go_seat("asked/1"))
            chosen = scholar.choose(position, [], 0)
            assert (GO.move_text(chosen.move), scholar.value_before) == ("C3", chosen.value)
            # The one consultation due for four moves is used up; and 0.5 is not a bad position.
            scholar.choose(position, ["E5", "B2"], 1)
            listening.value = 0.3
            scholar.choose(position, ["E5", "B2"], 1)
    # The move of the book was played without thinking.
    nothing, patterns = listening.heard
    assert nothing == {}
    # All points are compared, and the pass is not among them.
    corners = {"A1", "A5", "E1", "E5"}
    assert len(patterns) == 25
    assert {
        GO.move_text(move) for move, experience in patterns.items() if experience.value > 0.301
    } == corners


def test_an_advised_player_stops_asking_for_openings_once_the_book_has_ended(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=spec_to_proto(GO_SPEC)))
        for number in range(4):
            learnt = contests_pb2.ReportContestRequest(
                contest=contest(f"learnt/{number}", GO_SPEC.game_id),
                plies=[contests_pb2.Ply(player=1, move="C3")],
                results=WON,
                termination="score",
            )
            arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=learnt.contest))
            arena.contests.ReportContest(learnt)
        played = contests_pb2.ReportContestRequest(
            contest=contest("played/1", GO_SPEC.game_id), results=learnt.results, termination="score"
        )
        with seated(server, played.contest) as academy:
            seat = go_seat("played/1")
            player = AdvisedPlayer(Listening(0.5), GO, academy, seat)
            line: list[str] = []
            position = GO.start(0)
            for own_move in range(9):
                chosen = player.choose(position, line, own_move)
                reply = GO.legal_moves(GO.play(position, {1: chosen.move}), 2)[-2]
                for mover, move in ((1, chosen.move), (2, reply)):
                    line.append(GO.move_text(move))
                    played.plies.add(player=mover, move=line[-1])
                    position = GO.play(position, {mover: move})
        arena.contests.ReportContest(played)
        consultations = arena.contests.GetConsultations(
            contests_pb2.GetConsultationsRequest(contest_id="played/1")
        )
    # The second question, before the fifth own move, has found that the book ends.
    assert list(consultations.seats[0].opening_plies) == [0, 8]


@pytest.mark.parametrize(("losses", "searches"), [(4, False), (40, True)])
def test_an_advised_player_searches_where_the_books_only_move_has_always_lost_and_asks_again(
    losses: int, searches: bool, tmp_path: Path
) -> None:
    # The tree keeps two plies of games as long as this; a single one that loses is pruned.
    line = [*MOVES, "C4", "D3", "B3"]
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=spec_to_proto(GO_SPEC)))
        contests = [
            contests_pb2.ReportContestRequest(
                contest=contest(contest_id, GO_SPEC.game_id),
                plies=[contests_pb2.Ply(player=1 + ply % 2, move=move) for ply, move in enumerate(line)],
                results=WON[::-1],
                termination="score",
            )
            for contest_id in (*(f"lost/{number}" for number in range(losses)), "played/1")
        ]
        for lost in contests[:-1]:
            arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=lost.contest))
            arena.contests.ReportContest(lost)
        with seated(server, contests[-1].contest) as academy:
            seat = go_seat("played/1")
            thinker = Listening(0.5)
            player = AdvisedPlayer(thinker, GO, academy, seat)
            chosen = GO.move_text(player.choose(GO.start(0), [], 0).move)
            assert (bool(thinker.heard), chosen != "C3") == (searches, searches)
            # Other lines may be known better: it asks as often as the rules allow.
            position = GO.start(0)
            for ply, move in enumerate(line):
                mover = 1 + ply % 2
                position = GO.play(position, {mover: GO.read_move(position, mover, move)})
            player.choose(position, line, 4)
        arena.contests.ReportContest(contests[-1])
        consultations = arena.contests.GetConsultations(
            contests_pb2.GetConsultationsRequest(contest_id="played/1")
        )
    assert consultations.seats[0].opening_questions == 2


def test_an_advised_player_keeps_to_the_rules_that_an_admin_has_set(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        game = spec_to_proto(
            GO_SPEC, LibrarySettings(opening_moves_per_consultation=8, pattern_value_limit=0.2)
        )
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
        played = contest("strict/1", GO_SPEC.game_id)
        with seated(server, played) as academy:
            position, listening = GO.start(0), Listening(0.3)
            player = AdvisedPlayer(listening, GO, academy, go_seat("strict/1"))
            # LUDAE's rules allow both questions before the fifth own move; these rules would refuse them.
            player.choose(position, [], 0)
            player.choose(position, ["E5", "B2"] * 4, 4)
            assert player.academy is academy
            assert not player.seat.allows_opening(4)
            assert player.seat.allows_opening(8)


@dataclass
class Asking:
    """Asks with what it expects half-way, and then thinks otherwise."""

    script: Iterator[tuple[str, float, float]]

    def think(self, referee: Go, position: GoPosition, advice: Advice[int] = no_advice) -> Thought[int]:
        move, half_way, after = next(self.script)
        point = referee.read_move(position, position.mover, move)
        advice(half_way, [point])
        return Thought((half_way + after) / 2, (Candidate(point, after),))


def test_a_bot_asks_academy_with_the_value_that_it_reports_to_the_arena(tmp_path: Path) -> None:
    opened = contest("scholar/2", GO_SPEC.game_id)
    script = {"C3": (0.3, 0.33), "D4": (0.27, 0.35), "B4": (0.9, 0.85)}
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=spec_to_proto(GO_SPEC)))
        report = contests_pb2.ReportContestRequest(contest=opened, results=WON, termination="score")
        with seated(server, opened) as academy:
            thinker = Asking((move, *values) for move, values in script.items())
            seat = go_seat("scholar/2")
            scholar = AdvisedPlayer(thinker, GO, academy, seat, [Library.ENDGAME])
            position = GO.start(0)
            for number, move in enumerate(MOVES):
                ply = report.plies.add(player=1 + number % 2, move=move)
                if ply.player == 1:
                    chosen = scholar.choose(position, MOVES[:number], number // 2)
                    ply.values.add(player=1, value=chosen.value, before=scholar.value_before)
                point = GO.read_move(position, position.mover, move)
                position = GO.play(position, {position.mover: point})
                ply.board = GO.board(position, 1).letters
            scholar.finish(len(MOVES))
        ended = arena.contests.ReportContest(report)
        request = libraries_pb2.ListPlayerStatisticsRequest(game_id=GO_SPEC.game_id, player="ann")
        (known,) = server.admin().libraries.ListPlayerStatistics(request).players
    assert (known.claims, known.false_claims) == (2, 0)
    assert ended.accepted


def test_where_a_game_has_tesujis_it_heeds_advice(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        game = spec_to_proto(GO_SPEC, LibrarySettings(tesuji_capacity=100))
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
        # A stone in the middle is always met beside it.
        for number, reply in enumerate(["B3", "C2", "C4", "D3"] * 5):
            learnt = contests_pb2.ReportContestRequest(
                contest=contest(f"learnt/{number}", GO_SPEC.game_id),
                results=WON,
                termination="score",
            )
            position = GO.start(0)
            for player, move in enumerate(("C3", reply), 1):
                position = GO.play(position, {player: GO.read_move(position, player, move)})
                learnt.plies.add(player=player, move=move, board=GO.board(position, 1).letters)
            arena.contests.ReportContest(learnt)
        played = contest("asked/3", GO_SPEC.game_id)
        with seated(server, played, 2) as academy:
            listening = Listening(0.3)
            scholar = AdvisedPlayer(
                listening,
                GO,
                academy,
                go_seat("asked/3", 2),
                [Library.MIDDLE_GAME],
            )
            position = GO.start(0)
            position = GO.play(position, {1: GO.read_move(position, 1, "C3")})
            scholar.choose(position, ["C3"], 0)
            listening.value = 0.4
            scholar.choose(position, ["C3"], 0)
            # Another one did not hear it.
            seat = go_seat("asked/3", 2)
            AdvisedPlayer(listening, GO, academy, seat, [Library.MIDDLE_GAME]).choose(position, ["C3"], 0)
            # A bot without a memory remembers nothing.
            scholar.memory = None
            scholar.choose(position, ["C3"], 0)
    (advice, remembered, *nothing) = listening.heard
    assert nothing == [{}, {}] and scholar.value_before == 0.4 and scholar.may_ask
    # Where it may not ask it goes by what it has heard.
    assert {move: known.value > 0.4 for move, known in remembered.items()} == {
        move: known.value > 0.3 for move, known in advice.items()
    }
    # All points that are free are compared, and the pass is not among them.
    named = {GO.move_text(move): experience.value for move, experience in advice.items()}
    assert len(named) == 24
    assert {move for move, value in named.items() if value > 0.33} == {"B3", "C2", "C4", "D3"}


@pytest.mark.parametrize("at_home", [False, True], ids=["from memory", "by weights at home"])
@pytest.mark.parametrize(
    ("openspiel", "first", "reply"),
    [("othello", "d3", "c5"), ("connect_four", "x3", "o3"), ("tic_tac_toe", "x(1,1)", "o(0,0)")],
)
def test_a_bot_that_may_not_ask_compares_moves_in_openspiel_games(
    tmp_path: Path, openspiel: str, first: str, reply: str, at_home: bool
) -> None:
    referee = OpenSpiel.from_settings({"game": openspiel})
    spec = referee.spec()
    start = referee.start(0)
    after = referee.play(start, {1: referee.read_move(start, 1, first)})
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        game = spec_to_proto(spec, LibrarySettings(tesuji_capacity=100, local_weights=at_home))
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
        for number in range(ENOUGH_CONTESTS):
            learnt = contests_pb2.ReportContestRequest(
                contest=contest(f"learnt/{number}", spec.game_id),
                results=WON,
                termination="score",
                start_board=referee.board(start, 1).letters,
            )
            replied = referee.play(after, {2: referee.read_move(after, 2, reply)})
            for player, move, position in ((1, first, after), (2, reply, replied)):
                learnt.plies.add(player=player, move=move, board=referee.board(position, 1).letters)
            arena.contests.ReportContest(learnt)
        played = contest("asked/6", spec.game_id)
        with seated(server, played, 2) as academy:
            seat = Seat(spec.game_id, spec.geometry, 2, "asked/6")
            listening = Listening(0.3)
            bot = AdvisedPlayer(listening, referee, academy, seat, [Library.MIDDLE_GAME])
            if not at_home:
                bot.choose(after, [first], 0)
            listening.value = 0.6
            bot.choose(after, [first], 0)
    known = {referee.move_text(move): experience.value for move, experience in listening.heard[-1].items()}
    assert len(known) == len(referee.legal_moves(after, 2) or ())
    # Corners of tic-tac-toe are images of each other.
    better = {move for move, value in known.items() if value > 0.6}
    corners = {f"o({row},{column})" for row in (0, 2) for column in (0, 2)}
    assert better == (corners if reply in corners else {reply})


def test_a_draughts_player_goes_by_weights_that_contests_taught_or_its_own(
    tmp_path: Path,
) -> None:
    referee = Draughts.from_settings({"variant": "english"})
    spec = referee.spec()
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        settings = LibrarySettings(evaluation=True, local_weights=True)
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=spec_to_proto(spec, settings)))
        random = Random(1)
        thinker = Strength("alpha-beta", depth=1).thinker(referee, Random(1))
        assert isinstance(thinker, AlphaBetaThinker)
        before = thinker.evaluation
        for number in range(ENOUGH_CONTESTS):
            arena.contests.ReportContest(played_at_random(referee, f"learnt/{number}", random))
            if number == ENOUGH_CONTESTS - 2:
                # These are too few to go by.
                with seated(server, contest("asked/3", spec.game_id)) as academy:
                    early = AdvisedPlayer(
                        thinker, referee, academy, Seat(spec.game_id, spec.geometry, 1, "asked/3")
                    )
                    early.choose(referee.start(0), [], 0)
                    assert early.weights is not None and early.thinker is thinker
        with seated(server, contest("asked/4", spec.game_id)) as academy:
            seat = Seat(spec.game_id, spec.geometry, 1, "asked/4")
            player = AdvisedPlayer(thinker, referee, academy, seat)
            player.choose(referee.start(0), [], 0)
            assert player.weights is not None
            # The book is of players who searched with other weights.
            assert seat.allows_opening(0)
            own = Strength("alpha-beta", depth=1, weights=(0.0, 0.0, 0.1, 0.5, 1.5)).thinker(
                referee, Random(1)
            )
            stubborn = AdvisedPlayer(own, referee, academy, seat, [Library.MIDDLE_GAME])
            stubborn.choose(referee.start(0), [], 0)
        known = server.store.follow().refresh(spec.game_id).evaluation
    assert isinstance(player.thinker, AlphaBetaThinker)
    features = PositionEvaluator(spec, known.codes, known.weight_millionths / 1e6).features
    assert player.thinker.evaluation.weights == player.weights.features == features and all(features)
    # The next contest may be one without ACADEMY.
    assert thinker.evaluation == before != player.thinker.evaluation
    # Weights that the user gives are the user's.
    assert isinstance(stubborn.thinker, AlphaBetaThinker) and stubborn.weights is not None
    assert stubborn.thinker.evaluation.weights == (0.0, 0.0, 0.1, 0.5, 1.5)


def played_at_random(referee: Draughts, contest_id: str, random: Random) -> contests_pb2.ReportContestRequest:
    position = referee.start(0)
    report = contests_pb2.ReportContestRequest(
        contest=contest(contest_id, referee.spec().game_id), termination="score"
    )
    for _ in range(60):
        if not (to_move := referee.to_move(position)):
            break
        moves = referee.legal_moves(position, to_move[0])
        move = random.choice(moves)
        position = referee.play(position, {to_move[0]: move})
        report.plies.add(
            player=to_move[0],
            move=referee.move_text(move),
            board=referee.board(position, 1).letters,
            legal_moves=len(moves),
        )
    ahead = report.plies[-1].board.count("x") + 2 * report.plies[-1].board.count("b")
    behind = report.plies[-1].board.count("o") + 2 * report.plies[-1].board.count("w")
    report.results.extend(WON if ahead > behind else WON[::-1])
    return report


def test_weights_at_hand_compare_moves_at_any_expectation(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        settings = LibrarySettings(evaluation=True, evaluation_patterns=1_000, local_weights=True)
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=spec_to_proto(GO_SPEC, settings)))
        # The player who begins in the middle wins, the one who begins in a corner loses.
        for number in range(ENOUGH_CONTESTS):
            first, won = ("C3", True) if number % 2 else ("A1", False)
            learnt = contests_pb2.ReportContestRequest(
                contest=contest(f"learnt/{number}", GO_SPEC.game_id),
                results=WON[:: 1 if won else -1],
                termination="score",
            )
            position = GO.start(0)
            for ply, move in enumerate((first, "E3", "pass")):
                mover = ply % 2 + 1
                position = GO.play(position, {mover: GO.read_move(position, mover, move)})
                learnt.plies.add(player=mover, move=move, board=GO.board(position, 1).letters)
            arena.contests.ReportContest(learnt)
        played = contest("asked/5", GO_SPEC.game_id)
        with seated(server, played) as academy:
            listening = Listening(0.8)
            seat = go_seat("asked/5")
            player = AdvisedPlayer(listening, GO, academy, seat, [Library.MIDDLE_GAME])
            player.choose(GO.start(0), [], 0)
    (advice,) = listening.heard
    named = {GO.move_text(move): experience.value for move, experience in advice.items()}
    assert named["C3"] > 0.8 > named["A1"] and player.value_before == 0.8


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        (OpenSpiel, {"game": "connect_four"}),
        (OpenSpiel, {"game": "mnk"}),
        (OpenSpiel, {"game": "othello"}),
        (OpenSpiel, {"game": "go(board_size=5)"}),
        # A move turns a quarter of the board, so that it may lead to another cell in the next position.
        (OpenSpiel, {"game": "pentago"}),
        (Go, {"board_size": 9, "komi": 7.5}),
        (Hex, {"board_size": 7}),
    ],
)
def test_an_advised_player_knows_where_moves_go_in_every_game_with_tesujis(
    game: type[Referee[Any, Any]], settings: Mapping[str, object]
) -> None:
    referee, chance = game.from_settings(settings), Random(1)
    spec = referee.spec()
    position = referee.start(1)
    bots = {
        player: Adviser(referee, None, Seat(spec.game_id, spec.geometry, player, "")) for player in (1, 2)
    }
    for _ in range(9):
        (mover,) = referee.to_move(position)
        before, moves = referee.board(position, mover), referee.legal_moves(position, mover)
        assert moves
        after = {move: referee.board(referee.play(position, {mover: move}), mover) for move in moves}
        goes_to = {move: cell_of_move(before, board, mover) for move, board in after.items()}
        placed = {
            move: cell
            for move, cell in goes_to.items()
            if cell is not None and before.states[cell] == State.EMPTY
        }
        assert placed and bots[mover].cells_of(position, before, moves) == placed
        position = referee.play(position, {mover: chance.choice(list(placed))})


class Busy:
    """Refuses the first question about the book, and then answers that it has none."""

    def __init__(self) -> None:
        self.questions = 0

    def game(self, game_id: str) -> game_pb2.Game:
        return game_pb2.Game(game_id=game_id)

    def book_move(self, seat: Seat, moves: Sequence[str], own_moves: int) -> None:
        self.questions += 1
        if self.questions == 1:
            raise AcademyRefusedError("RESOURCE_EXHAUSTED", "too many questions", "RATE_EXCEEDED")


def test_a_refusal_for_load_does_not_end_questions_about_the_book(capsys: pytest.CaptureFixture[str]) -> None:
    busy = Busy()
    bot = Adviser(GO, cast(Academy, busy), go_seat(""))
    for _ in range(3):
        assert bot.book_move(GO.start(0), [], 0) is None
    assert busy.questions == 2
    assert "too many questions" in capsys.readouterr().err


@pytest.mark.parametrize("added", [-1e9, -800.0, 0.0, 800.0, 1e9])
def test_no_advice_is_too_much_for_it(added: float) -> None:
    known = as_experience(0.5, {"move": added}, 20.0)["move"].value
    assert 0.0 <= known <= 1.0 and (known > 0.5) == (added > 0.0)
