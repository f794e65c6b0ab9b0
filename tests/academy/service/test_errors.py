"""What callers learn of errors."""

import importlib
import pkgutil
import re
from typing import TypeGuard

import pytest
from google.rpc import code_pb2
from grpc import StatusCode

import academy.knowledge
import academy.store
from academy.knowledge.boards import SquareGeometry
from academy.knowledge.text import PatternSyntaxError, read_cells
from academy.service import errors
from academy.service.errors import InvalidFieldError, described_errors, row_of, to_status, to_stream_refusal
from academy.store import errors as store
from academy.store.library_text.words import LibraryTextError
from academy.wire.errors import RefusedCallError

OF_RULES_AND_STORE = [
    error
    for package in (academy.knowledge, academy.store)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    for error in vars(importlib.import_module(module.name)).values()
    if isinstance(error, type) and issubclass(error, Exception) and error.__module__ == module.name
]


@pytest.mark.parametrize("error", OF_RULES_AND_STORE, ids=lambda error: error.__name__)
def test_every_error_of_the_rules_and_the_store_has_a_status(error: type[Exception]) -> None:
    assert row_of(error.__new__(error)) is not None


def test_every_error_is_described_for_the_documentation() -> None:
    described = described_errors()
    for error in described:
        assert code_pb2.Code.Value(error.status)
        assert error.status not in ("OK", "UNKNOWN", "INTERNAL")
        # AIP-193.
        assert re.fullmatch(r"[A-Z][A-Z0-9_]+[A-Z0-9]", error.reason) and len(error.reason) <= 63
        assert error.meaning.endswith((".", "does")) and error.remedy.endswith(".")
    reasons = {error.reason for error in described}
    assert reasons >= {kind.reason for kind in vars(errors).values() if is_refusal(kind)}
    assert {"TOKEN_INVALID", "STREAM_IDLE", "STORE_BUSY", "UNKNOWN_SERVICE", "INVALID_BOARD"} <= reasons


def is_refusal(kind: object) -> TypeGuard[type[RefusedCallError]]:
    return isinstance(kind, type) and issubclass(kind, RefusedCallError) and kind is not RefusedCallError


def test_a_field_keeps_the_reason_and_the_numbers_of_what_was_wrong_in_it() -> None:
    with pytest.raises(PatternSyntaxError) as caught:
        read_cells("x-\n-?", SquareGeometry(5, 5))
    error = InvalidFieldError("proposals[2].cells", str(caught.value))
    error.__cause__ = caught.value

    status = to_status(error)
    assert (status.code, status.reason) == (StatusCode.INVALID_ARGUMENT, "INVALID_PATTERN")
    assert status.field_path == "proposals[2].cells"
    assert status.metadata == {"field": "proposals[2].cells", "line": "2", "column": "2"}


def test_attributes_that_an_error_does_not_declare_are_not_sent() -> None:
    error = InvalidFieldError("moves", "too long", value=7)
    vars(error)["secret"] = "where the data lie"
    assert to_status(error).metadata == {"field": "moves", "value": "7"}


@pytest.mark.parametrize(
    ("error", "metadata"),
    [
        (store.StoreBusyError("1,024 writes are waiting; try again later"), {}),
        (store.LogMessageTooLargeError(2_000, 1_000), {"bytes": "2000", "limit": "1000"}),
        (store.UnknownContestError("c1 7"), {"contest_id": "c1"}),
        (store.InvalidRecordError("plies[3].board", "must be 9 lines"), {"field": "plies[3].board"}),
        (store.GameConflictError("go-9x9", "board"), {"identity": "go-9x9", "field": "board"}),
        (store.ImportedBeforeError("go-9x9", 12, "endgame"), {"game_id": "go-9x9", "event": "12"}),
        (
            store.AnalysisExceededError(90, 20, 100, retry_after=60.0),
            {"returned": "90", "more": "20", "limit": "100"},
        ),
        (LibraryTextError(3, 5, "is unknown"), {"field": "line 3, column 5", "line": "3", "column": "5"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_refusal_of_the_store_names_its_figures(error: Exception, metadata: dict[str, str]) -> None:
    assert to_status(error).metadata == metadata


def test_long_messages_and_details_are_cut() -> None:
    refusal = to_stream_refusal(to_status(InvalidFieldError("moves", "x" * 10_000, value="y" * 10_000)))

    assert len(refusal.message) == 1_500
    assert len(refusal.metadata["value"]) == 256
