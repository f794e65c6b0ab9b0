"""What the README and the guides show really runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOUR = re.compile(r"<!-- tour -->\n```sh\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_the_tour_of_the_readme_runs(tmp_path: Path) -> None:
    steps = TOUR.findall((ROOT / "README.md").read_text())
    assert len(steps) == 3
    # The tour begins in the checkout, where `.venv` is; the tests may run in another environment.
    steps[0] = f'export PATH="{Path(sys.executable).parent}:$PATH"\n'
    # A port of its own, so that a server that runs already is not in the way.
    tour = "".join(steps).replace("50551", "50987")
    # A tour that ends early must not leave its server behind.
    script = f"set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{tour}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "ACADEMY_ADDRESS": "127.0.0.1:50987"},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Openings of go-5x5" in done.stdout
    assert "endgame" in done.stdout
    assert "sound" in done.stdout
    assert (tmp_path / "cup.txt").read_text().strip()


@pytest.mark.parametrize("number", range(2))
def test_the_examples_for_bots_run(number: int) -> None:
    examples = PYTHON.findall((ROOT / "docs" / "bots.md").read_text())
    assert len(examples) == 2
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ACADEMY_")}
    done = subprocess.run(
        [sys.executable, "-c", examples[number]], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_every_link_leads_somewhere() -> None:
    link = re.compile(r"\]\((?!https?:|#)([^)#]+)")
    for document in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in link.findall(document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
