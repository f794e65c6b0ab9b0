"""The example of docs/how-to/league.md runs."""

import re
from pathlib import Path

import pytest

from tests.arena.cli.command import arena

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "league.md"


def example(language: str) -> str:
    match = re.search(f"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert match is not None
    return match[1]


def test_the_documented_league_is_kept_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cup.toml").write_text(example("toml"))
    outputs = []
    for line in example("sh").splitlines():
        done = arena(*line.split()[1:])
        assert done.returncode == 0, (line, done.stderr)
        outputs.append(done.stdout)
    assert "go-5x5      4        2" in outputs[1]
    assert "wanderer     rambler" in outputs[2] and "rambler 1.0  rambler" in outputs[2]
    assert "rambler 1.0  go-5x5" in outputs[4]
