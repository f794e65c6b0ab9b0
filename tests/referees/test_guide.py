"""The guide for authors of referees: its example is complete, and keeps the laws."""

import re
from pathlib import Path
from typing import Any

import pytest

from referees.api import InvalidSettingError, Outcome, Termination
from referees.conformance import check_referee
from referees.diplomacy.settings import SETTINGS as DIPLOMACY_SETTINGS
from referees.go import GoSettings
from referees.hex.settings import SETTINGS as HEX_SETTINGS

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "tutorials" / "add-a-game.md").read_text()
GAMES = (DOCS / "reference" / "games.md").read_text()
DIPLOMACY = (DOCS / "reference" / "diplomacy.md").read_text()


@pytest.fixture(scope="module")
def example() -> Any:
    code = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[0]
    assert len(code.splitlines()) <= 80
    names: dict[str, Any] = {"__name__": "tic_tac_toe"}
    exec(code, names)
    return names["TicTacToe"]


def test_the_example_of_diplomacy_prints_what_the_guide_says(capsys: pytest.CaptureFixture[str]) -> None:
    code = next(
        code for code in re.findall(r"```python\n(.*?)```", DIPLOMACY, re.DOTALL) if "adjudicate(" in code
    )
    exec(code, {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all(f"`{line}`" in DIPLOMACY for line in lines)


def test_the_settings_of_diplomacy_are_in_the_guide() -> None:
    listed = DIPLOMACY[DIPLOMACY.index("## Diplomacy") : DIPLOMACY.index("### Orders as text")]
    for setting in DIPLOMACY_SETTINGS:
        assert f"`{setting}`" in listed or setting == "level"


def test_the_example_keeps_all_laws(example: Any) -> None:
    report = check_referee(example.from_settings({}), games=50)
    assert report.finished == 50


def test_the_example_is_tic_tac_toe(example: Any) -> None:
    game = example.from_settings({})
    position = game.start(0)
    for seat, text in ((1, "b2"), (2, "a3"), (1, "B3"), (2, " c3 "), (1, "b1")):
        position = game.play(position, {seat: game.read_move(position, seat, text)})
    assert game.board(position, 1).letters == "oxo-x--x-"
    assert game.outcome(position) == Outcome((1,), Termination.SCORE, "x wins")
    with pytest.raises(InvalidSettingError):
        example.from_settings({"rows": 4})


@pytest.mark.parametrize(
    ("heading", "settings"),
    [("Go", tuple(GoSettings.__dataclass_fields__)), ("Hex", HEX_SETTINGS)],
)
def test_the_guide_names_all_settings_of_a_game(heading: str, settings: tuple[str, ...]) -> None:
    section = GAMES.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(settings)
