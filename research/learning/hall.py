"""An ACADEMY of a study, asked over its socket: contests are reported to it, and players consult it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Final

from academy.knowledge.tesujis.surroundings import surroundings
from academy.v1 import contests_pb2, game_pb2, libraries_pb2, libraries_pb2_grpc
from arena.academy.client import AcademyClient, contest_message, void_report
from clients.academy import Academy
from clients.analyst import Analyst, LineSearcher, SearchGuard
from clients.bots.strength import Strength
from clients.connection import AcademyRefusedError, Connection
from referees.api import Referee
from research.contests import Entrant, Played, play
from research.learning.conditions import LEARNT

# A run of hours is not to end because the machine was busy for a while.
PATIENCE_SECONDS: Final = 120.0
# Positions between two lines about how far an analyst is.
_REPORTED: Final = 100


class Hall:
    """One ACADEMY: reports contests that were played to it, and lets players meet who consult it."""

    def __init__(
        self, referee: Referee[Any, Any], connection: Connection, evaluation_patterns: int = 0
    ) -> None:
        """Register the game, which learns what is in `LEARNT`, and that many of the evaluation's patterns."""
        self._referee = referee
        self._spec = referee.spec()
        self._connection = connection = replace(connection, timeout=PATIENCE_SECONDS)
        self._link = AcademyClient(connection)
        self._link.register_game(self._spec)
        learnt: dict[str, float] = {
            "evaluation": LEARNT.evaluation,
            "evaluation_patterns": evaluation_patterns,
        }
        if surroundings(self._spec) is not None:
            learnt["tesuji_capacity"] = LEARNT.tesuji_capacity
        # Also where the game is known: a run may have been killed before this.
        self.change_settings(learnt)

    def change_settings(self, settings: Mapping[str, float]) -> None:
        """Change settings of the game, as an admin may: the rules of contests that are opened from now on."""
        request = libraries_pb2.UpdateSettingsRequest(
            game_id=self._spec.game_id,
            settings=game_pb2.LibrarySettings(**settings),  # type: ignore[arg-type]
            fields=list(settings),
        )
        with self._connection.channel() as channel:
            libraries_pb2_grpc.LibraryServiceStub(channel).UpdateSettings(
                request, metadata=self._connection.metadata
            )

    def close(self) -> None:
        """End the connection."""
        self._link.close()

    def knows(self, contest_id: str) -> bool:
        """Whether a contest was reported."""
        with Academy(self._connection) as academy:
            try:
                return academy.contest(contest_id).state == contests_pb2.CONTEST_STATE_REPORTED
            except AcademyRefusedError as refusal:
                if refusal.code != "NOT_FOUND":
                    raise
                return False

    def teach(self, report: contests_pb2.ReportContestRequest) -> None:
        """Report a contest."""
        self._link.open_contest(report.contest)
        self._link.report(report)

    def analyse(self, strength: Strength, nodes: int, deadline: float) -> bool:
        """Search the most visited nodes of the opening tree that nobody searched yet.

        Returns whether there was time for all of them.
        """
        with Academy(self._connection) as academy:
            guard = SearchGuard(None, deadline)
            searcher = LineSearcher(self._referee, strength)
            searched = count(1)

            def say(_line: str) -> None:
                if (number := next(searched)) % _REPORTED == 0:
                    print(f"an analyst has searched {number:,} positions", flush=True)

            Analyst(academy, searcher, guard, nodes, self._spec.game_id, say).run(once=True)
            return not guard.is_over

    def meet(
        self, contest_id: str, entrants: Sequence[Entrant], seed: str, clock: Callable[[], float]
    ) -> Played:
        """Play a contest that nothing is learnt from. Raises AcademyLostError."""
        try:
            return self.play(contest_id, entrants, seed, clock)
        finally:
            self._link.report(void_report(self._contest(contest_id, entrants), "measured only"))

    def play(
        self, contest_id: str, entrants: Sequence[Entrant], seed: str, clock: Callable[[], float]
    ) -> Played:
        """Play a contest that is not reported yet. Raises AcademyLostError."""
        tickets = self._link.open_contest(self._contest(contest_id, entrants))
        lines = {
            seat: Academy(replace(self._connection, token=ticket))
            for seat, (entrant, ticket) in enumerate(zip(entrants, tickets, strict=True), 1)
            if entrant.libraries
        }
        try:
            return play(self._referee, contest_id, entrants, seed, lines, clock)
        finally:
            for line in lines.values():
                line.close()

    def _contest(self, contest_id: str, entrants: Sequence[Entrant]) -> contests_pb2.Contest:
        names, elos = ([getattr(entrant, what) for entrant in entrants] for what in ("name", "elo"))
        return contest_message(contest_id, self._spec, names, elos)
