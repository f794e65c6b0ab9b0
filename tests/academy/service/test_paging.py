"""Pages and their tokens."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.service import paging
from academy.service.errors import InvalidFieldError, StalePageTokenError
from academy.service.limits import Limits
from academy.v1 import contests_pb2, game_pb2, libraries_pb2, proposals_pb2

KINDS = (float, int, str)
NAMES = st.text(st.characters(codec="utf-8"), max_size=64)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**63), 2**64), NAMES, NAMES)
def test_a_key_comes_back_exactly(number: float, whole: int, text: str, order: str) -> None:
    request = libraries_pb2.ListPatternsRequest(game_id="go", order_by=order)
    request.page_token = paging.page_token(request, [number, whole, text])

    assert paging.page_key(request, KINDS) == [number, whole, text]


def test_a_request_without_token_begins_at_the_beginning() -> None:
    assert paging.page_key(contests_pb2.ListGamesRequest(page_size=3), KINDS) is None


@given(NAMES | NAMES.map(lambda text: text * 40))
def test_any_other_text_is_stale(token: str) -> None:
    request = contests_pb2.ListGamesRequest(page_token=token)
    if token:
        with pytest.raises(StalePageTokenError):
            paging.page_key(request, KINDS)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"7",
        b"{}",
        b"[]",
        b'["a",1,"b"]',
        b'[1.5,true,"x"]',
        b"[1.5,1]",
        b"[" * 700,
        # Half of a character is none.
        b'[1.5,1,"\\ud800"]',
    ],
)
def test_forged_page_token_is_refused(body: bytes) -> None:
    request = contests_pb2.ListGamesRequest()
    real = base64.urlsafe_b64decode(paging.page_token(request, []))
    prefix = real[: len(real) - len(json.dumps([]))]
    request.page_token = base64.urlsafe_b64encode(prefix + body).decode()

    with pytest.raises(StalePageTokenError):
        paging.page_key(request, KINDS)


@given(st.binary(max_size=64))
def test_a_place_comes_back_exactly(place: bytes) -> None:
    request = proposals_pb2.ListProposalsRequest(player="ann")
    request.page_token = paging.token_of_place(request, place)

    assert paging.page_place(request) == place
    assert bool(request.page_token) == bool(place)


@pytest.mark.parametrize("text", ["x", "0g", "0", "\ud7ff"])
def test_forged_place_is_refused(text: str) -> None:
    request = proposals_pb2.ListProposalsRequest()
    request.page_token = paging.page_token(request, [text])

    with pytest.raises(StalePageTokenError):
        paging.page_place(request)


def test_tokens_of_different_methods_do_not_mix() -> None:
    patterns = libraries_pb2.ListPatternsRequest(game_id="go")
    events = libraries_pb2.ListEventsRequest(game_id="go")
    events.page_token = paging.page_token(patterns, [1])

    with pytest.raises(StalePageTokenError):
        paging.page_key(events, (int,))


@pytest.mark.parametrize(
    ("size", "given_"), [(0, 100), (1, 1), (1_000, 1_000), (1_001, 1_000), (2**31 - 1, 1_000)]
)
def test_a_page_has_as_many_entries_as_are_asked_for_up_to_the_limit(size: int, given_: int) -> None:
    assert paging.page_size(size, Limits()) == given_


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(InvalidFieldError, match="page_size: -1"):
        paging.page_size(-1, Limits())


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 10), st.integers(10, 200))
def test_a_page_is_as_long_as_its_size_and_a_message_allow(lengths: list[int], size: int, room: int) -> None:
    items = [game_pb2.Game(game_id="x" * length) for length in lengths]

    page, more = paging.fill_page(items, size, Limits(message_bytes=room))

    assert page == items[: len(page)]
    assert page or not items
    assert len(page) <= size
    assert more == (len(page) < len(items))
    total = sum(item.ByteSize() for item in page)
    assert total <= room * 3 // 4 or len(page) == 1
    # No shorter than it has to be.
    assert not more or len(page) == size or total + items[len(page)].ByteSize() > room * 3 // 4
