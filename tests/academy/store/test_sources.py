"""Which games' contests a library comes from, so that none counts twice."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from academy.knowledge.settings import Library
from academy.store import game_tables, sources
from academy.store.codec.openings import node_to_proto
from academy.store.codec.patterns import entry_to_proto
from academy.store.environment import TableName
from academy.store.errors import ImportedBeforeError, InvalidRecordError
from academy.store.fork import ForkGame
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import DeleteGame
from academy.store.library_import import ImportLibraries
from academy.store.library_store import Store
from academy.store.maintenance.compaction import compact
from academy.v1 import contests_pb2, libraries_pb2, pattern_pb2
from tests.academy.store.examples import go_game, learn

GAME = "go-9x9"
TESUJI = pattern_pb2.TesujiRecord(player=1, cells="- - -\n- * -\n- - -", offered=2, chosen=1)
MORE = pattern_pb2.TesujiRecord(player=1, cells="- - -\n- * -\n- - -", offered=4, chosen=1)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Store]:
    """Another ACADEMY, which has learnt the game from contests of its own."""
    with Store(tmp_path / "other") as store:
        store.run(RegisterGame(go_game(), "another arena"))
        learn(store, contests=6, first=100)
        yield store


def exported(
    store: Store, libraries: Iterable[Library] = tuple(Library), game_id: str = GAME
) -> ImportLibraries:
    """An import of what a store exports of a game."""
    wanted = set(libraries)
    game = store.follow().refresh(game_id)
    nodes = game.openings.nodes.values() if Library.OPENING in wanted else ()
    history = libraries_pb2.GameHistory(sources=store.read(sources.of_libraries, game_id, wanted))
    if len(wanted) == len(Library):
        history.measures = game_tables.write_measures(game.measures)
    return ImportLibraries(
        GAME,
        {
            library: [entry_to_proto(entry, library, game.spec) for entry in entries.values()]
            for library, entries in game.libraries.items()
            if library in wanted
        },
        [node_to_proto(node, game_id) for node in nodes],
        False,
        "admin",
        history,
    )


def visits(store: Store, game_id: str = GAME) -> int:
    return store.follow().refresh(game_id).openings.root.visits


def test_a_games_own_export_is_refused_then_and_after_more_contests(store: Store) -> None:
    learn(store, contests=6)
    before = exported(store)
    with pytest.raises(ImportedBeforeError, match=r"this export and 'go-9x9' have contests in common"):
        store.run(before)
    learn(store, contests=2, first=6)
    for export in (before, exported(store)):
        with pytest.raises(ImportedBeforeError, match="with `replace`, or with `again`"):
            store.run(export)
    assert visits(store) == 8
    store.run(replace(before, again=True))
    assert visits(store) == 14
    store.run(replace(before, replace=True))
    assert visits(store) == 6


def test_an_export_that_has_grown_does_not_count_twice_what_was_taken_in(store: Store, other: Store) -> None:
    learn(store, contests=6)
    store.run(exported(other))
    assert visits(store) == 12
    learn(other, contests=2, first=106)
    with pytest.raises(ImportedBeforeError):
        store.run(exported(other))
    # What it took in does not come back to where it is from, either.
    with pytest.raises(ImportedBeforeError):
        other.run(exported(store))


def test_the_parts_of_an_export_are_taken_in_one_by_one(store: Store, other: Store) -> None:
    learn(store, contests=6)
    for library in Library:
        store.run(exported(other, [library]))
    learn(other, contests=4, first=106)
    for library in (Library.ENDGAME, Library.OPENING):
        with pytest.raises(ImportedBeforeError, match=rf"in common \({library.value}, event"):
            store.run(exported(other, [library]))


def test_a_game_that_begins_with_an_export_goes_on_under_its_name(store: Store, tmp_path: Path) -> None:
    learn(store, contests=6)
    with Store(tmp_path / "moved") as moved:
        moved.run(RegisterGame(go_game(), "arena"))
        moved.run(exported(store))
        assert exported(moved).history == exported(store).history
        learn(moved, contests=1, first=6)
        with pytest.raises(ImportedBeforeError):
            store.run(exported(moved))


def test_a_fork_has_its_games_contests(store: Store) -> None:
    learn(store, contests=6)
    store.run(ForkGame(GAME, "fork", "admin"))
    with pytest.raises(ImportedBeforeError):
        store.run(replace(exported(store), game_id="fork"))
    with pytest.raises(ImportedBeforeError):
        store.run(exported(store, game_id="fork"))


def test_a_game_registered_again_has_none_of_the_deleted_ones_sources(store: Store) -> None:
    learn(store, contests=6)
    store.run(ForkGame(GAME, "fork", "admin"))
    store.run(DeleteGame("fork", "admin", really=True))
    store.run(RegisterGame(go_game("fork"), "arena"))
    (own,) = store.read(sources.of_libraries, "fork", Library)
    assert own not in store.read(sources.of_libraries, GAME, Library)


@pytest.mark.parametrize("registered_before", [False, True])
def test_a_games_sources_outlive_the_events_that_brought_them(
    store: Store, other: Store, registered_before: bool
) -> None:
    learn(store, contests=6)
    if registered_before:
        # As a version did that kept no sources.
        store.environment.write(
            lambda transaction: transaction.delete(TableName.META, b"source " + GAME.encode())
        )
    store.run(exported(other))
    before = exported(store)
    compact(store, keep=1)
    compact(store, keep=1)
    assert exported(store).history == before.history
    with pytest.raises(ImportedBeforeError):
        store.run(exported(store))


def test_what_was_replaced_may_come_again_with_more_contests(
    store: Store, other: Store, tmp_path: Path
) -> None:
    learn(store, contests=1)
    store.run(exported(other))
    with Store(tmp_path / "third") as third:
        third.run(RegisterGame(go_game(), "a third arena"))
        learn(third, contests=3, first=200)
        store.run(replace(exported(third), replace=True))
    learn(other, contests=1, first=106)
    store.run(exported(other))
    assert visits(store) == 3 + 7


def test_what_stays_beside_what_was_replaced_is_not_taken_in_twice(store: Store, other: Store) -> None:
    learn(store, contests=1)
    tesujis = replace(exported(other), patterns={}, nodes=[], tesujis=[TESUJI])
    store.run(tesujis)
    store.run(replace(exported(store, [Library.MIDDLE_GAME]), replace=True))
    learn(other, contests=1, first=106)
    with pytest.raises(ImportedBeforeError, match=r"\(tesujis, event"):
        store.run(replace(tesujis, tesujis=[MORE]))
    store.run(replace(tesujis, tesujis=[MORE], replace=True))


def test_a_game_whose_events_an_earlier_version_removed_is_named_by_its_next_one(
    store: Store, other: Store
) -> None:
    for known in (store, other):
        learn(known, contests=6 if known is store else 1, first=200)
        known.run(RegisterGame(go_game("newer"), "arena"))
        compact(known, keep=1)
        known.environment.write(
            lambda transaction: transaction.delete(TableName.META, b"source " + GAME.encode())
        )
        assert known.read(sources.of_libraries, GAME, Library) == []
    store.run(exported(other))
    (own,) = store.read(sources.of_libraries, GAME, Library)
    learn(store, contests=1, first=300)
    compact(store, keep=1)
    assert store.read(sources.of_libraries, GAME, Library) == [own]
    with pytest.raises(ImportedBeforeError):
        store.run(exported(store))


def test_sources_come_in_the_order_of_their_names(store: Store, other: Store, tmp_path: Path) -> None:
    learn(store, contests=1)
    store.run(exported(other, [Library.OPENING]))
    with Store(tmp_path / "third") as third:
        third.run(RegisterGame(go_game(), "a third arena"))
        learn(third, contests=3, first=200)
        store.run(exported(third, [Library.ENDGAME]))
    own, *others = store.read(sources.of_libraries, GAME, Library)
    assert len(others) == 2 and others == sorted(others)
    assert store.read(sources.of_libraries, GAME, [Library.MIDDLE_GAME]) == [own]


def test_ratings_without_measures_are_refused(store: Store, other: Store) -> None:
    store.run(RegisterGame(go_game("copy"), "arena"))
    ratings = libraries_pb2.GameHistory(ratings=[contests_pb2.PlayerRating(player="one", elo=1_500.0)])
    with pytest.raises(InvalidRecordError, match="measures"):
        store.run(replace(exported(other), game_id="copy", history=ratings))


@pytest.mark.parametrize(
    "named", [[b"short"], [bytes([1]) * 17], [number.to_bytes(16) for number in range(1_001)]]
)
def test_sources_that_are_none_are_refused(store: Store, other: Store, named: list[bytes]) -> None:
    export = replace(exported(other), history=libraries_pb2.GameHistory(sources=named))
    with pytest.raises(InvalidRecordError, match=r"sources\[\d+\]: .* up to 1,000 of 16 bytes each"):
        store.run(export)
