"""Contests played in this process, with or without ACADEMY: a real one, asked over its socket."""

import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from academy.knowledge.settings import Library
from academy.knowledge.tesujis.surroundings import surroundings
from academy.v1 import contests_pb2, game_pb2, libraries_pb2, libraries_pb2_grpc
from arena.academy.client import AcademyClient, contest_message, void_report
from clients.academy import Academy
from clients.analyst import Analyst, LineSearcher, SearchGuard
from clients.bots.advised_player import AdvisedPlayer
from clients.bots.strength import Strength
from clients.bots.thinking import Thinker
from clients.connection import AcademyRefusedError, Connection
from clients.seat import Seat
from referees.api import Outcome, Referee
from research.learning.conditions import LEARNT

# A game this many times as long as a usual one ends; the referee says who stands better, if anybody does.
LONGEST: Final = 4
# A run of hours is not to end because the machine was busy for a while.
PATIENCE_SECONDS: Final = 120.0


class Skill(Protocol):
    """A maker of players for contests, as `Strength` is."""

    def thinker(self, referee: Referee[Any, Any], chance: random.Random) -> Thinker[Any, Any, Any]:
        """The player of one seat."""


class AcademyLostError(RuntimeError):
    """A player that is measured with ACADEMY went on without it."""


@dataclass(frozen=True)
class Entrant:
    """A player of one contest; it asks ACADEMY for what is in `libraries`, if anything.

    One that `remembers` compares moves by earlier answers, too.
    """

    name: str
    strength: Skill
    elo: float
    libraries: Collection[Library] = ()
    remembers: bool = False


@dataclass(frozen=True)
class Played:
    """A contest that was played: its report, its winners' seats, and the seconds each seat thought."""

    report: contests_pb2.ReportContestRequest
    winners: tuple[int, ...]
    seconds: Mapping[int, float]

    def score(self, seat: int) -> float:
        """1 for a win, one half for a draw."""
        return float(seat in self.winners) / len(self.winners)


def play(
    referee: Referee[Any, Any],
    contest_id: str,
    entrants: Sequence[Entrant],
    seed: str,
    lines: Mapping[int, Academy] | None = None,
    clock: Callable[[], float] = time.process_time,
) -> Played:
    """Play a contest; the seats of `lines` consult ACADEMY by them. `clock` says how long each thought.

    Raises AcademyLostError.
    """
    spec = referee.spec()
    scholars = {
        seat: AdvisedPlayer(
            entrant.strength.thinker(referee, random.Random(f"{seed}/{seat}")),
            referee,
            lines.get(seat) if lines else None,
            Seat(spec.game_id, spec.geometry, seat, contest_id),
            entrant.libraries,
            saves_time=True,
        )
        for seat, entrant in enumerate(entrants, 1)
    }
    for seat, entrant in enumerate(entrants, 1):
        if not entrant.remembers:
            scholars[seat].memory = None
    contest = contest_message(
        contest_id, spec, [entrant.name for entrant in entrants], [entrant.elo for entrant in entrants]
    )
    position = referee.start(0)
    report = contests_pb2.ReportContestRequest(
        contest=contest, termination="score", start_board=referee.board(position, 1).letters
    )
    moves: list[str] = []
    own_moves = dict.fromkeys(scholars, 0)
    seconds = dict.fromkeys(scholars, 0.0)
    for _ in range(int(LONGEST * spec.expected_length)):
        if not (to_move := referee.to_move(position)):
            break
        seat = to_move[0]
        legal = len(referee.legal_moves(position, seat) or ())
        began = clock()
        chosen = scholars[seat].choose(position, moves, own_moves[seat])
        seconds[seat] += clock() - began
        position = referee.play(position, {seat: chosen.move})
        moves.append(referee.move_text(chosen.move))
        own_moves[seat] += 1
        ply = report.plies.add(
            player=seat, move=moves[-1], board=referee.board(position, 1).letters, legal_moves=legal
        )
        ply.values.add(player=seat, value=chosen.value, before=scholars[seat].value_before)
    for seat in lines or ():
        if not scholars[seat].may_ask:
            raise AcademyLostError(
                f"contest {contest_id}, seat {seat}: it went on without ACADEMY; not counted"
            )
    winners = _winners(referee.outcome(position) or referee.adjudicate(position))
    report.results.extend(_result(seat, winners) for seat in (1, 2))
    return Played(report, winners, seconds)


def _winners(outcome: Outcome | None) -> tuple[int, ...]:
    return outcome.winners if outcome and outcome.winners else (1, 2)


def _result(seat: int, winners: tuple[int, ...]) -> contests_pb2.Result.ValueType:
    if seat not in winners:
        return contests_pb2.RESULT_LOSS
    return contests_pb2.RESULT_WIN if len(winners) == 1 else contests_pb2.RESULT_DRAW


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
            Analyst(academy, LineSearcher(self._referee, strength), guard, nodes).run(once=True)
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
