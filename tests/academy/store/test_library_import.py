"""An import is taken in whole, once, and only where what is learnt later can be added to it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from academy.knowledge.openings import UnknownLineError
from academy.knowledge.settings import Library
from academy.knowledge.text import read_cells
from academy.knowledge.votes import ELO_SCALE, MAX_ELO, VALUE_SCALE
from academy.store import event_log
from academy.store.codec.openings import node_to_proto
from academy.store.codec.patterns import entry_to_proto
from academy.store.errors import (
    ImportedBeforeError,
    InvalidRecordError,
)
from academy.store.game_registration import RegisterGame
from academy.store.library_import import ImportLibraries
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.maintenance.compaction import compact
from academy.store.replica import GameView
from academy.v1 import pattern_pb2
from academy.v1.libraries_pb2 import GameHistory
from tests.academy.store.examples import go, go_game, learn, opened_copy, view

ENDGAME = Library.ENDGAME


MIDDLE_GAME = Library.MIDDLE_GAME


def exported(
    game: GameView,
) -> tuple[dict[Library, list[pattern_pb2.PatternRecord]], list[pattern_pb2.OpeningNodeRecord]]:
    patterns = {
        library: [entry_to_proto(entry, library, game.spec) for entry in entries.values()]
        for library, entries in game.libraries.items()
    }
    return patterns, [node_to_proto(node, game.spec.game_id) for node in game.openings.nodes.values()]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a game with twelve contests, and of another of its kind that knows nothing."""
    folder = tmp_path_factory.mktemp("taught") / "data"
    with Store(folder) as store:
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=12)
        store.run(RegisterGame(go_game("copy"), "arena"))
    return folder


@pytest.fixture
def teacher(taught: Path, tmp_path: Path) -> Iterator[Store]:
    """A store with a copy of it."""
    with opened_copy(taught, tmp_path / "copy") as store:
        yield store


def test_what_another_game_has_learnt_can_be_imported(
    teacher: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    patterns, nodes = exported(view(teacher))
    imported = teacher.run(ImportLibraries("copy", patterns, nodes, False, "admin"))
    assert imported.patterns == sum(map(len, patterns.values()))
    assert (imported.nodes, imported.evicted) == (len(nodes) - 1, 0)
    source, copy = view(teacher), view(teacher, "copy")
    for library in (MIDDLE_GAME, ENDGAME):
        assert sorted(
            (entry.pattern, entry.signature.value) for entry in copy.libraries[library].values()
        ) == sorted((entry.pattern, entry.signature.value) for entry in source.libraries[library].values())
    assert copy.openings.root == source.openings.root
    assert len(copy.openings.nodes) == len(source.openings.nodes)
    # Once more: votes are united, nothing is there twice.
    teacher.run(ImportLibraries("copy", patterns, [], False, "admin", again=True))
    assert len(view(teacher, "copy").libraries[ENDGAME]) == len(source.libraries[ENDGAME])
    # And in place of what there is, from more records than one event holds.
    many = {ENDGAME: patterns[ENDGAME] * (1 + 100 // len(patterns[ENDGAME]))}
    assert len(many[ENDGAME]) > 100
    monkeypatch.setattr("academy.store.library_import.RECORDS_PER_EVENT", 50)
    teacher.run(ImportLibraries("copy", many, nodes, True, "admin"))
    # Only the first of these events takes the place of what there was.
    assert len(view(teacher, "copy").libraries[ENDGAME]) == len(source.libraries[ENDGAME])
    assert view(teacher, "copy").openings.root == source.openings.root
    assert [event.WhichOneof("kind") for event in teacher.read(event_log.read_page, 100, game_id="copy")[0]][
        -2:
    ] == [
        "patterns_imported",
        "openings_imported",
    ]
    assert not list(check(teacher.environment))


@pytest.mark.parametrize("compacted", [False, True])
def test_an_import_that_is_repeated_changes_nothing(teacher: Store, compacted: bool) -> None:
    patterns, nodes = exported(view(teacher))
    teacher.run(ImportLibraries("copy", patterns, nodes, False, "admin"))
    if compacted:
        compact(teacher, keep=1)
    before = view(teacher, "copy")
    number = teacher.read(event_log.last_sequence)

    for repeated in (
        ImportLibraries("copy", patterns, nodes, False, "another admin"),
        # It has other records, too.
        ImportLibraries("copy", {ENDGAME: patterns[ENDGAME][1:]}, nodes, False, "admin"),
    ):
        with pytest.raises(ImportedBeforeError, match=r"into 'copy' before, by event \d+, and would count"):
            teacher.run(repeated)
    after = view(teacher, "copy")
    assert (after.libraries, after.openings.root) == (before.libraries, before.openings.root)
    assert teacher.read(event_log.last_sequence) == number

    # Other games know nothing of it.
    teacher.run(RegisterGame(go_game("other"), "arena"))
    teacher.run(ImportLibraries("other", patterns, nodes, False, "admin"))
    teacher.run(ImportLibraries("copy", patterns, nodes, False, "admin", again=True))
    assert view(teacher, "copy").openings.root.visits == 2 * before.openings.root.visits


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
    assert store.run(ImportLibraries("go-9x9", {}, [root], False, "admin")).nodes == 0


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
        assert store.run(ImportLibraries("go-9x9", {}, most, False, "admin", again=True)).nodes == 1
    learn(store, contests=2)
    assert view(store).openings.root.visits >= 10**9


def test_an_evaluation_of_contests_that_nobody_could_play_is_refused(store: Store) -> None:
    record = pattern_pb2.EvaluationRecord(contests=8, best_elo_hundredths=99_999_00)
    with pytest.raises(InvalidRecordError, match=r"evaluation\[0\]\.best_elo_hundredths: 99999\.0 must be"):
        store.run(ImportLibraries("go-9x9", {}, [], False, "admin", evaluation=[record]))


@pytest.mark.parametrize(
    ("field", "number"),
    [("pattern_id", 2**48), ("pattern_id", 2**64 - 2), ("uses", 10**11 + 1), ("last_contest", 2**64 - 1)],
)
def test_patterns_after_which_nothing_could_be_counted_are_not_taken_in(
    teacher: Store, field: str, number: int
) -> None:
    patterns, _ = exported(view(teacher))
    first = patterns[ENDGAME][0]
    setattr(first, field, number)
    with pytest.raises(InvalidRecordError, match=rf"patterns\[0\]\.{field}: {number:,} must be from 0 to"):
        teacher.run(ImportLibraries("copy", patterns, [], False, "admin"))
    # What is at the bound is taken in, and contests are learnt after it.
    setattr(first, field, 2**48 - 1 if field == "pattern_id" else 10**11)
    teacher.run(ImportLibraries("copy", patterns, [], False, "admin"))
    learn(teacher, contests=4, game_id="copy")
    assert not list(check(teacher.environment))


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
    teacher: Store, spoil: tuple[str, str, str], why: str
) -> None:
    stored = view(teacher).measures.as_json()
    name, part, number = spoil
    sound = json.dumps(stored)
    if part:
        stored[name][part] = "NUMBER"
    else:
        stored[name] = "NUMBER"
    text = json.dumps(stored).replace('"NUMBER"', number)
    with pytest.raises(InvalidRecordError, match=rf"history\.measures\.{why}"):
        teacher.run(ImportLibraries("copy", {}, [], False, "admin", GameHistory(measures=text)))
    teacher.run(ImportLibraries("copy", {}, [], False, "admin", GameHistory(measures=sound)))
    learn(teacher, contests=1, game_id="copy")
    assert view(teacher, "copy").measures.contests == 13


def test_measures_that_are_nested_too_deeply_are_refused(store: Store) -> None:
    for text in ("[" * 100_000, '{"width":' * 100_000):
        with pytest.raises(InvalidRecordError, match=r"history\.measures: cannot be read"):
            store.run(ImportLibraries("go-9x9", {}, [], False, "admin", GameHistory(measures=text)))
