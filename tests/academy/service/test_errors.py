"""The table from exceptions to statuses."""

import importlib
import pkgutil
import re

import pytest
from google.rpc import code_pb2

import academy.knowledge
import academy.store
from academy.service import refusals
from academy.service.errors import row_of, to_status
from academy.service.refusals import InvalidFieldError, about
from academy.wire import health

MODULES = [
    *(
        importlib.import_module(found.name)
        for package in (academy.knowledge, academy.store)
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ),
    refusals,
    health,
]
OURS = [
    error
    for module in MODULES
    for error in vars(module).values()
    if isinstance(error, type) and issubclass(error, Exception) and error.__module__ == module.__name__
]


@pytest.mark.parametrize("error", OURS, ids=lambda error: error.__name__)
def test_every_exception_of_ours_has_a_status_and_a_reason(error: type[Exception]) -> None:
    row = row_of(error.__new__(error))

    assert row is not None
    code, reason = row
    assert code_pb2.Code.Name(code) not in ("OK", "UNKNOWN", "INTERNAL")
    # AIP-193.
    assert re.fullmatch(r"[A-Z][A-Z0-9_]+[A-Z0-9]", reason) and len(reason) <= 63


def test_a_field_keeps_the_reason_and_the_numbers_of_what_was_wrong_in_it() -> None:
    from academy.knowledge.boards import SquareGeometry
    from academy.knowledge.text import read_cells

    with pytest.raises(InvalidFieldError) as caught, about("proposals[2].cells"):
        read_cells("x-\n-?", SquareGeometry(5, 5))

    found = to_status(caught.value)
    assert (found.code, found.reason) == (code_pb2.INVALID_ARGUMENT, "INVALID_PATTERN")
    assert found.field_path == "proposals[2].cells"
    assert found.metadata == {"field": "proposals[2].cells", "line": "2", "column": "2"}


def test_what_is_told_is_bounded() -> None:
    found = to_status(InvalidFieldError("moves", "x" * 10_000, value="y" * 10_000))

    assert len(found.message) == 2_000
    assert len(found.metadata["value"]) == 256
