"""Contests and reports as protobuf messages, and back, with every rule checked."""

from collections.abc import Iterable
from typing import Final

from academy.knowledge.boards import Board
from academy.knowledge.claims import Expectation
from academy.knowledge.contests import (
    Contestant,
    ContestReport,
    FalseClaim,
    FalseConsultation,
    Ply,
    Result,
    Use,
)
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.store import keys
from academy.store.codec.field_rules import MAX_MOVE_LENGTH, check_elo, check_printable, check_value, naming
from academy.store.codec.games import library_to_proto, pattern_library_from_proto
from academy.store.codec.proposals import proposal_from_proto
from academy.store.errors import InvalidRecordError
from academy.v1 import contests_pb2, events_pb2

MAX_PLIES: Final = 100_000
# One false number would outweigh all others in the mean width of a game.
MAX_LEGAL_MOVES: Final = 100_000
MAX_LINE_LENGTH: Final = 262_144
MAX_TERMINATION_LENGTH: Final = 256

_TO_RESULT: Final = {contests_pb2.Result.Value(f"RESULT_{result.name}"): result for result in Result}
_RESULTS_OF_TWO: Final = (
    sorted((contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS)),
    sorted((contests_pb2.RESULT_DRAW, contests_pb2.RESULT_DRAW)),
)


# LUDAE's random player has 0; the best programs that are rated on such a scale have less than this.
PLAUSIBLE_ELO: Final = 6_000.0


def check_new_contest(contest: contests_pb2.Contest, spec: GameSpec) -> None:
    """Check a new contest's players and their Elos; the log may hold others. Raises InvalidRecordError."""
    _check_number_of_players(contest, spec)
    for place, player in enumerate(contest.players):
        check_plausible_elo(f"players[{place}].elo", player.elo)


def check_plausible_elo(field: str, elo: float) -> None:
    """Raise InvalidRecordError for an Elo that no player has."""
    if not abs(elo) <= PLAUSIBLE_ELO:
        raise InvalidRecordError(
            field, f"{elo!r} must be a number from -{PLAUSIBLE_ELO:.0f} to {PLAUSIBLE_ELO:.0f}"
        )


def _check_contest(contest: contests_pb2.Contest, spec: GameSpec) -> None:
    """Check a contest as it is kept: id, number of players, identities and Elos.

    Raises InvalidRecordError.
    """
    keys.contest(contest.contest_id)
    _check_number_of_players(contest, spec)
    for place, player in enumerate(contest.players):
        keys.check_identity(f"players[{place}].name", player.name)
        check_elo(f"players[{place}].elo", player.elo)


def _check_number_of_players(contest: contests_pb2.Contest, spec: GameSpec) -> None:
    if len(contest.players) != spec.players:
        raise InvalidRecordError(
            "players", f"{len(contest.players)} given; {spec.game_id} has {spec.players}"
        )


def check_report(report: contests_pb2.ReportContestRequest, spec: GameSpec) -> None:
    """Check what only new reports must keep to; the log may hold others. Raises InvalidRecordError."""
    _check_number_of_results(report, spec)
    known = [result for result in report.results if result in _TO_RESULT]
    if spec.players == len(known) == 2 and sorted(known) not in _RESULTS_OF_TWO:
        given = " and ".join(_TO_RESULT[result].value for result in known)
        raise InvalidRecordError(
            "results",
            f"{given} given; of two players one wins and the other loses, or both draw "
            "(a contest without result is reported void)",
        )
    for place, elo in enumerate(report.elo_after):
        check_plausible_elo(f"elo_after[{place}]", elo)
    check_printable("termination", report.termination)
    if not "".join(ply.move for ply in report.plies).isprintable():
        for place, ply in enumerate(report.plies):
            check_printable(f"plies[{place}].move", ply.move)
    for place, ply in enumerate(report.plies):
        if ply.legal_moves > MAX_LEGAL_MOVES:
            raise InvalidRecordError(
                f"plies[{place}].legal_moves",
                f"{ply.legal_moves:,} given; at most {MAX_LEGAL_MOVES:,} are allowed; 0 leaves it open",
            )
        if not spec.is_written_as_move(ply.move):
            forms = ", ".join(map(repr, spec.move_forms))
            raise InvalidRecordError(
                f"plies[{place}].move",
                f"{ply.move[:80]!r} is not a move of {spec.game_id}: its moves are written {forms}",
            )


def _check_number_of_results(report: contests_pb2.ReportContestRequest, spec: GameSpec) -> None:
    if len(report.results) != spec.players:
        raise InvalidRecordError("results", f"{len(report.results)} given for {spec.players} players")


def report_from_proto(reported: events_pb2.ContestReported, spec: GameSpec) -> ContestReport:
    """Read a contest's report with its proposals and uses.

    Raises InvalidRecordError naming the ply and field.
    """
    report = reported.report
    _check_contest(report.contest, spec)
    if len(report.plies) > MAX_PLIES:
        raise InvalidRecordError("plies", f"{len(report.plies):,} given; at most {MAX_PLIES:,} are allowed")
    _check_number_of_results(report, spec)
    if len(report.elo_after) not in (0, spec.players):
        raise InvalidRecordError("elo_after", f"{len(report.elo_after)} given for {spec.players} players")
    for place, elo in enumerate(report.elo_after):
        check_elo(f"elo_after[{place}]", elo)
    if len(report.termination) > MAX_TERMINATION_LENGTH:
        raise InvalidRecordError("termination", f"longer than {MAX_TERMINATION_LENGTH} characters")
    results = []
    for place, result in enumerate(report.results):
        if result not in _TO_RESULT:
            raise InvalidRecordError(f"results[{place}]", f"{result} is neither a win, a draw nor a loss")
        results.append(_TO_RESULT[result])
    return ContestReport(
        contest_id=report.contest.contest_id,
        contestants=tuple(Contestant(player.name, player.elo) for player in report.contest.players),
        plies=tuple(_ply(ply, place, spec) for place, ply in enumerate(report.plies)),
        results=tuple(results),
        proposals=tuple(proposal_from_proto(proposal, spec) for proposal in reported.proposals),
        uses=tuple(
            Use(use.player, pattern_library_from_proto(use.library), tuple(use.pattern_ids))
            for use in reported.uses
        ),
        start_states=_states(report.start_board, "start_board", spec),
        false_consultations=tuple(
            FalseConsultation(
                consultation.player, consultation.number, consultation.claimed, consultation.played
            )
            for consultation in reported.false_consultations
        ),
        false_claims=tuple(map(_false_claim, reported.false_claims)),
        elo_after=tuple(report.elo_after),
    )


def _false_claim(message: events_pb2.FalseClaim) -> FalseClaim:
    return FalseClaim(
        seat=message.player,
        plies=message.plies if message.HasField("plies") else None,
        claimed=message.claimed,
        value=message.value if message.HasField("value") else None,
        count=message.false_claims,
        claims=message.claims,
        around=message.around if message.HasField("around") else None,
    )


def false_claim_to_proto(false: FalseClaim) -> events_pb2.FalseClaim:
    """Write a claim that does not hold."""
    return events_pb2.FalseClaim(
        player=false.seat,
        plies=false.plies,
        claimed=false.claimed,
        value=false.value,
        false_claims=false.count,
        claims=false.claims,
        around=false.around,
    )


def expectations(report: contests_pb2.ReportContestRequest, seat: int) -> list[Expectation | None]:
    """Return what a player expected at its next own move after each number of plies, except the last.

    Raises InvalidRecordError.
    """
    expectations: list[Expectation | None] = []
    unanswered, earlier = 0, None
    for place, ply in enumerate(report.plies):
        unanswered += 1
        if ply.player not in (0, seat):
            continue
        stated = next((value for value in ply.values if value.player == seat), None)
        expected = None
        if stated is not None:
            after = check_value(f"plies[{place}].values", stated.value)
            before = check_value(
                f"plies[{place}].values", stated.before if stated.HasField("before") else after
            )
            expected = Expectation(before, after, earlier)
            earlier = after
        expectations += [expected] * unanswered
        unanswered = 0
    return expectations + [None] * unanswered


def _ply(ply: contests_pb2.Ply, place: int, spec: GameSpec) -> Ply:
    field = f"plies[{place}]"
    # In a game of simultaneous moves a ply may be everybody's: player 0.
    if not (1 <= ply.player <= spec.players or (spec.simultaneous and ply.player == 0)):
        raise InvalidRecordError(f"{field}.player", f"{ply.player} must be from 1 to {spec.players}")
    if not 1 <= len(ply.move) <= MAX_MOVE_LENGTH:
        raise InvalidRecordError(f"{field}.move", f"must have 1 to {MAX_MOVE_LENGTH:,} characters")
    values, values_before = {}, {}
    for stated in ply.values:
        if not 1 <= stated.player <= spec.players or stated.player in values:
            raise InvalidRecordError(
                f"{field}.values", f"there is no player {stated.player}, or it is given twice"
            )
        values[stated.player] = check_value(f"{field}.values", stated.value)
        if stated.HasField("before"):
            values_before[stated.player] = check_value(f"{field}.values", stated.before)
    states = _states(ply.board, f"{field}.board", spec)
    return Ply(ply.player, ply.move, states, ply.legal_moves, ply.interaction, values, values_before)


def _states(letters: str, field: str, spec: GameSpec) -> bytes:
    if not letters:
        return b""
    with naming(field):
        return Board.from_letters(spec.geometry, letters).states


def uses_to_proto(uses: Iterable[tuple[int, Library, int]]) -> list[events_pb2.PatternUse]:
    """Gather (seat, library, pattern) into one message a seat and library."""
    gathered: dict[tuple[int, Library], list[int]] = {}
    for seat, library, pattern_id in uses:
        gathered.setdefault((seat, library), []).append(pattern_id)
    return [
        events_pb2.PatternUse(player=seat, library=library_to_proto(library), pattern_ids=ids)
        for (seat, library), ids in gathered.items()
    ]
