"""What ACADEMY made of proposals is kept with the results."""

from pathlib import Path

from sqlalchemy import inspect, text, update

from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.outbox import Outbox, ProposalTally, StoredVerdict, note
from arena.results.own_tables import META
from arena.results.series import remove_series
from tests.arena.reports.examples import ALL_PLAY_ALL, ALL_PLAYED, report_of


def database_of(folder: Path) -> ResultsDatabase:
    report_of(folder, ALL_PLAY_ALL, ALL_PLAYED)
    return ResultsDatabase.open(sqlite_url(folder / "cup.results.sqlite"))


def test_reasons_that_differ_in_numbers_alone_are_counted_together(tmp_path: Path) -> None:
    database = database_of(tmp_path)
    verdicts = [
        StoredVerdict(1, "alpha", "inserted", "no pattern in library 2-b matches"),
        StoredVerdict(1, "alpha", "dropped", "value 0.51 exceeds 0.33"),
        StoredVerdict(1, "alpha", "dropped", "value 0.7 exceeds 0.33"),
        StoredVerdict(2, "beta", "matched"),
    ]
    with database.transaction() as connection:
        note(connection, 1, "cup/1", verdicts)
        # The same contest once more changes nothing.
        note(connection, 1, "cup/1", verdicts)
    tallied = Outbox(database, 1).proposals()
    alpha = tallied["alpha"]
    assert (alpha.accepted, alpha.dropped, dict(alpha.reasons)) == (1, 2, {"value N exceeds N": 2})
    assert tallied["beta"] == ProposalTally(accepted=1)
    remove_series(database, "cup")
    assert Outbox(database, 1).proposals() == {}
    database.close()


def test_a_reason_keeps_the_digits_that_it_quotes(tmp_path: Path) -> None:
    database = database_of(tmp_path)
    rule = "a pattern with '1', '2' or '#' must say at least {} bits of the proposer's board"
    verdicts = [
        StoredVerdict(1, "alpha", "dropped", rule.format(12)),
        StoredVerdict(1, "alpha", "dropped", rule.format(14.5)),
        StoredVerdict(1, "alpha", "dropped", "the player's move 3 is not '32-28'; the adversary's is"),
    ]
    with database.transaction() as connection:
        note(connection, 1, "cup/1", verdicts)
    assert Outbox(database, 1).proposals()["alpha"].reasons == {
        rule.format("N"): 2,
        "the player's move N is not '32-28'; the adversary's is": 1,
    }
    database.close()


def test_a_database_of_before_gets_the_table(tmp_path: Path) -> None:
    database = database_of(tmp_path)
    with database.transaction() as connection:
        connection.execute(text('DROP TABLE "ARENA_Verdict"'))
        connection.execute(update(META).filter_by(Key="schema_version").values(Value="9"))
    database.close()
    again = ResultsDatabase.open(sqlite_url(tmp_path / "cup.results.sqlite"), create=False)
    assert "ARENA_Verdict" in inspect(again.engine).get_table_names()
    assert Outbox(again, 1).proposals() == {}
    again.close()
