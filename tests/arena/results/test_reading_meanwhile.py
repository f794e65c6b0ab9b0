"""What is read of a competition together is of one moment, whatever a run stores meanwhile."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from textwrap import dedent

from sqlalchemy import event

from arena.control.toml_file import read
from arena.reports.assembly import assemble
from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.series_reader import SeriesReader
from tests.arena.reports.examples import ALL_PLAY_ALL, ALL_PLAYED, played
from tests.rights import obeying


def store(folder: Path, statement: str) -> None:
    """Store something, as another process does."""
    (file,) = folder.glob("*.sqlite")
    with closing(sqlite3.connect(file)) as other, other:
        other.execute(statement)


def test_a_look_sees_nothing_that_is_stored_during_it(tmp_path: Path) -> None:
    with played(tmp_path, ALL_PLAY_ALL, ALL_PLAYED):
        (file,) = tmp_path.glob("*.sqlite")
    database = ResultsDatabase.to_look_at(sqlite_url(file))

    def completed(meanwhile: str = "") -> tuple[bool, bool]:
        with database.look():
            listing = SeriesReader.find(database, "cup")
            before = listing.completed()
            if meanwhile:
                store(tmp_path, meanwhile)
            return before, listing.completed()

    store(tmp_path, "UPDATE SAGA_Series SET State = 1")
    assert completed("UPDATE SAGA_Series SET State = 2") == (False, False)
    assert completed() == (True, True)


def test_results_are_read_where_this_user_may_not_write(tmp_path: Path) -> None:
    folder = tmp_path / "cup #1"
    folder.mkdir()
    with played(folder, ALL_PLAY_ALL, ALL_PLAYED):
        (file,) = folder.glob("*.sqlite")
    folder.chmod(0o555)
    looking = """
        import sys
        from pathlib import Path
        from arena.results.database import ResultsDatabase, sqlite_url
        from arena.results.series_reader import SeriesReader
        database = ResultsDatabase.to_look_at(sqlite_url(Path(sys.argv[1])))
        with database.look():
            print(SeriesReader.find(database, "cup").count_games())
    """
    command = obeying(sys.executable, "-c", dedent(looking), str(file))
    looked = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (looked.stdout, looked.stderr) == (f"{len(ALL_PLAYED)}\n", "")


def test_a_report_is_of_one_moment(tmp_path: Path) -> None:
    with played(tmp_path, ALL_PLAY_ALL, ALL_PLAYED) as series:
        control = read(tmp_path / "cup.toml")
        whole = assemble(control, "cup", series)
        queries = 0

        def store_after_the_first(*query: object) -> None:
            nonlocal queries
            queries += 1
            if queries == 2:
                store(tmp_path, "UPDATE ARENA_Seat SET WallSeconds = WallSeconds + 1000")

        event.listen(series._database.engine, "after_cursor_execute", store_after_the_first)
        assert assemble(control, "cup", series).players == whole.players
        assert queries > 2
        assert assemble(control, "cup", series).players != whole.players
