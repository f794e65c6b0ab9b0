"""Commands of the arena: register a game, open a contest, report it; and what players do in one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from google.protobuf.timestamp_pb2 import Timestamp

from academy.knowledge.contests import Judgement
from academy.knowledge.fair_use import check_opening, false_consultation
from academy.knowledge.settings import Library, LibrarySettings
from academy.store import event_log, keys, open_contests, proposal_tables
from academy.store.contest_records import (
    MAX_LINE_LENGTH,
    check_contest,
    check_new_names,
    check_report,
    uses_to_proto,
)
from academy.store.contest_tables import contest_record, find_contest, seat_record, store_contest
from academy.store.environment import Table
from academy.store.errors import (
    ConsultationOutOfOrder,
    ContestConflict,
    ContestOver,
    GameConflict,
    InvalidRecord,
    TooManyProposals,
    UnknownGame,
)
from academy.store.game_records import settings_from_proto, spec_from_proto, spec_to_proto
from academy.store.game_tables import game_record
from academy.store.tokens import new_ticket
from academy.store.v1 import records_pb2
from academy.store.working_games import Work
from academy.v1 import contests_pb2, events_pb2, game_pb2, proposals_pb2


@dataclass(frozen=True, slots=True)
class RegisterGame:
    """Make a game known. The result is the game as it stands, and whether it was new.

    Settings count for a new game only. Raises GameConflict where another game has this id, InvalidGame,
    InvalidBoard or InvalidSettings where the description is not sound.
    """

    game: game_pb2.Game
    actor: str

    def execute(self, work: Work) -> tuple[game_pb2.Game, bool]:
        """Store the game and its event, or compare it with the one there is."""
        spec = spec_from_proto(self.game)
        try:
            known = game_record(work.transaction, spec.game_id)
        except UnknownGame:
            defaults = LibrarySettings.for_players(spec.players)
            game = spec_to_proto(spec, settings_from_proto(self.game.settings, defaults))
            work.record(events_pb2.Event(game_id=spec.game_id, actor=self.actor, game_registered=game))
            return game, True
        described = spec_to_proto(spec)
        for field in game_pb2.Game.DESCRIPTOR.fields:
            if field.name != "settings" and getattr(described, field.name) != getattr(known, field.name):
                raise GameConflict(spec.game_id, field.name)
        return known, False


@dataclass(frozen=True, slots=True)
class OpenContest:
    """Begin a contest. The result is the contest and a fresh ticket a seat; older ones end.

    Opening the same contest again keeps the Elos it was opened with and what its players did.
    Raises ContestConflict for another contest of this id, ContestOver for a reported one.
    """

    contest: contests_pb2.Contest

    def execute(self, work: Work) -> tuple[contests_pb2.Contest, list[str]]:
        """Store the contest and the hashes of its tickets."""
        spec = work.knowledge(self.contest.game_id).spec
        check_contest(self.contest, spec)
        contest_id = self.contest.contest_id
        record = find_contest(work.transaction, contest_id)
        if record is None:
            check_new_names(self.contest)
            record = _new_record(self.contest, work.time)
            open_contests.add(work.transaction, record.contest)
        else:
            _check_same(record.contest, self.contest)
            _check_open(record)
        tickets = []
        for number, seat in enumerate(record.seats, 1):
            ticket, seat.ticket_hash = new_ticket(contest_id, number)
            tickets.append(ticket)
        store_contest(work.transaction, record)
        return record.contest, tickets


@dataclass(frozen=True, slots=True)
class Reported:
    """What a report did: the contest, whether it counted, and how many proposals were taken in or not."""

    contest: contests_pb2.Contest
    counted: bool
    accepted: int
    dropped: int


@dataclass(frozen=True, slots=True)
class ReportContest:
    """End a contest and learn from it. A second report of it changes nothing and says so.

    Raises ContestConflict where it was opened as another contest, UnknownGame, and InvalidRecord.
    """

    report: contests_pb2.ReportContestRequest
    actor: str

    def execute(self, work: Work) -> Reported:
        """Log the event with the proposals held for the contest, and write the verdicts into them."""
        contest = self.report.contest
        record = find_contest(work.transaction, contest.contest_id)
        if record is None:
            check_contest(contest, work.knowledge(contest.game_id).spec)
            check_new_names(contest)
            record = _new_record(contest, work.time)
        else:
            _check_same(record.contest, contest)
        if record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
            return Reported(record.contest, False, record.accepted, record.dropped)
        void = self.report.void
        record.contest.state = (
            contests_pb2.CONTEST_STATE_VOID if void else contests_pb2.CONTEST_STATE_REPORTED
        )
        record.contest.report_time.CopyFrom(work.time)
        self._count(work, record)
        open_contests.remove(work.transaction, record.contest)
        for seat in record.seats:
            del seat.consulted_moves[:]
        store_contest(work.transaction, record)
        return Reported(record.contest, True, record.accepted, record.dropped)

    def _count(self, work: Work, record: records_pb2.ContestRecord) -> None:
        contest_id = record.contest.contest_id
        held = proposal_tables.of_contest(work.transaction, contest_id)
        used = [keys.use_of(key) for key, _ in work.transaction.scan(Table.USES, keys.in_contest(contest_id))]
        for key in used:
            work.transaction.delete(Table.USES, keys.use(contest_id, *key))
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
            check_report(report, work.knowledge(record.contest.game_id).spec)
            reported.proposals.extend(held)
            reported.uses.extend(uses_to_proto(used))
            reported.false_consultations.extend(self._false_consultations(work, record))
        event = events_pb2.Event(game_id=record.contest.game_id, actor=self.actor, contest_reported=reported)
        record.event, outcome = work.record(event)
        judgements = [proposal_tables.DROPPED_AS_VOID] * len(held) if self.report.void else outcome.judgements
        for proposal, judgement in zip(held, judgements, strict=True):
            accepted = proposal_tables.settle(work.transaction, proposal, judgement)
            record.accepted += accepted
            record.dropped += not accepted

    def _false_consultations(
        self, work: Work, record: records_pb2.ContestRecord
    ) -> Iterator[events_pb2.FalseConsultation]:
        simultaneous = work.knowledge(record.contest.game_id).spec.simultaneous
        for number, seat in enumerate(record.seats, 1):
            if not seat.consultations:
                continue
            # As they were claimed: where moves are simultaneous, a player consults with its own.
            played = [ply.move for ply in self.report.plies if not simultaneous or ply.player == number]
            found = false_consultation(number, seat.consulted_moves, played)
            if found is not None:
                yield events_pb2.FalseConsultation(
                    player=found.seat, number=found.number, claimed=found.claimed, played=found.played
                )


@dataclass(frozen=True, slots=True)
class CountConsultation:
    """Count a player's look-up in the opening tree, before it is answered. The result is the count.

    `own_move` is the number (from 1) of the player's next own move. The same list of moves as the
    last time counts once. Raises FairUseExceeded, ConsultationOutOfOrder where the moves do not continue the
    last list, InvalidRecord for a list too long to be kept, ContestOver, UnknownContest.
    """

    contest_id: str
    seat: int
    moves: Sequence[str]
    own_move: int

    def execute(self, work: Work) -> int:
        """Check the rules and store the count."""
        length = sum(map(len, self.moves))
        if length > MAX_LINE_LENGTH:
            raise InvalidRecord(
                "moves", f"{length:,} characters in all; at most {MAX_LINE_LENGTH:,} are allowed"
            )
        record = contest_record(work.transaction, self.contest_id)
        _check_open(record)
        seat = seat_record(record, self.seat)
        before = list(seat.consulted_moves)
        moves = list(self.moves)
        if seat.consultations:
            if moves == before:
                return seat.consultations
            if len(moves) < len(before) or moves[: len(before)] != before:
                pairs = zip(moves, before, strict=False)
                common = next((at for at, (new, old) in enumerate(pairs) if new != old), len(moves))
                raise ConsultationOutOfOrder(common)
        check_opening(seat.consultations, self.own_move)
        seat.consultations += 1
        seat.consulted_moves[:] = moves
        store_contest(work.transaction, record)
        return seat.consultations


@dataclass(frozen=True, slots=True)
class NoteUses:
    """Remember patterns that were returned to a player of an open contest; of others nothing is kept."""

    contest_id: str
    seat: int
    library: Library
    pattern_ids: Sequence[int]

    def execute(self, work: Work) -> None:
        """Store the uses."""
        record = find_contest(work.transaction, self.contest_id)
        if record is None or record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
            return
        seat_record(record, self.seat)
        for pattern_id in self.pattern_ids:
            work.transaction.put(Table.USES, keys.use(self.contest_id, self.seat, self.library, pattern_id))


@dataclass(frozen=True, slots=True)
class SubmitProposals:
    """Hold a player's proposals until their contest is reported; judge them at once where it was.

    They are as `proposal_records.read_proposal` returns them. The result is the proposals in order, as they
    stand. The same proposal again (contest, seat, library, ply and cells) changes nothing. All of a call are
    taken or none. Raises TooManyProposals and UnknownContest.
    """

    contest_id: str
    seat: int
    proposals: Sequence[proposals_pb2.Proposal]
    actor: str

    def execute(self, work: Work) -> list[proposals_pb2.Proposal]:
        """Store the proposals."""
        record = contest_record(work.transaction, self.contest_id)
        seat_record(record, self.seat)
        fresh = {
            each.proposal_id: each
            for each in self.proposals
            if proposal_tables.find(work.transaction, each.proposal_id) is None
        }
        allowed = work.knowledge(record.contest.game_id).settings.max_submissions_per_contest
        earlier = proposal_tables.count_of_seat(work.transaction, self.contest_id, self.seat)
        if fresh and earlier + len(fresh) > allowed:
            raise TooManyProposals(earlier, len(fresh), allowed)
        for read in fresh.values():
            # A copy, as the command may run again.
            proposal = proposals_pb2.Proposal()
            proposal.CopyFrom(read)
            proposal.player = record.contest.players[self.seat - 1].name
            proposal.create_time.CopyFrom(work.time)
            proposal_tables.add(work.transaction, proposal)
            if record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
                accepted = proposal_tables.settle(
                    work.transaction, proposal, self._judge_late(work, record, proposal)
                )
                record.accepted += accepted
                record.dropped += not accepted
        if fresh and record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
            store_contest(work.transaction, record)
        return [proposal_tables.get(work.transaction, each.proposal_id) for each in self.proposals]

    def _judge_late(
        self, work: Work, record: records_pb2.ContestRecord, proposal: proposals_pb2.Proposal
    ) -> Judgement:
        if record.contest.state == contests_pb2.CONTEST_STATE_VOID:
            return proposal_tables.DROPPED_AS_VOID
        if record.event <= event_log.compacted(work.transaction):
            return proposal_tables.DROPPED_AS_TOO_LATE
        event = events_pb2.Event(
            game_id=record.contest.game_id,
            actor=self.actor,
            proposal_judged=events_pb2.ProposalJudged(proposal=proposal, report_event=record.event),
        )
        return work.record(event)[1].judgements[0]


def _new_record(contest: contests_pb2.Contest, now: Timestamp) -> records_pb2.ContestRecord:
    opened = contests_pb2.Contest(
        contest_id=contest.contest_id,
        game_id=contest.game_id,
        players=contest.players,
        state=contests_pb2.CONTEST_STATE_OPEN,
        open_time=now,
    )
    return records_pb2.ContestRecord(contest=opened, seats=[records_pb2.Seat() for _ in opened.players])


def _check_same(known: contests_pb2.Contest, told: contests_pb2.Contest) -> None:
    """Compare what is told with what is known; what is not told again cannot differ."""
    if told.game_id and told.game_id != known.game_id:
        raise ContestConflict(known.contest_id, "game_id")
    names = [player.name for player in known.players]
    if told.players and [player.name for player in told.players] != names:
        raise ContestConflict(known.contest_id, "players")


def _check_open(record: records_pb2.ContestRecord) -> None:
    if record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
        raise ContestOver(record.contest.contest_id)
