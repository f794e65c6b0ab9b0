"""What players did in the contests of a game: counted with each report, for admins and the players to read.

No rule of learning looks at these figures, so they are no part of what is made again from the log.
"""

from collections.abc import Sequence

from academy.knowledge.contests import Judgement, Verdict
from academy.knowledge.fair_use import Claim
from academy.store import keys
from academy.store.codec import pack_message, unpack_message
from academy.store.environment import TableName, Transaction
from academy.v1 import events_pb2, libraries_pb2


def find(transaction: Transaction, game_id: str, player: str) -> libraries_pb2.PlayerStatistics:
    """Return a player's figures; those of one who has not played yet are zero."""
    stored = transaction.get(TableName.PLAYER_STATISTICS, keys.rating(game_id, player))
    if stored is None:
        return libraries_pb2.PlayerStatistics(game_id=game_id, player=player)
    return unpack_message(libraries_pb2.PlayerStatistics, stored)


def page(
    transaction: Transaction, game_id: str, after: bytes, most: int
) -> list[tuple[bytes, libraries_pb2.PlayerStatistics]]:
    """Return up to `most` players' figures with their keys, those after a key, in the order of the keys."""
    prefix = keys.in_game(game_id)
    found = []
    for key, stored in transaction.scan(TableName.PLAYER_STATISTICS, prefix, start=after and after + b"\0"):
        found.append((key, unpack_message(libraries_pb2.PlayerStatistics, stored)))
        if len(found) == most:
            break
    return found


def count_contest(
    transaction: Transaction,
    reported: events_pb2.ContestReported,
    claims: Sequence[Sequence[Claim]],
    judgements: Sequence[Judgement],
) -> None:
    """Count a contest with its players' claims and what became of their proposals."""
    game_id = reported.report.contest.game_id
    false = {each.player: each.false_claims for each in reported.false_claims}
    elsewhere = {each.player for each in reported.false_consultations}
    for seat, player in enumerate(reported.report.contest.players, 1):
        figures = find(transaction, game_id, player.name)
        figures.contests += 1
        figures.claims += len(claims[seat - 1])
        figures.false_claims += false.get(seat, 0)
        figures.contests_with_false_claims += seat in false
        figures.contests_with_false_consultations += seat in elsewhere
        for proposal, judgement in zip(reported.proposals, judgements, strict=True):
            if proposal.seat == seat:
                _count_proposal(figures, judgement)
        _put(transaction, figures)


def count_late_proposal(transaction: Transaction, game_id: str, player: str, judgement: Judgement) -> None:
    """Count a proposal that came after its contest's report."""
    figures = find(transaction, game_id, player)
    _count_proposal(figures, judgement)
    _put(transaction, figures)


def _count_proposal(figures: libraries_pb2.PlayerStatistics, judgement: Judgement) -> None:
    dropped = judgement.verdict is Verdict.DROPPED
    figures.dropped_proposals += dropped
    figures.accepted_proposals += not dropped


def _put(transaction: Transaction, figures: libraries_pb2.PlayerStatistics) -> None:
    key = keys.rating(figures.game_id, figures.player)
    transaction.put(TableName.PLAYER_STATISTICS, key, pack_message(figures))
