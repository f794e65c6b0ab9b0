"""Contests played in this process, with or without ACADEMY: a real one, asked over its socket.

`CONDITIONS` say which libraries a player has, and which rules of fair use are lifted for it. ACADEMY's rules
stay: before every move an analyst asks for openings, and a player always claims to expect little.
"""

import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, Protocol

from academy.knowledge.boards import Board
from academy.knowledge.fair_use import SEED_RULES, acceptable
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.v1 import consultation_pb2, contests_pb2, contests_pb2_grpc, game_pb2
from academy.wire.games import game_message
from arena.academy.client import AcademyClient, contest_message, void_report
from clients.academy import Academy
from clients.analyst import Analyst, LineSearcher, SearchGuard
from clients.bots.advised_player import AdvisedPlayer, shapes
from clients.bots.strength import Strength
from clients.bots.thinking import Thinker
from clients.connection import AcademyRefusedError, Connection
from clients.responses import BookMove, OpeningMove
from clients.seat import ANY_MATCHES, MatchOptions, Seat
from referees.api import Outcome, Referee


class Rule(Enum):
    """A rule of fair use."""

    OPENINGS = "openings are asked before no more than one move in four"
    PATTERNS = "patterns are asked where 0.33 or less is expected"


class UnlimitedPatternsSeat(Seat):
    """A seat that asks for patterns at any expectation of its player."""

    def allows_patterns(self, expected_value: float | None) -> bool:
        """Always."""
        return True

    def build_pattern_request(
        self,
        boards: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        options: MatchOptions = ANY_MATCHES,
        both_players: bool = False,
    ) -> consultation_pb2.MatchPatternsRequest:
        """As `Seat.build_pattern_request`, as if little were expected."""
        return super().build_pattern_request(
            boards, SEED_RULES.pattern_value_limit, plies=plies, options=options, both_players=both_players
        )


class UnlimitedOpeningsAcademy(Academy):
    """A player's connection by which openings are asked for outside the contest: as often as he likes."""

    def __init__(self, connection: Connection, analysing: Connection, elo: float) -> None:
        """Ask by the contest's ticket, and for openings by a connection that may analyse."""
        super().__init__(connection)
        self._analysis = _OpeningAnalysis(analysing, elo)

    def close(self) -> None:
        """End both connections."""
        self._analysis.close()
        super().close()

    def opening(self, seat: Seat, moves: Sequence[str], own_moves: int) -> list[OpeningMove]:
        """As `Academy.opening`, without a contest."""
        return self._analysis.opening(Seat(seat.game_id, seat.geometry, seat.player), moves, own_moves)

    def book_move(self, seat: Seat, moves: Sequence[str], own_moves: int) -> BookMove | None:
        """As `Academy.book_move`, without a contest."""
        return self._analysis.book_move(Seat(seat.game_id, seat.geometry, seat.player), moves, own_moves)


class _OpeningAnalysis(Academy):
    """Leaves out what a player of some Elo would not get in a contest."""

    def __init__(self, connection: Connection, elo: float) -> None:
        super().__init__(connection)
        self._least_elo = SEED_RULES.least_elo(elo)

    def _ask(self, question: str, request: Any) -> Any:
        response = super()._ask(question, request)
        if question != "opening":
            return response
        # No player moved to the first position: it has no Elo.
        if request.moves and not acceptable(response.position.elo, self._least_elo):
            return consultation_pb2.LookUpOpeningResponse()
        kept = [move for move in response.moves if acceptable(move.statistics.elo, self._least_elo)]
        del response.moves[:]
        response.moves.extend(kept)
        if response.recommendation.move not in {move.move for move in kept}:
            response.ClearField("recommendation")
        return response


EVERYTHING: Final = frozenset(Library)


@dataclass(frozen=True)
class Condition:
    """The libraries that are asked, and the rules of fair use that are lifted.

    `lessons` names what ACADEMY learns under: conditions with the same lessons share their libraries. Where
    the asking player is not `rated`, ACADEMY gets an Elo of 0, and withholds nothing from him.
    """

    title: str
    lessons: str = "all"
    libraries: frozenset[Library] = EVERYTHING
    lifted: frozenset[Rule] = frozenset()
    rated: bool = True


CONDITIONS: Final = {
    "full": Condition("everything"),
    "openings": Condition("openings only", libraries=frozenset({Library.OPENING})),
    "analysed": Condition("openings only, analysed", "analysed", frozenset({Library.OPENING})),
    "one-node": Condition("openings only, one node a question", "one-node", frozenset({Library.OPENING})),
    "middle-game": Condition("middle-game only", libraries=frozenset({Library.MIDDLE_GAME})),
    "tesujis": Condition("advice by tesujis only", "tesujis", frozenset({Library.MIDDLE_GAME})),
    "features": Condition("weights of features at home", "features", frozenset({Library.MIDDLE_GAME})),
    "evaluation": Condition("weights of patterns at home", "evaluation", frozenset({Library.MIDDLE_GAME})),
    "tesujis-open": Condition(
        "advice by tesujis only, before every move", "tesujis-open", frozenset({Library.MIDDLE_GAME})
    ),
    "book-and-tesujis": Condition(
        "openings and tesujis", "tesujis", frozenset({Library.OPENING, Library.MIDDLE_GAME})
    ),
    "endgame": Condition("endgame only", libraries=frozenset({Library.ENDGAME})),
    "specific": Condition("generalisation off", lessons="specific"),
    "equal": Condition("Elo weighting off", lessons="equal"),
    "own": Condition("everything, of own contests only", lessons="own"),
    "unrated": Condition("nothing withheld", rated=False),
    "openings-always": Condition("openings always", lifted=frozenset({Rule.OPENINGS})),
    "patterns-always": Condition("patterns always", lifted=frozenset({Rule.PATTERNS})),
    "unlimited": Condition("fair use off", lifted=frozenset(Rule)),
}
LESSONS: Final = {
    "all": LibrarySettings(analysed_patterns=10, opening_plies_ahead=6),
    # An analyst has searched the opening tree: a part of what it is worth is computing, not sharing.
    "analysed": LibrarySettings(analysed_patterns=10, opening_plies_ahead=6),
    "one-node": LibrarySettings(analysed_patterns=10),
    "tesujis": LibrarySettings(analysed_patterns=10, opening_plies_ahead=6, tesuji_capacity=1_000),
    "features": LibrarySettings(evaluation=True, local_weights=True),
    "evaluation": LibrarySettings(evaluation=True, evaluation_patterns=5_000, local_weights=True),
    "tesujis-open": LibrarySettings(
        analysed_patterns=10, opening_plies_ahead=6, tesuji_capacity=1_000, pattern_value_limit=1.0
    ),
    "specific": LibrarySettings(analysed_patterns=10, opening_plies_ahead=6, max_merged_cells=0),
    # ACADEMY hears the contests of one player alone, who is as strong as the one measured.
    "own": LibrarySettings(analysed_patterns=10, opening_plies_ahead=6),
    # All players are reported with the same Elo.
    "equal": LibrarySettings(analysed_patterns=10, opening_plies_ahead=6),
}


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
    """A player of one contest; it asks ACADEMY for what is in `libraries`, for nothing where that is empty.

    It asks within fair use, but for rules that are `lifted`.
    """

    name: str
    strength: Skill
    elo: float
    libraries: Collection[Library] = ()
    lifted: Collection[Rule] = ()


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
            (UnlimitedPatternsSeat if Rule.PATTERNS in entrant.lifted else Seat)(
                spec.game_id, spec.geometry, seat, contest_id
            ),
            entrant.libraries,
        )
        for seat, entrant in enumerate(entrants, 1)
    }
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
        if scholars[seat].academy is None:
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

    def __init__(self, referee: Referee[Any, Any], connection: Connection, settings: LibrarySettings) -> None:
        """Register the game, with these settings where ACADEMY does not know it yet."""
        self._referee = referee
        self._spec = referee.spec()
        self._connection = connection = replace(connection, timeout=PATIENCE_SECONDS)
        self._link = AcademyClient(connection)
        game = game_message(self._spec)
        game.settings.CopyFrom(
            game_pb2.LibrarySettings(
                analysed_patterns=settings.analysed_patterns,
                max_merged_cells=settings.max_merged_cells,
                opening_plies_ahead=settings.opening_plies_ahead,
                tesuji_capacity=settings.tesuji_capacity,
                evaluation=settings.evaluation,
                evaluation_patterns=settings.evaluation_patterns,
                local_weights=settings.local_weights,
                pattern_value_limit=settings.pattern_value_limit,
            )
        )
        with connection.channel() as channel:
            contests_pb2_grpc.ContestServiceStub(channel).RegisterGame(
                contests_pb2.RegisterGameRequest(game=game), metadata=connection.metadata
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
        """Report a contest, and propose what its players found worth it."""
        tickets = self._link.open_contest(report.contest)
        for number, ticket in enumerate(tickets, 1):
            seat = Seat(self._spec.game_id, self._spec.geometry, number, report.contest.contest_id)
            _remember(seat, report, self._spec)
            with Academy(replace(self._connection, token=ticket)) as academy:
                academy.propose(seat, len(report.plies))
        self._link.report(report)

    def analyse(self, strength: Strength, nodes: int) -> None:
        """Search the most visited nodes of the opening tree that nobody searched yet."""
        with Academy(self._connection) as academy:
            searcher = LineSearcher(self._referee, strength)
            Analyst(academy, searcher, SearchGuard(None, None), nodes).run(once=True)

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
            seat: self._line(entrant, ticket)
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

    def _line(self, entrant: Entrant, ticket: str) -> Academy:
        connection = replace(self._connection, token=ticket)
        if Rule.OPENINGS in entrant.lifted:
            return UnlimitedOpeningsAcademy(connection, self._connection, entrant.elo)
        return Academy(connection)


def _remember(seat: Seat, report: contests_pb2.ReportContestRequest, spec: GameSpec) -> None:
    """What a player remembers of its own moves, from the report."""
    before, value_before = report.start_board, None
    for number, ply in enumerate(report.plies, 1):
        if ply.player == seat.player:
            value = ply.values[0].value
            then, now = (Board.from_letters(spec.geometry, board) for board in (before, ply.board))
            for pattern in shapes(then, now, seat.player):
                seat.record_move(pattern, number, value_before, value)
            value_before = value
        before = ply.board
