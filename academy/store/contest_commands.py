"""Commands of arenas and players: register a game, open and report a contest, consult, propose."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from academy.knowledge.boards import SquareGeometry
from academy.knowledge.claims import Claim, contradict, false_claim, false_consultation
from academy.knowledge.contests import FalseClaim, Judgement
from academy.knowledge.fair_use import LUDAE_FAIR_USE, FairUse
from academy.knowledge.learnable import check_learnable
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import (
    MOST_NODE_SYMMETRIES,
    Description,
    GameSpec,
    InvalidGameError,
    Placement,
)
from academy.store import arenas, contest_tables, event_log, keys, player_statistics, proposal_tables
from academy.store.codec.contests import (
    MAX_LINE_LENGTH,
    check_elos,
    check_report,
    expectations,
    false_claim_to_proto,
    uses_to_proto,
)
from academy.store.codec.games import (
    fair_use_from_proto,
    fair_use_to_proto,
    settings_from_proto,
    spec_to_proto,
)
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.consultation_journal import Noted
from academy.store.contest_tables import as_given, contest_record, find_contest, seat_record, store_contest
from academy.store.environment import TableName, Transaction
from academy.store.errors import (
    ConsultationOrderError,
    ContestConflictError,
    ContestOverError,
    GameConflictError,
    InvalidRecordError,
    TooManyProposalsError,
    UnknownGameError,
)
from academy.store.game_tables import game_record, is_rated
from academy.store.player_commands import mute_in_new_game
from academy.store.tokens import new_ticket
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import contests_pb2, events_pb2, game_pb2, proposals_pb2
from academy.wire.games import description_message, differing_field, read_description, read_spec
from academy.wire.names import complaint_about

MAX_CLAIMS: Final = 10_000
# The questions of a seat that stay with the contest when it is over.
_QUESTIONS_KEPT: Final = 1_000
# In bytes. A message of 1 MB, NATS' own limit, takes more than twice that and the last contest's record.
_NOTES_AT_ONCE: Final = 256 << 10
# `Store.read`
ReadStore: TypeAlias = Callable[..., Any]
_EARLY_ENDS: Final = ("forfeit", "resignation")


@dataclass(frozen=True, slots=True)
class RegisterGame:
    """Make a game known. The result is the game as it stands, and whether it was new.

    With `may_describe` a new game gets the given settings, and any game the given description: the forms of
    moves, by which the reports of all arenas are checked, and how pieces come to cells. Without it a new game
    gets the default settings and none of this.
    Raises GameConflictError where another game has this id, InvalidGameError, InvalidBoardError or
    InvalidSettingsError where the description is not sound.
    """

    game: game_pb2.Game
    actor: str
    may_describe: bool = True

    def execute(self, work: WriteContext) -> tuple[game_pb2.Game, bool]:
        """Store the game and its event, or compare it with the one there is."""
        if (given := len(self.game.node_symmetries)) > MOST_NODE_SYMMETRIES:
            raise InvalidGameError(f"{given:,} node symmetries: there may be {MOST_NODE_SYMMETRIES}")
        spec = read_spec(self.game)
        try:
            known = game_record(work.transaction, spec.game_id)
        except UnknownGameError:
            if not self.may_describe:
                spec = spec.described(Description())
            defaults = LibrarySettings.for_kind(spec.players, spec.kind)
            settings = defaults
            if self.may_describe:
                settings = settings_from_proto(self.game.settings, defaults)
                check_learnable(settings, spec, defaults)
                _check_row_fits(spec)
            game = spec_to_proto(spec, settings)
            work.record(events_pb2.Event(game_id=spec.game_id, actor=self.actor, game_registered=game))
            mute_in_new_game(work, spec.game_id, self.actor)
            return game, True
        if (field := differing_field(spec, known)) is not None:
            raise GameConflictError(spec.game_id, field)
        before = read_description(known)
        if self.may_describe and (before.placement is not Placement.ANYWHERE or before.winning_row):
            _check_same_shapes(spec, before)
        # An earlier version, or a referee that knew less, may have registered it without all of this.
        now = Description(
            spec.move_forms or before.move_forms,
            before.placement if spec.placement is Placement.ANYWHERE else spec.placement,
            spec.winning_row or before.winning_row,
        )
        if self.may_describe and now != before:
            _check_row_fits(spec)
            new = description_message(now)
            work.record(events_pb2.Event(game_id=spec.game_id, actor=self.actor, game_described=new))
            known = game_record(work.transaction, spec.game_id)
        return known, False


def _check_row_fits(spec: GameSpec) -> None:
    """Raise InvalidGameError for a winning row longer than the board, which older games may have."""
    shape = spec.geometry
    if isinstance(shape, SquareGeometry) and spec.winning_row > (longest := max(shape.rows, shape.columns)):
        raise InvalidGameError(
            f"a winning row of {spec.winning_row}: the longest row of this board has {longest} cells"
        )


def _check_same_shapes(spec: GameSpec, before: Description) -> None:
    """Raise GameConflictError for a game whose tesujis would have other shapes than those that it learnt."""
    if spec.placement not in (Placement.ANYWHERE, before.placement):
        raise GameConflictError(spec.game_id, "placement")
    if spec.winning_row not in (0, before.winning_row):
        raise GameConflictError(spec.game_id, "winning_row")


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
            record.contest.fair_use.CopyFrom(fair_use_to_proto(rules))
            seats = range(1, len(record.seats) + 1)
            alone = [seat for seat in seats if rules.plays_alone(record.contest.contest_id, seat)]
            record.contest.seats_alone.extend(alone)
            contest_tables.add_open_contest(work.transaction, record.contest)
        else:
            _check_same(record, self.contest)
            _check_open(record)
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
        _store_notes(work.transaction, record, work.journal.read(keys.in_contest(contest_id)))
        collected = self._collect(work, record)
        knowledge = work.knowledge(record.contest.game_id)
        if not void:
            _keep_questions(record, collected.answered, _boards(self.report, knowledge.spec))
        event = self._build_event(work, record, collected)
        openings_before = knowledge.counters.next_node_id
        record.event, outcome = work.record(event)
        judgements = [proposal_tables.DROPPED_AS_VOID] * len(collected.held) if void else outcome.judgements
        _settle(work, record, collected.held, judgements)
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
        uses = [
            keys.use_of(key) for key, _ in work.transaction.scan(TableName.USES, keys.in_contest(contest_id))
        ]
        for key in uses:
            work.transaction.delete(TableName.USES, keys.use(contest_id, *key))
        answered = [_pop_claims(work, contest_id, seat) for seat in range(1, len(record.seats) + 1)]
        return _Collected(held, uses, answered)

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


def _settle(
    work: WriteContext,
    record: records_pb2.ContestRecord,
    held: Sequence[proposals_pb2.Proposal],
    judgements: Sequence[Judgement],
) -> None:
    """Write the verdicts into proposals that were held, and count them in the contest's record."""
    for proposal, judgement in zip(held, judgements, strict=True):
        accepted = proposal_tables.settle_proposal(work.transaction, proposal, judgement)
        record.accepted += accepted
        record.dropped += not accepted


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


@dataclass(frozen=True, slots=True)
class CountConsultation:
    """Note a player's look-up in the opening tree, before it is answered. The result is their count.

    `own_move` is the number (from 1) of the player's next own move, `rules` are the game's, `answer` is what
    the player will read.
    The same list of moves as the last time counts once. Raises FairUseExceededError, ConsultationOrderError
    where the moves do not continue the last list, InvalidRecordError for a list too long to be kept,
    ContestOverError, UnknownContestError.
    """

    contest_id: str
    seat: int
    moves: Sequence[str]
    own_move: int
    rules: FairUse = LUDAE_FAIR_USE
    answer: contests_pb2.OpeningAnswer = field(default_factory=contests_pb2.OpeningAnswer)

    def enter(self, journal: Transaction, read_store: ReadStore) -> int:
        """Check the rules and note the count."""
        length = sum(map(len, self.moves))
        if length > MAX_LINE_LENGTH:
            raise InvalidRecordError(
                "moves", f"{length:,} characters in all; at most {MAX_LINE_LENGTH:,} are allowed"
            )
        record = read_store(contest_record, self.contest_id)
        _check_open(record)
        seat = seat_record(record, self.seat)
        key = keys.in_contest(self.contest_id, self.seat)
        noted = journal.get(TableName.CONTESTS, key)
        if noted is not None:
            _raise_counts(seat, noted)
        before = list(seat.consulted_moves)
        moves = list(self.moves)
        if seat.consultations:
            if moves == before:
                return seat.consultations
            if len(moves) < len(before) or moves[: len(before)] != before:
                pairs = zip(moves, before, strict=False)
                common = next((at for at, (new, old) in enumerate(pairs) if new != old), len(moves))
                raise ConsultationOrderError(common)
        self.rules.check_opening(seat.consultations, self.own_move)
        plies = [*seat.opening_plies, len(moves)][:_QUESTIONS_KEPT]
        now = records_pb2.Seat(
            consultations=seat.consultations + 1,
            consulted_moves=moves,
            opening_plies=plies,
            opening_answers=[*seat.opening_answers, self.answer][:_QUESTIONS_KEPT],
            claims_contradict=seat.claims_contradict,
        )
        journal.put(TableName.CONTESTS, key, pack_message(now))
        return now.consultations


@dataclass(frozen=True, slots=True)
class NoteUses:
    """Remember patterns that were returned to a player of an open contest; of others nothing is kept."""

    contest_id: str
    seat: int
    library: Library
    pattern_ids: Sequence[int]

    def enter(self, journal: Transaction, read_store: ReadStore) -> None:
        """Note the uses."""
        for pattern_id in self.pattern_ids:
            journal.put(TableName.USES, keys.use(self.contest_id, self.seat, self.library, pattern_id))


@dataclass(frozen=True, slots=True)
class NoteClaims:
    """Remember what a player of an open contest claimed to expect when it asked for patterns.

    The result is whether it contradicts what the player claimed before: then the seat is marked.
    """

    contest_id: str
    seat: int
    claims: Sequence[Claim]

    def enter(self, journal: Transaction, read_store: ReadStore) -> bool:
        """Note the claims, each once."""
        for claim in self.claims:
            key = keys.claim(self.contest_id, self.seat, claim)
            if journal.get(TableName.CLAIMS, key) is None:
                journal.put(TableName.CLAIMS, key)
        if not any(self._contradict(journal, read_store, claim) for claim in self.claims):
            return False
        key = keys.in_contest(self.contest_id, self.seat)
        noted = journal.get(TableName.CONTESTS, key)
        marked = records_pb2.Seat() if noted is None else unpack_message(records_pb2.Seat, noted)
        marked.claims_contradict = True
        journal.put(TableName.CONTESTS, key, pack_message(marked))
        return True

    def _contradict(self, journal: Transaction, read_store: ReadStore, claim: Claim) -> bool:
        if claim.plies is None:
            # The same board may come again in a contest, and be worth something else.
            return False
        prefix = keys.claims_after(self.contest_id, self.seat, claim.plies)
        known = _outermost_claims(journal, prefix) | read_store(_outermost_claims, prefix)
        return contradict(map(keys.claim_of, known))


@dataclass(frozen=True, slots=True)
class NoteAnswer:
    """Remember what a player of an open contest was answered when it claimed something."""

    contest_id: str
    seat: int
    claim: Claim
    answer: contests_pb2.PatternAnswer

    def enter(self, journal: Transaction, read_store: ReadStore) -> None:
        """Note the answer with the claim."""
        key = keys.claim(self.contest_id, self.seat, self.claim)
        journal.put(TableName.CLAIMS, key, pack_message(self.answer))


class StoredNotes(NamedTuple):
    """What may leave the journal, and whether it is all that was noted."""

    noted: list[Noted]
    are_all: bool


@dataclass(frozen=True, slots=True)
class StoreNotes:
    """Make what is noted in the journal part of the store: as much as one message of a shared log takes."""

    def execute(self, work: WriteContext) -> StoredNotes:
        """Store what is noted of open contests; of others nothing is kept."""
        read = work.journal.read(largest=_NOTES_AT_ONCE)
        by_contest: dict[str, list[Noted]] = {}
        for entry in read:
            by_contest.setdefault(keys.contest_of(entry.key), []).append(entry)
        kept: list[Noted] = []
        size = 0
        for contest_id, entries in by_contest.items():
            record = find_contest(work.transaction, contest_id)
            if record is not None and record.contest.state == contests_pb2.CONTEST_STATE_OPEN:
                _store_notes(work.transaction, record, entries)
                store_contest(work.transaction, record)
                size += record.ByteSize()
            kept += entries
            size += sum(len(key) + len(value) for _, key, value in entries)
            if size >= _NOTES_AT_ONCE:
                return StoredNotes(kept, are_all=False)
        return StoredNotes(kept, are_all=True)


def _store_notes(transaction: Transaction, record: records_pb2.ContestRecord, noted: Iterable[Noted]) -> None:
    """Store what is noted of a contest; its record is changed, and for the caller to store."""
    for table, key, value in noted:
        number = keys.seat_of(key)
        if not 1 <= number <= len(record.seats):
            continue
        seat = record.seats[number - 1]
        match table:
            case TableName.CONTESTS:
                _raise_counts(seat, value)
            case TableName.USES:
                transaction.put(table, key)
            case TableName.CLAIMS:
                known = transaction.get(table, key)
                if known is None and seat.claims >= MAX_CLAIMS:
                    seat.claims_beyond = True
                    continue
                seat.claims += known is None
                if known is None or value:
                    transaction.put(table, key, value)


def _raise_counts(seat: records_pb2.Seat, noted: bytes) -> None:
    """Raise a seat's counts to those that the journal knows of, if these are higher."""
    known = unpack_message(records_pb2.Seat, noted)
    seat.claims_contradict |= known.claims_contradict
    if known.consultations > seat.consultations:
        seat.consultations = known.consultations
        seat.consulted_moves[:] = known.consulted_moves
        seat.opening_plies[:] = known.opening_plies
        del seat.opening_answers[:]
        seat.opening_answers.extend(known.opening_answers)


@dataclass(frozen=True, slots=True)
class SubmitProposals:
    """Hold a player's proposals until their contest is reported; judge them at once where it was.

    They are as `codec.proposals.read_proposal` returns them. The result is the proposals in order, as they
    stand. The same proposal again (contest, seat, library, ply and cells) changes nothing. All of a call are
    taken or none. Raises TooManyProposalsError and UnknownContestError.
    """

    contest_id: str
    seat: int
    proposals: Sequence[proposals_pb2.Proposal]
    actor: str

    def execute(self, work: WriteContext) -> list[proposals_pb2.Proposal]:
        """Store the proposals."""
        record = contest_record(work.transaction, self.contest_id)
        seat_record(record, self.seat)
        fresh = {
            proposal.proposal_id: proposal
            for proposal in self.proposals
            if proposal_tables.find_proposal(work.transaction, proposal.proposal_id) is None
        }
        allowed = work.knowledge(record.contest.game_id).settings.max_submissions_per_contest
        earlier = proposal_tables.count_proposals_of_seat(work.transaction, self.contest_id, self.seat)
        if fresh and earlier + len(fresh) > allowed:
            raise TooManyProposalsError(earlier, len(fresh), allowed)
        for read in fresh.values():
            # A copy, as the command may run again.
            proposal = proposals_pb2.Proposal()
            proposal.CopyFrom(read)
            proposal.player = record.contest.players[self.seat - 1].name
            proposal.create_time.CopyFrom(work.time)
            proposal_tables.add_proposal(work.transaction, proposal)
            if record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
                judgement = self._judge_late(work, record, proposal)
                accepted = proposal_tables.settle_proposal(work.transaction, proposal, judgement)
                if record.contest.state == contests_pb2.CONTEST_STATE_REPORTED:
                    player_statistics.count_late_proposal(
                        work.transaction, proposal.game_id, proposal.player, judgement
                    )
                record.accepted += accepted
                record.dropped += not accepted
        if fresh and record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
            store_contest(work.transaction, record)
        return [
            proposal_tables.proposal_record(work.transaction, proposal.proposal_id)
            for proposal in self.proposals
        ]

    def _judge_late(
        self, work: WriteContext, record: records_pb2.ContestRecord, proposal: proposals_pb2.Proposal
    ) -> Judgement:
        if record.contest.state == contests_pb2.CONTEST_STATE_VOID:
            return proposal_tables.DROPPED_AS_VOID
        if record.event <= event_log.last_unreferable(work.transaction):
            return proposal_tables.DROPPED_AS_TOO_LATE
        event = events_pb2.Event(
            game_id=record.contest.game_id,
            actor=self.actor,
            proposal_judged=events_pb2.ProposalJudged(proposal=proposal, report_event=record.event),
        )
        return work.record(event)[1].judgements[0]


def _reported(record: records_pb2.ContestRecord, counted: bool) -> contests_pb2.ReportContestResponse:
    """Return a contest that is over, whether this report counted, and how many proposals did or did not."""
    return contests_pb2.ReportContestResponse(
        contest=as_given(record), counted=counted, accepted=record.accepted, dropped=record.dropped
    )


def _outermost_claims(transaction: Transaction, prefix: bytes) -> set[bytes]:
    """Return the keys of those claims of a position that contradict each other if any do.

    They are the first and the last without board and with one: of a board those of the least and the greatest
    value. Players may make thousands of claims.
    """
    ends = (
        transaction.scan(TableName.CLAIMS, prefix),
        transaction.scan(TableName.CLAIMS, prefix + keys.NO_BOARD, backwards=True),
        transaction.scan(TableName.CLAIMS, prefix, start=prefix + keys.FIRST_BOARD),
        transaction.scan(TableName.CLAIMS, prefix, backwards=True),
    )
    return {key for entries in ends for key, _ in islice(entries, 1)}


def _pop_claims(work: WriteContext, contest_id: str, seat: int) -> dict[Claim, bytes]:
    """Return what a player claimed, with the answers as noted, and keep it no longer."""
    stored = list(work.transaction.scan(TableName.CLAIMS, keys.claim(contest_id, seat)))
    for key, _ in stored:
        work.transaction.delete(TableName.CLAIMS, key)
    return {keys.claim_of(key): answer for key, answer in stored}


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
        for plies, value, answer in questions[:_QUESTIONS_KEPT]:
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
    """Raises InvalidRecordError for what is not a contest of this game."""
    if len(contest.players) != spec.players:
        raise InvalidRecordError(
            "players", f"{len(contest.players)} given; {spec.game_id} has {spec.players}"
        )
    check_elos(contest)
    opened = arenas.kept_contest(work.transaction, arena, contest)
    _check_new_names(work.transaction, contest, opened)
    # What the arena wishes is not yet in force.
    opened.ClearField("fair_use")
    opened.ClearField("seats_alone")
    opened.state = contests_pb2.CONTEST_STATE_OPEN
    opened.open_time.CopyFrom(work.time)
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


def _check_open(record: records_pb2.ContestRecord) -> None:
    if record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
        raise ContestOverError(record.contest.contest_id)
