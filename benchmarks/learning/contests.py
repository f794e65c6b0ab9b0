"""Contests played in this process, with a real ACADEMY that is asked and told over its socket."""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from academy.knowledge.settings import Library, LibrarySettings
from academy.v1 import contests_pb2, contests_pb2_grpc, game_pb2
from academy.wire.games import game_message
from arena.academy_link import AcademyLink, contest_message, void_report
from clients.academy import Academy, Connection, Seat
from clients.bots.scholar import Scholar
from clients.bots.strength import Strength
from referees.api import Outcome, Referee

# Longer games, as multiples of a usual one, are draws.
LONGEST: Final = 4
# A run of hours is not to end because the machine was busy for a while.
PATIENCE_SECONDS: Final = 120.0


@dataclass(frozen=True)
class Entrant:
    """A player of one contest; it asks ACADEMY for what is in `libraries`, for nothing where that is empty.

    `fair` is whether it asks as a player of the contest, within fair use, or as one who analyses.
    """

    name: str
    strength: Strength
    elo: float
    libraries: Collection[Library] = ()
    fair: bool = True


class Hall:
    """Plays contests of one game, one after another."""

    def __init__(self, referee: Referee[Any, Any], connection: Connection, settings: LibrarySettings) -> None:
        """Register the game, with these settings where ACADEMY does not know it yet."""
        self._referee = referee
        self._spec = referee.spec()
        self._connection = connection = replace(connection, timeout=PATIENCE_SECONDS)
        self._link = AcademyLink(connection)
        game = game_message(self._spec)
        game.settings.CopyFrom(
            game_pb2.LibrarySettings(
                analysed_patterns=settings.analysed_patterns, max_merged_cells=settings.max_merged_cells
            )
        )
        with connection.channel() as channel:
            contests_pb2_grpc.ContestServiceStub(channel).RegisterGame(
                contests_pb2.RegisterGameRequest(game=game), metadata=connection.metadata
            )

    def close(self) -> None:
        """End the connection."""
        self._link.close()

    def play(self, contest_id: str, entrants: Sequence[Entrant], seed: str, learn: bool) -> tuple[int, ...]:
        """Play a contest; return the seats that won or drew. What was played is learnt from, or forgotten."""
        contest = contest_message(
            contest_id, self._spec, [each.name for each in entrants], [each.elo for each in entrants]
        )
        tickets = self._link.open_contest(contest)
        lines = [
            Academy(replace(self._connection, token=ticket if entrant.fair else self._connection.token))
            for entrant, ticket in zip(entrants, tickets, strict=True)
        ]
        try:
            scholars = {
                seat: Scholar(
                    entrant.strength.thinker(self._referee, random.Random(f"{seed}/{seat}")),
                    self._referee,
                    academy if entrant.libraries else None,
                    Seat(self._spec.game_id, self._spec.geometry, seat, contest_id if entrant.fair else ""),
                    entrant.libraries,
                )
                for seat, (entrant, academy) in enumerate(zip(entrants, lines, strict=True), 1)
            }
            report, outcome = self._played(contest, scholars)
            winners = outcome.winners if outcome else (1, 2)
            if learn:
                for scholar in scholars.values():
                    scholar.finish(len(report.plies))
                self._link.report(report)
            else:
                self._link.report(void_report(contest, "measured only"))
            return winners
        finally:
            for line in lines:
                line.close()

    def _played(
        self, contest: contests_pb2.Contest, scholars: dict[int, Scholar[Any, Any]]
    ) -> tuple[contests_pb2.ReportContestRequest, Outcome | None]:
        referee, position = self._referee, self._referee.start(0)
        report = contests_pb2.ReportContestRequest(
            contest=contest, termination="score", start_board=referee.board(position, 1).letters
        )
        moves: list[str] = []
        own_moves = dict.fromkeys(scholars, 0)
        for _ in range(int(LONGEST * self._spec.expected_length)):
            if not (to_move := referee.to_move(position)):
                break
            seat = to_move[0]
            legal = len(referee.legal_moves(position, seat) or ())
            chosen = scholars[seat].choose(position, moves, own_moves[seat])
            position = referee.play(position, {seat: chosen.move})
            moves.append(referee.move_text(chosen.move))
            own_moves[seat] += 1
            ply = report.plies.add(
                player=seat, move=moves[-1], board=referee.board(position, 1).letters, legal_moves=legal
            )
            ply.values.add(player=seat, value=chosen.value)
        outcome = referee.outcome(position) or referee.adjudicate(position)
        winners = outcome.winners if outcome else (1, 2)
        for seat in (1, 2):
            report.results.append(
                contests_pb2.RESULT_LOSS
                if seat not in winners
                else contests_pb2.RESULT_WIN
                if len(winners) == 1
                else contests_pb2.RESULT_DRAW
            )
        return report, outcome
