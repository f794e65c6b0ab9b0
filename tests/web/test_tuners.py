"""A tuner's page draws how its best values came about."""

import re
import subprocess
from pathlib import Path

from tests.arena.control_files import TUNER
from tests.web.conftest import BIN, ENVIRONMENT, served_pages


def test_a_tuners_page_draws_the_path_of_each_parameter(tmp_path: Path) -> None:
    control = tmp_path / "tune.toml"
    control.write_text(TUNER)
    subprocess.run((BIN / "arena", control, "-q"), env=ENVIRONMENT, check=True, capture_output=True)
    with served_pages("--competitions", control) as pages:
        answer = pages.get("/competition?name=tune")
    curves = re.findall(r'<h2>Best (\w+): ([^<]+)</h2>.*?points="([^"]+)"', answer.text, re.DOTALL)
    assert answer.status == 200 and curves
    for _, _, points in curves:
        ways = [float(point.partition(",")[0]) for point in points.split()]
        assert ways == sorted(ways) and ways[-1] == 600
