"""A tuner's page draws how its best values came about."""

import re
from pathlib import Path

from tests.arena.control_files import TUNER
from tests.web.conftest import page_of_run


def test_a_tuners_page_draws_the_path_of_each_parameter(tmp_path: Path) -> None:
    control = tmp_path / "tune.toml"
    control.write_text(TUNER)
    answer = page_of_run(control)
    # A table of the candidates' one opponent would say nothing.
    assert "of 1 player in hex" in answer.text and not re.search('id="(standings|cross)"', answer.text)
    curves = re.findall(r'<h2>Best (\w+): ([^<]+)</h2>.*?points="([^"]+)"', answer.text, re.DOTALL)
    assert answer.status == 200 and curves
    for _, _, points in curves:
        ways = [float(point.partition(",")[0]) for point in points.split()]
        assert ways == sorted(ways) and ways[-1] == 600
