"""What the sample bots tell ACADEMY, and what they ask of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from academy.knowledge.settings import Library, LibrarySettings
from academy.store.codec import spec_to_proto
from academy.v1 import contests_pb2, libraries_pb2, pattern_pb2, proposals_pb2
from clients import Academy, Connection
from clients.bots.advised_player import AdvisedPlayer
from clients.bots.thinking import Advice, Candidate, Experience, Thought, no_advice
from clients.seat import Seat
from referees.go import Go, GoPosition
from tests.academy.service.examples import contest
from tests.academy.service.running import serving

MOVES = ("C3", "A1", "D4", "A2", "B4")


@dataclass
class Scripted:
    """Thinks of one move at a time: what it expects before and after it."""

    script: Iterator[tuple[str, float, float]]

    def think(self, referee: Go, position: GoPosition, advice: Advice[int] = no_advice) -> Thought[int]:
        move, before, after = next(self.script)
        point = referee.read_move(position, position.mover, move)
        return Thought(before, (Candidate(point, after),))


def test_its_tesuji_are_measured_by_its_last_reported_value(tmp_path: Path) -> None:
    referee = Go.from_settings({"board_size": 5, "komi": 0.5})
    spec = referee.spec()
    opened = contest("scholar/1", spec.game_id)
    # It thinks worse of every position than it reported after its move before; by that all would be tesuji.
    script = {"C3": (0.1, 0.5), "D4": (0.3, 0.6), "B4": (0.5, 0.85)}
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        # What is cut out of so small a board says little.
        game = spec_to_proto(spec, LibrarySettings(least_information=0))
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
        ticket = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=opened)).tickets[0]
        report = contests_pb2.ReportContestRequest(
            contest=opened, results=[contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS], termination="score"
        )
        with Academy(Connection(str(server.address), ticket)) as academy:
            thinker = Scripted((move, *values) for move, values in script.items())
            scholar = AdvisedPlayer(
                thinker, referee, academy, Seat(spec.game_id, spec.geometry, 1, "scholar/1")
            )
            position = referee.start(0)
            for number, move in enumerate(MOVES):
                ply = report.plies.add(player=1 + number % 2, move=move)
                if ply.player == 1:
                    chosen = scholar.choose(position, MOVES[:number], number // 2)
                    assert referee.move_text(chosen.move) == move
                    ply.values.add(player=1, value=chosen.value)
                point = referee.read_move(position, position.mover, move)
                position = referee.play(position, {position.mover: point})
                ply.board = referee.board(position, 1).letters
            scholar.finish(len(MOVES))
        arena.contests.ReportContest(report)
        own = server.client(ticket).proposals.ListProposals(proposals_pb2.ListProposalsRequest()).proposals
    # Only the third move gained enough; the endgame of five plies is its last one.
    assert {proposal.content.ply for proposal in own} == {5}
    assert {
        proposal.content.value_before for proposal in own if proposal.content.HasField("value_before")
    } == {0.6}
    assert [proposal.reason for proposal in own if proposal.verdict == proposals_pb2.VERDICT_DROPPED] == []


@dataclass
class Listening:
    """Stands as badly as its value says, asks for advice, and plays the first legal move."""

    value: float
    heard: list[Mapping[int, Experience]] = field(default_factory=list)

    def think(self, referee: Go, position: GoPosition, advice: Advice[int] = no_advice) -> Thought[int]:
        self.heard.append(advice(self.value, referee.legal_moves(position, position.mover)))
        return Thought(self.value, (Candidate(referee.legal_moves(position, position.mover)[0], self.value),))


def test_it_plays_the_book_by_the_rules_and_asks_for_patterns_where_it_stands_badly(tmp_path: Path) -> None:
    referee = Go.from_settings({"board_size": 5, "komi": 0.5})
    spec = referee.spec()
    with serving(tmp_path / "data") as server:
        arena, admin = server.arena(), server.admin()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=spec_to_proto(spec)))
        plies = [contests_pb2.Ply(player=1, move="C3"), contests_pb2.Ply(player=2, move="A5")]
        for number in range(4):
            learnt = contest(f"learnt/{number}", spec.game_id)
            arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=learnt))
            arena.contests.ReportContest(
                contests_pb2.ReportContestRequest(
                    contest=learnt,
                    plies=plies,
                    results=[contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS],
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
        header = libraries_pb2.ImportHeader(game_id=spec.game_id)
        admin.libraries.ImportLibrary(
            iter(
                [
                    libraries_pb2.ImportLibraryRequest(header=header),
                    libraries_pb2.ImportLibraryRequest(pattern=stone),
                ]
            )
        )
        opened = contest("asked/1", spec.game_id)
        ticket = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=opened)).tickets[0]
        with Academy(Connection(str(server.address), ticket)) as academy:
            position = referee.start(0)
            listening = Listening(0.5)
            scholar = AdvisedPlayer(
                listening, referee, academy, Seat(spec.game_id, spec.geometry, 1, "asked/1")
            )
            chosen = scholar.choose(position, [], 0)
            assert (referee.move_text(chosen.move), scholar.value_before) == ("C3", chosen.value)
            # The one consultation due for four moves is used up; and 0.5 is no bad position.
            scholar.choose(position, ["E5", "B2"], 1)
            listening.value = 0.3
            scholar.choose(position, ["E5", "B2"], 1)
    # The move of the book was played without thinking.
    nothing, patterns = listening.heard
    assert nothing == {}
    # It asked about the moves that look best; unknown moves count as usual.
    corners = {"A5", "E5"}
    assert len(patterns) == 26
    assert {
        referee.move_text(move) for move, experience in patterns.items() if experience.value > 0.301
    } == corners


def test_it_keeps_to_the_rules_that_an_admin_has_set(tmp_path: Path) -> None:
    referee = Go.from_settings({"board_size": 5, "komi": 0.5})
    spec = referee.spec()
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        game = spec_to_proto(spec, LibrarySettings(opening_moves_per_consultation=8, pattern_value_limit=0.2))
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
        played = contest("strict/1", spec.game_id)
        ticket = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played)).tickets[0]
        with Academy(Connection(str(server.address), ticket)) as academy:
            position, listening = referee.start(0), Listening(0.3)
            player = AdvisedPlayer(
                listening, referee, academy, Seat(spec.game_id, spec.geometry, 1, "strict/1")
            )
            # The seed's rules allow both questions before the fifth own move; these rules would refuse them.
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


def test_what_it_tells_the_arena_is_what_it_asked_with(tmp_path: Path) -> None:
    referee = Go.from_settings({"board_size": 5, "komi": 0.5})
    spec = referee.spec()
    opened = contest("scholar/2", spec.game_id)
    script = {"C3": (0.3, 0.33), "D4": (0.27, 0.35), "B4": (0.9, 0.85)}
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=spec_to_proto(spec)))
        ticket = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=opened)).tickets[0]
        report = contests_pb2.ReportContestRequest(
            contest=opened, results=[contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS], termination="score"
        )
        with Academy(Connection(str(server.address), ticket)) as academy:
            thinker = Asking((move, *values) for move, values in script.items())
            seat = Seat(spec.game_id, spec.geometry, 1, "scholar/2")
            scholar = AdvisedPlayer(thinker, referee, academy, seat, [Library.ENDGAME])
            position = referee.start(0)
            for number, move in enumerate(MOVES):
                ply = report.plies.add(player=1 + number % 2, move=move)
                if ply.player == 1:
                    chosen = scholar.choose(position, MOVES[:number], number // 2)
                    ply.values.add(player=1, value=chosen.value, before=scholar.value_before)
                point = referee.read_move(position, position.mover, move)
                position = referee.play(position, {position.mover: point})
                ply.board = referee.board(position, 1).letters
            scholar.finish(len(MOVES))
        ended = arena.contests.ReportContest(report)
        request = libraries_pb2.ListPlayerStatisticsRequest(game_id=spec.game_id, player="ann")
        (known,) = server.admin().libraries.ListPlayerStatistics(request).players
    assert (known.claims, known.false_claims) == (2, 0)
    assert ended.accepted


def test_where_a_game_has_tesujis_it_heeds_advice(tmp_path: Path) -> None:
    referee = Go.from_settings({"board_size": 5, "komi": 0.5})
    spec = referee.spec()
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        game = spec_to_proto(spec, LibrarySettings(tesuji_capacity=100))
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
        # A stone in the middle is always met beside it.
        for number, reply in enumerate(["B3", "C2", "C4", "D3"] * 5):
            learnt = contests_pb2.ReportContestRequest(
                contest=contest(f"learnt/{number}", spec.game_id),
                results=[contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS],
                termination="score",
            )
            position = referee.start(0)
            for player, move in enumerate(("C3", reply), 1):
                position = referee.play(position, {player: referee.read_move(position, player, move)})
                learnt.plies.add(player=player, move=move, board=referee.board(position, 1).letters)
            arena.contests.ReportContest(learnt)
        played = contest("asked/3", spec.game_id)
        response = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played))
        with Academy(Connection(str(server.address), response.tickets[1])) as academy:
            listening = Listening(0.3)
            scholar = AdvisedPlayer(
                listening,
                referee,
                academy,
                Seat(spec.game_id, spec.geometry, 2, "asked/3"),
                [Library.MIDDLE_GAME],
            )
            position = referee.start(0)
            position = referee.play(position, {1: referee.read_move(position, 1, "C3")})
            scholar.choose(position, ["C3"], 0)
            listening.value = 0.4
            scholar.choose(position, ["C3"], 0)
    (advice, nothing) = listening.heard
    assert nothing == {} and scholar.value_before == 0.4
    # All points that are free are compared, and the pass is not among them.
    named = {referee.move_text(move): experience.value for move, experience in advice.items()}
    assert len(named) == 24
    assert {move for move, value in named.items() if value > 0.33} == {"B3", "C2", "C4", "D3"}
