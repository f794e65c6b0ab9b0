"""The address of a shared log as people write it."""

import pytest

from academy.store.shared_log.address import LogAddress
from academy.wire.addresses import InvalidAddressError


def test_several_servers_and_a_stream_are_named() -> None:
    address = LogAddress.parse("nats://one:4222,two,three:4333/club")
    assert address.servers == ("nats://one:4222", "nats://two", "nats://three:4333")
    assert address.stream == "club"


@pytest.mark.parametrize("stream", ["a", "my-club_2", 64 * "s"])
def test_a_stream_has_a_name_of_letters_digits_hyphens_and_underscores(stream: str) -> None:
    assert LogAddress.parse(f"nats://one/{stream}").stream == stream


def test_the_stream_is_named_academy_where_none_is_given() -> None:
    assert LogAddress.parse("nats://one").stream == LogAddress.parse("nats://one/").stream == "academy"


@pytest.mark.parametrize(
    ("text", "wanted", "copies"),
    [("nats://a", 0, 1), ("nats://a,b", 0, 2), ("nats://a,b,c,d", 0, 3), ("nats://a,b,c", 1, 1)],
)
def test_a_stream_is_kept_on_as_many_servers_as_there_are_up_to_three(
    text: str, wanted: int, copies: int
) -> None:
    assert LogAddress.parse(text, wanted).replicas == copies


def test_a_password_is_for_every_server_and_is_not_shown() -> None:
    address = LogAddress.parse("tls://bob:secret@one,two/club")
    assert address.servers == ("tls://bob:secret@one", "tls://bob:secret@two")
    assert str(address) == "tls://one,two/club"
    assert LogAddress.parse(address.text).servers == address.servers


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one:4222",
        "http://one",
        "nats://",
        "nats://,",
        "nats://one:port",
        "nats://one:0",
        "nats://one:70000",
        "nats://one?x",
        "nats://one#x",
        "nats://one/two/three",
        "nats://one/with blank",
        "nats://one/with.dot",
        "nats://one/" + 65 * "s",
        "nats://" + ",".join(map(str, range(17))),
    ],
)
def test_what_is_not_an_address_is_refused_with_the_rule(text: str) -> None:
    with pytest.raises(InvalidAddressError, match=r"write nats://|letters, digits|at most 16"):
        LogAddress.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://bob:secret@one",
        "http://bob:se@cret@one",
        "nats://bob:se/cret@one",
        "nats://bob:se@cret@one/club",
        "nats://bob:secret@one:port",
        "nats://bob:secret@one/with blank",
    ],
)
def test_a_refused_address_does_not_show_its_password(text: str) -> None:
    with pytest.raises(InvalidAddressError) as refused:
        LogAddress.parse(text)
    assert not any(part in str(refused.value) for part in ("bob", "secret", "se/", "cret"))


@pytest.mark.parametrize("password", ["p/x", "p@x", "p#x", "p?x", "p[x", "p]x"])
def test_a_password_that_an_address_cannot_hold_is_refused_with_the_rule(password: str) -> None:
    with pytest.raises(InvalidAddressError, match=r"password for NATS have none of / @ # \? \[ \]: choose"):
        LogAddress.parse(f"nats://u:{password}@one")
