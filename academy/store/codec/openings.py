"""Nodes of opening trees and their analyses as protobuf messages, and back."""

from dataclasses import fields
from typing import Final

from academy.knowledge.node_analysis import MAX_BUDGET, NodeAnalysis, SearchKind
from academy.knowledge.opening_node import LevelVisits, OpeningNode
from academy.knowledge.openings import ROOT
from academy.knowledge.spec import GameSpec
from academy.knowledge.votes import ELO_SCALE, MAX_ELO, VALUE_SCALE
from academy.store import keys
from academy.store.codec.field_rules import MAX_MOVE_LENGTH, MOST_NUMBER, check_most
from academy.store.errors import InvalidRecordError
from academy.v1 import pattern_pb2

# What a record and its message have by the same names.
_OF_NODE: Final = [
    column.name for column in fields(OpeningNode) if column.name not in ("analysis", "level", "weaker")
]
_OF_LEVEL: Final = [column.name for column in fields(LevelVisits)]
# The bound of an imported node: the sums, which are stored as 64 bits, leave room for what is added later.
MOST_VISITS: Final = 10**9
# The levels of the Elos that a new contest's players may have.
_GREATEST_LEVEL: Final = 60
_BY_PLAYER: Final = ("wins", "draws", "losses", "value_millionths")


def node_to_proto(node: OpeningNode, game_id: str) -> pattern_pb2.OpeningNodeRecord:
    """Write a node of the opening tree."""
    record = pattern_pb2.OpeningNodeRecord(
        game_id=game_id, level=node.level, **{name: getattr(node, name) for name in _OF_NODE}
    )
    for part in node.weaker:
        record.weaker.add(**{name: getattr(part, name) for name in _OF_LEVEL})
    if node.analysis is not None:
        record.analysis.CopyFrom(analysis_to_proto(node.analysis))
    return record


def analysis_to_proto(analysis: NodeAnalysis) -> pattern_pb2.NodeAnalysis:
    """Write what a search found out about a node."""
    return pattern_pb2.NodeAnalysis(
        value_millionths=analysis.value_millionths,
        budget=analysis.budget,
        analyst=analysis.analyst,
        kind=analysis.kind.value,  # type: ignore[arg-type]
    )


def analysis_from_proto(message: pattern_pb2.NodeAnalysis, field: str) -> NodeAnalysis:
    """Read what a search found out about a node. Raises InvalidRecordError naming the field."""
    if message.value_millionths > VALUE_SCALE:
        raise InvalidRecordError(
            f"{field}.value_millionths", f"{message.value_millionths} is above {VALUE_SCALE:,}"
        )
    if not 1 <= message.budget <= MAX_BUDGET:
        raise InvalidRecordError(f"{field}.budget", f"{message.budget:,} must be from 1 to {MAX_BUDGET:,}")
    keys.check_voter_name(f"{field}.analyst", message.analyst)
    kind = search_kind_from_proto(message.kind, f"{field}.kind")
    return NodeAnalysis(message.value_millionths, message.budget, message.analyst, kind)


def search_kind_from_proto(kind: int, field: str) -> SearchKind:
    """Read how a position was searched; the first analysts did not say, and played random games.

    Raises InvalidRecordError naming the field.
    """
    try:
        return SearchKind(kind) if kind else SearchKind.RANDOM_GAMES
    except ValueError:
        raise InvalidRecordError(field, f"{kind} is not one of {[*map(int, SearchKind)]}") from None


def check_figures(record: pattern_pb2.OpeningNodeRecord, field: str = "node") -> None:
    """Check the figures of a node from elsewhere. Raises InvalidRecordError.

    More visits can be added to them, each has a result for each player, and an Elo that players may have;
    more nodes can be numbered after it.
    """
    check_most(f"{field}.node_id", record.node_id, MOST_NUMBER)
    check_most(f"{field}.visits", record.visits, MOST_VISITS)
    check_most(f"{field}.values", record.values, record.visits)
    for level in (record.level, *(part.level for part in record.weaker)):
        if abs(level) > _GREATEST_LEVEL:
            raise InvalidRecordError(
                f"{field}.level", f"{level} must be from -{_GREATEST_LEVEL} to {_GREATEST_LEVEL}"
            )
    if abs(record.elo_hundredths) > record.visits * MAX_ELO * ELO_SCALE:
        raise InvalidRecordError(
            f"{field}.elo_hundredths",
            f"{record.elo_hundredths}, more than {record.visits} visits of {MAX_ELO:,.0f} Elo sum up to",
        )
    for player, counts in enumerate(zip(record.wins, record.draws, record.losses, strict=False), 1):
        if sum(counts) != record.visits:
            raise InvalidRecordError(
                f"{field}.visits",
                f"{record.visits}, but wins, draws and losses of player {player} add up to {sum(counts)}; "
                "every visit has one result for each player",
            )


def node_from_proto(
    record: pattern_pb2.OpeningNodeRecord, spec: GameSpec, field: str = "node"
) -> OpeningNode:
    """Read a node of the opening tree. Raises InvalidRecordError naming the field."""
    for name in _BY_PLAYER:
        given = len(getattr(record, name))
        if given != spec.players:
            raise InvalidRecordError(f"{field}.{name}", f"{given} numbers given for {spec.players} players")
    if (record.node_id == ROOT) != (record.depth == 0):
        raise InvalidRecordError(
            f"{field}.depth", f"{record.depth} at node {record.node_id}: the root, 0, has 0"
        )
    if record.node_id != ROOT:
        if not 1 <= len(record.move) <= MAX_MOVE_LENGTH:
            raise InvalidRecordError(f"{field}.move", f"must have 1 to {MAX_MOVE_LENGTH:,} characters")
        if not 1 <= record.mover <= spec.players:
            raise InvalidRecordError(f"{field}.mover", f"{record.mover} must be from 1 to {spec.players}")
    if any(value > record.visits * VALUE_SCALE for value in record.value_millionths):
        raise InvalidRecordError(
            f"{field}.value_millionths", f"more than {record.visits} visits can sum up to"
        )
    node = {name: getattr(record, name) for name in _OF_NODE}
    analysis = None
    if record.HasField("analysis"):
        if record.node_id == ROOT or not spec.two_in_turn:
            raise InvalidRecordError(
                f"{field}.analysis", "has no place here: only moves of games of two in turn are analysed"
            )
        analysis = analysis_from_proto(record.analysis, f"{field}.analysis")
    return OpeningNode(
        **node | {name: tuple(node[name]) for name in _BY_PLAYER},
        analysis=analysis,
        level=record.level if record.HasField("level") else None,
        weaker=_levels_from_proto(record, field),
    )


def _levels_from_proto(record: pattern_pb2.OpeningNodeRecord, field: str) -> tuple[LevelVisits, ...]:
    parts = [{name: getattr(part, name) for name in _OF_LEVEL} for part in record.weaker]
    levels = [*(part["level"] for part in parts), record.level]
    if parts and (not record.HasField("level") or levels != sorted(set(levels))):
        raise InvalidRecordError(f"{field}.weaker", "its levels must rise, and end below the node's own")
    for name in ("visits", "values"):
        if sum(part[name] for part in parts) > getattr(record, name):
            raise InvalidRecordError(f"{field}.weaker", f"more {name} than the node's")
    for name in _BY_PLAYER:
        whole = getattr(record, name)
        if any(len(part[name]) != len(whole) for part in parts):
            raise InvalidRecordError(
                f"{field}.weaker", f"{name}: one number for each of {len(whole)} players"
            )
        if any(sum(part[name][player] for part in parts) > most for player, most in enumerate(whole)):
            raise InvalidRecordError(f"{field}.weaker", f"{name} add up to more than the node's")
    return tuple(LevelVisits(**part | {name: tuple(part[name]) for name in _BY_PLAYER}) for part in parts)
