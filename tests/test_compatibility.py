"""Breaking changes of the protos and of the public Python API are found against a tag."""

import ast
import importlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import griffe
import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "check_compatibility.py"
PROTO = """syntax = "proto3";
package game.v1;
enum Result { RESULT_NONE = 0; RESULT_WIN = 1; }
message Move { string text = 1; message Value { double value = 1; } Value expected = 2; }
message Answer { Result result = 1; }
service Play { rpc Choose(Move) returns (Answer); }
"""


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_compatibility", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compatibility = load_script()


@pytest.mark.parametrize(
    ("old", "new", "breakages"),
    [
        ("", "", []),
        ("string text = 1;", "string text = 1; string comment = 3;", []),
        ("RESULT_WIN = 1;", "RESULT_WIN = 1; RESULT_LOSS = 2;", []),
        ("string text = 1;", "reserved 1;", ["game.v1.Move.text: the field is gone"]),
        (
            "string text = 1;",
            "bytes text = 1;",
            ["game.v1.Move.text: field 1 has another name, type or label"],
        ),
        (
            "string text = 1;",
            "repeated string text = 1;",
            ["game.v1.Move.text: field 1 has another name, type or label"],
        ),
        (
            "double value = 1;",
            "double elo = 1;",
            ["game.v1.Move.Value.value: field 1 has another name, type or label"],
        ),
        (
            "RESULT_WIN = 1;",
            "RESULT_WIN = 2;",
            ["game.v1.Result.RESULT_WIN: the value is gone, or has another number"],
        ),
        ("rpc Choose(Move) returns (Answer);", "", ["game.v1.Play.Choose: the method is gone"]),
        (
            "returns (Answer)",
            "returns (stream Answer)",
            ["game.v1.Play.Choose: the method takes or returns something else"],
        ),
    ],
)
def test_changes_of_protos_that_break_clients_are_listed(
    tmp_path: Path, old: str, new: str, breakages: list[str]
) -> None:
    for folder, text in (("old", PROTO), ("new", PROTO.replace(old, new) if old else PROTO)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "game.proto").write_text(text)
    before, after = (compatibility.compile_protos(tmp_path / folder) for folder in ("old", "new"))
    assert list(compatibility.proto_breakages(before, after)) == breakages


@pytest.mark.parametrize(
    ("module", "old", "new", "broken"),
    [
        ("bots/gtp.py", "def run(self)", "def run(self, port)", True),
        ("bots/gtp.py", "class GtpProgram", "class GtpEngine", True),
        ("bots/gtp.py", "def read_line(text)", "def read_words(text)", False),
        ("bots/gtp.py", "class GtpProgram", "class GtpError(Exception): ...\n\n\nclass GtpProgram", False),
    ],
)
def test_changes_of_public_names_that_break_programs_are_listed(
    tmp_path: Path, module: str, old: str, new: str, broken: bool
) -> None:
    text = "class GtpProgram:\n    def run(self): ...\n\n\ndef read_line(text): ...\n"
    trees = []
    for number, content in enumerate((text, text.replace(old, new))):
        file = tmp_path / str(number) / "clients" / module
        file.parent.mkdir(parents=True)
        for package in (file.parent, file.parent.parent):
            (package / "__init__.py").write_text("__all__ = []\n")
        file.write_text(content)
        trees.append(griffe.load("clients", search_paths=[file.parents[2]], try_relative_path=False))
    breakages = list(compatibility.package_breakages(*trees))
    assert any("GtpProgram" in line for line in breakages) == broken, breakages


def test_the_public_names_exist_and_are_those_of_the_reference() -> None:
    page = (SCRIPT.parents[1] / "docs" / "reference" / "python.md").read_text()
    listed = {
        module: tuple(re.findall(r"`(\w+)`", names))
        for module, names in re.findall(r"^\| `([a-z_.]+)` \| ((?:`\w+`(?:, )?)+) \|", page, re.MULTILINE)
    }
    assert listed == compatibility.PUBLIC_NAMES
    for module, names in listed.items():
        assert all(hasattr(importlib.import_module(module), name) for name in names), module
    assert all(f"| `{module}`" in page or f", `{module}`" in page for module in compatibility.PUBLIC_MODULES)


def test_documents_and_examples_import_only_public_names() -> None:
    root, programs = SCRIPT.parents[1], []
    for page in (root / "README.md", *(root / "docs").rglob("*.md")):
        for code in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            session = re.findall(r"^(?:>>>|\.\.\.) (.*)$", code, re.MULTILINE)
            programs.append((page, "\n".join(session) or code))
    bots = (root / "examples" / "bot.py", *root.glob("examples/konane/konane/*.py"))
    programs += [(file, file.read_text()) for file in bots]
    imports = [
        (file, node.module or "", name.name)
        for file, code in programs
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    ]
    ours = [
        (file, module, name)
        for file, module, name in imports
        if module.split(".")[0] in ("academy", "arena", "clients", "referees") and "_pb2" not in module
    ]
    assert len(ours) > 20
    hidden = [
        (file.name, module, name)
        for file, module, name in ours
        if module not in compatibility.PUBLIC_MODULES
        and not module.startswith("academy.knowledge.")
        and name not in compatibility.PUBLIC_NAMES.get(module, ())
    ]
    assert not hidden


def test_this_commit_breaks_nothing_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # One package shows that a tag is fetched and compared.
    monkeypatch.setattr(compatibility, "PUBLIC_MODULES", ("clients",))
    monkeypatch.setattr(compatibility, "PUBLIC_NAMES", {})
    monkeypatch.setattr(sys, "argv", ["check_compatibility.py", "--against", "HEAD"])
    compatibility.main()
    assert "changes break programs of HEAD" in capsys.readouterr().out


def test_a_tag_that_there_is_not_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["check_compatibility.py", "--against", "nosuch"])
    with pytest.raises(SystemExit, match="nosuch: no tag with protos/; `git tag` lists the tags"):
        compatibility.main()
