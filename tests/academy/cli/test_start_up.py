"""Until the command says how it is used, it loads nothing that it does not need for that."""

import inspect
from typing import get_args

import pytest

from academy.cli import data_folder
from academy.store import tokens
from academy.store.maintenance import compaction
from tests.arena.cli.test_start_up import loaded

HEAVY = ("academy.store.library_store", "asyncio", "lmdb", "llvmlite", "numba", "numpy", "structlog")


@pytest.mark.parametrize(
    "words", [(), ("serve",), ("patterns", "list"), ("tokens", "create"), ("compact",), ("import",)]
)
def test_help_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    assert loaded("academy", *words, "--help", heavy=HEAVY) == []


def test_what_options_say_without_loading_the_store_is_what_the_store_says() -> None:
    parameters = inspect.signature(data_folder.create_token).parameters
    assert get_args(get_args(parameters["role"].annotation)[0]) == tuple(tokens.Role)
    keep = get_args(inspect.signature(data_folder.compact).parameters["keep"].annotation)[1]
    assert keep.show_default == str(compaction.EVENTS_KEPT)
