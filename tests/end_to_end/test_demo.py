"""examples/demo.py: it may run again in a folder that it has kept."""

from pathlib import Path

import pytest

from examples import demo


def test_a_kept_demo_runs_again_with_the_token_of_its_own_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("of the demo before")
    tokens: list[str] = []
    monkeypatch.setattr(demo, "run", lambda *_: tokens.append(token_file.read_text()))
    monkeypatch.setattr(demo, "draw_main_line", lambda _: None)
    demo.play(tmp_path, rounds=1)
    assert len(set(tokens)) == 1 and tokens[0] != "of the demo before"
