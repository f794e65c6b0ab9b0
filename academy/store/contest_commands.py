"""Commands of arenas: open and report a contest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from academy.knowledge.claims import Claim, false_claim, false_consultation
from academy.knowledge.contests import FalseClaim, Judgement
from academy.knowledge.fair_use import FairUse
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.store import arenas, contest_tables, keys, player_statistics, proposal_tables
from academy.store.codec.contests import (
    check_new_contest,
    check_report,
    expectations,
    false_claim_to_proto,
    uses_to_proto,
)
from academy.store.codec.games import fair_use_from_proto, fair_use_to_proto
from academy.store.codec.packing import unpack_message
from academy.store.consultation_notes import store_notes
from academy.store.contest_tables import QUESTIONS_KEPT, as_given, check_open, find_contest, store_contest
from academy.store.environment import TableName, Transaction
from academy.store.errors import ContestConflictError, InvalidRecordError
from academy.store.game_tables import is_rated
from academy.store.tokens import new_ticket
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import contests_pb2, events_pb2, proposals_pb2
from academy.wire.names import complaint_about

_EARLY_ENDS: Final = ("forfeit", "resignation")


@dataclass(frozen=True, slots=True)
class OpenContest:
    """Begin a contest. The result is the contest and a fresh ticket a seat; older ones end.

    It belongs to `arena`, which has ids of its own. Opening the same contest again keeps the Elos it was
    opened with, its rules of fair use, and what its players did. Raises ContestConflictError for another
    contest of this id, ContestOverError for a reported one, and LooserRuleError.
    """

    contest: contests_pb2.Contest
    arena: str = ""

    def execute(self, work: WriteContext) -> tuple[contests_pb2.Contest, list[str]]:
        """Store the contest and the hashes of its tickets."""
        knowledge = work.knowledge(self.contest.game_id)
        arena = arenas.enter(work.transaction, self.arena)
        contest_id = keys.kept_contest_id(self.contest.contest_id, arena.number)
        record = find_contest(work.transaction, contest_id)
        if record is None:
            rules = FairUse.of(knowledge.settings).restricted(fair_use_from_proto(self.contest.fair_use))
            record = _new_record(work, arena, self.contest, knowledge.spec)
            record.contest.open_time.CopyFrom(work.time)
            record.contest.fair_use.CopyFrom(fair_use_to_proto(rules))
            seats = range(1, len(record.seats) + 1)
            alone = [seat for seat in seats if rules.plays_alone(record.contest.contest_id, seat)]
            record.contest.seats_alone.extend(alone)
            contest_tables.add_open_contest(work.transaction, record.contest)
        else:
            _check_same(record, self.contest)
            check_open(record)
        tickets = []
        for number, seat in enumerate(record.seats, 1):
            ticket, seat.ticket_hash = new_ticket(contest_id, number)
            tickets.append(ticket)
        store_contest(work.transaction, record)
        return as_given(record), tickets


@dataclass(frozen=True, slots=True)
class ReportContest:
    """End a contest of an arena and learn from it. A second report of it changes nothing and says so.

    Raises ContestConflictError where it was opened as another contest, UnknownGameError, and
    InvalidRecordError.
    """

    report: contests_pb2.ReportContestRequest
    actor: str
    arena: str = ""

    def execute(self, work: WriteContext) -> contests_pb2.ReportContestResponse:
        """Log the event with the proposals held for the contest, and write the verdicts into them."""
        contest = self.report.contest
        arena = arenas.enter(work.transaction, self.arena)
        contest_id = keys.kept_contest_id(contest.contest_id, arena.number)
        record = find_contest(work.transaction, contest_id)
        if record is None:
            record = _new_record(work, arena, contest, work.knowledge(contest.game_id).spec)
        else:
            _check_same(record, contest)
        if record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
            return _reported(record, False)
        void = self.report.void
        record.contest.state = (
            contests_pb2.CONTEST_STATE_VOID if void else contests_pb2.CONTEST_STATE_REPORTED
        )
        record.contest.report_time.CopyFrom(work.time)
        store_notes(work.transaction, record, work.journal.read(keys.in_contest(contest_id)))
        collected = self._collect(work, record)
        knowledge = work.knowledge(record.contest.game_id)
        if not void:
            _keep_questions(record, collected.answered, _boards(self.report, knowledge.spec))
        event = self._build_event(work, record, collected)
        openings_before = knowledge.counters.next_node_id
        outcome = work.record(event)
        record.event = event.sequence
        judgements = [proposal_tables.DROPPED_AS_VOID] * len(collected.held) if void else outcome.judgements
        for proposal, judgement in zip(collected.held, judgements, strict=True):
            proposal_tables.settle_proposal(work.transaction, proposal, judgement, record)
        if not void:
            _count_statistics(work, event, collected.claims, judgements, openings_before)
            record.results.extend(self.report.results)
            record.plies, record.termination = len(self.report.plies), self.report.termination
        contest_tables.remove_open_contest(work.transaction, record.contest)
        for seat in record.seats:
            del seat.consulted_moves[:]
        store_contest(work.transaction, record)
        return _reported(record, True)

    def _collect(self, work: WriteContext, record: records_pb2.ContestRecord) -> "_Collected":
        """Take from the tables what players proposed, used and claimed in the contest."""
        contest_id = record.contest.contest_id
        held = proposal_tables.proposals_of_contest(work.transaction, contest_id)
        uses = work.transaction.pop(TableName.USES, keys.in_contest(contest_id))
        claims = (
            work.transaction.pop(TableName.CLAIMS, keys.in_contest(contest_id, seat))
            for seat in range(1, len(record.seats) + 1)
        )
        answered = [{keys.claim_of(key): answer for key, answer in of_seat} for of_seat in claims]
        return _Collected(held, [keys.use_of(key) for key, _ in uses], answered)

    def _build_event(
        self, work: WriteContext, record: records_pb2.ContestRecord, collected: "_Collected"
    ) -> events_pb2.Event:
        spec = work.knowledge(record.contest.game_id).spec
        reported = events_pb2.ContestReported()
        report = reported.report
        report.contest.CopyFrom(record.contest)
        report.termination = self.report.termination
        if self.report.void:
            report.void = True
        else:
            report.plies.extend(self.report.plies)
            report.results.extend(self.report.results)
            report.start_board = self.report.start_board
            report.elo_after.extend(self.report.elo_after)
            check_report(report, spec)
            reported.proposals.extend(collected.held)
            reported.uses.extend(uses_to_proto(collected.uses))
            reported.false_consultations.extend(self._false_consultations(work, record))
            reported.false_claims.extend(self._false_claims(collected.claims, record, spec))
        return events_pb2.Event(game_id=record.contest.game_id, actor=self.actor, contest_reported=reported)

    def _false_claims(
        self, claims: Sequence[Sequence[Claim]], record: records_pb2.ContestRecord, spec: GameSpec
    ) -> Iterator[events_pb2.FalseClaim]:
        boards: list[bytes] = []
        for number, (seat, claimed) in enumerate(zip(record.seats, claims, strict=True), 1):
            if not claimed:
                continue
            if not boards and any(claim.plies is None for claim in claimed):
                boards = _boards(self.report, spec)
            # A player that resigns, or whose adversary leaves while both think, has no move to state a value
            # with.
            unasked = self.report.results[number - 1] == contests_pb2.RESULT_LOSS or (
                spec.simultaneous and self.report.termination in _EARLY_ENDS
            )
            false = false_claim(number, claimed, expectations(self.report, number), boards, unasked)
            if seat.claims_beyond and false is None:
                # More claims than are kept: the rest cannot be checked.
                false = FalseClaim(number, None, claimed[0].value, None, 1, len(claimed))
            if false is not None:
                yield false_claim_to_proto(false)

    def _false_consultations(
        self, work: WriteContext, record: records_pb2.ContestRecord
    ) -> Iterator[events_pb2.FalseConsultation]:
        simultaneous = work.knowledge(record.contest.game_id).spec.simultaneous
        for number, seat in enumerate(record.seats, 1):
            if not seat.consultations:
                continue
            # As they were claimed: where moves are simultaneous, a player consults with its own.
            played = [ply.move for ply in self.report.plies if not simultaneous or ply.player == number]
            mismatch = false_consultation(number, seat.consulted_moves, played)
            if mismatch is not None:
                yield events_pb2.FalseConsultation(
                    player=mismatch.seat,
                    number=mismatch.number,
                    claimed=mismatch.claimed,
                    played=mismatch.played,
                )


@dataclass(frozen=True, slots=True)
class _Collected:
    """What was kept of a contest for its report: proposals, uses, and claims with their answers by seat."""

    held: Sequence[proposals_pb2.Proposal]
    uses: Sequence[tuple[int, Library, int]]
    answered: Sequence[Mapping[Claim, bytes]]

    @property
    def claims(self) -> list[list[Claim]]:
        """The claims by seat."""
        return [list(claimed) for claimed in self.answered]


def _count_statistics(
    work: WriteContext,
    event: events_pb2.Event,
    claims: Sequence[Sequence[Claim]],
    judgements: Sequence[Judgement],
    openings_before: int,
) -> None:
    knowledge = work.knowledge(event.game_id)

    def voters(library: Library, pattern_id: int) -> Iterator[str]:
        entry = knowledge.libraries[library].entries.get(pattern_id)
        return (vote.player for vote in (entry.votes.counted if entry else ()))

    new_openings = knowledge.counters.next_node_id - openings_before
    player_statistics.count_contest(
        work.transaction, event.contest_reported, claims, judgements, voters, new_openings
    )


def _reported(record: records_pb2.ContestRecord, counted: bool) -> contests_pb2.ReportContestResponse:
    """Return a contest that is over, whether this report counted, and how many proposals did or did not."""
    return contests_pb2.ReportContestResponse(
        contest=as_given(record), counted=counted, accepted=record.accepted, dropped=record.dropped
    )


def _keep_questions(
    record: records_pb2.ContestRecord, answered: Sequence[Mapping[Claim, bytes]], boards: Sequence[bytes]
) -> None:
    """Write into a contest's record after which plies its players asked for patterns, and what they got."""
    place_of = {board: plies for plies, board in reversed(list(enumerate(boards)))}
    for seat, claimed in zip(record.seats, answered, strict=True):
        questions = [
            (place_of.get(claim.board) if claim.plies is None else claim.plies, claim.value, answer)
            for claim, answer in claimed.items()
        ]
        questions.sort(key=lambda question: (question[0] is None, question[0] or 0))
        for plies, value, answer in questions[:QUESTIONS_KEPT]:
            kept = seat.questions.add(plies=plies, value=value)
            if answer:
                kept.answer.CopyFrom(unpack_message(contests_pb2.PatternAnswer, answer))


def _boards(report: contests_pb2.ReportContestRequest, spec: GameSpec) -> list[bytes]:
    """The contest's boards, from the first on, as claims name them; empty where the arena gave none."""
    boards = [ply.board for ply in report.plies]
    if not any(boards):
        return []
    first = report.start_board or "-" * spec.geometry.size
    return [keys.board(letters) for letters in (first, *boards)]


def _new_record(
    work: WriteContext, arena: records_pb2.ArenaRecord, contest: contests_pb2.Contest, spec: GameSpec
) -> records_pb2.ContestRecord:
    """Return the record of a new contest. Raises InvalidRecordError for what is not one of this game."""
    check_new_contest(contest, spec)
    opened = arenas.kept_contest(work.transaction, arena, contest)
    _check_new_names(work.transaction, contest, opened)
    opened.state = contests_pb2.CONTEST_STATE_OPEN
    return records_pb2.ContestRecord(
        contest=opened,
        seats=[records_pb2.Seat() for _ in opened.players],
        arena=arena.name,
        names=[player.name for player in contest.players] if arena.namespace else [],
    )


def _check_new_names(
    transaction: Transaction, given: contests_pb2.Contest, kept: contests_pb2.Contest
) -> None:
    """Raise InvalidRecordError for an invalid name, except those of players with a rating, who play on."""
    for place, (player, known) in enumerate(zip(given.players, kept.players, strict=True)):
        complaint = complaint_about(player.name)
        if complaint and not is_rated(transaction, known.name):
            raise InvalidRecordError(f"players[{place}].name", complaint)


def _check_same(record: records_pb2.ContestRecord, given: contests_pb2.Contest) -> None:
    """Compare a contest with the one that is known; what is not given again cannot differ."""
    known = as_given(record)
    if given.game_id and given.game_id != known.game_id:
        raise ContestConflictError(known.contest_id, "game_id")
    names = [player.name for player in known.players]
    if given.players and [player.name for player in given.players] != names:
        raise ContestConflictError(known.contest_id, "players")
    in_force = fair_use_from_proto(known.fair_use)
    if not fair_use_from_proto(given.fair_use).items() <= in_force.items():
        raise ContestConflictError(known.contest_id, "fair_use")
