"""What admins removed comes back, whole and where it was, as long as it is kept."""

from pathlib import Path
from typing import Any

import pytest

from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.openings import UnknownLineError
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library
from academy.store import removals
from academy.store.codec.openings import node_to_proto
from academy.store.contest_commands import ReportContest
from academy.store.environment import TableName
from academy.store.errors import (
    NotDeletedError,
    UnknownRemovalError,
)
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import (
    ChangeSettings,
    DeleteOpening,
    PruneLibrary,
    RestorePattern,
)
from academy.store.library_import import ImportLibraries
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.removals import RestoreRemoval
from academy.v1 import game_pb2
from academy.v1.libraries_pb2 import Removal, RestoreRemovalResponse
from tests.academy.store.examples import go_game, learn, report, view

ENDGAME = Library.ENDGAME


def lower(store: Store, **settings: Any) -> int:
    _, removed = store.run(ChangeSettings("go-9x9", game_pb2.LibrarySettings(**settings), "admin"))
    return removed


def listed(store: Store) -> list[Removal]:
    return store.read(removals.list_removals, "go-9x9", store.clock())


def restore_newest(store: Store) -> RestoreRemovalResponse:
    return store.run(RestoreRemoval("go-9x9", listed(store)[0].event, "admin"))


def known_records(store: Store) -> list[tuple[str, object]]:
    """All records of the game's libraries, by their keys."""
    now = view(store)
    patterns = [
        (f"{library}{entry}", now.libraries[library][entry])
        for library in PATTERN_LIBRARIES
        for entry in now.libraries[library]
    ]
    return sorted([*patterns, *((f"node {node.node_id}", node) for node in now.openings.nodes.values())])


def test_a_lowered_capacity_is_undone_once_there_is_room(store: Store) -> None:
    learn(store, contests=12)
    before = known_records(store)
    removed = lower(store, endgame_capacity=5, opening_capacity=10)
    store.run(RegisterGame(go_game("other"), "arena"))
    assert not store.read(removals.list_removals, "other", store.clock())
    (kept,) = listed(store)
    assert (kept.patterns + kept.nodes, kept.what, kept.actor) == (removed, "capacity lowered", "admin")

    # Nothing leaves for what comes back: it is kept until there is room.
    assert restore_newest(store) == RestoreRemovalResponse(patterns=0, nodes=0, no_room=removed)
    lower(store, endgame_capacity=8, opening_capacity=1_000)
    assert restore_newest(store) == RestoreRemovalResponse(
        patterns=3, nodes=kept.nodes, no_room=kept.patterns - 3
    )
    lower(store, endgame_capacity=5_000)
    assert restore_newest(store).no_room == 0
    assert known_records(store) == before
    assert not listed(store) and not list(check(store.environment))


def test_pruned_patterns_come_back_one_by_one_or_together(store: Store) -> None:
    learn(store, contests=12)
    before = known_records(store)
    pruned = store.run(PruneLibrary("go-9x9", ENDGAME, 1e9, False, "admin"))
    assert len(pruned) > 5 and not view(store).libraries[ENDGAME]
    assert isinstance(pruned[0], PatternEntry)
    number = pruned[0].pattern_id
    assert store.run(RestorePattern("go-9x9", ENDGAME, number, "admin")) == pruned[0]
    with pytest.raises(NotDeletedError):
        store.run(RestorePattern("go-9x9", ENDGAME, number, "admin"))
    assert restore_newest(store) == RestoreRemovalResponse(patterns=len(pruned) - 1, nodes=0, no_room=0)
    assert known_records(store) == before and not list(check(store.environment))


def test_pruned_openings_come_back_with_their_parents_values(store: Store) -> None:
    wins, draws = {1: (4, 0), 2: (0, 4), 3: (0, 2), 4: (0, 2)}, (0, 0)
    lines = {1: (0, "E5"), 2: (1, "C3"), 3: (2, "D4"), 4: (2, "G7")}
    nodes = [
        OpeningNode(
            number, parent, move, min(number, 3), 2 - min(number, 3) % 2, sum(wins[number]), wins[number],
            draws, wins[number][::-1], tuple(count * 100_000 for count in wins[number]), 2, 600_000,
        )
        for number, (parent, move) in lines.items()
    ]  # fmt: skip
    records = [node_to_proto(node, "go-9x9") for node in nodes]
    store.run(ImportLibraries("go-9x9", {}, records, False, "admin"))
    before = known_records(store)
    pruned = store.run(PruneLibrary("go-9x9", Library.OPENING, 0.33, False, "admin"))
    assert len(pruned) == 2 and known_records(store) != before
    # What pruning took from the parent comes back once, though its children come one after the other.
    for capacity, left in ((3, 1), (1_000, 0)):
        lower(store, opening_capacity=capacity)
        assert restore_newest(store) == RestoreRemovalResponse(patterns=0, nodes=1, no_room=left)
    assert known_records(store) == before and not list(check(store.environment))


def test_pruned_openings_of_strong_and_weak_players_come_back_and_the_game_can_be_read(store: Store) -> None:
    lower(store, prune_below=0.0)
    for number, elo in enumerate([1000.0] * 10 + [1450.0] * 2):
        played = report(f"levels/{number}", plies=2, seed=1)
        for place, player in enumerate(played.contest.players):
            player.elo = elo
            del played.plies[place].values[:]
            played.plies[place].values.add(player=1 + place, value=0.4 - place / 10)
        store.run(ReportContest(played, "arena"))
    before = known_records(store)
    pruned = store.run(PruneLibrary("go-9x9", Library.OPENING, 0.33, False, "admin"))
    assert restore_newest(store).nodes == len(pruned) == 1
    assert known_records(store) == before and not list(check(store.environment))


def test_a_deleted_line_takes_what_follows_and_leaves_the_counts_before(store: Store) -> None:
    learn(store, contests=12)
    before = known_records(store)
    tree = view(store).openings
    first = max(tree.children(0), key=lambda node: (node.visits, len(tree.children(node.node_id))))
    deleted, event = store.run(DeleteOpening("go-9x9", first.node_id, [first.move], "admin"))
    left = view(store).openings
    assert first.node_id not in left.nodes and len(left) == len(tree.nodes) - 1 - len(deleted)
    assert left.root == tree.root and len(deleted) > 1
    with pytest.raises(UnknownLineError):
        store.run(DeleteOpening("go-9x9", first.node_id, [first.move], "admin"))

    # The line is played again: what comes back is added to it.
    again = report("go-9x9/0")
    again.contest.contest_id = "again"
    store.run(ReportContest(again, "arena"))
    assert store.run(RestoreRemoval("go-9x9", event, "admin")) == RestoreRemovalResponse(
        patterns=0, nodes=len(deleted), no_room=0
    )
    assert not list(check(store.environment))
    assert len(view(store).openings.nodes) >= len([name for name, _ in before if name.startswith("node")])


def test_what_was_removed_is_kept_for_its_time_and_within_its_bounds(tmp_path: Path) -> None:
    now = [1_000_000.0]
    with Store(tmp_path / "data", clock=lambda: now[0]) as store:
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=12)
        lower(store, endgame_capacity=20, removed_days=2)
        lower(store, endgame_capacity=15)
        assert len(listed(store)) == 2
        lower(store, removed_records=3, endgame_capacity=14)
        assert [removal.patterns for removal in listed(store)] == [1], "the newest that fit"
        now[0] += 2 * 86_400 - 1
        (kept,) = listed(store)
        now[0] += 1
        assert not listed(store)
        with pytest.raises(UnknownRemovalError, match=f"nothing is kept of a removal {kept.event}"):
            store.run(RestoreRemoval("go-9x9", kept.event, "admin"))
        lower(store, endgame_capacity=13)
        with store.environment.reading() as transaction:
            assert transaction.count(TableName.REMOVALS) == 1, "the old ones are gone"
        lower(store, removed_days=0, endgame_capacity=10)
        assert not listed(store) and not list(check(store.environment))
