"""What the sample bot says of its moves is what the arena was told of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from academy.store.game_records import spec_to_proto
from academy.v1 import contests_pb2, proposals_pb2
from clients.academy import Academy, Connection
from clients.bots.scholar import Scholar
from clients.bots.thinking import Candidate, Thought
from clients.seat import Seat
from referees.go import Go, GoPosition
from tests.academy.service.examples import contest
from tests.academy.service.running import serving

MOVES = ("C3", "A1", "D4", "A2", "B4")


@dataclass
class Scripted:
    """Thinks of one move at a time: what it expects before and after it."""

    script: Iterator[tuple[str, float, float]]

    def think(self, referee: Go, position: GoPosition) -> Thought:
        move, before, after = next(self.script)
        point = referee.read_move(position, position.mover, move)
        return Thought(before, (Candidate(point, after),))


def test_its_tesuji_are_measured_by_what_was_told_last(tmp_path: Path) -> None:
    referee = Go.from_settings({"board_size": 5, "komi": 0.5})
    spec = referee.spec()
    told = contest("scholar/1", spec.game_id)
    # It thinks worse of every position than it told after its move before; by that all would be tesuji.
    script = {"C3": (0.1, 0.5), "D4": (0.3, 0.6), "B4": (0.5, 0.85)}
    with serving(tmp_path / "data") as server:
        arena = server.arena()
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=spec_to_proto(spec)))
        ticket = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=told)).tickets[0]
        report = contests_pb2.ReportContestRequest(
            contest=told, results=[contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS], termination="score"
        )
        with Academy(Connection(str(server.address), ticket)) as academy:
            thinker = Scripted((move, *values) for move, values in script.items())
            scholar = Scholar(thinker, referee, academy, Seat(spec.game_id, spec.geometry, 1, "scholar/1"))
            position = referee.start(0)
            for number, move in enumerate(MOVES):
                ply = report.plies.add(player=1 + number % 2, move=move)
                if ply.player == 1:
                    chosen = scholar.choose(position, MOVES[:number])
                    assert referee.move_text(chosen.move) == move
                    ply.values.add(player=1, value=chosen.value)
                point = referee.read_move(position, position.mover, move)
                position = referee.play(position, {position.mover: point})
                ply.board = referee.board(position, 1).letters
            scholar.finish(len(MOVES))
        arena.contests.ReportContest(report)
        own = server.client(ticket).proposals.ListProposals(proposals_pb2.ListProposalsRequest()).proposals
    # Only the third move gained enough; the endgame of five plies is its last one.
    assert {each.content.ply for each in own} == {5}
    assert {each.content.value_before for each in own if each.content.HasField("value_before")} == {0.6}
    assert proposals_pb2.VERDICT_DROPPED not in {each.verdict for each in own}
