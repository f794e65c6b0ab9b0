"""Admins change settings, delete, prune and undo."""

from typing import Any

import pytest

from academy.knowledge.library import UnknownPatternError
from academy.knowledge.settings import InvalidSettingsError, Library, LibrarySettings
from academy.store import event_log, game_tables
from academy.store.codec.learnt_tables import evaluation_records, tesuji_records
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.errors import (
    GameInUseError,
    InvalidRecordError,
    NotDeletedError,
    UnknownGameError,
)
from academy.store.fork import ForkGame
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import (
    ChangeSettings,
    DeleteGame,
    DeletePattern,
    PruneLibrary,
    RestorePattern,
)
from academy.store.library_import import ImportLibraries
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.v1 import game_pb2
from tests.academy.store.examples import contest, go_game, learn, report, view

ENDGAME = Library.ENDGAME


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
    assert view(store).libraries[ENDGAME] == {
        number: entry for number, entry in entries.items() if entry.strength >= below
    }
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


def test_a_game_with_open_contests_is_not_deleted(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    with pytest.raises(GameInUseError, match="has open contests"):
        store.run(DeleteGame("go-9x9", "admin", really=True))


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
