"""What players ask in contests is counted for all processes at once, and survives them."""

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from academy.knowledge.claims import Claim
from academy.knowledge.fair_use import FairUseExceededError
from academy.knowledge.settings import Library
from academy.store import consultation_journal, contest_tables, event_log, keys
from academy.store.consultation_journal import FOLDER, TABLES, ConsultationJournal
from academy.store.consultation_notes import CountConsultation, NoteClaim, NoteUses
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import SCHEMA_VERSION, Environment, TableName, Transaction
from academy.store.errors import StoreFullError
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.v1 import consultation_pb2, contests_pb2
from tests.academy.service.running import serving
from tests.academy.store.examples import contest, go_game, keep_notes, report
from tests.academy.store.processes import Program, start_python
from tests.waiting import until

ASKER = """
    import sys, time
    from pathlib import Path
    from academy.knowledge.claims import Claim
    from academy.knowledge.settings import Library
    from academy.store.consultation_notes import CountConsultation, NoteClaim, NoteUses
    from academy.store.library_store import Store
    store = Store(Path(sys.argv[1]))
    store.note(NoteUses("c1", 1, Library.ENDGAME, [7]))
    store.note(NoteClaim("c1", 1, Claim(0, bytes(8), 0.25)))
    print(store.note(CountConsultation("c1", 1, ["A1"], own_move=2)))
    time.sleep(60)
"""


@pytest.fixture
def asker(store: Store) -> Iterator[Program]:
    """Another process, which has noted a question, a claim and a use, and has written none of them."""
    store.run(RegisterGame(go_game(), "arena"))
    store.run(OpenContest(contest("c1")))
    process = start_python(ASKER, str(store.environment.folder), says="1")
    yield process
    process.kill()
    process.wait(10)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        yield opened


def seats(store: Store) -> list[int]:
    record = store.read(contest_tables.contest_record, "c1")
    return [seat.consultations for seat in record.seats]


def reported(store: Store) -> contests_pb2.ReportContestRequest:
    played = report("c1", plies=30)
    assert store.run(ReportContest(played, "arena")).counted
    return played


@pytest.mark.threat("leaks")
def test_a_player_who_asks_another_process_gains_no_question(store: Store, asker: Program) -> None:
    assert seats(store) == [0, 0]
    with pytest.raises(FairUseExceededError):
        store.note(CountConsultation("c1", 1, ["A1", "B1"], own_move=2))
    assert store.note(CountConsultation("c1", 2, ["A1"], own_move=1)) == 1
    keep_notes(store)
    assert seats(store) == [1, 1]
    # Nothing is counted twice, wherever it is counted from.
    assert store.note(CountConsultation("c1", 1, ["A1"], own_move=2)) == 1
    assert store.keep_notes() is None


def test_what_a_killed_process_noted_counts(store: Store, asker: Program) -> None:
    asker.send_signal(signal.SIGKILL)
    asker.wait(10)
    with pytest.raises(FairUseExceededError):
        store.note(CountConsultation("c1", 1, ["A1", "B1"], own_move=2))
    reported(store)
    events, _ = store.read(event_log.read_page, 10)
    learnt = next(
        event.contest_reported for event in events if event.WhichOneof("kind") == "contest_reported"
    )
    assert [(use.player, list(use.pattern_ids)) for use in learnt.uses] == [(1, [7])]
    # Neither the moves nor the value are those of the contest.
    assert [false.player for false in learnt.false_consultations] == [1]
    assert [false.player for false in learnt.false_claims] == [1]
    keep_notes(store)
    assert not list(check(store.environment))


def test_what_an_earlier_version_noted_before_the_upgrade_counts(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.run(RegisterGame(go_game(), "arena"))
        store.run(OpenContest(contest("c1")))
    process = start_python(ASKER, str(tmp_path), says="1")
    # As a server that is stopped while its log is frozen leaves what it has noted since.
    process.kill()
    process.wait(10)
    (journal,) = (tmp_path / FOLDER).iterdir()
    earlier = SCHEMA_VERSION - 1
    with Environment(journal, tables=TABLES) as noted:
        noted.write(lambda transaction: transaction.put_schema(earlier))
    journal.rename(journal.with_name(f"{journal.name.rpartition('-')[0]}-{earlier}"))
    with Store(tmp_path) as store:
        with pytest.raises(FairUseExceededError):
            store.note(CountConsultation("c1", 1, ["A1", "B1"], own_move=2))
        assert list((tmp_path / FOLDER).iterdir()) == [journal]
    with Store(tmp_path, read_only=True) as stopped, stopped.environment.reading() as transaction:
        assert seats(stopped) == [1, 0]
        assert [transaction.count(table) for table in (TableName.USES, TableName.CLAIMS)] == [1, 1]


NOTED = {b"seat-1": b"earlier", b"seat-2": b"earlier"}


def leave_journal(folder: Path, boot: str, schema: int) -> None:
    """Make the journal that another version has left, of a start of the machine."""
    with Environment(folder / FOLDER / f"{boot}-{schema}", tables=TABLES) as noted:

        def put(transaction: Transaction) -> None:
            for key, value in NOTED.items():
                transaction.put(TableName.CONTESTS, key, value)
            transaction.put_schema(schema)

        noted.write(put)


def test_of_notes_of_earlier_versions_those_of_this_start_of_the_machine_count_where_none_are_later(
    tmp_path: Path,
) -> None:
    with closing(ConsultationJournal(tmp_path)) as journal:
        journal.write(lambda noted: noted.put(TableName.CONTESTS, b"seat-2", b"later"))
    (own,) = (tmp_path / FOLDER).iterdir()
    boot = own.name.rpartition("-")[0]
    for began, schema, left in (
        (boot, SCHEMA_VERSION - 1, {b"seat-1": b"earlier", b"seat-2": b"later"}),
        ("another", SCHEMA_VERSION - 1, {}),
        (boot, SCHEMA_VERSION + 1, {}),
    ):
        leave_journal(tmp_path, began, schema)
        # As another process has left what it took over just now, and as no version names a journal.
        for name in (SCHEMA_VERSION - 2, "odd"):
            (tmp_path / FOLDER / f"{boot}-{name}").mkdir()
        with closing(ConsultationJournal(tmp_path)) as journal:
            noted = journal.read()
            assert {entry.key: entry.value for entry in noted} == left
            journal.remove(noted)
        assert list((tmp_path / FOLDER).iterdir()) == [own]


def test_notes_are_read_in_parts_that_end_with_the_entry_that_fills_them(tmp_path: Path) -> None:
    with closing(ConsultationJournal(tmp_path)) as journal:
        for table, key in ((TableName.CONTESTS, b"a1"), (TableName.USES, b"a2"), (TableName.USES, b"b1")):
            journal.write(lambda noted, table=table, key=key: noted.put(table, key, b"12"))  # type: ignore[misc]
        assert [entry.key for entry in journal.read(b"a")] == [b"a1", b"a2"]
        counts = {largest: len(journal.read(largest=largest)) for largest in (1, 4, 5, 8, 9, 12, 13)}
        assert counts == {1: 1, 4: 1, 5: 2, 8: 2, 9: 3, 12: 3, 13: 3}
        assert not journal.is_empty()


def test_a_stopped_store_has_written_its_notes(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.run(RegisterGame(go_game(), "arena"))
        store.run(OpenContest(contest("c1")))
        store.note(CountConsultation("c1", 1, [], own_move=1))
        store.note(NoteUses("c1", 2, Library.ENDGAME, [7]))
        store.note(NoteClaim("c1", 2, Claim(0, bytes(8), 0.25)))
    with Store(tmp_path, read_only=True) as stopped:
        assert seats(stopped) == [1, 0]
        with stopped.environment.reading() as transaction:
            for table in (TableName.USES, TableName.CLAIMS):
                assert transaction.count(table) == 1
    # The notes of another start of the machine are worth nothing.
    (journal,) = (tmp_path / FOLDER).iterdir()
    journal.rename(journal.with_name("another"))
    with Store(tmp_path) as store:
        (after,) = (tmp_path / FOLDER).iterdir()
        assert after.name == journal.name
        assert store.note(CountConsultation("c1", 1, [], own_move=1)) == 1


def test_what_is_asked_while_notes_are_stored_stays_noted(tmp_path: Path) -> None:
    with closing(ConsultationJournal(tmp_path)) as journal:

        def note(consultations: bytes) -> None:
            journal.write(lambda noted: noted.put(TableName.CONTESTS, b"seat", consultations))

        note(b"1")
        stored = journal.read()
        note(b"2")
        journal.remove(stored)
        (left,) = journal.read()
        assert left.value == b"2"
        journal.remove([left])
        assert journal.is_empty()


def test_a_full_journal_refuses_questions_until_the_store_has_those_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consultation_journal, "LARGEST", 1 << 20)
    with Store(tmp_path) as store:

        def ask() -> None:
            for first in range(0, 100_000, 20):
                store.note(NoteUses("c1", 1, Library.ENDGAME, range(first, first + 20)))

        with pytest.raises(StoreFullError, match="takes more when the store can be written again"):
            ask()
        keep_notes(store)
        with pytest.raises(StoreFullError, match="takes more when the store can be written again"):
            ask()


def test_a_question_comes_into_the_store_by_itself_in_one_commit(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        server.register(go_game())
        bot, _ = server.open(contest("c1"))
        question = consultation_pb2.LookUpOpeningRequest(game_id="go-9x9", contest_id="c1", player=1)
        before = server.store.environment.version
        assert bot.consultation.LookUpOpening(question).consultations == 1
        stored_id = keys.kept_contest_id("c1", 0)
        until(lambda: server.store.read(contest_tables.contest_record, stored_id).seats[0].consultations)
        assert server.store.environment.version == before + 1
