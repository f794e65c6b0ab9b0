"""Patterns and the votes for them as protobuf messages, and back."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Final

from academy.knowledge.pattern_entry import PatternEntry, UseCount, check_entry
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells, write_cells
from academy.knowledge.votes import (
    ELO_SCALE,
    MAX_ELO,
    MAX_SEPARATE_VOTES,
    MAX_SILENT_VOTES,
    VALUE_SCALE,
    AggregatedVotes,
    Signature,
    Vote,
    VoteTally,
    digest,
)
from academy.store import keys
from academy.store.codec.field_rules import MOST_NUMBER, check_most, naming
from academy.store.codec.games import library_to_proto, pattern_library_from_proto
from academy.store.codec.packing import unpack_message
from academy.store.errors import InvalidRecordError
from academy.v1 import pattern_pb2

_OF_VOTE: Final = [column.name for column in fields(Vote)]
_MAX_ELO_HUNDREDTHS: Final = round(MAX_ELO * ELO_SCALE)
# The bound of an imported pattern: its counts, stored as 64 bits, leave room for what is added later.
_MOST_USES: Final = 10**11


def entry_to_proto(entry: PatternEntry, library: Library, spec: GameSpec) -> pattern_pb2.PatternRecord:
    """Write a pattern of a library, without derived figures."""
    votes = entry.votes
    return pattern_pb2.PatternRecord(
        game_id=spec.game_id,
        library=library_to_proto(library),
        pattern_id=entry.pattern_id,
        cells=write_cells(entry.pattern, spec.geometry),
        player=entry.player,
        votes=map(_vote_to_proto, votes.counted),
        folded=_folded_to_proto(votes.folded) if votes.folded.votes else None,
        uses=entry.uses,
        successes=entry.successes,
        last_contest=entry.last_contest,
        last_contest_id=entry.last_contest_id,
        silent_votes=map(_vote_to_proto, votes.silent),
        changers=sorted(entry.changers),
    )


def entries_to_proto(
    entries: Iterable[tuple[Library, PatternEntry]], spec: GameSpec
) -> list[pattern_pb2.PatternRecord]:
    """Write patterns of several libraries."""
    return [entry_to_proto(entry, library, spec) for library, entry in entries]


def entries_from_proto(
    records: Iterable[pattern_pb2.PatternRecord], spec: GameSpec
) -> list[tuple[Library, PatternEntry]]:
    """Read patterns of several libraries. Raises InvalidRecordError naming the record."""
    return [
        (pattern_library_from_proto(record.library), entry_from_proto(record, spec, f"patterns[{place}]"))
        for place, record in enumerate(records)
    ]


def entry_with_figures(entry: PatternEntry, library: Library, spec: GameSpec) -> pattern_pb2.PatternRecord:
    """Write a pattern of a library with its signature and strength."""
    record = entry_to_proto(entry, library, spec)
    record.signature.CopyFrom(signature_to_proto(entry.signature))
    record.strength = entry.strength
    return record


def set_votes(record: pattern_pb2.PatternRecord, votes: VoteTally) -> None:
    """Put the votes that are kept apart, and the silent ones, in place of a record's."""
    del record.votes[:], record.silent_votes[:]
    record.votes.extend(map(_vote_to_proto, votes.counted))
    record.silent_votes.extend(map(_vote_to_proto, votes.silent))


def _vote_to_proto(vote: Vote) -> pattern_pb2.Vote:
    return pattern_pb2.Vote(**{name: getattr(vote, name) for name in _OF_VOTE})


def _folded_to_proto(folded: AggregatedVotes) -> pattern_pb2.FoldedVotes:
    return pattern_pb2.FoldedVotes(
        votes=folded.votes,
        elo_hundredths=folded.elo_hundredths,
        weight=folded.weight,
        weighted_value=folded.weighted_value,
        players=sorted(folded.players),
    )


def signature_to_proto(signature: Signature) -> pattern_pb2.Signature:
    """Write a signature."""
    return pattern_pb2.Signature(
        proposers=signature.proposers, elo=signature.elo, value=signature.value, player=signature.player
    )


def signature_from_proto(message: pattern_pb2.Signature) -> Signature:
    """Read a signature that ACADEMY wrote."""
    return Signature(message.proposers, message.elo, message.value, message.player)


def proposed_by(stored: bytes, player: str) -> bool:
    """Return whether a stored pattern has a player's vote, silent or not, without reading the rest.

    Raises StoreCorruptError.
    """
    record = unpack_message(pattern_pb2.PatternRecord, stored)
    votes = itertools.chain(record.votes, record.silent_votes)
    return any(vote.player == player for vote in votes) or digest(player) in record.folded.players


def stored_cells(stored: bytes) -> str:
    """Return the cells of a stored pattern in the text language, not read further.

    Raises StoreCorruptError.
    """
    return unpack_message(pattern_pb2.PatternRecord, stored).cells


def use_count(stored: bytes) -> UseCount:
    """Return how often a stored pattern was used; it is not read further. Raises StoreCorruptError."""
    record = unpack_message(pattern_pb2.PatternRecord, stored)
    return UseCount(
        record.pattern_id, record.uses, record.successes, record.last_contest, record.last_contest_id
    )


def check_counts(record: pattern_pb2.PatternRecord, field: str) -> None:
    """Check the number and the counts of a pattern from elsewhere. Raises InvalidRecordError.

    More patterns can be numbered after it, and more uses and contests counted.
    """
    check_most(f"{field}.pattern_id", record.pattern_id, MOST_NUMBER)
    check_most(f"{field}.uses", record.uses, _MOST_USES)
    check_most(f"{field}.last_contest", record.last_contest, _MOST_USES)


def entry_from_proto(
    record: pattern_pb2.PatternRecord, spec: GameSpec, field: str = "pattern"
) -> PatternEntry:
    """Read a pattern of a library; derived figures do not matter.

    Raises InvalidRecordError naming the field.
    """
    votes = votes_from_proto(record, field)
    if record.successes > record.uses:
        raise InvalidRecordError(f"{field}.successes", f"{record.successes} of only {record.uses} uses")
    with naming(f"{field}.cells"):
        pattern = read_cells(record.cells, spec.geometry)
    entry = PatternEntry(
        pattern_id=record.pattern_id,
        pattern=pattern,
        player=record.player,
        votes=votes,
        uses=record.uses,
        successes=record.successes,
        last_contest=record.last_contest,
        last_contest_id=record.last_contest_id,
        changers=frozenset(record.changers),
    )
    with naming(field):
        check_entry(entry, spec)
    return entry


def votes_from_proto(record: pattern_pb2.PatternRecord, field: str = "pattern") -> VoteTally:
    """Read the votes for a pattern, which is not read further. Raises InvalidRecordError naming the field."""
    votes = _votes(record.votes, f"{field}.votes", MAX_SEPARATE_VOTES)
    silent = _votes(record.silent_votes, f"{field}.silent_votes", MAX_SILENT_VOTES)
    return VoteTally(votes, _folded(record.folded, f"{field}.folded"), silent)


def _votes(given: Sequence[pattern_pb2.Vote], field: str, most: int) -> tuple[Vote, ...]:
    if len(given) > most:
        raise InvalidRecordError(field, f"{len(given)} given; at most {most}")
    votes = tuple(_vote(vote, f"{field}[{place}]") for place, vote in enumerate(given))
    if len({vote.player for vote in votes}) != len(votes):
        raise InvalidRecordError(field, "a player has more than one vote")
    return votes


def _vote(vote: pattern_pb2.Vote, field: str) -> Vote:
    keys.check_voter_name(f"{field}.player", vote.player)
    if abs(vote.elo_hundredths) > _MAX_ELO_HUNDREDTHS:
        raise InvalidRecordError(f"{field}.elo_hundredths", f"{vote.elo_hundredths} is out of range")
    if vote.value_millionths > VALUE_SCALE:
        raise InvalidRecordError(
            f"{field}.value_millionths", f"{vote.value_millionths} is above {VALUE_SCALE:,}"
        )
    return Vote(vote.player, vote.elo_hundredths, vote.value_millionths, vote.event, vote.order)


def _folded(folded: pattern_pb2.FoldedVotes, field: str) -> AggregatedVotes:
    if len(set(folded.players)) != folded.votes:
        raise InvalidRecordError(
            f"{field}.players", f"{len(set(folded.players))} digests for {folded.votes} votes"
        )
    if abs(folded.elo_hundredths) > folded.votes * _MAX_ELO_HUNDREDTHS:
        raise InvalidRecordError(f"{field}.elo_hundredths", f"{folded.elo_hundredths} is out of range")
    if not folded.votes * ELO_SCALE <= folded.weight <= folded.votes * _MAX_ELO_HUNDREDTHS:
        raise InvalidRecordError(
            f"{field}.weight", f"{folded.weight} is out of range for {folded.votes} votes"
        )
    if folded.weighted_value > folded.weight * VALUE_SCALE:
        raise InvalidRecordError(
            f"{field}.weighted_value", f"{folded.weighted_value} is more than its weight"
        )
    return AggregatedVotes(
        folded.votes, folded.elo_hundredths, folded.weight, folded.weighted_value, frozenset(folded.players)
    )
