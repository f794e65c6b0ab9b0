"""What `clients` exports is small, and importing it brings nothing of the server or the arena."""

import dataclasses
import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import clients

ENTRIES = sorted(clients.__all__)


def public_callables(name: str) -> Iterator[tuple[str, Any, str]]:
    """An exported function or class and a class's public methods: name, callable, and its docstring."""
    exported = getattr(clients, name)
    yield name, exported, exported.__doc__ or ""
    if not inspect.isclass(exported):
        return
    for attribute, raw in inspect.getmembers_static(exported):
        if attribute.startswith("_") or not getattr(exported, attribute).__doc__:
            continue
        method = getattr(exported, attribute)
        if inspect.isroutine(method) and (getattr(method, "__module__", None) or "").startswith("clients"):
            yield f"{name}.{attribute}", method, inspect.getdoc(raw) or ""


def parameters_of(called: Any) -> list[str]:
    if inspect.isclass(called) and issubclass(called, Exception) and "__init__" not in vars(called):
        return []
    names = [
        parameter
        for parameter in inspect.signature(called).parameters
        if parameter not in ("self", "args", "kwargs")
    ]
    return [each for each in names if not each.startswith("_")]


@pytest.mark.parametrize("name", ENTRIES)
def test_no_function_has_more_than_six_parameters(name: str) -> None:
    for label, called, _ in public_callables(name):
        if not dataclasses.is_dataclass(called):
            assert len(parameters_of(called)) <= 6, label


@pytest.mark.parametrize(
    "name", ["opening", "patterns", "opponent_gains", "successors", "propose", "own_proposals", "game"]
)
def test_a_question_says_what_it_raises_and_is_the_same_for_asyncio(name: str) -> None:
    blocking, asynchronous = getattr(clients.Academy, name), getattr(clients.AsyncAcademy, name)
    assert "Raises:\n" in blocking.__doc__
    assert blocking.__doc__ == asynchronous.__doc__
    assert list(inspect.signature(blocking).parameters) == list(inspect.signature(asynchronous).parameters)


def test_importing_the_client_brings_no_server_and_no_arena() -> None:
    script = "import sys, clients; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    ours = {name for name in modules if name.startswith(("academy.", "arena.", "referees", "clients."))}
    # The arena's protocol, as generated, is for its players.
    allowed = ("academy.knowledge", "academy.v1", "arena.v1", "clients.")
    assert not {name for name in ours if not name.startswith(allowed)}
    heavy = {
        "lmdb",
        "sqlalchemy",
        "typer",
        "rich",
        "openskill",
        "sgfmill",
        "prometheus_client",
        "structlog",
        "numba",
    }
    assert not heavy & modules
