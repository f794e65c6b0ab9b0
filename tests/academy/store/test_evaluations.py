"""The evaluation in the store: live, made again, followed and moved, it is the same."""

from collections.abc import Iterator
from pathlib import Path

import lmdb
import pytest

from academy.knowledge.evaluation import EVALUATION_IN_USES, EvaluationTable
from academy.knowledge.settings import Library
from academy.store import game_tables, keys, rebuild
from academy.store.consultation_notes import NoteUses
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import TableName
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import ChangeSettings
from academy.store.library_store import Store
from academy.store.maintenance.backup import backup, restore
from academy.store.maintenance.check import check
from academy.store.maintenance.compaction import compact
from academy.store.removals import RestoreRemoval, list_removals
from academy.store.writer import LoadedGames
from academy.v1 import game_pb2
from tests.academy.store.examples import contest, go_game, report

GAME = "evaluated"
CAPACITY = 300


@pytest.fixture
def taught(store: Store) -> Iterator[Store]:
    """A game with an evaluation after four contests; and one without."""
    game = go_game(GAME)
    game.settings.evaluation, game.settings.evaluation_patterns = True, CAPACITY
    store.run(RegisterGame(game, "arena"))
    teach(store, 4)
    store.run(ReportContest(report("plain/0"), "arena"))
    yield store


def teach(store: Store, contests: int, first: int = 0) -> None:
    for number in range(first, first + contests):
        store.run(ReportContest(report(f"{GAME}/{number}", GAME), "arena"))


def test_an_evaluation_is_made_again_from_the_log_and_followed_by_others(taught: Store) -> None:
    follower, other = taught.follow(), LoadedGames()
    assert 0 < follower.refresh(GAME).evaluation.patterns <= CAPACITY
    with taught.environment.reading() as transaction:
        other.current(transaction, GAME)
    teach(taught, 2, first=4)
    view = follower.refresh(GAME)
    assert view.evaluation.contests == 6
    with taught.environment.reading() as transaction:
        assert rebuild.rebuild(transaction, GAME)[0].evaluation == view.evaluation
        assert other.current(transaction, GAME).knowledge.evaluation == view.evaluation
        assert transaction.get(TableName.EVALUATIONS, keys.game("go-9x9")) is None
    assert not list(check(taught.environment))


def test_a_backup_and_a_compacted_folder_learn_the_same_evaluation(taught: Store, tmp_path: Path) -> None:
    backup(taught.environment, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "again")
    compact(taught, keep=1)
    teach(taught, 2, first=4)
    with Store(tmp_path / "again") as again:
        teach(again, 2, first=4)
        assert again.follow().refresh(GAME).evaluation == taught.follow().refresh(GAME).evaluation
    assert not list(check(taught.environment))


def test_uses_of_an_evaluation_are_counted_and_switching_it_off_keeps_it(taught: Store) -> None:
    taught.run(OpenContest(contest("used", GAME)))
    taught.note(NoteUses("used", 1, Library.MIDDLE_GAME, [EVALUATION_IN_USES]))
    taught.run(ReportContest(report("used", GAME), "arena"))
    assert taught.follow().refresh(GAME).evaluation.uses == 1
    assert not list(check(taught.environment))
    taught.run(ChangeSettings(GAME, game_pb2.LibrarySettings(evaluation=False), "admin"))
    view = taught.follow().refresh(GAME)
    assert view.evaluation.contests == 5 and not len(view.answered_evaluation)
    assert not list(check(taught.environment))


def test_patterns_that_a_lowered_capacity_evicted_come_back_and_change_no_others(
    taught: Store,
) -> None:
    def known() -> EvaluationTable:
        return taught.follow().refresh(GAME).evaluation

    before = known()
    taught.run(ChangeSettings(GAME, game_pb2.LibrarySettings(evaluation_patterns=20), "admin"))
    lowered = known()
    (removal,) = taught.read(list_removals, GAME, taught.clock())
    assert removal.weights == before.patterns - 20 > 20
    taught.run(ChangeSettings(GAME, game_pb2.LibrarySettings(evaluation_patterns=40), "admin"))
    back = taught.run(RestoreRemoval(GAME, removal.event, "admin"))
    assert (back.weights, back.no_room) == (20, removal.weights - 20)
    assert {*known().codes.tolist()} == {*before.keep_strongest(40).codes.tolist()}
    taught.run(ChangeSettings(GAME, game_pb2.LibrarySettings(evaluation_patterns=10_000), "admin"))
    taught.run(RestoreRemoval(GAME, removal.event, "admin"))
    assert not taught.read(list_removals, GAME, taught.clock())
    restored = known()
    assert restored.figures() == before.figures() and lowered.missing_from(restored) == EvaluationTable()

    def rows(table: EvaluationTable) -> list[tuple[int, ...]]:
        return sorted(zip(*(column.tolist() for column in table.columns()), strict=True))

    assert rows(restored) == rows(before)
    assert not list(check(taught.environment))


def test_a_damaged_evaluation_is_reported(taught: Store) -> None:
    with taught.environment.reading() as transaction:
        stored = game_tables.stored_table(transaction, TableName.EVALUATIONS, GAME)
    taught.environment.write(
        lambda transaction: transaction.put(TableName.EVALUATIONS, keys.game(GAME), stored[:-1] + b"\xff")
    )
    assert list(check(taught.environment))


def test_a_folder_from_before_evaluations_can_be_read_without_writing(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    with Store(folder) as store:
        store.run(RegisterGame(go_game(GAME), "arena"))
        teach(store, 1)
    with lmdb.open(str(folder), max_dbs=64) as environment:
        table = environment.open_db(TableName.EVALUATIONS.encode())
        with environment.begin(write=True) as transaction:
            transaction.drop(table)
    with Store(folder, read_only=True) as store:
        assert not len(store.follow().refresh(GAME).evaluation)
        assert not list(check(store.environment))
