"""Proposals in the tables, with their indexes by contest and by player."""

from typing import Final

from academy.knowledge.contests import Judgement, Verdict
from academy.store import keys
from academy.store.contest_records import set_judgement
from academy.store.environment import Table, Transaction
from academy.store.errors import StoreCorrupt
from academy.store.messages import packed, unpacked
from academy.v1 import proposals_pb2

ID_LENGTH: Final = 24
DROPPED_AS_VOID: Final = Judgement(Verdict.DROPPED, "the contest ended without a result")
"""What becomes of the proposals of a void contest."""
DROPPED_AS_TOO_LATE: Final = Judgement(
    Verdict.DROPPED, "the contest was reported so long ago that its moves are no longer kept"
)
"""What becomes of proposals for a contest whose report was given up for a snapshot."""


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
    if contest_id:
        table, prefix = Table.PROPOSALS_BY_CONTEST, keys.in_contest(contest_id)
    else:
        table, prefix = Table.PROPOSALS_BY_PLAYER, keys.player(player)
    start = prefix + keys.number(before - 1) if before else b""
    found: list[proposals_pb2.Proposal] = []
    last = 0
    if before != 1:
        for key, value in transaction.scan(table, prefix, start=start, backwards=True):
            proposal = get(transaction, (value[1:] if contest_id else value).decode())
            if proposal.player != player:
                continue
            if len(found) == most:
                return found, last
            found.append(proposal)
            last = keys.last_number(key)
    return found, 0


def settle(transaction: Transaction, proposal: proposals_pb2.Proposal, judgement: Judgement) -> bool:
    """Write a verdict into a proposal, which is held no longer. Returns whether it was taken in."""
    set_judgement(proposal, judgement)
    _put(transaction, proposal)
    transaction.delete(Table.HELD_PROPOSALS, _held_key(proposal))
    return judgement.verdict is not Verdict.DROPPED


def count_held(transaction: Transaction, game_id: str) -> int:
    """Return how many proposals of a game wait for their contests' reports."""
    return sum(1 for _ in transaction.scan(Table.HELD_PROPOSALS, keys.in_game(game_id)))


def add(transaction: Transaction, proposal: proposals_pb2.Proposal) -> None:
    """Store a new proposal, which is held, and enter it in the indexes."""
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


def count_of_seat(transaction: Transaction, contest_id: str, seat: int) -> int:
    """Return how many proposals a seat has made in a contest."""
    index = transaction.scan(Table.PROPOSALS_BY_CONTEST, keys.in_contest(contest_id))
    return sum(value[0] == seat for _, value in index)
