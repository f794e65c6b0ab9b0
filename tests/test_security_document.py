"""The threat model names tests that exist, in every line."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "security.md").read_text()
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
ROWS = [line for line in DOCUMENT.splitlines() if line.startswith("| ")][1:]


def names_in(path: Path) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)}


def test_there_is_a_model() -> None:
    assert len(ROWS) > 20


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_every_line_is_shown_by_tests_that_exist(row: str) -> None:
    named = NAMED.findall(row)
    assert named, "a line without a test"
    for file, test in named:
        assert test in names_in(ROOT / "tests" / file), f"{file} has no {test}"
