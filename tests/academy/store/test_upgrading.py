"""Folders of an earlier schema version: nothing of them is lost, whatever interrupts the upgrade.

`schema_1.mdb.zz` is a compressed backup of a folder that the last program of schema version 1 wrote. Of three
games one was never played; ten contests were learnt from, most of them now in snapshots alone; four wait for
their reports, a proposal is held for one of them; and there is a token.

`schema_2.mdb.zz` is one of schema version 2, which learnt by the first rules: a player of Elo 0 proposed what
others of 1500 know, and openings of one lost reply each were kept.

`schema_4.mdb.zz` is one of schema version 4, by whose rules ten contests of two players of 2400 silenced
forty of players of 1200 in the opening tree.

`schema_5.mdb.zz` is one of schema version 5. In both of its games an opening that players of 1000 and of 1450
played was pruned; in one it was restored, after which the game could not be read. In
`schema_5_compacted.mdb.zz` it was restored in the other one, too, and then deleted; and all events but the
last were given up, so that the first game is in its snapshot alone.
"""

import os
import signal
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from academy.knowledge.game import RULES_VERSION
from academy.knowledge.openings import ROOT
from academy.knowledge.settings import Library
from academy.store import arenas, contest_tables, game_tables, proposal_tables, tokens
from academy.store.codec.packing import pack_message, unpack_message
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import SCHEMA_VERSION, Environment, TableName, Transaction
from academy.store.errors import SchemaOutdatedError, StoreBusyError, StoreCorruptError
from academy.store.library_store import Store
from academy.store.maintenance import upgrade as upgrade_module
from academy.store.maintenance.backup import backup, restore
from academy.store.maintenance.check import check
from academy.store.maintenance.compaction import compact
from academy.store.maintenance.upgrade import as_written, upgrade
from academy.store.proposal_tables import ProposalFilter
from academy.store.removals import RestoreRemoval, list_removals
from academy.store.v1 import records_pb2
from academy.v1 import pattern_pb2
from tests.academy.store.examples import contest, learn, report
from tests.academy.store.processes import Program, start_python

TOKEN = "acd_cd0108dfe7ba035d_VjmerFXOeOCf1lzokWQUY7NIfxU3udRF-Njxpydo46Q"
OPENED = 1_700_001_920.0
"""When the first of the contests that wait was opened; the others follow by the minute."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A data folder of schema version 1."""
    return unpacked_folder(tmp_path / "old", "schema_1.mdb.zz")


@pytest.fixture
def by_first_rules(tmp_path: Path) -> Path:
    """A data folder of schema version 2."""
    return unpacked_folder(tmp_path / "by first rules", "schema_2.mdb.zz")


@pytest.fixture
def by_third_rules(tmp_path: Path) -> Path:
    """A data folder of schema version 4."""
    return unpacked_folder(tmp_path / "by third rules", "schema_4.mdb.zz")


@pytest.fixture
def by_fourth_rules(tmp_path: Path) -> Path:
    """A data folder of schema version 5."""
    return unpacked_folder(tmp_path / "by fourth rules", "schema_5.mdb.zz")


def unpacked_folder(folder: Path, stored: str) -> Path:
    folder.mkdir()
    (folder / "data.mdb").write_bytes(zlib.decompress((Path(__file__).parent / stored).read_bytes()))
    return folder


def is_as_written(folder: Path) -> bool:
    """Whether a folder is of version 1, with all that the step from it changes as it was."""
    with as_written(folder) as environment, environment.reading() as transaction:
        measures = transaction.get(TableName.MEASURES, b"go-9x9") or b""
        return environment.schema == 1 and b'"seki":150000' in measures


def contents(folder: Path) -> list[tuple[TableName, bytes, bytes]]:
    with Environment(folder, read_only=True) as environment, environment.reading() as transaction:
        return [(table, key, value) for table in TableName for key, value in transaction.scan(table)]


def open_ids(store: Store, game_id: str = "") -> list[str]:
    """The contests that wait for their reports, the oldest first."""
    oldest = store.read(contest_tables.oldest_open_contests, game_id, None, 10)
    return [contest.contest_id for _, contest in oldest]


def test_an_upgraded_folder_has_all_that_it_had_before(old: Path) -> None:
    with Store(old) as store:
        assert not list(check(store.environment))
        elos = {
            name: store.read(game_tables.find_elo, "go-9x9", name)
            for name in ("gnugo 1", "seki", "weak", "Ōtake", "x" * 128)
        }
        assert elos == {"gnugo 1": 1550.0, "seki": 1500.0, "weak": -12.34, "Ōtake": 1500.0, "x" * 128: 1550.0}
        others = (("go", "seki"), ("go", "weak"), ("untouched", "seki"))
        assert [store.read(game_tables.find_elo, *other) for other in others] == [1550.0, None, None]
        measures = store.follow().refresh("go-9x9").measures
        assert (measures.contests, measures.players, measures.tempo.total) == (8, 5, 44.0)
        assert (open_ids(store), open_ids(store, "go-9x9")) == (["b", "a", "c", "d"], ["b", "a", "c"])
        assert store.read(contest_tables.open_contest_of_player, "seki", "go-9x9") == "b"
        assert store.read(contest_tables.open_contest_of_player, "seki", "go-9x9", OPENED + 30) == "a"
        assert store.read(contest_tables.open_contest_of_player, "seki", "go-9x9", OPENED + 90) is None
        assert store.read(tokens.authenticate, TOKEN, store.clock()).name == "seki"
        assert store.read(proposal_tables.count_held_proposals, "go-9x9") == 1
        assert len(store.read(arenas.list_proposals, ProposalFilter("gnugo 1"))[0]) == 7


def test_upgraded_folder_goes_on_learning(old: Path) -> None:
    with Store(old) as store:
        assert store.run(ReportContest(report("b", names=("seki", "Ōtake")), "arena")).counted
        assert not store.run(ReportContest(report("go-9x9/0"), "arena")).counted
        learn(store, contests=2, first=20)
        store.run(OpenContest(contest("e")))
        assert open_ids(store) == ["a", "c", "d", "e"]
        assert store.follow().refresh("go-9x9").measures.contests == 11
        assert not list(check(store.environment))


def test_the_arena_that_reported_most_is_the_folders_own(old: Path) -> None:
    def hand_out(transaction: Transaction) -> None:
        for number, (name, role) in enumerate((("arena", "arena"), ("late", "arena"), ("ann", "bot"))):
            record = records_pb2.TokenRecord(token_id=f"{number}", name=name, role=role)
            transaction.put(TableName.TOKENS, f"{number}".encode(), pack_message(record))

    with Environment(old, version=1) as environment:
        environment.write(hand_out)
    with Store(old) as store:
        assert [(arena.name, arena.namespace) for arena in store.read(arenas.list_arenas)] == [("arena", "")]
        # What it had opened goes on, and another arena's players are others.
        assert store.run(ReportContest(report("b", names=("seki", "Ōtake")), "arena", "arena")).counted
        store.run(ReportContest(report("b", names=("seki", "Ōtake")), "late", "late"))
        assert store.read(game_tables.find_elo, "go-9x9", "seki@late") == 1500.0
        assert not list(check(store.environment))


def test_a_folder_upgraded_once_is_upgraded_no_second_time(old: Path) -> None:
    with Store(old) as store:
        version = store.environment.version
    upgrade(old)
    with Store(old) as store:
        assert store.environment.version == version


def test_reading_changes_nothing_and_says_what_to_do(old: Path) -> None:
    before = (old / "data.mdb").read_bytes()
    with pytest.raises(
        SchemaOutdatedError, match=f"schema version 1, this program reads {SCHEMA_VERSION}; serve"
    ):
        Store(old, read_only=True)
    assert (old / "data.mdb").read_bytes() == before


def test_an_old_backup_is_brought_up_to_date_in_its_copy(
    old: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = (old / "data.mdb").read_bytes()
    restore(old, tmp_path / "restored")
    # The backup can be read by earlier programs, as it always could.
    assert not caplog.messages
    assert (old / "data.mdb").read_bytes() == before
    with Store(tmp_path / "restored", read_only=True) as store:
        assert not list(check(store.environment))
        assert store.read(game_tables.find_elo, "go-9x9", "weak") == -12.34
        backup(store.environment, tmp_path / "copy")
    assert contents(tmp_path / "copy") == contents(tmp_path / "restored")


@pytest.mark.parametrize("table", [TableName.MEASURES, TableName.SNAPSHOTS])
def test_unreadable_folder_is_reported_and_left_as_it_was(old: Path, table: TableName) -> None:
    def garble(transaction: Transaction) -> None:
        key, stored = next(transaction.scan(table, b"go-9x9"))
        transaction.put(table, key, stored[:8] + b"garbled" + stored[15:])

    with Environment(old, version=1) as environment:
        environment.write(garble)
    with pytest.raises(
        StoreCorruptError, match=f"the {table.value.rstrip('s')}s? of game 'go-9x9' cannot be read"
    ):
        Store(old)
    with as_written(old) as environment:
        assert environment.schema == 1


def test_while_another_process_uses_the_folder_it_is_refused(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade_module, "_SECONDS_FOR_OTHERS_TO_GO", 0.2)
    # As a server of the version before would have it open.
    user = start_python(
        """
        import sys
        from pathlib import Path
        from academy.store.environment import Environment
        with Environment(Path(sys.argv[1]), version=1):
            print("open")
            sys.stdin.readline()
        """,
        str(old),
        says="open",
    )
    try:
        with pytest.raises(StoreBusyError, match="stop its servers"):
            Store(old)
        assert is_as_written(old)
    finally:
        user.communicate("\n", timeout=60)
    Store(old).close()


def test_processes_that_start_together_all_find_the_folder_upgraded(old: Path) -> None:
    program = """
        import sys
        from pathlib import Path
        from academy.store import game_tables
        from academy.store.maintenance.check import check
        from academy.store.library_store import Store
        with Store(Path(sys.argv[1])) as store:
            print(store.read(game_tables.find_elo, "go-9x9", "weak"), list(check(store.environment)))
        """
    started = [start_python(program, str(old)) for _ in range(3)]
    outputs = [process.communicate(timeout=180)[0] for process in started]
    assert outputs == ["-12.34 []\n"] * 3


HELD_UP = """
    import sys
    from pathlib import Path
    from academy.store.maintenance import upgrade
    from academy.store.library_store import Store

    def held_up(transaction):
        step(transaction)
        print("in the middle")
        sys.stdin.readline()

    step = upgrade._STEPS[1]
    upgrade._STEPS[1] = held_up
    with Store(Path(sys.argv[1])):
        print("done")
    """


@pytest.fixture
def held_up(old: Path) -> Iterator[Program]:
    """A process that has taken the step, but not committed it; a line lets it go on."""
    process = start_python(HELD_UP, str(old), says="in the middle")
    yield process
    process.kill()
    process.wait(60)


def test_folder_is_unchanged_after_an_upgrade_is_killed(old: Path, held_up: Program) -> None:
    os.kill(held_up.pid, signal.SIGKILL)
    held_up.wait(60)
    assert is_as_written(old)
    with Store(old) as store:
        assert not list(check(store.environment))


def test_an_earlier_program_that_starts_during_an_upgrade_waits_and_is_refused(
    old: Path, held_up: Program
) -> None:
    before = start_python(
        """
        import sys
        from pathlib import Path
        from academy.store.environment import Environment
        print("opening")
        try:
            with Environment(Path(sys.argv[1]), version=1):
                print("open")
        except OSError as refused:
            print(type(refused).__name__)
        """,
        str(old),
        says="opening",
    )
    with pytest.raises(subprocess.TimeoutExpired):
        before.wait(0.5)
    assert held_up.communicate("\n", timeout=60)[0] == "done\n"
    assert before.communicate(timeout=60)[0] == "SchemaMismatchError\n"


# Rules of learning


def knowledge_of(folder: Path) -> dict[tuple[TableName, bytes], bytes]:
    with as_written(folder) as environment, environment.reading() as transaction:
        tables = (TableName.PATTERNS, TableName.OPENINGS, TableName.RATINGS, TableName.EVENTS)
        return {(table, key): value for table in tables for key, value in transaction.scan(table)}


def test_libraries_of_the_first_rules_are_kept(by_first_rules: Path) -> None:
    before = knowledge_of(by_first_rules)
    Store(by_first_rules).close()
    assert knowledge_of(by_first_rules) == before
    with Store(by_first_rules) as store:
        view = store.follow().refresh("go-9x9")
        assert any(
            [vote.player for vote in entry.votes.counted] == ["gnugo 1", "weak"]
            for entry in view.libraries[Library.ENDGAME].values()
        )
        measures = view.measures.measures()
        # Taken from all players, so far; the others go on.
        assert (measures["decisiveness"].value, measures["length"].contests) == (None, 10)


def test_openings_that_were_silenced_stay_so_and_new_contests_are_heard_again(by_third_rules: Path) -> None:
    before = knowledge_of(by_third_rules)
    Store(by_third_rules).close()
    assert knowledge_of(by_third_rules) == before
    with Store(by_third_rules) as store:
        tree = store.follow().refresh("go-9x9").openings
        assert (tree.root.visits, sum(child.visits for child in tree.children(ROOT))) == (50, 10)
        weak = [report(f"go-9x9/new/{number}") for number in range(3)]
        for request in weak:
            for player in request.contest.players:
                player.elo = 1200.0
            store.run(ReportContest(request, "arena"))
        tree = store.follow().refresh("go-9x9").openings
        assert sum(child.visits for child in tree.children(ROOT)) == 13
        assert not list(check(store.environment))


def test_a_game_with_a_restored_opening_can_be_read_again(by_fourth_rules: Path) -> None:
    with Store(by_fourth_rules) as store:
        assert not list(check(store.environment))
        tree = store.follow().refresh("go-9x9").openings
        node = tree.find(["E5"])
        assert node is not None and (node.visits, node.value(1), len(node.parts())) == (12, 0.4, 1)


def test_a_compacted_game_with_a_restored_opening_can_be_checked_and_compacted_again(tmp_path: Path) -> None:
    with Store(unpacked_folder(tmp_path / "compacted", "schema_5_compacted.mdb.zz")) as store:
        assert not list(check(store.environment))
        learn(store, contests=2, first=20)
        compact(store, keep=1)
        assert not list(check(store.environment))
        node = store.follow().refresh("go-9x9").openings.find(["E5"])
        assert node is not None and node.visits == 12


def test_an_opening_that_was_restored_and_deleted_before_an_upgrade_can_be_restored(tmp_path: Path) -> None:
    with Store(unpacked_folder(tmp_path / "compacted", "schema_5_compacted.mdb.zz")) as store:
        removal = store.read(list_removals, "go", store.clock())[0]
        assert store.run(RestoreRemoval("go", removal.event, "admin")).nodes == removal.nodes == 2
        assert not list(check(store.environment))


def test_an_opening_with_more_value_than_its_visits_can_have_does_not_hold_up_the_upgrade(
    by_fourth_rules: Path,
) -> None:
    with as_written(by_fourth_rules) as environment, environment.reading() as transaction:
        stored = [(key, value) for key, value in transaction.scan(TableName.OPENINGS)]
    key, node = next(
        (key, record)
        for key, value in stored
        if (record := unpack_message(pattern_pb2.OpeningNodeRecord, value)).game_id == "go" and record.depth
    )
    # As where its weaker contests became silent between pruning and restoring.
    node.value_millionths[:] = [node.visits * 1_000_000 + 300_000, 0]
    with Environment(by_fourth_rules, version=5) as environment:
        environment.write(lambda transaction: transaction.put(TableName.OPENINGS, key, pack_message(node)))
    with Store(by_fourth_rules) as store:
        mended = store.follow().refresh("go").openings.find(["E5"])
        assert mended is not None and mended.value(1) == 1.0
        assert not list(check(store.environment))


def test_openings_that_were_pruned_before_an_upgrade_come_back_without_the_value_that_it_took(
    by_fourth_rules: Path,
) -> None:
    with Store(by_fourth_rules) as store:
        (removal,) = store.read(list_removals, "go", store.clock())
        assert store.run(RestoreRemoval("go", removal.event, "admin")).nodes == 1
        node = store.follow().refresh("go").openings.find(["E5"])
        assert node is not None and (node.visits, node.value(2)) == (12, 0.3)
        assert not list(check(store.environment))


def test_upgraded_folder_is_checked_and_compacted_from_the_upgrade_on(by_first_rules: Path) -> None:
    with Store(by_first_rules) as store:
        assert not list(check(store.environment)), "replays begin after what other rules made"
        learn(store, contests=4, first=20)
        learn(store, contests=4, first=20, game_id="go")
        assert not list(check(store.environment))
        before = {game: store.follow().refresh(game).libraries for game in ("go", "go-9x9")}
        assert compact(store, keep=1).removed > 20
        assert not list(check(store.environment))
        for game, libraries in before.items():
            now = store.follow().refresh(game).libraries
            assert {library: dict(entry) for library, entry in now.items()} == {
                library: dict(entry) for library, entry in libraries.items()
            }


@pytest.mark.parametrize(
    ("folder", "games", "rules"),
    [("by_first_rules", 2, 1), ("by_third_rules", 1, 3), ("by_fourth_rules", 1, 4)],
)
def test_todays_rules_make_other_libraries_of_an_old_folders_events(
    folder: str, games: int, rules: int, request: pytest.FixtureRequest
) -> None:
    """So without the step every check would find faults, and no compaction would be made."""
    with Store(request.getfixturevalue(folder)) as store:

        def without_snapshots(transaction: Transaction) -> None:
            for key in [key for key, _ in transaction.scan(TableName.SNAPSHOTS)]:
                transaction.delete(TableName.SNAPSHOTS, key)

        store.environment.write(without_snapshots)
        findings = [finding.what for finding in check(store.environment)]
        assert len(findings) == games
        expected = f"written under rules {rules}, this program replays by rules {RULES_VERSION}"
        assert all(expected in what for what in findings)
