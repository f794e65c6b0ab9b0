"""How a client learns where ACADEMY is."""

from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from types import ModuleType
from typing import Any

import grpc
import pytest

from academy.v1 import contests_pb2, libraries_pb2, tokens_pb2
from arena.v1 import competitions_pb2, members_pb2
from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection, to_client_error

ALL = {
    "ACADEMY_ADDRESS": "academy:50551",
    "ACADEMY_TOKEN": "ticket",
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
        ((), Connection("academy:50551", "ticket", "/etc/authority.pem", "/etc/bot.pem", "/etc/bot.key")),
        (
            ("ACADEMY_TLS_CERT", "ACADEMY_TLS_KEY"),
            Connection("academy:50551", "ticket", "/etc/authority.pem"),
        ),
        (("ACADEMY_TLS_CA", "ACADEMY_TLS_CERT", "ACADEMY_TLS_KEY"), Connection("academy:50551", "ticket")),
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
        "ticket",
        "/etc/authority.pem",
        "/etc/bot.key",
    )


@pytest.mark.parametrize("name", ["ACADEMY_TOKEN", "ARENA_TOKEN"])
@pytest.mark.parametrize("text", ["abcé", "a\nb", " \n", "\x07", "x" * 513])
def test_a_variable_that_holds_no_token_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv("ACADEMY_ADDRESS", "academy:1")
    monkeypatch.setenv(name, text)
    with pytest.raises(ValueError, match=f"^{name}: holds no token: 1 to 512 printable ASCII characters"):
        Connection.from_environment() if name == "ACADEMY_TOKEN" else Connection.to_arena()


def test_blanks_around_a_token_are_none_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, {**ALL, "ACADEMY_TOKEN": "abc\n"})
    monkeypatch.setenv("ARENA_TOKEN", " abc\r\n")
    academy = Connection.from_environment()
    assert academy is not None and academy.token == Connection.to_arena().token == "abc"


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
def test_a_stream_that_broke_while_it_was_written_to_is_not_a_refusal(
    details: str, expected: type[Exception]
) -> None:
    # gRPC calls both INTERNAL; which of them a broken connection comes to is chance.
    error = grpc.aio.AioRpcError(
        grpc.StatusCode.INTERNAL, grpc.aio.Metadata(), grpc.aio.Metadata(), details=details
    )
    assert type(to_client_error(error)) is expected


class Failing(grpc.GenericRpcHandler):
    """A server whose answers to all calls are lost; `calls` are their names."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def service(self, handler_call_details: Any) -> Any:
        def fail(request: object, context: grpc.ServicerContext) -> bytes:
            self.calls.append(handler_call_details.method)
            context.abort(grpc.StatusCode.UNAVAILABLE, "the answer was lost")

        return grpc.unary_unary_rpc_method_handler(fail)


@pytest.fixture
def failing() -> Iterator[tuple[Failing, Connection]]:
    handler = Failing()
    server = grpc.server(futures.ThreadPoolExecutor(2), handlers=[handler])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield handler, Connection(f"127.0.0.1:{port}")
    server.stop(0).wait()


@pytest.mark.parametrize(
    ("messages", "service", "method", "repeats"),
    [
        (contests_pb2, "ContestService", "GetContest", True),
        (libraries_pb2, "LibraryService", "ForkGame", True),
        (tokens_pb2, "TokenService", "CreateToken", False),
        (libraries_pb2, "LibraryService", "CreateBackup", False),
        (competitions_pb2, "CompetitionService", "CreateToken", False),
        (members_pb2, "MemberService", "RotateToken", False),
        (members_pb2, "MemberService", "CreateInvitation", False),
    ],
)
def test_a_call_that_makes_something_new_is_not_repeated(
    failing: tuple[Failing, Connection], messages: ModuleType, service: str, method: str, repeats: bool
) -> None:
    server, connection = failing
    called = messages.DESCRIPTOR.services_by_name[service].methods_by_name[method]
    with connection.channel() as channel, pytest.raises(grpc.RpcError, match="the answer was lost"):
        call: Any = channel.unary_unary(f"/{called.containing_service.full_name}/{called.name}")
        call(b"")
    assert len(server.calls) == (4 if repeats else 1)
