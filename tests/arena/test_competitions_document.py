"""What docs/tutorials/tournament.md and docs/how-to/sprt.md show is true."""

import re
import tomllib
from pathlib import Path

import pytest

from arena.control.toml_file import read

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "players"),
    [("tutorials/tournament.md", ("gnugo-1", "gnugo-5", "random")), ("how-to/sprt.md", ("new", "old"))],
)
def test_the_control_file_of_a_page_is_read(tmp_path: Path, page: str, players: tuple[str, ...]) -> None:
    shown = re.search(r"```toml\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    path = tmp_path / "cup.toml"
    path.write_text(shown[1], encoding="utf-8")
    assert read(path).competitors == players


@pytest.mark.parametrize("page", ["tutorials/tournament.md", "how-to/sprt.md", "reference/kinds.md"])
def test_dead_stones_decide_no_game_of_gnu_go(page: str) -> None:
    """GNU Go passes while dead stones stand; the referee would count them as alive."""
    shown = re.findall(r"```toml\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    games = [tomllib.loads(text)["game"] for text in shown if "gnugo" in text and "[game]" in text]
    assert games
    for game in games:
        assert (game.get("scorer"), game.get("self_capture")) == ("players", False)
