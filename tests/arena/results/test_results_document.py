"""What docs/results.md shows must work, and name all there is."""

import re
from pathlib import Path

from sqlalchemy import text

from arena.reports.as_json import json_report
from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.schema import METADATA
from arena.results.views import VIEWS
from tests.arena.reports.examples import ALL_PLAY_ALL, ALL_PLAYED, report_of

DOCUMENT = (Path(__file__).parents[3] / "docs" / "results.md").read_text(encoding="utf-8")


def test_its_query_gives_every_players_score(tmp_path: Path) -> None:
    report_of(tmp_path, ALL_PLAY_ALL, ALL_PLAYED)
    (query,) = re.findall(r"```sql\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    database = ResultsDatabase.open(sqlite_url(tmp_path / "cup.results.sqlite"))
    with database.transaction() as connection:
        rows = [tuple(row) for row in connection.execute(text(query))]
    database.close()
    assert len(rows) == 2 * len(ALL_PLAYED)
    assert rows[:2] == [("AvB_0", "alpha", 1.0, 1015.0), ("AvB_0", "beta", -1.0, 985.0)]
    assert [row[2] for row in rows if row[0] in ("AvC_1", "BvC_1")] == [0.0] * 4


def test_it_names_every_key_of_the_json_and_every_table_of_our_own(tmp_path: Path) -> None:
    found = json_report(report_of(tmp_path, ALL_PLAY_ALL, ALL_PLAYED))
    own_tables = [name for name in METADATA.tables if name.startswith("ARENA_")]
    names = [*found, *found["players"][0], *found["matchups"][0], *own_tables, *VIEWS]
    assert [name for name in names if f"`{name}`" not in DOCUMENT and f'"{name}"' not in DOCUMENT] == []
