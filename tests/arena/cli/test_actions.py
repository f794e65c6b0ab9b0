"""Options and the action may stand anywhere."""

from pathlib import Path

import pytest

from arena.cli.app import action_first

ACTIONS = ["run", "show", "init"]
VALUED = ["-j", "--parallel"]


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ("run cup.toml -j 2", "run cup.toml -j 2"),
        ("cup.toml run", "run cup.toml"),
        ("cup.toml", "run cup.toml"),
        ("cup.ctl -qj 2", "run cup.ctl -qj 2"),
        ("-j 2 cup.toml", "run -j 2 cup.toml"),
        ("-j2 --quiet cup.toml run", "run -j2 --quiet cup.toml"),
        ("-j 2 run cup.toml", "run -j 2 cup.toml"),
        ("--parallel=2 cup.toml show --json", "show --parallel=2 cup.toml --json"),
        ("--parallel 2 cup.toml show", "show --parallel 2 cup.toml"),
        ("show run", "show run"),
        ("init playoff", "init playoff"),
        ("walk", "walk"),
        (300 * "walk", 300 * "walk"),
        ("cup.toml walk", "cup.toml walk"),
        ("--help", "--help"),
        ("", ""),
        ("-- cup.toml run", "run -- cup.toml"),
    ],
)
def test_the_action_comes_first(given: str, understood: str) -> None:
    assert action_first(given.split(), ACTIONS, VALUED) == understood.split()


def test_a_control_file_without_extension_is_known_by_being_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert action_first(["cup"], ACTIONS, VALUED) == ["cup"]
    (tmp_path / "cup").touch()
    assert action_first(["cup"], ACTIONS, VALUED) == ["run", "cup"]
