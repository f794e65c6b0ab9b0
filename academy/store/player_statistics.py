"""Counts of what players did in the contests of a game: results, claims, proposals, patterns that helped."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final

from academy.knowledge.claims import Claim
from academy.knowledge.contests import Judgement, Verdict
from academy.knowledge.own_proposals import ACADEMY_PROPOSER
from academy.knowledge.settings import Library
from academy.store import keys
from academy.store.codec.games import pattern_library_from_proto
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.environment import TableName, Transaction
from academy.store.game_tables import game_record, list_game_ids
from academy.v1 import contests_pb2, events_pb2, libraries_pb2

# The name under which the sums of all figures are kept: no player has it.
EVERYBODY: Final = ""


def find_player_statistics(
    transaction: Transaction, game_id: str, player: str
) -> libraries_pb2.PlayerStatistics:
    """Return a player's figures; those of one who has not played yet are zero."""
    stored = transaction.get(TableName.PLAYER_STATISTICS, keys.rating(game_id, player))
    if stored is None:
        return libraries_pb2.PlayerStatistics(game_id=game_id, player=player)
    return unpack_message(libraries_pb2.PlayerStatistics, stored)


def statistics_in_all_games(transaction: Transaction, player: str) -> list[libraries_pb2.PlayerStatistics]:
    """Return a player's figures of the games that it has any in, by game."""
    games = list_game_ids(transaction)
    in_games = (find_player_statistics(transaction, game_id, player) for game_id in games)
    return [figures for figures in in_games if figures.contests or figures.helped]


def page_of_player_statistics(
    transaction: Transaction, game_id: str, player: str, after: bytes, most: int
) -> list[tuple[bytes, libraries_pb2.PlayerStatistics]]:
    """Return up to `most` players' figures of a game with their keys, those after a key, in the keys' order.

    With a player's identity only its own. Raises UnknownGameError.
    """
    game_record(transaction, game_id)
    if player:
        return [(b"", find_player_statistics(transaction, game_id, player))]
    start = after and after + b"\0"
    page = transaction.scan(TableName.PLAYER_STATISTICS, keys.in_game(game_id), start=start)
    everybody = keys.rating(game_id, EVERYBODY)
    players = ((key, stored) for key, stored in page if key != everybody)
    return [
        (key, unpack_message(libraries_pb2.PlayerStatistics, stored)) for key, stored in islice(players, most)
    ]


def count_contest(
    transaction: Transaction,
    reported: events_pb2.ContestReported,
    claims: Sequence[Sequence[Claim]],
    judgements: Sequence[Judgement],
    voters: Callable[[Library, int], Iterable[str]],
    new_openings: int,
) -> None:
    """Count a contest with its players' claims, what became of their proposals, and whose patterns helped.

    `voters` returns the players whose votes for a pattern count; `new_openings` are the positions that
    came to the opening tree.
    """
    game_id = reported.report.contest.game_id
    false = {claim.player: claim.false_claims for claim in reported.false_claims}
    elsewhere = {consultation.player for consultation in reported.false_consultations}
    for seat, player in enumerate(reported.report.contest.players, 1):
        figures = find_player_statistics(transaction, game_id, player.name)
        figures.contests += 1
        figures.contests_with_result += 1
        figures.new_openings += new_openings
        figures.successes += reported.report.results[seat - 1] != contests_pb2.RESULT_LOSS
        figures.claims += len(claims[seat - 1])
        figures.false_claims += false.get(seat, 0)
        figures.contests_with_false_claims += seat in false
        figures.contests_with_false_consultations += seat in elsewhere
        for proposal, judgement in zip(reported.proposals, judgements, strict=True):
            if proposal.seat == seat:
                _count_proposal(figures, judgement)
        _put_statistics(transaction, figures)
    _count_help(transaction, reported, voters)


def _count_help(
    transaction: Transaction,
    reported: events_pb2.ContestReported,
    voters: Callable[[Library, int], Iterable[str]],
) -> None:
    """Count help for each player that was given another's patterns, and for that other player."""
    game_id, players = reported.report.contest.game_id, reported.report.contest.players
    helpers: dict[int, set[str]] = {}
    for use in reported.uses:
        library = pattern_library_from_proto(use.library)
        known = helpers.setdefault(use.player, set())
        for pattern_id in use.pattern_ids:
            known.update(voters(library, pattern_id))
    for seat, names in sorted(helpers.items()):
        succeeded = reported.report.results[seat - 1] != contests_pb2.RESULT_LOSS
        others = sorted(names - {players[seat - 1].name, ACADEMY_PROPOSER})
        if others:
            figures = find_player_statistics(transaction, game_id, players[seat - 1].name)
            figures.helped_by_others += 1
            figures.helped_by_others_successes += succeeded
            _put_statistics(transaction, figures)
        for name in others:
            figures = find_player_statistics(transaction, game_id, name)
            figures.helped += 1
            figures.helped_successes += succeeded
            _put_statistics(transaction, figures)


def count_late_proposal(transaction: Transaction, game_id: str, player: str, judgement: Judgement) -> None:
    """Count a proposal that came after its contest's report."""
    figures = find_player_statistics(transaction, game_id, player)
    _count_proposal(figures, judgement)
    _put_statistics(transaction, figures)


def _count_proposal(figures: libraries_pb2.PlayerStatistics, judgement: Judgement) -> None:
    dropped = judgement.verdict is Verdict.DROPPED
    figures.dropped_proposals += dropped
    figures.accepted_proposals += not dropped


def _put_statistics(transaction: Transaction, figures: libraries_pb2.PlayerStatistics) -> None:
    before = find_player_statistics(transaction, figures.game_id, figures.player)
    total = find_player_statistics(transaction, figures.game_id, EVERYBODY)
    for field, value in figures.ListFields():
        if isinstance(value, int):
            change = value - getattr(before, field.name)
            setattr(total, field.name, getattr(total, field.name) + change)
    for changed in (figures, total):
        key = keys.rating(changed.game_id, changed.player)
        transaction.put(TableName.PLAYER_STATISTICS, key, pack_message(changed))
