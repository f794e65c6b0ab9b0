"""Contests, their reports and proposals, from protobuf messages and back, with every rule checked."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from academy.knowledge.boards import Board, InvalidBoard, states_of
from academy.knowledge.contests import (
    Contestant,
    ContestReport,
    FalseClaim,
    FalseConsultation,
    Judgement,
    Ply,
    Proposal,
    Result,
    Use,
    Verdict,
)
from academy.knowledge.fair_use import Expectation
from academy.knowledge.patterns import InvalidPattern, Pattern
from academy.knowledge.settings import Library
from academy.knowledge.signatures import MAX_ELO
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells
from academy.store import keys
from academy.store.errors import InvalidRecord
from academy.store.game_records import library_to_proto, pattern_library_from_proto
from academy.v1 import contests_pb2, events_pb2, proposals_pb2

MAX_PLIES: Final = 100_000
MAX_MOVE_LENGTH: Final = 1_024
MAX_LINE_LENGTH: Final = 262_144
MAX_TERMINATION_LENGTH: Final = 256

_TO_RESULT: Final = {
    contests_pb2.RESULT_WIN: Result.WIN,
    contests_pb2.RESULT_DRAW: Result.DRAW,
    contests_pb2.RESULT_LOSS: Result.LOSS,
}
_RESULTS_OF_TWO: Final = (
    sorted((contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS)),
    sorted((contests_pb2.RESULT_DRAW, contests_pb2.RESULT_DRAW)),
)
_FROM_VERDICT: Final = {
    Verdict.HELD: proposals_pb2.VERDICT_HELD,
    Verdict.MATCHED: proposals_pb2.VERDICT_MATCHED,
    Verdict.SPECIALISED: proposals_pb2.VERDICT_SPECIALISED,
    Verdict.GENERALISED: proposals_pb2.VERDICT_GENERALISED,
    Verdict.INSERTED: proposals_pb2.VERDICT_INSERTED,
    Verdict.EVICTED: proposals_pb2.VERDICT_EVICTED,
    Verdict.DROPPED: proposals_pb2.VERDICT_DROPPED,
}


# LUDAE's random player has 0; the best programs that are rated on such a scale have less than this.
PLAUSIBLE_ELO: Final = 6_000.0


def check_elos(contest: contests_pb2.Contest) -> None:
    """Check the Elos of a new contest; the log may hold others. Raises InvalidRecord."""
    for place, player in enumerate(contest.players):
        if not abs(player.elo) <= PLAUSIBLE_ELO:
            raise InvalidRecord(
                f"players[{place}].elo",
                f"{player.elo!r} must be a number from -{PLAUSIBLE_ELO:.0f} to {PLAUSIBLE_ELO:.0f}",
            )


def check_contest(contest: contests_pb2.Contest, spec: GameSpec) -> None:
    """Check a contest as it is kept: id, number of players, identities and Elos. Raises InvalidRecord."""
    keys.contest(contest.contest_id)
    if len(contest.players) != spec.players:
        raise InvalidRecord("players", f"{len(contest.players)} given; {spec.game_id} has {spec.players}")
    for place, player in enumerate(contest.players):
        keys.check_identity(f"players[{place}].name", player.name)
        check_elo(f"players[{place}].elo", player.elo)


def check_elo(field: str, elo: float) -> None:
    """Raise InvalidRecord for an Elo that is no number, or out of range."""
    if not (math.isfinite(elo) and abs(elo) <= MAX_ELO):
        raise InvalidRecord(field, f"{elo!r} must be a number from -{MAX_ELO:.0f} to {MAX_ELO:.0f}")


def check_new_names(contest: contests_pb2.Contest) -> None:
    """Check the names of a contest that is not known yet; the log may hold others. Raises InvalidRecord."""
    for place, player in enumerate(contest.players):
        keys.check_new_player_name(f"players[{place}].name", player.name)


def check_report(report: contests_pb2.ReportContestRequest, spec: GameSpec) -> None:
    """Check what only new reports must keep to; the log may hold others. Raises InvalidRecord."""
    known = [result for result in report.results if result in _TO_RESULT]
    if spec.players == len(known) == 2 and sorted(known) not in _RESULTS_OF_TWO:
        told = " and ".join(_TO_RESULT[result].value for result in known)
        raise InvalidRecord(
            "results",
            f"{told} given; of two players one wins and the other loses, or both draw "
            "(a contest without result is reported void)",
        )
    check_printable("termination", report.termination)
    if not "".join(ply.move for ply in report.plies).isprintable():
        for place, ply in enumerate(report.plies):
            check_printable(f"plies[{place}].move", ply.move)
    for place, ply in enumerate(report.plies):
        if not spec.is_written_as_move(ply.move):
            forms = ", ".join(map(repr, spec.move_forms))
            raise InvalidRecord(
                f"plies[{place}].move",
                f"{ply.move[:80]!r} is no move of {spec.game_id}: its moves are written {forms}",
            )


def check_printable(field: str, text: str) -> None:
    """Raise InvalidRecord for text with control characters or others that cannot be seen."""
    if not text.isprintable():
        at = next(at for at, each in enumerate(text) if not each.isprintable())
        raise InvalidRecord(
            field, f"character {at + 1}, {text[at]!r}, cannot be seen: only printable text is allowed"
        )


def report_from_proto(reported: events_pb2.ContestReported, spec: GameSpec) -> ContestReport:
    """Read a contest's report with its proposals and uses. Raises InvalidRecord naming the ply and field."""
    report = reported.report
    check_contest(report.contest, spec)
    if len(report.plies) > MAX_PLIES:
        raise InvalidRecord("plies", f"{len(report.plies):,} given; at most {MAX_PLIES:,} are allowed")
    if len(report.results) != spec.players:
        raise InvalidRecord("results", f"{len(report.results)} given for {spec.players} players")
    if len(report.elo_after) not in (0, spec.players):
        raise InvalidRecord("elo_after", f"{len(report.elo_after)} given for {spec.players} players")
    for place, elo in enumerate(report.elo_after):
        check_elo(f"elo_after[{place}]", elo)
    if len(report.termination) > MAX_TERMINATION_LENGTH:
        raise InvalidRecord("termination", f"longer than {MAX_TERMINATION_LENGTH} characters")
    results = []
    for place, result in enumerate(report.results):
        if result not in _TO_RESULT:
            raise InvalidRecord(f"results[{place}]", f"{result} is neither a win, a draw nor a loss")
        results.append(_TO_RESULT[result])
    return ContestReport(
        contest_id=report.contest.contest_id,
        contestants=tuple(Contestant(player.name, player.elo) for player in report.contest.players),
        plies=tuple(_plies(report.plies, spec)),
        results=tuple(results),
        proposals=tuple(proposal_from_proto(proposal, spec) for proposal in reported.proposals),
        uses=tuple(
            Use(use.player, pattern_library_from_proto(use.library), tuple(use.pattern_ids))
            for use in reported.uses
        ),
        start_states=_states(report.start_board, "start_board", spec),
        false_consultations=tuple(
            FalseConsultation(each.player, each.number, each.claimed, each.played)
            for each in reported.false_consultations
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
    """What a player told with its next own move after each number of plies, but all. Raises InvalidRecord."""
    found: list[Expectation | None] = []
    unanswered, earlier = 0, None
    for place, ply in enumerate(report.plies):
        unanswered += 1
        if ply.player not in (0, seat):
            continue
        told = next((each for each in ply.values if each.player == seat), None)
        expected = None
        if told is not None:
            after = check_value(f"plies[{place}].values", told.value)
            before = check_value(f"plies[{place}].values", told.before if told.HasField("before") else after)
            expected = Expectation(before, after, earlier)
            earlier = after
        found += [expected] * unanswered
        unanswered = 0
    return found + [None] * unanswered


def _plies(plies: Sequence[contests_pb2.Ply], spec: GameSpec) -> Iterator[Ply]:
    # The boards in one go where all are told, and told well.
    boards = states_of(spec.geometry, [ply.board for ply in plies])
    for place, ply in enumerate(plies):
        yield _ply(ply, place, spec, None if boards is None else boards[place])


def _ply(ply: contests_pb2.Ply, place: int, spec: GameSpec, states: bytes | None) -> Ply:
    field = f"plies[{place}]"
    # In a game of simultaneous moves a ply may be everybody's: player 0.
    if not (1 <= ply.player <= spec.players or (spec.simultaneous and ply.player == 0)):
        raise InvalidRecord(f"{field}.player", f"{ply.player} must be from 1 to {spec.players}")
    if not 1 <= len(ply.move) <= MAX_MOVE_LENGTH:
        raise InvalidRecord(f"{field}.move", f"must have 1 to {MAX_MOVE_LENGTH:,} characters")
    values = {}
    for told in ply.values:
        if not 1 <= told.player <= spec.players or told.player in values:
            raise InvalidRecord(f"{field}.values", f"player {told.player} is no player or told twice")
        values[told.player] = check_value(f"{field}.values", told.value)
        if told.HasField("before"):
            check_value(f"{field}.values", told.before)
    if states is None:
        states = _states(ply.board, f"{field}.board", spec)
    return Ply(ply.player, ply.move, states, ply.legal_moves, ply.interaction, values)


def _states(letters: str, field: str, spec: GameSpec) -> bytes:
    if not letters:
        return b""
    try:
        return Board.from_letters(spec.geometry, letters).states
    except InvalidBoard as fault:
        raise InvalidRecord(field, str(fault)) from fault


def check_value(field: str, value: float) -> float:
    """Return an expected value. Raises InvalidRecord outside [0, 1] and for not-a-number."""
    if not 0.0 <= value <= 1.0:
        raise InvalidRecord(field, f"{value!r} must be a number from 0 to 1")
    return value


def proposal_from_proto(proposal: proposals_pb2.Proposal, spec: GameSpec, field: str = "content") -> Proposal:
    """Read a proposal as the judges see it. Raises InvalidRecord naming the field."""
    content = proposal.content
    if content.ply < 1:
        raise InvalidRecord(f"{field}.ply", "must be at least 1, the ply after which the pattern stood")
    before = None
    if content.HasField("value_before"):
        before = check_value(f"{field}.value_before", content.value_before)
    library = pattern_library_from_proto(content.library, f"{field}.library")
    if library is Library.MIDDLE_GAME and before is None:
        raise InvalidRecord(f"{field}.value_before", "must be stated for a middle-game proposal")
    return Proposal(
        seat=proposal.seat,
        library=library,
        pattern=pattern_from_cells(content.cells, spec, f"{field}.cells"),
        ply=content.ply,
        value=check_value(f"{field}.value", content.value),
        value_before=before,
    )


def pattern_from_cells(cells: str, spec: GameSpec, field: str) -> Pattern:
    """Read a pattern's cells. Raises InvalidRecord where they are no pattern of this game."""
    try:
        return spec.check_pattern(read_cells(cells, spec.geometry))
    except InvalidPattern as fault:
        raise InvalidRecord(field, str(fault)) from fault


def set_judgement(proposal: proposals_pb2.Proposal, judgement: Judgement) -> None:
    """Write a verdict into a proposal."""
    proposal.verdict = _FROM_VERDICT[judgement.verdict]
    proposal.reason = judgement.reason
    proposal.pattern_id = judgement.pattern_id


def uses_to_proto(uses: list[tuple[int, Library, int]]) -> list[events_pb2.PatternUse]:
    """Gather (seat, library, pattern) into one message a seat and library."""
    gathered: dict[tuple[int, Library], list[int]] = {}
    for seat, library, pattern_id in uses:
        gathered.setdefault((seat, library), []).append(pattern_id)
    return [
        events_pb2.PatternUse(player=seat, library=library_to_proto(library), pattern_ids=ids)
        for (seat, library), ids in gathered.items()
    ]
