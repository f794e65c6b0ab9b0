"""What admins do to libraries: settings, deletion and undo, pruning, import."""

import json
from pathlib import Path
from typing import Any

import pytest

from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.library import UnknownPatternError
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.openings import UnknownLineError
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import InvalidSettingsError, Library, LibrarySettings
from academy.knowledge.text import read_cells
from academy.knowledge.votes import ELO_SCALE, MAX_ELO, VALUE_SCALE
from academy.store import event_log, game_tables, library_commands
from academy.store.codec.learnt_tables import evaluation_records, tesuji_records
from academy.store.codec.openings import node_to_proto
from academy.store.codec.patterns import entry_to_proto
from academy.store.contest_commands import ReportContest
from academy.store.errors import (
    GameInUseError,
    ImportedBeforeError,
    InvalidRecordError,
    NotDeletedError,
    UnknownGameError,
    UnknownRemovalError,
)
from academy.store.event_log import Page
from academy.store.fork import ForkGame
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import (
    ChangeSettings,
    DeleteGame,
    DeleteOpening,
    DeletePattern,
    ImportLibraries,
    PruneLibrary,
    RestorePattern,
    RestoreRemoval,
)
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.maintenance.compaction import compact
from academy.store.replica import GameView
from academy.v1 import game_pb2, pattern_pb2
from academy.v1.libraries_pb2 import GameHistory, RestoreRemovalResponse
from tests.academy.store.examples import go, go_game, learn, report

ENDGAME = Library.ENDGAME
MIDDLE_GAME = Library.MIDDLE_GAME


def view(store: Store, game_id: str = "go-9x9") -> GameView:
    return store.follow().refresh(game_id)


def test_settings_given_change_and_others_stay(store: Store) -> None:
    first = game_pb2.LibrarySettings(forget_after=50)
    settings, removed = store.run(ChangeSettings("go-9x9", first, "admin"))
    assert (settings, removed) == (LibrarySettings(forget_after=50), 0)
    second = game_pb2.LibrarySettings(endgame_capacity=7)
    settings, _ = store.run(ChangeSettings("go-9x9", second, "admin"))
    assert settings == LibrarySettings(forget_after=50, endgame_capacity=7)
    assert store.read(game_tables.game_record, "go-9x9").settings.endgame_capacity == 7
    assert view(store).settings == settings
    events = store.read(event_log.last_sequence)
    store.run(ChangeSettings("go-9x9", second, "admin"))
    assert store.read(event_log.last_sequence) == events, "what changes nothing is not an event"


def test_a_lowered_capacity_removes_the_weakest_at_once(store: Store) -> None:
    learn(store, contests=12)
    before = view(store).libraries[ENDGAME]
    assert len(before) > 5
    lowered = game_pb2.LibrarySettings(endgame_capacity=5)
    _, removed = store.run(ChangeSettings("go-9x9", lowered, "admin"))
    after = view(store).libraries[ENDGAME]
    assert len(after) == 5
    assert removed == len(before) - 5
    gone = [entry.strength for number, entry in before.items() if number not in after]
    assert max(gone) <= min(entry.strength for entry in after.values())


def lower(store: Store, **settings: Any) -> int:
    _, removed = store.run(ChangeSettings("go-9x9", game_pb2.LibrarySettings(**settings), "admin"))
    return removed


def restore_newest(store: Store) -> RestoreRemovalResponse:
    return store.run(
        RestoreRemoval(
            "go-9x9", store.read(library_commands.list_removals, "go-9x9", store.clock())[0].event, "admin"
        )
    )


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
    (kept,) = store.read(library_commands.list_removals, "go-9x9", store.clock())
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
    assert not store.read(library_commands.list_removals, "go-9x9", store.clock()) and not list(
        check(store.environment)
    )


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
    assert pruned and known_records(store) != before
    assert restore_newest(store) == RestoreRemovalResponse(patterns=0, nodes=len(pruned), no_room=0)
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
        assert len(store.read(library_commands.list_removals, "go-9x9", store.clock())) == 2
        lower(store, removed_records=3, endgame_capacity=14)
        assert [
            removal.patterns
            for removal in store.read(library_commands.list_removals, "go-9x9", store.clock())
        ] == [1], "the newest that fit"
        now[0] += 2 * 86_400 + 1
        assert not store.read(library_commands.list_removals, "go-9x9", store.clock())
        with pytest.raises(UnknownRemovalError, match="nothing is kept of a removal 5"):
            store.run(RestoreRemoval("go-9x9", 5, "admin"))
        lower(store, removed_days=0, endgame_capacity=10)
        assert not store.read(library_commands.list_removals, "go-9x9", store.clock()) and not list(
            check(store.environment)
        )


def test_wrong_settings_are_refused(store: Store) -> None:
    with pytest.raises(InvalidSettingsError, match="prune_factor 2"):
        store.run(ChangeSettings("go-9x9", game_pb2.LibrarySettings(prune_factor=2), "admin"))
    with pytest.raises(UnknownGameError):
        store.run(ChangeSettings("chess", game_pb2.LibrarySettings(), "admin"))


def test_a_deletion_can_be_undone_once(store: Store) -> None:
    learn(store)
    number, entry = next(iter(view(store).libraries[ENDGAME].items()))
    assert store.run(DeletePattern("go-9x9", ENDGAME, number, "admin")) == entry
    assert number not in view(store).libraries[ENDGAME]
    with pytest.raises(UnknownPatternError):
        store.run(DeletePattern("go-9x9", ENDGAME, number, "admin"))
    assert store.run(RestorePattern("go-9x9", ENDGAME, number, "admin")) == entry
    assert view(store).libraries[ENDGAME][number] == entry
    with pytest.raises(NotDeletedError):
        store.run(RestorePattern("go-9x9", ENDGAME, number, "admin"))
    assert not list(check(store.environment))


def test_a_pattern_restored_into_a_full_library_may_find_no_room(store: Store) -> None:
    learn(store, contests=12)
    entries = view(store).libraries[ENDGAME]
    weakest = min(entries.values(), key=lambda entry: entry.strength)
    store.run(DeletePattern("go-9x9", ENDGAME, weakest.pattern_id, "admin"))
    full = game_pb2.LibrarySettings(endgame_capacity=len(entries) - 1)
    store.run(ChangeSettings("go-9x9", full, "admin"))
    assert store.run(RestorePattern("go-9x9", ENDGAME, weakest.pattern_id, "admin")) is None
    assert len(view(store).libraries[ENDGAME]) == len(entries) - 1
    assert not list(check(store.environment))


def test_pruning_takes_the_weak_and_a_dry_run_only_names_them(store: Store) -> None:
    learn(store, contests=12)
    entries = view(store).libraries[ENDGAME]
    below = sorted(entry.strength for entry in entries.values())[3]
    events = store.read(event_log.last_sequence)
    named = store.run(PruneLibrary("go-9x9", ENDGAME, below, True, "admin"))
    assert (len(named), store.read(event_log.last_sequence)) == (3, events)
    assert view(store).libraries[ENDGAME] == entries
    assert list(store.run(PruneLibrary("go-9x9", ENDGAME, below, False, "admin"))) == list(named)
    assert len(view(store).libraries[ENDGAME]) == len(entries) - 3
    assert not store.run(PruneLibrary("go-9x9", ENDGAME, below, False, "admin"))
    assert store.read(event_log.last_sequence) == events + 1, "pruning nothing is not an event"


def test_openings_are_pruned_by_the_games_own_threshold_when_none_is_given(store: Store) -> None:
    learn(store, contests=8, same_opening=True)
    threshold = game_pb2.LibrarySettings(prune_below=1.0)
    store.run(ChangeSettings("go-9x9", threshold, "admin"))
    named = store.run(PruneLibrary("go-9x9", Library.OPENING, 0, True, "admin"))
    assert named == store.run(PruneLibrary("go-9x9", Library.OPENING, 1.0, True, "admin"))
    pruned = store.run(PruneLibrary("go-9x9", Library.OPENING, 0, False, "admin"))
    assert pruned
    assert not {node.node_id for node in pruned} & view(store).openings.nodes.keys()  # type: ignore[union-attr]
    assert not list(check(store.environment))


@pytest.mark.parametrize(
    ("library", "below"),
    [(ENDGAME, -1.0), (ENDGAME, float("nan")), (ENDGAME, float("inf")), (Library.OPENING, 1.5)],
)
def test_a_senseless_threshold_is_refused(store: Store, library: Library, below: float) -> None:
    with pytest.raises(InvalidRecordError, match="below"):
        store.run(PruneLibrary("go-9x9", library, below, True, "admin"))


def exported(
    game: GameView,
) -> tuple[dict[Library, list[pattern_pb2.PatternRecord]], list[pattern_pb2.OpeningNodeRecord]]:
    patterns = {
        library: [entry_to_proto(entry, library, game.spec) for entry in entries.values()]
        for library, entries in game.libraries.items()
    }
    return patterns, [node_to_proto(node, game.spec.game_id) for node in game.openings.nodes.values()]


def test_what_another_game_has_learnt_can_be_imported(store: Store) -> None:
    learn(store, contests=12)
    store.run(RegisterGame(go_game("copy"), "arena"))
    patterns, nodes = exported(view(store))
    imported = store.run(ImportLibraries("copy", patterns, nodes, False, "admin"))
    assert imported.patterns == sum(map(len, patterns.values()))
    assert (imported.nodes, imported.evicted) == (len(nodes), 0)
    source, copy = view(store), view(store, "copy")
    for library in (MIDDLE_GAME, ENDGAME):
        assert sorted(
            (entry.pattern, entry.signature.value) for entry in copy.libraries[library].values()
        ) == sorted((entry.pattern, entry.signature.value) for entry in source.libraries[library].values())
    assert copy.openings.root == source.openings.root
    assert len(copy.openings.nodes) == len(source.openings.nodes)
    # Once more: votes are united, nothing is there twice.
    store.run(ImportLibraries("copy", patterns, [], False, "admin", again=True))
    assert len(view(store, "copy").libraries[ENDGAME]) == len(source.libraries[ENDGAME])
    # And in place of what there is, from more records than one event holds.
    many = {ENDGAME: patterns[ENDGAME] * 300}
    assert len(many[ENDGAME]) > 2_000
    store.run(ImportLibraries("copy", many, nodes, True, "admin"))
    assert view(store, "copy").openings.root == source.openings.root
    assert [event.WhichOneof("kind") for event in store.read(event_log.read_page, Page(), game_id="copy")[0]][
        -2:
    ] == [
        "patterns_imported",
        "openings_imported",
    ]
    assert not list(check(store.environment))


@pytest.mark.parametrize("compacted", [False, True])
def test_an_import_that_is_repeated_changes_nothing(store: Store, compacted: bool) -> None:
    learn(store, contests=12)
    store.run(RegisterGame(go_game("copy"), "arena"))
    patterns, nodes = exported(view(store))
    store.run(ImportLibraries("copy", patterns, nodes, False, "admin"))
    if compacted:
        compact(store.environment, keep=1, run=store.run)
    before = view(store, "copy")
    number = store.read(event_log.last_sequence)

    for repeated in (
        ImportLibraries("copy", patterns, nodes, False, "another admin"),
        # It has other records, too.
        ImportLibraries("copy", {ENDGAME: patterns[ENDGAME][1:]}, nodes, False, "admin"),
    ):
        with pytest.raises(ImportedBeforeError, match=r"into 'copy' before, by event \d+, and would count"):
            store.run(repeated)
    after = view(store, "copy")
    assert (after.libraries, after.openings.root) == (before.libraries, before.openings.root)
    assert store.read(event_log.last_sequence) == number

    # Other games know nothing of it.
    store.run(RegisterGame(go_game("other"), "arena"))
    store.run(ImportLibraries("other", patterns, nodes, False, "admin"))
    store.run(ImportLibraries("copy", patterns, nodes, False, "admin", again=True))
    assert view(store, "copy").openings.root.visits == 2 * before.openings.root.visits


def test_in_a_symmetric_game_a_pattern_for_the_second_player_is_imported_reversed(store: Store) -> None:
    vote = pattern_pb2.Vote(player="ann", elo_hundredths=150_000, value_millionths=900_000)
    record = pattern_pb2.PatternRecord(pattern_id=7, cells="x o\n- -", player=2, votes=[vote])
    store.run(ImportLibraries("go-9x9", {ENDGAME: [record]}, [], False, "admin"))
    (entry,) = view(store).libraries[ENDGAME].values()
    assert (entry.player, entry.signature.value) == (1, 0.9)
    assert entry.pattern == go().canonical(read_cells("o x\n- -", go().geometry))


def test_an_import_is_taken_whole_or_not_at_all(store: Store) -> None:
    learn(store, contests=12)
    before = view(store)
    patterns, nodes = exported(before)
    events = store.read(event_log.last_sequence)
    spoilt = pattern_pb2.PatternRecord(cells="??")
    with pytest.raises(InvalidRecordError, match=rf"patterns\[{len(patterns[ENDGAME])}\]"):
        wrong = {ENDGAME: [*patterns[ENDGAME], spoilt]}
        store.run(ImportLibraries("go-9x9", wrong, [], True, "admin"))
    with pytest.raises(UnknownLineError):
        orphan = [node for node in nodes if node.depth != 1]
        store.run(ImportLibraries("go-9x9", patterns, orphan, True, "admin"))
    assert store.read(event_log.last_sequence) == events
    assert view(store).libraries == before.libraries
    assert view(store).openings.nodes == before.openings.nodes
    learn(store, contests=1, first=100)
    assert not list(check(store.environment))


def test_capacity_holds_for_imports_too(store: Store) -> None:
    learn(store, contests=12)
    patterns, _ = exported(view(store))
    small = go_game("small")
    small.settings.endgame_capacity = 4
    store.run(RegisterGame(small, "arena"))
    imported = store.run(ImportLibraries("small", patterns, [], False, "admin"))
    assert imported.evicted == len(patterns[ENDGAME]) - 4
    assert len(view(store, "small").libraries[ENDGAME]) == 4
    assert go("small") == view(store, "small").spec


def test_nodes_with_more_or_fewer_results_than_visits_are_not_taken_in(store: Store) -> None:
    root = pattern_pb2.OpeningNodeRecord(
        visits=2, wins=[1, 1], draws=[0, 0], losses=[1, 0], value_millionths=[0, 0]
    )
    with pytest.raises(InvalidRecordError, match=r"nodes\[0\]\.visits: 2, .* of player 2 add up to 1"):
        store.run(ImportLibraries("go-9x9", {}, [root], False, "admin"))
    root.losses[1] = 1
    assert store.run(ImportLibraries("go-9x9", {}, [root], False, "admin")).nodes == 1


@pytest.mark.parametrize(
    ("visits", "elo", "why"),
    [
        (10**9 + 1, 0, r"nodes\[0\]\.visits: 1,000,000,001 must be from 0 to 1,000,000,000"),
        (3, 2**63 - 1, r"nodes\[1\]\.elo_hundredths: .*, more than 3 visits of 100,000 Elo sum up to"),
    ],
)
def test_nodes_whose_figures_leave_no_room_for_more_are_not_taken_in(
    store: Store, visits: int, elo: int, why: str
) -> None:
    def nodes(visits: int, elo: int) -> list[pattern_pb2.OpeningNodeRecord]:
        root = pattern_pb2.OpeningNodeRecord(
            visits=visits,
            wins=[visits, 0],
            draws=[0, 0],
            losses=[0, visits],
            value_millionths=[visits * VALUE_SCALE, 0],
            values=visits,
        )
        move = pattern_pb2.OpeningNodeRecord(node_id=1, move="E5", depth=1, mover=1, elo_hundredths=elo)
        record = pattern_pb2.OpeningNodeRecord()
        for part in (root, move):
            record.MergeFrom(part)
        return [root, record]

    with pytest.raises(InvalidRecordError, match=why):
        store.run(ImportLibraries("go-9x9", {}, nodes(visits, elo), False, "admin"))
    # What is at the bound can be imported more than once, and contests are learnt after it.
    most = nodes(10**9, 10**9 * round(MAX_ELO * ELO_SCALE))
    for _ in range(2):
        assert store.run(ImportLibraries("go-9x9", {}, most, False, "admin", again=True)).nodes == 2
    learn(store, contests=2)
    assert view(store).openings.root.visits >= 10**9


def test_an_evaluation_of_contests_that_nobody_could_play_is_refused(store: Store) -> None:
    record = pattern_pb2.EvaluationRecord(contests=8, best_elo_hundredths=99_999_00)
    with pytest.raises(InvalidRecordError, match=r"evaluation\[0\]\.best_elo_hundredths: 99999\.0 must be"):
        store.run(ImportLibraries("go-9x9", {}, [], False, "admin", evaluation=[record]))


@pytest.mark.parametrize("kept", ["tesujis", "evaluation"])
def test_a_game_that_has_learnt_tesujis_or_an_evaluation_is_not_deleted(store: Store, kept: str) -> None:
    for game_id in ("taught", "copy"):
        game = go_game(game_id)
        game.settings.tesuji_capacity, game.settings.evaluation = 150, True
        store.run(RegisterGame(game, "arena"))
    store.run(ReportContest(report("c1", "taught"), "arena"))
    taught = view(store, "taught")
    learnt: dict[str, Any] = {
        "tesujis": list(tesuji_records(taught.tesujis, taught.spec, range(3))),
        "evaluation": list(evaluation_records(taught.evaluation, taught.spec)),
    }
    assert learnt[kept]
    store.run(ImportLibraries("copy", {}, [], False, "admin", **{kept: learnt[kept]}))
    with pytest.raises(GameInUseError, match="has knowledge in its libraries"):
        store.run(DeleteGame("copy", "admin", really=True))
    store.run(ForkGame("taught", "fork", "admin"))
    with pytest.raises(GameInUseError, match="is a fork that holds knowledge"):
        store.run(DeleteGame("fork", "admin"))
    assert store.run(DeleteGame("fork", "admin", really=True)).game_id == "fork"


@pytest.mark.parametrize(
    ("field", "number"),
    [("pattern_id", 2**48), ("pattern_id", 2**64 - 2), ("uses", 10**11 + 1), ("last_contest", 2**64 - 1)],
)
def test_patterns_after_which_nothing_could_be_counted_are_not_taken_in(
    store: Store, field: str, number: int
) -> None:
    learn(store, contests=12)
    store.run(RegisterGame(go_game("copy"), "arena"))
    patterns, _ = exported(view(store))
    first = patterns[ENDGAME][0]
    setattr(first, field, number)
    with pytest.raises(InvalidRecordError, match=rf"patterns\[0\]\.{field}: {number:,} must be from 0 to"):
        store.run(ImportLibraries("copy", patterns, [], False, "admin"))
    # What is at the bound is taken in, and contests are learnt after it.
    setattr(first, field, 2**48 - 1 if field == "pattern_id" else 10**11)
    store.run(ImportLibraries("copy", patterns, [], False, "admin"))
    learn(store, contests=4, game_id="copy")
    assert not list(check(store.environment))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"node_id": 2**48}, r"node_id: 281,474,976,710,656 must be from 0 to 281,474,976,710,655"),
        ({"values": 2**64 - 1}, r"values: 18,446,744,073,709,551,615 must be from 0 to 1"),
        ({"level": 61}, r"level: 61 must be from -60 to 60"),
        ({"level": 1_000_000}, r"level: 1000000 must be from -60 to 60"),
    ],
)
def test_nodes_after_which_nothing_could_be_counted_are_not_taken_in(
    store: Store, changes: dict[str, Any], why: str
) -> None:
    node = pattern_pb2.OpeningNodeRecord(
        **{"node_id": 1, **changes}, move="E5", depth=1, mover=1, visits=1,
        wins=[1, 0], draws=[0, 0], losses=[0, 1], value_millionths=[VALUE_SCALE, 0],
    )  # fmt: skip
    with pytest.raises(InvalidRecordError, match=rf"nodes\[0\]\.{why}"):
        store.run(ImportLibraries("go-9x9", {}, [node], False, "admin"))
    node.node_id, node.level = 2**48 - 1, 60
    node.visits = node.values = node.wins[0] = node.losses[1] = 10**9
    store.run(ImportLibraries("go-9x9", {}, [node], False, "admin"))
    learn(store, contests=2)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (("length", "total", "1e999"), r"length\.total: inf must be a number from 0 to 1e\+18"),
        (("draws", "total", "-1"), r"draws\.total: -1 must be"),
        (("squared_length", "", "1e19"), r"squared_length: 1e\+19 must be"),
        (("tempo", "contests", "null"), r"tempo\.contests: None must be"),
        (("best_elo", "", "1e999"), r"best_elo: inf must be"),
        (("contests", "", "1000000001"), r"contests: 1,000,000,001 must be from 0 to 1,000,000,000"),
        # Measures of such counts could not be sent any more.
        (("width", "contests", "1.5"), r"width\.contests: 1\.5 must be a whole number from 0 to 1e\+18"),
        (("width", "count", "3.0"), r"width\.count: 3\.0 must be a whole number"),
        (("players", "", "2.5"), r"players: 2\.5 must be a whole number"),
        (("contests", "", "true"), r"contests: True must be a whole number"),
        (("mobility", "total", "false"), r"mobility\.total: False must be a number"),
    ],
)
def test_measures_to_which_no_contest_could_be_added_are_not_taken_in(
    store: Store, spoil: tuple[str, str, str], why: str
) -> None:
    learn(store, contests=12)
    store.run(RegisterGame(go_game("copy"), "arena"))
    stored = view(store).measures.as_json()
    name, part, number = spoil
    sound = json.dumps(stored)
    if part:
        stored[name][part] = "NUMBER"
    else:
        stored[name] = "NUMBER"
    text = json.dumps(stored).replace('"NUMBER"', number)
    with pytest.raises(InvalidRecordError, match=rf"history\.measures\.{why}"):
        store.run(ImportLibraries("copy", {}, [], False, "admin", GameHistory(measures=text)))
    store.run(ImportLibraries("copy", {}, [], False, "admin", GameHistory(measures=sound)))
    learn(store, contests=1, game_id="copy")
    assert view(store, "copy").measures.contests == 13


def test_measures_that_are_nested_too_deeply_are_refused(store: Store) -> None:
    for text in ("[" * 100_000, '{"width":' * 100_000):
        with pytest.raises(InvalidRecordError, match=r"history\.measures: cannot be read"):
            store.run(ImportLibraries("go-9x9", {}, [], False, "admin", GameHistory(measures=text)))
