"""What docs/reference/kinds.md shows is true."""

import re
from pathlib import Path

import pytest

from arena.control.control_file import read_control
from arena.control.schema import KINDS
from arena.selection.kinds import selector_for

DOCS = Path(__file__).parents[3] / "docs"
DOCUMENT = (DOCS / "reference" / "kinds.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES, ids=re.compile(r'kind = "(.*)"').findall("".join(EXAMPLES)))
def test_control_files_of_the_page_on_kinds_are_read_and_give_out_games(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(text, encoding="utf-8")
    assert selector_for(read_control(path)).next_game() is not None


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_listed(kind: str) -> None:
    assert f'`"{kind}"`' in DOCUMENT
