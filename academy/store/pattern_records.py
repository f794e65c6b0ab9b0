"""Patterns and opening nodes as protobuf messages, and back.

Stored messages leave out what follows from the rest; `with_figures` adds it for readers.
"""

import itertools
from collections.abc import Sequence
from typing import Final

from academy.knowledge.library import PatternEntry, UseCount, check_entry
from academy.knowledge.openings import ROOT, OpeningNode
from academy.knowledge.patterns import InvalidPattern, Pattern
from academy.knowledge.settings import Library
from academy.knowledge.signatures import (
    ELO_SCALE,
    MAX_ELO,
    MAX_SEPARATE_VOTES,
    MAX_SILENT_VOTES,
    VALUE_SCALE,
    Ballot,
    Folded,
    Vote,
    digest,
)
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells, write_cells
from academy.store import keys
from academy.store.contest_records import MAX_MOVE_LENGTH
from academy.store.errors import InvalidRecord
from academy.store.game_records import library_to_proto
from academy.store.messages import unpacked
from academy.v1 import pattern_pb2

_MAX_ELO_HUNDREDTHS: Final = round(MAX_ELO * ELO_SCALE)


def entry_to_proto(entry: PatternEntry, library: Library, spec: GameSpec) -> pattern_pb2.PatternRecord:
    """Write a pattern of a library, without derived figures."""
    ballot = entry.ballot
    return pattern_pb2.PatternRecord(
        game_id=spec.game_id,
        library=library_to_proto(library),
        pattern_id=entry.pattern_id,
        cells=write_cells(entry.pattern, spec.geometry),
        player=entry.player,
        votes=map(_vote_to_proto, ballot.votes),
        folded=_folded_to_proto(ballot.folded) if ballot.folded.votes else None,
        uses=entry.uses,
        successes=entry.successes,
        last_contest=entry.last_contest,
        last_contest_id=entry.last_contest_id,
        silent_votes=map(_vote_to_proto, ballot.silent),
        changers=sorted(entry.changers),
    )


def _vote_to_proto(vote: Vote) -> pattern_pb2.Vote:
    return pattern_pb2.Vote(
        player=vote.player,
        elo_hundredths=vote.elo_hundredths,
        value_millionths=vote.value_millionths,
        event=vote.event,
        order=vote.order,
    )


def _folded_to_proto(folded: Folded) -> pattern_pb2.FoldedVotes:
    return pattern_pb2.FoldedVotes(
        votes=folded.votes,
        elo_hundredths=folded.elo_hundredths,
        weight=folded.weight,
        weighted_value=folded.weighted_value,
        players=sorted(folded.players),
    )


def with_figures(record: pattern_pb2.PatternRecord, entry: PatternEntry) -> pattern_pb2.PatternRecord:
    """Add a pattern's signature and strength to its message, which is returned."""
    signature = entry.signature
    record.signature.proposers = signature.proposers
    record.signature.elo = signature.elo
    record.signature.value = signature.value
    record.signature.player = signature.player
    record.strength = entry.strength
    return record


def proposed_by(stored: bytes, player: str) -> bool:
    """Whether a player's vote, silent or not, is in a stored pattern, which is not read further.

    Raises StoreCorrupt.
    """
    record = unpacked(pattern_pb2.PatternRecord, stored)
    votes = itertools.chain(record.votes, record.silent_votes)
    return any(vote.player == player for vote in votes) or digest(player) in record.folded.players


def stored_cells(stored: bytes) -> str:
    """Return the cells of a stored pattern in the text language, not read further. Raises StoreCorrupt."""
    return unpacked(pattern_pb2.PatternRecord, stored).cells


def use_count(stored: bytes) -> UseCount:
    """Return how often a stored pattern was used; it is not read further. Raises StoreCorrupt."""
    record = unpacked(pattern_pb2.PatternRecord, stored)
    return UseCount(
        record.pattern_id, record.uses, record.successes, record.last_contest, record.last_contest_id
    )


def entry_from_proto(
    record: pattern_pb2.PatternRecord, spec: GameSpec, field: str = "pattern"
) -> PatternEntry:
    """Read a pattern of a library; derived figures do not matter. Raises InvalidRecord naming the field."""
    ballot = ballot_from_proto(record, field)
    if record.successes > record.uses:
        raise InvalidRecord(f"{field}.successes", f"{record.successes} of only {record.uses} uses")
    entry = PatternEntry(
        pattern_id=record.pattern_id,
        pattern=_pattern(record.cells, spec, f"{field}.cells"),
        player=record.player,
        ballot=ballot,
        uses=record.uses,
        successes=record.successes,
        last_contest=record.last_contest,
        last_contest_id=record.last_contest_id,
        changers=frozenset(record.changers),
    )
    try:
        check_entry(entry, spec)
    except InvalidPattern as fault:
        raise InvalidRecord(field, str(fault)) from fault
    return entry


def ballot_from_proto(record: pattern_pb2.PatternRecord, field: str = "pattern") -> Ballot:
    """Read the votes for a pattern, which is not read further. Raises InvalidRecord naming the field."""
    votes = _votes(record.votes, f"{field}.votes", MAX_SEPARATE_VOTES)
    silent = _votes(record.silent_votes, f"{field}.silent_votes", MAX_SILENT_VOTES)
    return Ballot(votes, _folded(record.folded, f"{field}.folded"), silent)


def _votes(given: Sequence[pattern_pb2.Vote], field: str, most: int) -> tuple[Vote, ...]:
    if len(given) > most:
        raise InvalidRecord(field, f"{len(given)} given; at most {most}")
    votes = tuple(_vote(vote, f"{field}[{place}]") for place, vote in enumerate(given))
    if len({vote.player for vote in votes}) != len(votes):
        raise InvalidRecord(field, "a player has more than one vote")
    return votes


def _pattern(cells: str, spec: GameSpec, field: str) -> Pattern:
    try:
        return read_cells(cells, spec.geometry)
    except InvalidPattern as fault:
        raise InvalidRecord(field, str(fault)) from fault


def _vote(vote: pattern_pb2.Vote, field: str) -> Vote:
    keys.check_voter_name(f"{field}.player", vote.player)
    if abs(vote.elo_hundredths) > _MAX_ELO_HUNDREDTHS:
        raise InvalidRecord(f"{field}.elo_hundredths", f"{vote.elo_hundredths} is out of range")
    if vote.value_millionths > VALUE_SCALE:
        raise InvalidRecord(f"{field}.value_millionths", f"{vote.value_millionths} is above {VALUE_SCALE:,}")
    return Vote(vote.player, vote.elo_hundredths, vote.value_millionths, vote.event, vote.order)


def _folded(folded: pattern_pb2.FoldedVotes, field: str) -> Folded:
    if len(set(folded.players)) != folded.votes:
        raise InvalidRecord(
            f"{field}.players", f"{len(set(folded.players))} digests for {folded.votes} votes"
        )
    if abs(folded.elo_hundredths) > folded.votes * _MAX_ELO_HUNDREDTHS:
        raise InvalidRecord(f"{field}.elo_hundredths", f"{folded.elo_hundredths} is out of range")
    if not folded.votes * ELO_SCALE <= folded.weight <= folded.votes * _MAX_ELO_HUNDREDTHS:
        raise InvalidRecord(f"{field}.weight", f"{folded.weight} is out of range for {folded.votes} votes")
    if folded.weighted_value > folded.weight * VALUE_SCALE:
        raise InvalidRecord(f"{field}.weighted_value", f"{folded.weighted_value} is more than its weight")
    return Folded(
        folded.votes,
        folded.elo_hundredths,
        folded.weight,
        folded.weighted_value,
        frozenset(folded.players),
    )


def node_to_proto(node: OpeningNode, game_id: str) -> pattern_pb2.OpeningNodeRecord:
    """Write a node of the opening tree."""
    return pattern_pb2.OpeningNodeRecord(
        game_id=game_id,
        node_id=node.node_id,
        parent_id=node.parent_id,
        move=node.move,
        depth=node.depth,
        visits=node.visits,
        wins=node.wins,
        draws=node.draws,
        losses=node.losses,
        value_millionths=node.value_millionths,
        values=node.values,
        elo_hundredths=node.elo_hundredths,
        mover=node.mover,
    )


def check_results(record: pattern_pb2.OpeningNodeRecord, field: str = "node") -> None:
    """Check that a node from elsewhere has a result for each visit and player. Raises InvalidRecord."""
    for player, counts in enumerate(zip(record.wins, record.draws, record.losses, strict=False), 1):
        if sum(counts) != record.visits:
            raise InvalidRecord(
                f"{field}.visits",
                f"{record.visits}, but wins, draws and losses of player {player} add up to {sum(counts)}; "
                "every visit has one result for each player",
            )


def node_from_proto(
    record: pattern_pb2.OpeningNodeRecord, spec: GameSpec, field: str = "node"
) -> OpeningNode:
    """Read a node of the opening tree. Raises InvalidRecord naming the field."""
    for name in ("wins", "draws", "losses", "value_millionths"):
        given = len(getattr(record, name))
        if given != spec.players:
            raise InvalidRecord(f"{field}.{name}", f"{given} numbers given for {spec.players} players")
    if (record.node_id == ROOT) != (record.depth == 0):
        raise InvalidRecord(f"{field}.depth", f"{record.depth} at node {record.node_id}: the root, 0, has 0")
    if record.node_id != ROOT:
        if not 1 <= len(record.move) <= MAX_MOVE_LENGTH:
            raise InvalidRecord(f"{field}.move", f"must have 1 to {MAX_MOVE_LENGTH:,} characters")
        if not 1 <= record.mover <= spec.players:
            raise InvalidRecord(f"{field}.mover", f"{record.mover} must be from 1 to {spec.players}")
    if any(value > record.visits * VALUE_SCALE for value in record.value_millionths):
        raise InvalidRecord(f"{field}.value_millionths", f"more than {record.visits} visits can sum up to")
    return OpeningNode(
        node_id=record.node_id,
        parent_id=record.parent_id,
        move=record.move,
        depth=record.depth,
        mover=record.mover,
        visits=record.visits,
        wins=tuple(record.wins),
        draws=tuple(record.draws),
        losses=tuple(record.losses),
        value_millionths=tuple(record.value_millionths),
        values=record.values,
        elo_hundredths=record.elo_hundredths,
    )
