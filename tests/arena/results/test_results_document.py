"""What docs/how-to/sql.md and docs/reference/results.md show must work, and name all there is."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import text

from arena.reports.as_json import json_report
from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.schema import METADATA
from arena.results.views import BY_DIALECT, VIEWS
from tests.arena.reports.examples import ALL_PLAY_ALL, ALL_PLAYED, report_of
from tests.arena.results import asked_games

DOCS = Path(__file__).parents[3] / "docs"
DOCUMENT = (DOCS / "reference" / "results.md").read_text(encoding="utf-8")
SQL = (DOCS / "how-to" / "sql.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", SQL, flags=re.DOTALL)


def test_queries_of_one_line_in_the_page_on_results_answer_what_people_ask(tmp_path: Path) -> None:
    assert all(query.count("\n") == 1 for query in QUERIES[:-1])
    with closing(ResultsDatabase.open(sqlite_url(tmp_path / "cup.sqlite"))) as database:
        asked_games.play(database)
        asked_games.check_answers(database, QUERIES[:-1])
        columns = asked_games.answer(database, "SELECT name FROM pragma_table_info('arena_results')")
    assert [name for (name,) in columns if f"`{name}`" not in DOCUMENT] == []


def test_candidates_of_tuners_are_in_no_standings(tmp_path: Path) -> None:
    path = tmp_path / "five.sqlite"
    with closing(sqlite3.connect(path)) as old:
        old.executescript(Path(__file__).with_name("version_5.sql").read_text(encoding="utf-8"))
    with closing(ResultsDatabase.open(sqlite_url(path))) as database:
        standing = "SELECT competition, name, games FROM arena_standings ORDER BY 1, 2"
        assert asked_games.answer(database, standing) == [
            ("cup", "one", 2), ("cup", "two", 2), ("tune", "steady", 6),
        ]  # fmt: skip
        played = asked_games.answer(database, "SELECT name FROM arena_results WHERE competition = 'tune'")
    assert len(played) == 12


def test_the_query_in_the_page_on_results_gives_every_players_score(tmp_path: Path) -> None:
    report_of(tmp_path, ALL_PLAY_ALL, ALL_PLAYED)
    query = QUERIES[-1]
    database = ResultsDatabase.open(sqlite_url(tmp_path / "cup.results.sqlite"))
    with database.transaction() as connection:
        rows = [tuple(row) for row in connection.execute(text(query))]
    database.close()
    assert len(rows) == 2 * len(ALL_PLAYED)
    assert rows[:2] == [("AvB_0", "alpha", 1.0, 1015.0), ("AvB_0", "beta", -1.0, 985.0)]
    assert [row[2] for row in rows if row[0] in ("AvC_1", "BvC_1")] == [0.0] * 4


def test_the_page_on_results_names_every_key_of_the_json_and_every_table_of_our_own(tmp_path: Path) -> None:
    report = json_report(report_of(tmp_path, ALL_PLAY_ALL, ALL_PLAYED))
    own_tables = [name for name in METADATA.tables if name.startswith("ARENA_")]
    names = [*report, *report["players"][0], *report["matchups"][0], *own_tables, *VIEWS, *BY_DIALECT]
    assert [name for name in names if f"`{name}`" not in DOCUMENT and f'"{name}"' not in DOCUMENT] == []
