"""Docstrings and comments name what exists: exceptions and documents."""

import builtins
import inspect
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHECKOUT = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")

# "Raises AError, and BError." within a line of prose, and the names before the colons of a section.
IN_PROSE = re.compile(r"Raises ([^.:]+)")
IN_SECTION = re.compile(r"^    ([A-Z][\w., ]*?):", re.MULTILINE)
SECTION = re.compile(r"^Raises:\n((?: .*\n?|\n)+)", re.MULTILINE)
EXCEPTION = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z]*)+\b")
CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)
IMPORT = re.compile(r"^ *(?:from [\w.]+ )?import (\([^)]*\)|.*)", re.MULTILINE)
# To parse the modules would take ten times as long.
DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
DOCUMENT = "docs/[a-z_/-]+[.](md|svg|py)"


def sources() -> dict[str, str]:
    """The text of each module."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    return {
        name: (ROOT / name).read_text(encoding="utf-8")
        for name in listed.stdout.splitlines()
        if (ROOT / name).exists()
    }


def raised(text: str) -> set[str]:
    """The exceptions that a docstring names."""
    named = {name for prose in IN_PROSE.findall(text) for name in EXCEPTION.findall(prose)}
    for section in SECTION.findall(text):
        named |= {name for heads in IN_SECTION.findall(section) for name in EXCEPTION.findall(heads)}
    return named


@CHECKOUT
def test_every_exception_that_a_docstring_names_exists() -> None:
    texts = sources()
    known = {*dir(builtins), *dir(subprocess)}
    for text in texts.values():
        known.update(CLASS.findall(text))
    named: list[tuple[str, str]] = []
    for path, text in texts.items():
        if "Raises" in text:
            known.update(name for names in IMPORT.findall(text) for name in EXCEPTION.findall(names))
            docstrings = map(inspect.cleandoc, DOCSTRING.findall(text))
            named += [(path, name) for docstring in docstrings for name in raised(docstring)]
    assert len(named) > 200
    assert [(path, name) for path, name in named if name not in known] == []


@CHECKOUT
def test_every_document_that_a_source_names_exists() -> None:
    listed = subprocess.run(
        ["git", "grep", "-oE", DOCUMENT, "--", ":!tests", ":!docs"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    named = [line.split(":", 1) for line in listed.stdout.splitlines()]
    assert len(named) > 10
    assert [(path, document) for path, document in named if not (ROOT / document).exists()] == []
