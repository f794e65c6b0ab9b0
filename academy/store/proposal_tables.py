"""Proposals in the tables: those held for a report, those of a contest, and those of a player."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from academy.knowledge.contests import Judgement, Verdict
from academy.store import keys
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.codec.proposals import PROPOSAL_ID_LENGTH, set_judgement
from academy.store.environment import TableName, Transaction
from academy.store.errors import StoreCorruptError
from academy.store.v1 import records_pb2
from academy.v1 import proposals_pb2

# How many proposals a listing looks through: 2,000 take about 8 ms.
MOST_LOOKED_AT: Final = 2_000
# After which no further one is listed, in bytes: clients take messages of 4 MiB.
_LONGEST_LISTING: Final = 3 << 20
# What stands for an arena that has had no contest yet.
NO_ARENA: Final = -1
# What becomes of the proposals of a void contest.
DROPPED_AS_VOID: Final = Judgement(Verdict.DROPPED, "the contest ended without a result")
# What becomes of proposals for a contest whose report was compacted.
DROPPED_AS_TOO_LATE: Final = Judgement(
    Verdict.DROPPED, "the contest was reported so long ago that its moves are no longer kept"
)


def find_proposal(transaction: Transaction, proposal_id: str) -> proposals_pb2.Proposal | None:
    """Return a proposal, or None."""
    stored = transaction.get(TableName.PROPOSALS, proposal_id.encode())
    return None if stored is None else unpack_message(proposals_pb2.Proposal, stored)


def proposal_record(transaction: Transaction, proposal_id: str) -> proposals_pb2.Proposal:
    """Return a proposal that an index names. Raises StoreCorruptError where it is missing."""
    proposal = find_proposal(transaction, proposal_id)
    if proposal is None:
        raise StoreCorruptError(f"proposal {proposal_id!r} is missing")
    return proposal


def proposals_of_contest(transaction: Transaction, contest_id: str) -> list[proposals_pb2.Proposal]:
    """Return the proposals of a contest in the order they were submitted."""
    index = transaction.scan(TableName.PROPOSALS_BY_CONTEST, keys.in_contest(contest_id))
    return [proposal_record(transaction, value[1:].decode()) for _, value in index]


@dataclass(frozen=True, slots=True)
class ProposalFilter:
    """Which proposals are meant: of a player by its identity, of a contest by the id it is kept under.

    Of those only these `verdicts`, of the arena of this number, and of this game; empty and None mean all.
    """

    player: str = ""
    contest_id: str = ""
    verdicts: frozenset[int] = frozenset()
    arena: int | None = None
    game_id: str = ""

    @property
    def leaves_out(self) -> bool:
        """Whether some of those that are looked at may not be meant."""
        return (
            bool(self.verdicts or self.game_id)
            or self.arena is not None
            or bool(self.contest_id and self.player)
        )

    def passes(self, proposal: proposals_pb2.Proposal) -> bool:
        """Whether a proposal is one of those meant."""
        return (
            self.player in ("", proposal.player)
            and self.game_id in ("", proposal.game_id)
            and (not self.verdicts or proposal.verdict in self.verdicts)
            and (self.arena is None or keys.arena_number(proposal.contest_id) == self.arena)
        )


def list_proposals(
    transaction: Transaction, wanted: ProposalFilter, start: bytes, most: int
) -> tuple[list[proposals_pb2.Proposal], bytes]:
    """Return up to `most` proposals from a place on, and the place of the next (empty: there is none).

    Those of a player or a contest come newest first; all others by contest, from the last to the first. At
    most `MOST_LOOKED_AT` are looked at, and listed what one answer holds: fewer may be found, and more after
    them.
    """
    if wanted.contest_id:
        table, prefix = TableName.PROPOSALS_BY_CONTEST, keys.in_contest(wanted.contest_id)
    elif wanted.player:
        table, prefix = TableName.PROPOSALS_BY_PLAYER, keys.player(wanted.player)
    else:
        table, prefix = TableName.PROPOSALS_BY_CONTEST, b""
    proposals: list[proposals_pb2.Proposal] = []
    room = _LONGEST_LISTING
    entries = transaction.scan(table, prefix, start=prefix + start if start else b"", backwards=True)
    for looked_at, (key, value) in enumerate(entries):
        if len(proposals) == most or looked_at == MOST_LOOKED_AT or room < 0:
            return proposals, key[len(prefix) :]
        proposal = proposal_record(transaction, value[-PROPOSAL_ID_LENGTH:].decode())
        if wanted.passes(proposal):
            proposals.append(proposal)
            room -= proposal.ByteSize()
    return proposals, b""


def proposers(transaction: Transaction) -> Iterator[str]:
    """Yield the players who proposed anything. Costs as much as there are players, not proposals."""
    start = b""
    while (entry := next(transaction.scan(TableName.PROPOSALS_BY_PLAYER, start=start), None)) is not None:
        key, value = entry
        yield proposal_record(transaction, value.decode()).player
        # No number of one player's proposals comes after this.
        start = key[: keys.PLAYER_BYTES] + b"\xff" * 9


def settle_proposal(
    transaction: Transaction,
    proposal: proposals_pb2.Proposal,
    judgement: Judgement,
    record: records_pb2.ContestRecord,
) -> None:
    """Write a verdict into a proposal, which is held no longer, and count it in its contest's record."""
    set_judgement(proposal, judgement)
    _put_proposal(transaction, proposal)
    transaction.delete(TableName.HELD_PROPOSALS, _held_key(proposal))
    accepted = judgement.verdict is not Verdict.DROPPED
    record.accepted += accepted
    record.dropped += not accepted


def count_held_proposals(transaction: Transaction, game_id: str) -> int:
    """Return how many proposals of a game wait for their contests' reports."""
    return sum(1 for _ in transaction.scan(TableName.HELD_PROPOSALS, keys.in_game(game_id)))


def add_proposal(transaction: Transaction, proposal: proposals_pb2.Proposal) -> None:
    """Store a new proposal, which is held, and enter it in the indexes."""
    proposal_id = proposal.proposal_id.encode()
    _put_proposal(transaction, proposal)
    transaction.put(TableName.HELD_PROPOSALS, _held_key(proposal))
    for table, prefix, value in (
        (
            TableName.PROPOSALS_BY_CONTEST,
            keys.in_contest(proposal.contest_id),
            bytes([proposal.seat]) + proposal_id,
        ),
        (TableName.PROPOSALS_BY_PLAYER, keys.player(proposal.player), proposal_id),
    ):
        newest = next(transaction.scan(table, prefix, backwards=True), None)
        number = 1 if newest is None else keys.last_number(newest[0]) + 1
        transaction.put(table, prefix + keys.number(number), value)


def _put_proposal(transaction: Transaction, proposal: proposals_pb2.Proposal) -> None:
    transaction.put(TableName.PROPOSALS, proposal.proposal_id.encode(), pack_message(proposal))


def _held_key(proposal: proposals_pb2.Proposal) -> bytes:
    return keys.in_game(proposal.game_id) + proposal.proposal_id.encode()


def count_proposals_of_seat(transaction: Transaction, contest_id: str, seat: int) -> int:
    """Return how many proposals a seat has made in a contest."""
    index = transaction.scan(TableName.PROPOSALS_BY_CONTEST, keys.in_contest(contest_id))
    return sum(value[0] == seat for _, value in index)
