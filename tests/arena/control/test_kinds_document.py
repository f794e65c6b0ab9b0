"""What docs/kinds.md shows is true, and it leaves no setting out."""

import re
from pathlib import Path

import pytest

from arena.control.control_file import read
from arena.control.sample import sample
from arena.control.schema import KINDS
from arena.control.settings import ControlError
from arena.selection.kinds import selector_for

DOCS = Path(__file__).parents[3] / "docs"
DOCUMENT = (DOCS / "kinds.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL)
SHARED = (DOCS / "competitions.md").read_text(encoding="utf-8").split("### `[competition]`")[1]


@pytest.mark.parametrize("text", EXAMPLES, ids=re.compile(r'kind = "(.*)"').findall("".join(EXAMPLES)))
def test_its_control_files_are_read_and_give_out_games(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(text, encoding="utf-8")
    assert selector_for(read(path)).next_game() is not None


HEADINGS = ["[competition]", "[[series]]", "[[matchups]]", "[parameters.level]"]
TABLES = [(kind, table) for kind in KINDS for table in HEADINGS if f"\n{table}\n" in f"\n{sample(kind)}"]


@pytest.mark.parametrize(("kind", "heading"), TABLES)
def test_every_setting_is_documented(tmp_path: Path, kind: str, heading: str) -> None:
    text = sample(kind)
    path = tmp_path / "cup.toml"
    path.write_text(f"\n{text}".replace(f"\n{heading}\n", f"\n{heading}\nxyzzy = 1\n", 1), encoding="utf-8")
    with pytest.raises(ControlError, match=r"xyzzy: unknown setting; known here are: ") as error:
        read(path)
    section = DOCUMENT.lower().split(_heading(kind), 1)[1].split("\n## ")[0]
    for setting in str(error.value).split("known here are: ")[1].split(", "):
        assert f"`{setting}" in section or f"`{setting}`" in SHARED, setting


def _heading(kind: str) -> str:
    return "\n## tuners" if kind.endswith("_tuner") else f"\n## {kind}\n"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_listed(kind: str) -> None:
    assert f'`"{kind}"`' in DOCUMENT
