"""What is noted of open contests while they are played: questions, claims, and the answers to them.

Notes enter the journal (`consultation_journal`), which does not wait for the disk. `StoreNotes` and the
contest's report make them part of the store.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from academy.knowledge.claims import Claim, contradict
from academy.knowledge.fair_use import LUDAE_FAIR_USE, FairUse
from academy.knowledge.settings import Library
from academy.store import keys
from academy.store.codec.contests import MAX_LINE_LENGTH
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.consultation_journal import Noted
from academy.store.contest_tables import (
    QUESTIONS_KEPT,
    check_open,
    contest_record,
    find_contest,
    seat_record,
    store_contest,
)
from academy.store.environment import TableName, Transaction
from academy.store.errors import ConsultationOrderError, InvalidRecordError
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import contests_pb2

MAX_CLAIMS: Final = 10_000
# In bytes. A message of 1 MB, NATS' own limit, takes more than twice that and the last contest's record.
_NOTES_AT_ONCE: Final = 256 << 10
# `Store.read`
ReadStore: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class CountConsultation:
    """Note a player's look-up in the opening tree, before it is answered. The result is their count.

    `own_move` is the number (from 1) of the player's next own move, `rules` are the contest's, `answer` is
    what the player will read.
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
        check_open(record)
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
            if moves[: len(before)] != before:
                pairs = zip(moves, before, strict=False)
                common = next((at for at, (new, old) in enumerate(pairs) if new != old), len(moves))
                raise ConsultationOrderError(common)
        self.rules.check_opening(seat.consultations, self.own_move)
        plies = [*seat.opening_plies, len(moves)][:QUESTIONS_KEPT]
        now = records_pb2.Seat(
            consultations=seat.consultations + 1,
            consulted_moves=moves,
            opening_plies=plies,
            opening_answers=[*seat.opening_answers, self.answer][:QUESTIONS_KEPT],
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
class NoteClaim:
    """Remember what a player of an open contest claimed to expect when it asked for patterns.

    The result is whether it contradicts what the player claimed before: then the seat is marked.
    """

    contest_id: str
    seat: int
    claim: Claim

    def enter(self, journal: Transaction, read_store: ReadStore) -> bool:
        """Note the claim, once."""
        key = keys.claim(self.contest_id, self.seat, self.claim)
        if journal.get(TableName.CLAIMS, key) is None:
            journal.put(TableName.CLAIMS, key)
        if not self._contradicts(journal, read_store):
            return False
        key = keys.in_contest(self.contest_id, self.seat)
        noted = journal.get(TableName.CONTESTS, key)
        marked = records_pb2.Seat() if noted is None else unpack_message(records_pb2.Seat, noted)
        marked.claims_contradict = True
        journal.put(TableName.CONTESTS, key, pack_message(marked))
        return True

    def _contradicts(self, journal: Transaction, read_store: ReadStore) -> bool:
        claim = self.claim
        if claim.plies is None:
            # The same board may come again in a contest, and be worth something else.
            return False
        prefix = keys.in_contest(self.contest_id, self.seat, claim.plies)
        known = _outermost_claims(journal, prefix) | read_store(_outermost_claims, prefix)
        return contradict(map(keys.claim_of, known))


@dataclass(frozen=True, slots=True)
class NoteAnswer:
    """Remember what a player of an open contest claimed, was answered, and the patterns behind the answer.

    The result is that of the claim: nothing is answered to one that contradicts an earlier one.
    """

    claim: NoteClaim
    answer: contests_pb2.PatternAnswer
    uses: Sequence[NoteUses] = ()

    def enter(self, journal: Transaction, read_store: ReadStore) -> bool:
        """Note all of it at once."""
        if self.claim.enter(journal, read_store):
            return True
        key = keys.claim(self.claim.contest_id, self.claim.seat, self.claim.claim)
        journal.put(TableName.CLAIMS, key, pack_message(self.answer))
        for use in self.uses:
            use.enter(journal, read_store)
        return False


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
                store_notes(work.transaction, record, entries)
                store_contest(work.transaction, record)
                size += record.ByteSize()
            kept += entries
            size += sum(len(key) + len(value) for _, key, value in entries)
            if size >= _NOTES_AT_ONCE:
                return StoredNotes(kept, are_all=False)
        return StoredNotes(kept, are_all=True)


def store_notes(transaction: Transaction, record: records_pb2.ContestRecord, noted: Iterable[Noted]) -> None:
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


def _outermost_claims(transaction: Transaction, prefix: bytes) -> set[bytes]:
    """Return the keys of those claims of a position that contradict each other if any do.

    They are the first and the last without board and with one: of a board those of the least and the greatest
    value. Players may make thousands of claims.
    """
    outermost = (
        transaction.scan(TableName.CLAIMS, prefix),
        transaction.scan(TableName.CLAIMS, prefix, backwards=True),
    )
    ends = {key for entries in outermost for key, _ in islice(entries, 1)}
    if len(ends) < 2:
        # Most players claim one value of a position.
        return ends
    between = (
        transaction.scan(TableName.CLAIMS, prefix + keys.NO_BOARD, backwards=True),
        transaction.scan(TableName.CLAIMS, prefix, start=prefix + keys.FIRST_BOARD),
    )
    return ends | {key for entries in between for key, _ in islice(entries, 1)}
