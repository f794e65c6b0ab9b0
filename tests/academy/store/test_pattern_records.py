"""Patterns and opening nodes as messages and back; what is out of order is refused by name."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.settings import Library
from academy.store.codec.openings import node_from_proto, node_to_proto
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.codec.patterns import entry_from_proto, entry_to_proto, entry_with_figures
from academy.store.errors import InvalidRecordError
from academy.v1 import pattern_pb2
from tests.academy.store import strategies
from tests.academy.store.examples import go


@given(data=st.data(), kind=st.sampled_from(list(strategies.SPECS)))
def test_a_pattern_comes_back_as_it_was(data: st.DataObject, kind: str) -> None:
    spec = strategies.SPECS[kind]
    entry = data.draw(strategies.entries(spec))
    stored = pack_message(entry_to_proto(entry, Library.ENDGAME, spec))
    record = unpack_message(pattern_pb2.PatternRecord, stored)
    assert entry_from_proto(record, spec) == entry
    # Derived figures are for readers; they change nothing that is read back.
    assert entry_from_proto(entry_with_figures(entry, Library.ENDGAME, spec), spec) == entry


@given(strategies.nodes())
def test_nodes_come_back_as_they_were(nodes: list[OpeningNode]) -> None:
    for node in nodes:
        record = unpack_message(pattern_pb2.OpeningNodeRecord, pack_message(node_to_proto(node, "go-9x9")))
        assert node_from_proto(record, go()) == node


def record() -> pattern_pb2.PatternRecord:
    return pattern_pb2.PatternRecord(
        pattern_id=1,
        cells="x-\n-o",
        player=1,
        votes=[pattern_pb2.Vote(player="gnugo", elo_hundredths=150_000, value_millionths=800_000)],
    )


def many_votes(record: pattern_pb2.PatternRecord) -> None:
    record.votes.extend(pattern_pb2.Vote(player=f"p{number}") for number in range(257))


def folded_without_players(record: pattern_pb2.PatternRecord) -> None:
    record.folded.votes = 3


def heavy_fold(record: pattern_pb2.PatternRecord) -> None:
    record.folded.CopyFrom(pattern_pb2.FoldedVotes(votes=1, weight=10**9, players=[7]))


def overvalued_fold(record: pattern_pb2.PatternRecord) -> None:
    record.folded.CopyFrom(
        pattern_pb2.FoldedVotes(votes=1, weight=1_000, weighted_value=1_000_000_001, players=[7])
    )


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda record: setattr(record, "cells", ""), r"pattern\.cells: .*no cells"),
        (lambda record: setattr(record, "cells", "x-\no"), r"pattern\.cells: line 2, column 1"),
        (lambda record: setattr(record, "cells", "x?"), r"letter '\?'"),
        (lambda record: setattr(record, "cells", "#+"), "at least one cell other"),
        (lambda record: setattr(record, "cells", "x" * 12), "neither may be more than 11"),
        (lambda record: setattr(record, "player", 3), "player 3: this game has players 1 to 2"),
        (lambda record: record.ClearField("votes"), "pattern 1 has no vote"),
        (lambda record: record.votes.append(record.votes[0]), "more than one vote"),
        (many_votes, "258 given; at most 256"),
        (lambda record: setattr(record.votes[0], "player", ""), r"votes\[0\]\.player"),
        (lambda record: setattr(record.votes[0], "player", "a\nb"), r"votes\[0\]\.player"),
        (lambda record: setattr(record.votes[0], "player", "x" * 301), r"votes\[0\]\.player"),
        (lambda record: setattr(record.votes[0], "elo_hundredths", 10_000_001), "elo_hundredths"),
        (lambda record: setattr(record.votes[0], "value_millionths", 1_000_001), "value_millionths"),
        (lambda record: setattr(record, "successes", 1), "1 of only 0 uses"),
        (folded_without_players, "0 digests for 3 votes"),
        (heavy_fold, "weight"),
        (overvalued_fold, "weighted_value"),
    ],
)
def test_a_pattern_out_of_order_is_refused(
    spoil: Callable[[pattern_pb2.PatternRecord], None], complaint: str
) -> None:
    spoilt = record()
    entry_from_proto(spoilt, go())
    spoil(spoilt)
    with pytest.raises(InvalidRecordError, match=complaint):
        entry_from_proto(spoilt, go())


def node() -> pattern_pb2.OpeningNodeRecord:
    return pattern_pb2.OpeningNodeRecord(
        node_id=1,
        move="E5",
        depth=1,
        mover=1,
        visits=2,
        wins=[1, 1],
        draws=[0, 0],
        losses=[1, 1],
        value_millionths=[1_000_000, 1_000_000],
    )


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda record: record.wins.append(1), r"node\.wins: 3 numbers given for 2 players"),
        (lambda record: record.value_millionths.pop(), r"value_millionths: 1 numbers"),
        (lambda record: setattr(record, "depth", 0), r"node\.depth"),
        (lambda record: setattr(record, "node_id", 0), r"node\.depth"),
        (lambda record: setattr(record, "move", ""), r"node\.move"),
        (lambda record: setattr(record, "move", "x" * 2_000), r"node\.move"),
        (lambda record: setattr(record, "mover", 3), r"node\.mover: 3 must be from 1 to 2"),
        (lambda record: setattr(record, "visits", 0), "more than 0 visits can sum up to"),
    ],
)
def test_a_node_out_of_order_is_refused(
    spoil: Callable[[pattern_pb2.OpeningNodeRecord], None], complaint: str
) -> None:
    spoilt = node()
    node_from_proto(spoilt, go())
    spoil(spoilt)
    with pytest.raises(InvalidRecordError, match=complaint):
        node_from_proto(spoilt, go())
