"""Proposals in the tables, with their indexes by contest and by player, and the command that submits them."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from academy.knowledge.contests import Judgement, Verdict
from academy.store import keys
from academy.store.contest_records import proposal_from_proto, set_judgement
from academy.store.environment import Table, Transaction
from academy.store.errors import InvalidRecord, StoreCorrupt, TooManyProposals, UnknownContest
from academy.store.messages import packed, unpacked
from academy.store.v1 import records_pb2
from academy.store.working_games import Work
from academy.v1 import contests_pb2, events_pb2, proposals_pb2

ID_LENGTH: Final = 24
DROPPED_AS_VOID: Final = Judgement(Verdict.DROPPED, "the contest ended without a result")
"""What becomes of the proposals of a void contest."""

_Numbered = Iterator[tuple[int, proposals_pb2.Proposal]]


@dataclass(frozen=True, slots=True)
class SubmitProposals:
    """Hold a player's proposals until their contest is reported; judge them at once where it was.

    The result is the proposals in order, as they stand. The same proposal again (contest, seat, library, ply
    and cells) changes nothing. All of a call are taken or none. Raises TooManyProposals, UnknownContest,
    and InvalidRecord naming the proposal and field.
    """

    contest_id: str
    seat: int
    proposals: Sequence[proposals_pb2.NewProposal]
    actor: str

    def execute(self, work: Work) -> list[proposals_pb2.Proposal]:
        """Store the proposals."""
        stored = work.transaction.get(Table.CONTESTS, keys.contest(self.contest_id))
        if stored is None:
            raise UnknownContest(self.contest_id)
        record = unpacked(records_pb2.ContestRecord, stored)
        if not 1 <= self.seat <= len(record.seats):
            raise InvalidRecord("player", f"{self.seat} must be from 1 to {len(record.seats)}")
        told = [
            self._proposal(work, record.contest, content, place)
            for place, content in enumerate(self.proposals)
        ]
        fresh = {each.proposal_id: each for each in told if find(work.transaction, each.proposal_id) is None}
        allowed = work.knowledge(record.contest.game_id).settings.max_submissions_per_contest
        earlier = _count_of_seat(work.transaction, self.contest_id, self.seat)
        if fresh and earlier + len(fresh) > allowed:
            raise TooManyProposals(earlier, len(fresh), allowed)
        for proposal in fresh.values():
            _add(work.transaction, proposal)
            if record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
                accepted = settle(work.transaction, proposal, self._judge_late(work, record, proposal))
                record.accepted += accepted
                record.dropped += not accepted
        if fresh and record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
            work.transaction.put(Table.CONTESTS, keys.contest(self.contest_id), packed(record))
        return [get(work.transaction, proposal.proposal_id) for proposal in told]

    def _proposal(
        self,
        work: Work,
        contest: contests_pb2.Contest,
        content: proposals_pb2.NewProposal,
        place: int,
    ) -> proposals_pb2.Proposal:
        spec = work.knowledge(contest.game_id).spec
        proposal = proposals_pb2.Proposal(
            contest_id=contest.contest_id,
            game_id=contest.game_id,
            player=contest.players[self.seat - 1].name,
            seat=self.seat,
            content=content,
            verdict=proposals_pb2.VERDICT_HELD,
            create_time=work.time,
        )
        pattern = proposal_from_proto(proposal, spec, f"proposals[{place}]").pattern
        # By the pattern, not its text: blanks between cells make no other proposal.
        cells = repr((pattern.cells, pattern.codes))
        identity = repr((contest.contest_id, self.seat, content.library, content.ply, cells))
        proposal.proposal_id = hashlib.blake2b(identity.encode(), digest_size=ID_LENGTH // 2).hexdigest()
        return proposal

    def _judge_late(
        self, work: Work, record: records_pb2.ContestRecord, proposal: proposals_pb2.Proposal
    ) -> Judgement:
        if record.contest.state == contests_pb2.CONTEST_STATE_VOID:
            return DROPPED_AS_VOID
        event = events_pb2.Event(
            game_id=record.contest.game_id,
            actor=self.actor,
            proposal_judged=events_pb2.ProposalJudged(proposal=proposal, report_event=record.event),
        )
        return work.record(event)[1].judgements[0]


def find(transaction: Transaction, proposal_id: str) -> proposals_pb2.Proposal | None:
    """Return a proposal, or None."""
    stored = transaction.get(Table.PROPOSALS, proposal_id.encode())
    return None if stored is None else unpacked(proposals_pb2.Proposal, stored)


def get(transaction: Transaction, proposal_id: str) -> proposals_pb2.Proposal:
    """Return a proposal that an index names. Raises StoreCorrupt where it is missing."""
    proposal = find(transaction, proposal_id)
    if proposal is None:
        raise StoreCorrupt(f"proposal {proposal_id!r} is missing")
    return proposal


def of_contest(transaction: Transaction, contest_id: str) -> list[proposals_pb2.Proposal]:
    """Return the proposals of a contest in the order they were submitted."""
    index = transaction.scan(Table.PROPOSALS_BY_CONTEST, keys.in_contest(contest_id))
    return [get(transaction, value[1:].decode()) for _, value in index]


def of_player(
    transaction: Transaction, player: str, *, before: int = 0, most: int, contest_id: str = ""
) -> tuple[list[proposals_pb2.Proposal], int]:
    """Return a player's proposals, newest first, and what to pass as `before` for more (0: there are none).

    `contest_id` leaves only those of a contest.
    """
    numbered = _of_contest_backwards if contest_id else _of_player_backwards
    found: list[proposals_pb2.Proposal] = []
    last = 0
    if before != 1:
        for number, proposal in numbered(transaction, contest_id or player, before):
            if proposal.player != player:
                continue
            if len(found) == most:
                return found, last
            found.append(proposal)
            last = number
    return found, 0


def _of_player_backwards(transaction: Transaction, player: str, before: int) -> _Numbered:
    prefix = keys.player(player)
    start = prefix + keys.number(before - 1) if before else b""
    for key, value in transaction.scan(Table.PROPOSALS_BY_PLAYER, prefix, start=start, backwards=True):
        yield keys.last_number(key), get(transaction, value.decode())


def _of_contest_backwards(transaction: Transaction, contest_id: str, before: int) -> _Numbered:
    prefix = keys.in_contest(contest_id)
    start = prefix + keys.number(before - 1) if before else b""
    for key, value in transaction.scan(Table.PROPOSALS_BY_CONTEST, prefix, start=start, backwards=True):
        yield keys.last_number(key), get(transaction, value[1:].decode())


def settle(transaction: Transaction, proposal: proposals_pb2.Proposal, judgement: Judgement) -> bool:
    """Write a verdict into a proposal, which is held no longer. Returns whether it was taken in."""
    set_judgement(proposal, judgement)
    _put(transaction, proposal)
    transaction.delete(Table.HELD_PROPOSALS, _held_key(proposal))
    return judgement.verdict is not Verdict.DROPPED


def count_held(transaction: Transaction, game_id: str) -> int:
    """Return how many proposals of a game wait for their contests' reports."""
    return sum(1 for _ in transaction.scan(Table.HELD_PROPOSALS, keys.in_game(game_id)))


def _add(transaction: Transaction, proposal: proposals_pb2.Proposal) -> None:
    proposal_id = proposal.proposal_id.encode()
    _put(transaction, proposal)
    transaction.put(Table.HELD_PROPOSALS, _held_key(proposal))
    for table, prefix, value in (
        (
            Table.PROPOSALS_BY_CONTEST,
            keys.in_contest(proposal.contest_id),
            bytes([proposal.seat]) + proposal_id,
        ),
        (Table.PROPOSALS_BY_PLAYER, keys.player(proposal.player), proposal_id),
    ):
        newest = next(transaction.scan(table, prefix, backwards=True), None)
        number = 1 if newest is None else keys.last_number(newest[0]) + 1
        transaction.put(table, prefix + keys.number(number), value)


def _put(transaction: Transaction, proposal: proposals_pb2.Proposal) -> None:
    transaction.put(Table.PROPOSALS, proposal.proposal_id.encode(), packed(proposal))


def _held_key(proposal: proposals_pb2.Proposal) -> bytes:
    return keys.in_game(proposal.game_id) + proposal.proposal_id.encode()


def _count_of_seat(transaction: Transaction, contest_id: str, seat: int) -> int:
    index = transaction.scan(Table.PROPOSALS_BY_CONTEST, keys.in_contest(contest_id))
    return sum(value[0] == seat for _, value in index)
