"""How a client learns where ACADEMY is."""

from pathlib import Path

import grpc
import pytest

from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection, to_client_error

ALL = {
    "ACADEMY_ADDRESS": "academy:50551",
    "ACADEMY_TOKEN": "a ticket",
    "ACADEMY_TLS_CA": "/etc/authority.pem",
    "ACADEMY_TLS_CERT": "/etc/bot.pem",
    "ACADEMY_TLS_KEY": "/etc/bot.key",
}


def put(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name in ALL:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [
        ((), Connection("academy:50551", "a ticket", "/etc/authority.pem", "/etc/bot.pem", "/etc/bot.key")),
        (
            ("ACADEMY_TLS_CERT", "ACADEMY_TLS_KEY"),
            Connection("academy:50551", "a ticket", "/etc/authority.pem"),
        ),
        (("ACADEMY_TLS_CA", "ACADEMY_TLS_CERT", "ACADEMY_TLS_KEY"), Connection("academy:50551", "a ticket")),
        (("ACADEMY_ADDRESS",), None),
    ],
)
def test_the_environment_says_where_academy_is_and_how_to_show_who_one_is(
    monkeypatch: pytest.MonkeyPatch, left_out: tuple[str, ...], expected: Connection | None
) -> None:
    put(monkeypatch, {name: value for name, value in ALL.items() if name not in left_out})
    assert Connection.from_environment() == expected


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {**dict.fromkeys(ALL, ""), "ACADEMY_ADDRESS": "unix:/run/academy"})
    assert Connection.from_environment() == Connection("unix:/run/academy")


def test_another_address_keeps_what_else_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, ALL)
    connection = Connection("elsewhere:1").with_environment()
    assert (connection.address, connection.token, connection.ca, connection.key) == (
        "elsewhere:1",
        "a ticket",
        "/etc/authority.pem",
        "/etc/bot.key",
    )


def test_a_certificate_without_its_key_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"go together, but only me\.pem is given"):
        Connection("academy:1", certificate=Path("me.pem"))


def test_files_that_cannot_be_read_are_an_error() -> None:
    with pytest.raises(OSError, match=r"missing\.pem"):
        Connection("academy:1", ca="missing.pem").channel()


@pytest.mark.parametrize(
    ("details", "expected"),
    [("Internal error from Core", AcademyUnavailableError), ("a fault of the server", AcademyRefusedError)],
)
def test_a_stream_that_broke_while_it_was_written_to_is_no_refusal(
    details: str, expected: type[Exception]
) -> None:
    # gRPC calls both INTERNAL; which of them a broken connection comes to is chance.
    error = grpc.aio.AioRpcError(
        grpc.StatusCode.INTERNAL, grpc.aio.Metadata(), grpc.aio.Metadata(), details=details
    )
    assert type(to_client_error(error)) is expected
