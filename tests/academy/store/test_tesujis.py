"""Tesujis in the store: live, made again, followed and moved, they are the same."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest

from academy.knowledge.settings import Library
from academy.knowledge.tesujis.table import FIRST_IN_USES, TesujiTable
from academy.store import event_log, game_tables, keys, rebuild
from academy.store.codec.learnt_tables import tesuji_records
from academy.store.consultation_notes import NoteUses
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import TableName, Transaction
from academy.store.errors import ImportedBeforeError, UnknownGameError, UnknownTesujiError
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import ChangeSettings, DeleteTesuji
from academy.store.library_import import ImportLibraries
from academy.store.library_store import Store
from academy.store.maintenance.backup import backup, restore
from academy.store.maintenance.check import check
from academy.store.maintenance.compaction import compact
from academy.store.removals import RestoreRemoval, list_removals
from academy.store.replica import GameView
from academy.store.writer import LoadedGames
from academy.v1 import contests_pb2, game_pb2, pattern_pb2
from tests.academy.store.examples import contest, go_game, marked_proposal, report, submission

GAME = "tesuji"
CAPACITY = 150


@pytest.fixture
def taught(store: Store) -> Iterator[Store]:
    """A game that keeps tesujis, after six contests; and one that keeps none."""
    game = go_game(GAME)
    game.settings.tesuji_capacity = CAPACITY
    store.run(RegisterGame(game, "arena"))
    teach(store, 6)
    store.run(ReportContest(report("plain/0"), "arena"))
    yield store


def teach(store: Store, contests: int, first: int = 0) -> None:
    for number in range(first, first + contests):
        store.run(ReportContest(report(f"{GAME}/{number}", GAME), "arena"))


def test_a_full_table_is_sound_and_made_again_from_the_log(taught: Store) -> None:
    view = taught.follow().refresh(GAME)
    assert len(view.tesujis) == CAPACITY
    assert not list(check(taught.environment))
    with taught.environment.reading() as transaction:
        assert rebuild.rebuild(transaction, GAME)[0].tesujis == view.tesujis
        assert transaction.get(TableName.TESUJIS, keys.game("go-9x9")) is None


def test_a_store_opened_again_goes_on_as_before(taught: Store, tmp_path: Path) -> None:
    backup(taught.environment, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "again")
    teach(taught, 3, first=6)
    with Store(tmp_path / "again") as again:
        teach(again, 3, first=6)
        assert again.follow().refresh(GAME).tesujis == taught.follow().refresh(GAME).tesujis
        assert not list(check(again.environment))


def test_followers_and_other_writers_take_in_what_is_new(taught: Store) -> None:
    follower, other = taught.follow(), LoadedGames()
    follower.refresh(GAME)
    with taught.environment.reading() as transaction:
        other.current(transaction, GAME)
    teach(taught, 2, first=6)
    with taught.environment.reading() as transaction:
        followed = other.current(transaction, GAME).knowledge
        assert followed.tesujis == game_tables.load(transaction, GAME)[0].tesujis
    assert follower.refresh(GAME).tesujis == followed.tesujis


def test_tesujis_outlive_the_compaction_of_their_events(taught: Store) -> None:
    before = taught.follow().refresh(GAME).tesujis
    compact(taught, keep=1)
    assert taught.follow().refresh(GAME).tesujis == before
    teach(taught, 2, first=6)
    assert not list(check(taught.environment))


def test_a_lowered_capacity_evicts_at_once(taught: Store) -> None:
    def kept() -> list[bytes]:
        with taught.environment.reading() as transaction:
            return [key for key, _ in transaction.scan(TableName.TESUJIS)]

    assert kept() == [keys.game(GAME)]
    taught.run(ChangeSettings(GAME, game_pb2.LibrarySettings(tesuji_capacity=20), "admin"))
    assert len(taught.follow().refresh(GAME).tesujis) == 20
    taught.run(ChangeSettings(GAME, game_pb2.LibrarySettings(tesuji_capacity=0), "admin"))
    view = taught.follow().refresh(GAME)
    assert kept() and len(view.tesujis) == 20 and not len(view.answered_tesujis)
    assert not list(check(taught.environment))


def test_what_a_lowered_capacity_evicted_comes_back_with_a_higher_one(taught: Store) -> None:
    before = taught.follow().refresh(GAME)
    taught.run(ChangeSettings(GAME, game_pb2.LibrarySettings(tesuji_capacity=20), "admin"))
    (removal,) = taught.read(list_removals, GAME, taught.clock())
    assert removal.tesujis == len(before.tesujis) - 20
    none = taught.run(RestoreRemoval(GAME, removal.event, "admin"))
    assert (none.tesujis, none.no_room) == (0, removal.tesujis)
    # Some become known again, and stay as they are then.
    taught.run(ChangeSettings(GAME, game_pb2.LibrarySettings(tesuji_capacity=60), "admin"))
    teach(taught, 1, first=6)
    now = taught.follow().refresh(GAME).tesujis
    again = set(before.tesujis.codes.tolist()) & set(now.codes.tolist())
    assert len(again) > 20
    taught.run(ChangeSettings(GAME, game_pb2.LibrarySettings(tesuji_capacity=1_000), "admin"))
    back = taught.run(RestoreRemoval(GAME, removal.event, "admin"))
    assert (back.tesujis, back.no_room) == (len(before.tesujis) - len(again), 0)
    restored = taught.follow().refresh(GAME).tesujis
    assert now.missing_from(restored) == before.tesujis.missing_from(restored) == TesujiTable.empty()
    assert restored.missing_from(now) == before.tesujis.missing_from(now)
    assert not taught.read(list_removals, GAME, taught.clock())
    assert not list(check(taught.environment))


def test_the_strongest_removed_tesujis_come_back_first(taught: Store) -> None:
    before = taught.follow().refresh(GAME).tesujis
    taught.run(ChangeSettings(GAME, game_pb2.LibrarySettings(tesuji_capacity=20), "admin"))
    taught.run(ChangeSettings(GAME, game_pb2.LibrarySettings(tesuji_capacity=50), "admin"))
    (removal,) = taught.read(list_removals, GAME, taught.clock())
    back = taught.run(RestoreRemoval(GAME, removal.event, "admin"))
    assert (back.tesujis, back.no_room) == (30, len(before) - 50)
    (left,) = taught.read(list_removals, GAME, taught.clock())
    assert left.tesujis == back.no_room
    restored = taught.follow().refresh(GAME).tesujis
    assert set(restored.codes.tolist()) == set(before.keep_strongest(50).codes.tolist())


def propose(store: Store, contest_id: str) -> int:
    """Play a contest, always of the same moves, that brings a proposed tesuji; return its code."""
    request = report(contest_id, GAME, seed=3)
    store.run(OpenContest(contest(contest_id, GAME)))
    store.run(submission(contest_id, 1, [marked_proposal(request)], "gnugo 1", GAME))
    store.run(ReportContest(request, "arena"))
    (code,) = store.follow().refresh(GAME).tesujis.proposed
    return code


def test_a_deleted_proposed_tesuji_stays_away_until_it_is_proposed_again(taught: Store) -> None:
    code = propose(taught, "proposed")
    teach(taught, 2, first=6)
    before = taught.follow().refresh(GAME).tesujis
    tesuji, event = taught.run(DeleteTesuji(GAME, code, "admin"))
    assert tesuji.code == code and tesuji.cells.count("*") == 1
    (kept,) = taught.read(list_removals, GAME, taught.clock())
    assert (kept.event, kept.tesujis, kept.what, kept.actor) == (event, 1, "tesuji deleted", "admin")
    teach(taught, 2, first=8)
    now = taught.follow().refresh(GAME).tesujis
    assert not now.proposed and not list(check(taught.environment))
    assert propose(taught, "proposed/again") == code
    # It began again: fewer moves have taught it.
    again = taught.follow().refresh(GAME).tesujis
    assert again.offered[again.rows_of(code)] < before.offered[before.rows_of(code)]
    assert not list(check(taught.environment))


def test_a_deleted_tesuji_of_the_games_own_shapes_is_taught_again_from_weight_0(taught: Store) -> None:
    before = taught.follow().refresh(GAME).tesujis
    # Nothing around: each contest has it.
    code = min(before.codes.tolist())
    taught.run(DeleteTesuji(GAME, code, "admin"))
    without = taught.follow().refresh(GAME).tesujis
    assert before.missing_from(without).codes.tolist() == [code] and len(without) == len(before) - 1
    teach(taught, 1, first=6)
    again = taught.follow().refresh(GAME).tesujis
    assert 0 < again.offered[again.rows_of(code)] < before.offered[before.rows_of(code)]
    assert not list(check(taught.environment))


def test_a_deletion_is_undone_with_all_figures_and_once_only(taught: Store) -> None:
    code = propose(taught, "proposed")
    follower = taught.follow()
    before = follower.refresh(GAME).tesujis
    _, event = taught.run(DeleteTesuji(GAME, code, "admin"))
    assert not follower.refresh(GAME).tesujis.proposed
    back = taught.run(RestoreRemoval(GAME, event, "admin"))
    assert (back.tesujis, back.no_room) == (1, 0)
    now = follower.refresh(GAME).tesujis
    assert now.missing_from(before) == before.missing_from(now) == TesujiTable.empty()
    rows = [table.rows_of(code) for table in (before, now)]
    assert before._take(np.array(rows[0])) == now._take(np.array(rows[1]))
    assert not taught.read(list_removals, GAME, taught.clock()) and not list(check(taught.environment))
    compact(taught, keep=1)
    assert taught.follow().refresh(GAME).tesujis == now and not list(check(taught.environment))


@pytest.mark.parametrize("code", [3, 2**63 - 1, 2**64 - 1])
def test_a_tesuji_that_a_game_does_not_have_is_not_deleted_and_leaves_no_event(
    taught: Store, code: int
) -> None:
    before = taught.read(event_log.last_sequence)
    with pytest.raises(UnknownTesujiError, match=rf"{GAME} has no tesuji of code {code}; `academy tesujis"):
        taught.run(DeleteTesuji(GAME, code, "admin"))
    with pytest.raises(UnknownGameError):
        taught.run(DeleteTesuji("nowhere", code, "admin"))
    assert taught.read(event_log.last_sequence) == before


def test_an_export_without_codes_is_known_as_the_same_import(taught: Store) -> None:
    known = taught.follow().refresh(GAME)
    record = next(tesuji_records(known.tesujis, known.spec, [0]))
    without = pattern_pb2.TesujiRecord()
    without.CopyFrom(record)
    without.ClearField("code")
    other, wrong = go_game("other"), pattern_pb2.TesujiRecord()
    other.settings.tesuji_capacity = CAPACITY
    taught.run(RegisterGame(other, "arena"))
    wrong.CopyFrom(record)
    wrong.code += 1
    taught.run(ImportLibraries("other", {}, [], False, "admin", tesujis=[without]))
    for again in (record, wrong):
        with pytest.raises(ImportedBeforeError):
            taught.run(ImportLibraries("other", {}, [], False, "admin", tesujis=[again]))
    assert taught.follow().refresh("other").tesujis.codes.tolist() == [record.code]


def test_uses_in_contests_are_counted_and_made_again(taught: Store) -> None:
    code = int(taught.follow().refresh(GAME).tesujis.codes[0])
    taught.run(OpenContest(contest("used", GAME)))
    taught.note(NoteUses("used", 1, Library.MIDDLE_GAME, [FIRST_IN_USES + code]))
    taught.run(ReportContest(report("used", GAME), "arena"))
    table = taught.follow().refresh(GAME).tesujis
    row = table.codes.tolist().index(code)
    assert (table.uses[row], table.successes[row], table.uses.sum()) == (1, 1, 1)
    assert not list(check(taught.environment))


@pytest.mark.parametrize("damage", ["record", "number"])
def test_damaged_tesujis_are_reported(taught: Store, damage: str) -> None:
    def spoil(stored: bytes) -> bytes:
        # The first number of the record is a code's.
        return b"\xff" if damage == "record" else stored[:8] + bytes([stored[8] ^ 0xFF]) + stored[9:]

    def write(transaction: Transaction) -> None:
        stored = game_tables.stored_table(transaction, TableName.TESUJIS, GAME)
        transaction.put(TableName.TESUJIS, keys.game(GAME), spoil(stored))

    taught.environment.write(write)
    findings = [finding.what for finding in check(taught.environment) if finding.game_id == GAME]
    assert findings == ["the record in 'tesujis' differs from what the events make"] or damage == "record"
    assert findings


def test_tesujis_begin_again_when_a_game_tells_later_how_its_pieces_come(taught: Store) -> None:
    game = go_game("falling")
    del game.symmetries[:]
    game.symmetries.append("identity")
    game.settings.tesuji_capacity = CAPACITY
    follower = taught.follow()

    def known(described: game_pb2.Game, may_describe: bool = True) -> GameView:
        taught.run(RegisterGame(described, "arena", may_describe))
        return follower.refresh("falling")

    known(game)
    taught.run(ReportContest(dropping(1), "arena"))
    before = known(game).tesujis
    game.placement, game.winning_row = game_pb2.PLACEMENT_DROPPED, 4
    assert len(before) and known(game, may_describe=False).tesujis == before
    assert not len(known(game).tesujis)
    taught.run(ReportContest(dropping(2), "arena"))
    # Who does not tell it takes nothing away.
    game.placement, game.winning_row = game_pb2.PLACEMENT_UNSPECIFIED, 0
    view = known(game)
    assert view.spec.winning_row == 4 and len(view.tesujis) and view.tesujis.codes.min() > 2**32
    assert not list(check(taught.environment))
    with taught.environment.reading() as transaction:
        assert rebuild.rebuild(transaction, "falling")[0].tesujis == view.tesujis


def test_removed_tesujis_of_other_shapes_do_not_keep_what_was_removed_with_them_from_coming_back(
    taught: Store,
) -> None:
    follower = taught.follow()
    nodes = follower.refresh(GAME).openings.nodes
    for capacity in (5, 1_000):
        room = game_pb2.LibrarySettings(opening_capacity=capacity, tesuji_capacity=capacity)
        taught.run(ChangeSettings(GAME, room, "admin"))
    (removal,) = taught.read(list_removals, GAME, taught.clock())
    assert removal.tesujis and removal.nodes
    game = go_game(GAME)
    game.placement = game_pb2.PLACEMENT_OUTFLANKING
    taught.run(RegisterGame(game, "arena"))
    (removal,) = taught.read(list_removals, GAME, taught.clock())
    assert removal.nodes and not removal.tesujis
    back = taught.run(RestoreRemoval(GAME, removal.event, "admin"))
    assert (back.nodes, back.tesujis, back.no_room) == (removal.nodes, 0, 0)
    assert follower.refresh(GAME).openings.nodes == nodes
    assert not list(check(taught.environment))


def dropping(number: int) -> contests_pb2.ReportContestRequest:
    """A contest whose pieces fall to the lowest empty cell of a column."""
    random, cells = Random(number), ["-"] * 81
    played = contests_pb2.ReportContestRequest(
        contest=contest(f"falling/{number}", "falling"),
        results=[contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS],
        start_board="".join(cells),
    )
    for ply in range(40):
        lowest = [cell for cell in range(81) if cells[cell] == "-" and "-" not in cells[cell + 9 :: 9]]
        cell = random.choice(lowest)
        cells[cell] = "xo"[ply % 2]
        played.plies.add(player=ply % 2 + 1, move=f"{ply}", board="".join(cells))
    return played
