"""The example of a competition at Othello: it runs, its records read back, and ACADEMY learns."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspiel")

from referees.openspiel import OpenSpiel

BIN = Path(sys.executable).parent
EXAMPLE = Path(__file__).parents[2] / "examples" / "othello.toml"


def test_the_example_runs(tmp_path: Path) -> None:
    control = tmp_path / EXAMPLE.name
    shutil.copy(EXAMPLE, control)
    run = subprocess.run(
        [BIN / "arena", "run", control],
        env={"PATH": f"{BIN}:/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    results = subprocess.run(
        [BIN / "arena", "show", control], capture_output=True, text=True, timeout=100, check=True
    ).stdout
    assert "reports to ACADEMY: 6 acknowledged" in results
    records = [path.read_bytes() for path in sorted((tmp_path / "othello.games").glob("*.json"))]
    assert len(records) == 6
    referee = OpenSpiel.from_settings({"game": "othello"})
    for record in records:
        ((_, moves),) = referee.read_records(record)
        position = referee.start(0)
        for text in moves:
            seat = referee.to_move(position)[0]
            position = referee.play(position, {seat: referee.read_move(position, seat, text)})
        outcome = referee.outcome(position)
        assert outcome is not None and outcome.summary == json.loads(record)["result"]
