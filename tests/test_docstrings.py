"""Docstrings name what exists, and public ones say what goes in, what comes out and what may be raised."""

import ast
import builtins
import dataclasses
import importlib
import inspect
import pkgutil
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import academy.knowledge
import clients
from referees import api, conformance

ROOT = Path(__file__).parent.parent
CHECKOUT = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")

# "Raises AError, and BError." within a line of prose, and the names before the colons of a section.
IN_PROSE = re.compile(r"Raises ([^.:]+)")
IN_SECTION = re.compile(r"^    ([A-Z][\w., ]*?):", re.MULTILINE)
SECTION = re.compile(r"^Raises:\n((?: .*\n?|\n)+)", re.MULTILINE)
EXCEPTION = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z]*)+\b")
DOCUMENT = "docs/[a-z_/-]+[.](md|svg|py)"


@cache
def sources() -> dict[str, ast.Module]:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    return {
        name: ast.parse((ROOT / name).read_text(encoding="utf-8"))
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
    known = {*dir(builtins), *dir(subprocess)}
    named: list[tuple[str, str]] = []
    for path, tree in sources().items():
        for node in ast.walk(tree):
            match node:
                case ast.ClassDef(name=name):
                    known.add(name)
                case ast.Import(names=names) | ast.ImportFrom(names=names):
                    known |= {alias.asname or alias.name for alias in names}
                case _:
                    pass
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
                named += [(path, name) for name in raised(ast.get_docstring(node) or "")]
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


def public_modules() -> Iterator[ModuleType]:
    """The modules that docs/reference/python.md lists."""
    yield from (clients, api, conformance)
    for module in pkgutil.iter_modules(academy.knowledge.__path__, "academy.knowledge."):
        yield importlib.import_module(module.name)


def public_names(module: ModuleType) -> list[str]:
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
        and name[0] != "_"
    ]


def public_callables() -> Iterator[tuple[str, Any, str]]:
    """The exported functions, classes and methods: a label, the callable, and its docstring."""
    for module in public_modules():
        for name in public_names(module):
            exported = getattr(module, name)
            label = f"{module.__name__}.{name}"
            if not (inspect.isclass(exported) or inspect.isfunction(exported)):
                continue
            yield label, exported, inspect.getdoc(exported) or ""
            if not inspect.isclass(exported):
                continue
            ours = module.__name__.partition(".")[0]
            for attribute, _ in inspect.getmembers_static(exported, inspect.isroutine):
                method = getattr(exported, attribute)
                defined = getattr(method, "__module__", None) or ""
                if attribute[0] != "_" and callable(method) and defined.startswith(ours):
                    yield f"{label}.{attribute}", method, inspect.getdoc(method) or ""


PUBLIC = list(public_callables())
LABELS = [label for label, _, _ in PUBLIC]


def parameters_of(called: Any) -> list[str]:
    if inspect.isclass(called):
        # The library makes errors and streams itself; the prose of a value's docstring has its fields.
        made = dataclasses.is_dataclass(called) and not called.__module__.startswith("academy.knowledge")
        if not made:
            return []
    return [
        name
        for name in inspect.signature(called).parameters
        if name not in ("self", "args", "kwargs") and name[0] != "_"
    ]


@pytest.mark.parametrize(("label", "called", "text"), PUBLIC, ids=LABELS)
def test_a_public_callable_says_what_goes_in_and_what_comes_out(label: str, called: Any, text: str) -> None:
    assert text, f"{label} has no docstring"
    missing = [name for name in parameters_of(called) if f"\n    {name}: " not in text]
    assert not missing, f"{label}: {missing} in no Args"
    if inspect.isclass(called) or inspect.signature(called).return_annotation in (None, "None"):
        return
    assert "\nReturns:\n" in text or "\nYields:\n" in text or re.match(r"(Return|Yield)\b", text), (
        f"{label} does not say what it returns"
    )


@pytest.mark.parametrize("module", [clients, api, conformance], ids=lambda module: module.__name__)
def test_every_public_name_of_a_module_is_exported_once(module: ModuleType) -> None:
    own = {
        name
        for name, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isfunction(value))
        and name[0] != "_"
        and (value.__module__ == module.__name__ or module is clients)
    }
    assert own <= set(module.__all__)
    assert len(module.__all__) == len(set(module.__all__))
