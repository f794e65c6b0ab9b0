"""Prose is plain present-day English: what is to be avoided is counted, and the counts only fall."""

import ast
import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# How often each package may still use them; lower a number when you have cleaned something.
ALLOWED: dict[str, int] = json.loads((ROOT / "tests" / "prose.json").read_text(encoding="utf-8"))

# These two search text in small letters, in a third of the time that a search for both kinds takes.
# Write `the player gets`, `everybody who`, `again`, `later`, `unless`, `at most`.
WORDS = re.compile(
    r"\b(told|said|whoever|whomever|anew|some day|be it|so many|as many as|none but|held against|not a few"
    r"|thereby|thereof|herein|hence|lest|ere|upon|wherein|whereof|whence|thus)\b"
)
# Write `any longer`, `because of it`, `must be`, `missing`, `stops`, `because`, `interrupted`, `older`,
# `how much more often`, `test_bots_`, `is not a`.
# Where no word begins, nothing is tried: that is three times as fast.
ODD = re.compile(
    r"\b(?:broken[- ]off\b|no more(?=[.;:,)\"]|$)|for (?:its|their|his|the) sake\b"
    r"|(?:is|are|was|were)(?: not)? to be\b"
    r"|(?:is|are|was|were) not there\b|st(?:ands?|ood) still\b|(?:void|refused) since (?!when)"
    r"|of before\b|(?:how|much) rather\b"
    r"|(?<!there )(?:is|are|was|were) no (?!longer|more|less|fewer|other|such|older|larger)[a-z]"
    r"|def test (?:it|its|they|their) )|, since (?!when)|\"\"\"[^\"\n]*; whether\b",
    re.MULTILINE,
)
# Write `Each match has ...`, not `Of each match ...`.
FRONTED = re.compile(
    r"# Of [a-z]|(?:^|[.:;] |# )Of (?!course)[a-z]+ [^.;:]{0,60}?"
    r"(?:,| (?:is|are|the|those|they|only|all|none|it|no|one|each) )"
)
# Name a value for what it is.
LOCALS = frozenset({"told", "said", "asked", "found", "each", "one", "it", "there", "whoever", "all_of"})
# Prose names nothing: most files have these words in comments and texts alone, and parsing takes long.
WRITTEN = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*')
# No value is named where none of these words is followed by what follows a name.
NAMING = re.compile(rf"\b(?:{'|'.join(sorted(LOCALS))})\b\s*(?:[^\w\s.'\"]|in\b)")
CODE = re.compile(r"^( *)```.*?^ *```$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"`[^`\n]*`")
# This list itself.
EXEMPT = ("tests/test_prose.py",)


def unplain(text: str) -> list[str]:
    """What is to be avoided in a text."""
    small = text.lower()
    searches = ((WORDS, small), (ODD, small), (FRONTED, text))
    return [match[0] for pattern, searched in searches for match in pattern.finditer(searched)]


def faults(path: Path) -> list[str]:
    """What a file has that is to be avoided; code in documents and between backquotes is left out."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT)
    plain = CODE.sub("", text) if path.suffix == ".md" else text
    # Names of tests and functions are prose, too.
    plain = QUOTED.sub("", plain).replace("_", " ")
    listed = [f"{name}: {fault!r}" for fault in unplain(plain)]
    if path.suffix == ".py" and NAMING.search(WRITTEN.sub("", text)):
        nodes = ast.walk(ast.parse(text))
        named = (
            n.id if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) else getattr(n, "arg", None)
            for n in nodes
        )
        listed += [f"{name}: the value {word!r}" for word in named if word in LOCALS]
    return listed


def package(name: str) -> str:
    """The folder for which uses are counted: of the large packages each room by itself."""
    parts = Path(name).parts
    rooms = ("academy", "arena", "clients", "referees", "tests")
    return "/".join(parts[: 2 if parts[0] in rooms and len(parts) > 2 else 1])


def counts() -> tuple[Counter[str], dict[str, list[str]]]:
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.md", "*.proto"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    counted: Counter[str] = Counter()
    where: dict[str, list[str]] = {}
    for name in listed.stdout.splitlines():
        if not name.startswith(EXEMPT) and (ROOT / name).exists():
            listed_faults = faults(ROOT / name)
            counted[package(name)] += len(listed_faults)
            where.setdefault(package(name), []).extend(listed_faults)
    return counted, where


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_prose_is_plain_or_becomes_plainer() -> None:
    counted, where = counts()
    more = {name: where[name] for name, count in counted.items() if count > ALLOWED.get(name, 0)}
    assert not more, "\n".join(line for lines in more.values() for line in lines[:40])


@pytest.mark.parametrize(
    "text",
    [
        "Whoever asks is told",
        "# Of each pattern the strongest match is kept",
        "be it a move or a pass",
        "It waits no more",
        "void for its sake",
        "the run ended, since all games have been played",
        "The record is to be read",
        "exports of before",
        "how rather strong players move there",
        "nan is no number",
        "def test it beats chance",
        '"""Take in a game; whether it counts."""',
        "# Of one family.",
    ],
)
def test_words_to_avoid_are_seen(text: str) -> None:
    assert unplain(text)


@pytest.mark.parametrize(
    "text", ["no more than 3 moves", "since when", "What changed since the last call", "there is no book"]
)
def test_common_words_pass(text: str) -> None:
    assert not unplain(text)


if __name__ == "__main__":
    counted_now = {name: count for name, count in sorted(counts()[0].items()) if count}
    (ROOT / "tests" / "prose.json").write_text(json.dumps(counted_now, indent=4) + "\n", encoding="utf-8")
