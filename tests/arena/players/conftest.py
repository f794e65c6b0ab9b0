"""What tests of several kinds of players share."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import pytest

from arena.players.gtp import GtpEngine, GtpPlayer
from arena.players.policy import PolicyPlayer, PolicyProcess
from arena.players.program import KeptPrograms
from arena.players.protocols import PROTOCOLS


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of a new virtual environment, in which nothing is installed."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    return str(folder / "bin" / "python")


@pytest.fixture
def kept_engines(monkeypatch: pytest.MonkeyPatch) -> Iterator[KeptPrograms[GtpEngine]]:
    """The engines that are kept from one game of the test to the next, as in a worker."""
    kept: KeptPrograms[GtpEngine] = KeptPrograms()
    monkeypatch.setitem(PROTOCOLS, "gtp", partial(GtpPlayer, kept=kept))
    yield kept
    kept.end()


@pytest.fixture
def kept_policies(monkeypatch: pytest.MonkeyPatch) -> Iterator[KeptPrograms[PolicyProcess]]:
    """The policies that are kept from one game of the test to the next, as in a worker."""
    kept: KeptPrograms[PolicyProcess] = KeptPrograms()
    monkeypatch.setitem(PROTOCOLS, "policy", partial(PolicyPlayer, kept=kept))
    yield kept
    kept.end()
