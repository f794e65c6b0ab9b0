"""A user who runs a benchmark sees the tables of the page."""

import ast
import re
from pathlib import Path

import pytest

from benchmarks.figures import PARTS

ROOT = Path(__file__).parents[2]
ARCHIVE = "docs/archive/performance.md"
SECTIONS = [
    *((ARCHIVE, rf"<!-- {part}: measured -->.*?<!-- {part}: end -->", PARTS[part][0]) for part in PARTS),
    (ARCHIVE, "## An hour of mixed load.*?\n## ", "research.soak"),
    ("docs/explanation/architecture.md", "## How many files a call enters.*?(?=\n## |$)", "benchmarks.walks"),
    ("docs/explanation/performance.md", "## A shared log.*?(?=\n## |$)", "benchmarks.shared_log"),
    ("docs/explanation/scale.md", "benchmarks.driver.*?\n\nSo ", "benchmarks.driver"),
    ("docs/explanation/scale.md", "benchmarks.ray_cost.*?\n\nSo ", "benchmarks.ray_cost"),
    ("docs/how-to/league.md", "## What it costs.*?(?=\n## |$)", "benchmarks.league"),
]
# The section of a shared log has the tables of two programs.
BESIDE = {"benchmarks.shared_log": "benchmarks.new_server"}


def printed(program: str) -> list[re.Pattern[str]]:
    """Each row that a program prints; a word or a number may stand where a value goes."""
    texts = []
    for node in ast.walk(ast.parse((ROOT / f"{program.replace('.', '/')}.py").read_text())):
        match node:
            case ast.Constant(value=str(text)):
                texts.append(re.escape(text).replace(r"\{\}", "[a-z ]+"))
            case ast.JoinedStr(values=parts):
                texts.append(
                    "".join(
                        re.escape(str(p.value)) if isinstance(p, ast.Constant) else r"[\w,]+" for p in parts
                    )
                )
    return [re.compile(line) for text in texts for line in text.split("\\\n") if line.startswith(r"\|")]


@pytest.mark.parametrize(("page", "section", "program"), SECTIONS, ids=lambda value: value)
def test_the_page_has_the_headings_that_the_command_prints(page: str, section: str, program: str) -> None:
    (text,) = re.findall(section, (ROOT / page).read_text(), re.DOTALL)
    headings = re.findall(r"^(\|.*)\n\|---", text, re.MULTILINE)
    known = [line for name in (program, BESIDE.get(program)) if name for line in printed(name)]
    assert headings
    assert [heading for heading in headings if not any(line.fullmatch(heading) for line in known)] == []
