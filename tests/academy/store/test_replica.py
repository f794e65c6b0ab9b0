"""Followers: what is committed, all of it, and nothing else."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from academy.knowledge.patterns import Pattern
from academy.knowledge.settings import Library
from academy.knowledge.votes import VoteTally
from academy.store import game_tables, keys
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.consultation_notes import NoteUses
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import TableName, Transaction
from academy.store.errors import UnknownGameError
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import ChangeSettings, DeletePattern, RestorePattern
from academy.store.library_import import ImportLibraries
from academy.store.library_store import Store
from academy.store.replica import GameView, PatternChanges, Replica
from academy.store.v1 import records_pb2
from academy.store.writer import LoadedGames
from academy.v1 import game_pb2
from tests.academy.store.examples import contest, go_game, learn, report
from tests.academy.store.holding import held


class Mirror:
    """What a matching index holds that believes the changes it receives."""

    def __init__(self) -> None:
        self.patterns: dict[tuple[str, Library, int], tuple[Pattern, int, VoteTally]] = {}
        self.changes_received = 0

    def __call__(self, view: GameView, changes: PatternChanges) -> None:
        self.changes_received += 1
        for library, entry in changes.put:
            key = view.spec.game_id, library, entry.pattern_id
            known = self.patterns.get(key)
            assert known is None or known[0] != entry.pattern
            self.patterns[key] = entry.pattern, entry.player, entry.votes
        for library, pattern_id, player, votes in changes.restated:
            key = view.spec.game_id, library, pattern_id
            restated = self.patterns[key][0], player, votes
            assert self.patterns[key] != restated
            self.patterns[key] = restated
        for library, pattern_id in changes.removed:
            del self.patterns[view.spec.game_id, library, pattern_id]

    def holds(self, view: GameView) -> bool:
        return self.patterns == matchable(view)


def matchable(view: GameView) -> dict[tuple[str, Library, int], tuple[Pattern, int, VoteTally]]:
    """All that a view's patterns say; uses do not matter."""
    return {
        (view.spec.game_id, library, number): (entry.pattern, entry.player, entry.votes)
        for library, entries in view.libraries.items()
        for number, entry in entries.items()
    }


def same(first: GameView, second: GameView) -> bool:
    return (
        (first.spec, first.settings, first.generation) == (second.spec, second.settings, second.generation)
        and first.libraries == second.libraries
        and first.measures == second.measures
        and first.openings.nodes == second.openings.nodes
    )


def test_a_follower_sees_every_kind_of_change(store: Store) -> None:
    mirror = Mirror()
    follower = store.follow(mirror)

    def up_to_date() -> GameView:
        view = follower.refresh("go-9x9")
        assert same(view, store.follow().refresh("go-9x9"))
        assert mirror.holds(view)
        return view

    assert up_to_date().generation == 1
    for turn in range(4):
        learn(store, contests=3, first=3 * turn)
        assert up_to_date().measures.contests == 3 * turn + 3
    store.run(ChangeSettings("go-9x9", game_pb2.LibrarySettings(opening_capacity=30), "admin"))
    assert len(up_to_date().openings) == 30
    number = next(iter(up_to_date().libraries[Library.ENDGAME]))
    store.run(DeletePattern("go-9x9", Library.ENDGAME, number, "admin"))
    assert number not in up_to_date().libraries[Library.ENDGAME]
    store.run(RestorePattern("go-9x9", Library.ENDGAME, number, "admin"))
    assert number in up_to_date().libraries[Library.ENDGAME]
    store.run(ImportLibraries("go-9x9", {}, [], True, "admin"))
    store.run(ChangeSettings("go-9x9", game_pb2.LibrarySettings(endgame_capacity=0), "admin"))
    assert not up_to_date().libraries[Library.ENDGAME]
    assert mirror.changes_received == 9


def test_view_is_brought_up_to_date_with_its_generation(store: Store) -> None:
    learn(store)
    follower = store.follow()
    view = follower.refresh("go-9x9")
    openings, generation, contests = view.openings, view.generation, view.measures.contests
    learn(store, contests=5, first=10)
    fresh = follower.refresh("go-9x9")
    assert fresh.openings is openings
    assert fresh.generation > generation
    assert (view.generation, view.measures.contests) == (generation, contests)


def test_unchanged_view_is_the_same_object_and_calls_no_listener(store: Store) -> None:
    mirror = Mirror()
    follower = store.follow(mirror)
    first = follower.refresh("go-9x9")
    assert follower.refresh("go-9x9") is first
    assert mirror.changes_received == 1


def use(store: Store, contest_id: str, library: Library, pattern_ids: Sequence[int]) -> None:
    """Play a contest of one ply, in which patterns are returned to the first player, who wins."""
    store.run(OpenContest(contest(contest_id)))
    store.note(NoteUses(contest_id, 1, library, pattern_ids))
    store.run(ReportContest(report(contest_id, plies=1), "arena"))


def test_patterns_that_were_only_used_are_counted_but_not_announced(store: Store) -> None:
    learn(store, contests=6)
    announced: list[PatternChanges] = []
    follower = store.follow(lambda _, changes: announced.append(changes))
    view = follower.refresh("go-9x9")
    numbers = sorted(view.libraries[Library.ENDGAME])[:3]
    use(store, "c1", Library.ENDGAME, numbers)
    use(store, "c2", Library.ENDGAME, numbers[:1])
    patterns = follower.refresh("go-9x9").libraries[Library.ENDGAME]
    assert [(patterns[number].uses, patterns[number].last_contest_id) for number in numbers] == [
        (2, "c2"),
        (1, "c1"),
        (1, "c1"),
    ]
    assert announced[1] == PatternChanges((), (), ())
    # Nor where all is read again, as nobody knows which were touched.
    with store.environment.reading() as transaction:
        generations = [key for key, _ in transaction.scan(TableName.CHANGES, keys.in_game("go-9x9"))]
    use(store, "c3", Library.ENDGAME, numbers)
    store.environment.write(
        lambda transaction: [transaction.delete(TableName.CHANGES, key) for key in generations]
    )
    assert follower.refresh("go-9x9").libraries[Library.ENDGAME][numbers[0]].uses == 3
    assert announced[2] == PatternChanges((), (), ())


def test_changes_without_separate_uses_are_read_whole(store: Store) -> None:
    learn(store, contests=6)
    mirror, games = Mirror(), LoadedGames()
    follower = store.follow(mirror)
    view = follower.refresh("go-9x9")
    with store.environment.reading() as transaction:
        games.current(transaction, "go-9x9")
    use(store, "c1", Library.ENDGAME, sorted(view.libraries[Library.ENDGAME])[:3])
    learn(store, contests=3, first=10)

    def as_once(transaction: Transaction) -> None:
        for key, stored in list(transaction.scan(TableName.CHANGES, keys.in_game("go-9x9"))):
            changes = unpack_message(records_pb2.Changes, stored)
            changes.ClearField("learnt")
            changes.ClearField("learnt_told")
            transaction.put(TableName.CHANGES, key, pack_message(changes))

    store.environment.write(as_once)
    followed = follower.refresh("go-9x9")
    assert same(followed, store.follow().refresh("go-9x9"))
    assert mirror.holds(followed)
    with store.environment.reading() as transaction:
        current = games.current(transaction, "go-9x9")
        loaded = game_tables.load(transaction, "go-9x9")
    assert sorted(game_tables.records(current.knowledge, current.generation)) == sorted(
        game_tables.records(*loaded)
    )


def test_what_is_not_committed_is_not_seen(store: Store) -> None:
    follower = store.follow()
    hold, _ = held(store)
    future = store.submit(ReportContest(report("c1"), "arena"))
    assert follower.refresh("go-9x9").measures.contests == 0
    hold.may_end.set()
    future.result(10)
    assert follower.refresh("go-9x9").measures.contests == 1


def test_a_follower_left_too_far_behind_reads_all_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_tables, "GENERATIONS_KEPT", 5)
    mirror = Mirror()
    follower = store.follow(mirror)
    learn(store, contests=1)
    follower.refresh("go-9x9")
    for missed in (4, 5, 6, 20):
        for number in range(missed):
            learn(store, contests=1, first=100 * missed + number)
        view = follower.refresh("go-9x9")
        assert same(view, store.follow().refresh("go-9x9"))
        assert mirror.holds(view)


def test_the_feed_of_changes_is_trimmed_for_each_game(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_tables, "GENERATIONS_KEPT", 5)
    store.run(RegisterGame(go_game("other"), "arena"))
    learn(store, contests=3, game_id="other")
    learn(store, contests=20)
    with store.environment.reading() as transaction:
        assert transaction.count(TableName.CHANGES) == 5 + 3


def test_games_do_not_mix(store: Store) -> None:
    store.run(RegisterGame(go_game("go-9x9.b"), "arena"))
    learn(store, contests=4)
    follower = store.follow()
    other = follower.refresh("go-9x9.b")
    assert (len(other.openings.nodes), sum(map(len, other.libraries.values()))) == (1, 0)
    assert follower.refresh("go-9x9").measures.contests == 4


def test_an_unknown_game_is_named(store: Store) -> None:
    follower = store.follow()
    for game_id in ("chess", "", "a b", "x" * 600, "é"):
        with pytest.raises(UnknownGameError):
            follower.refresh(game_id)


def test_a_folder_opened_for_reading_is_followed(store: Store, tmp_path: Path) -> None:
    learn(store)
    expected = store.follow().refresh("go-9x9")
    store.close()
    with Store(tmp_path / "data", read_only=True) as reading:
        assert same(Replica(reading.environment).refresh("go-9x9"), expected)
