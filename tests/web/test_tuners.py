"""A tuner's page draws how its best values came about."""

import re
from pathlib import Path

from tests.arena.cli.command import arena
from tests.arena.control_files import TUNER
from tests.arena.inline_worker import games_in_this_process
from tests.web.conftest import served_pages


def test_a_tuners_page_draws_the_path_of_each_parameter(tmp_path: Path) -> None:
    control = tmp_path / "tune.toml"
    control.write_text(TUNER)
    with games_in_this_process():
        assert arena("run", control, "-q").returncode == 0
    with served_pages("--competitions", control) as pages:
        answer = pages.get("/competition?name=tune")
    # A table of the candidates' one opponent would say nothing.
    assert "of 1 player in hex" in answer.text and not re.search('id="(standings|cross)"', answer.text)
    curves = re.findall(r'<h2>Best (\w+): ([^<]+)</h2>.*?points="([^"]+)"', answer.text, re.DOTALL)
    assert answer.status == 200 and curves
    for _, _, points in curves:
        ways = [float(point.partition(",")[0]) for point in points.split()]
        assert ways == sorted(ways) and ways[-1] == 600
