"""Quick engines under the names that control files of the ringmaster use."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

QUICK = Path(__file__).with_name("quick_engine.py")


def install(folder: Path, names: Iterable[str], *arguments: str) -> None:
    """Put engines into a folder under their names; `arguments` are quick_engine's."""
    folder.mkdir(exist_ok=True)
    for name in names:
        engine = folder / name
        words = " ".join(arguments)
        engine.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{QUICK}" {words}\n', encoding="utf-8")
        engine.chmod(0o755)


def first_on_path(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Have programs looked for in a folder before all others."""
    patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
