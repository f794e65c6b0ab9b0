"""What callers may say of the pages of lists, in all services of the arena."""

import pytest

from arena.lobby.errors import InvalidRequestError
from arena.service.paging import number_token, page_size


@pytest.mark.parametrize(("wanted", "size"), [(0, 100), (1, 1), (1_000, 1_000), (2**31 - 1, 1_000)])
def test_a_page_is_no_longer_than_the_service_sends(wanted: int, size: int) -> None:
    assert page_size(wanted) == size


def test_a_page_of_less_than_nothing_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="page_size: -1"):
        page_size(-1)


@pytest.mark.parametrize(("token", "number"), [("", 0), ("0", 0), ("9" * 18, 10**18 - 1)])
def test_a_list_goes_on_where_its_token_says(token: str, number: int) -> None:
    assert number_token(token) == number


@pytest.mark.parametrize("token", ["-1", "x", "1.5", "²", "٣", "9" * 19])
def test_a_token_of_another_making_is_refused(token: str) -> None:
    with pytest.raises(InvalidRequestError, match="begin again without one"):
        number_token(token)
