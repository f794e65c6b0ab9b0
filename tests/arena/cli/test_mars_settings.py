"""Settings of a MARS series, as the results database tells of them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.arena.cli.command import arena
from tests.arena.control_files import PASSING

pytestmark = pytest.mark.usefixtures("games_here")

CONTROL = f"""[competition]
kind = "mars"

[game]
name = "go"
board_size = 5

[[series]]
name = "t1"
selector = "least-played"
games = 12

[[series.settings]]
name = "small"
weight = 2

[[series.settings]]
name = "large"
weight = 0.5
game = {{ board_size = 7 }}

[players.one]
{PASSING}
[players.two]
{PASSING}
"""


def test_each_setting_has_its_weight(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(CONTROL)
    assert arena("run", control, "-q").returncode == 0
    with closing(sqlite3.connect(tmp_path / "cup.results.sqlite")) as results:
        weights = dict(
            results.execute(
                "SELECT json_extract(SAGA_Setting.Notes, '$.settings.board_size'), Weight"
                " FROM SAGA_SeriesSetting JOIN SAGA_Setting USING (SettingId)"
                " WHERE SettingId IN (SELECT SettingId FROM SAGA_Game)"
            ).fetchall()
        )
    assert weights == {5: 2.0, 7: 0.5}
