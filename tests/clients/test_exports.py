"""What `clients` exports, and that importing it brings nothing of the server or the arena."""

import inspect
import re
import subprocess
import sys

import pytest

import clients
from clients import responses


def test_each_name_is_exported_once() -> None:
    assert len(clients.__all__) == len(set(clients.__all__))
    public = {
        name
        for name, value in vars(clients).items()
        if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__.startswith("clients.")
    }
    assert public <= set(clients.__all__)


@pytest.mark.parametrize("name", clients.__all__)
def test_each_exported_name_is_there(name: str) -> None:
    exported = getattr(clients, name)
    assert inspect.isclass(exported) or inspect.isfunction(exported)


def test_what_a_client_takes_and_returns_is_exported_too() -> None:
    named = {
        word
        for member in (*vars(clients.Academy).values(), clients.OpeningMove, clients.BookMove)
        for hint in getattr(member, "__annotations__", {}).values()
        for word in re.findall(r"\w+", str(hint))
    }
    ours = {name for name, value in vars(responses).items() if inspect.isclass(value)}
    ours = {name for name in ours if getattr(responses, name).__module__ == responses.__name__}
    assert "Analysis" in named & ours <= set(clients.__all__)


def test_a_name_that_is_not_exported_is_named() -> None:
    with pytest.raises(AttributeError, match="'clients' has no attribute 'Weights'"):
        _ = clients.Weights


def test_importing_the_client_brings_no_server_no_arena_and_no_numpy() -> None:
    script = "import sys, clients; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    ours = {name for name in modules if name.startswith(("academy.", "arena.", "referees", "clients."))}
    # The arena's protocol, as generated, is for its players; of ACADEMY's it shares what a token is.
    allowed = ("academy.knowledge", "academy.v1", "academy.wire.tokens", "arena.v1", "clients.")
    assert not {name for name in ours if not name.startswith(allowed)} - {"academy.wire"}
    heavy = "lmdb sqlalchemy typer rich openskill sgfmill prometheus_client structlog numba numpy"
    assert modules.isdisjoint(heavy.split())
