"""What docs/tutorials/tournament.md and docs/how-to/sprt.md show is true."""

import re
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
