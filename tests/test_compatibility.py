"""Breaking changes of the protos and of the public Python API are found against a tag."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

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


def test_this_commit_breaks_nothing_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--against", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "compatibility: " in done.stdout, done.stderr
