"""What is found out about a Ray cluster before Ray connects to it, with a server in place of Ray's head."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from arena.workers.ray_connection import RayUnavailableError, check_listening, connect, keep_token_private

HEAD = ("ray.rpc.NodeInfoGcsService", "GetClusterId")
FOR_CLIENTS = ("ray.rpc.RayletDriver", "ClusterInfo")


@contextmanager
def listening(
    service: str, method: str, answer: Callable[[Any, grpc.ServicerContext], bytes]
) -> Iterator[str]:
    """A server that answers one call, as Ray's head or its server for clients from outside."""
    handler: Any = grpc.unary_unary_rpc_method_handler(answer)
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, {method: handler})])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None)


@pytest.fixture
def without_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "auth_token"))
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USE_TLS"):
        monkeypatch.delenv(name, raising=False)


def test_a_cluster_is_found_where_the_environment_names_a_proxy(
    monkeypatch: pytest.MonkeyPatch, without_token: None
) -> None:
    # Nobody listens there.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with listening(*HEAD, lambda request, context: b"") as address:
        check_listening(address)


@pytest.mark.parametrize(("call", "prefix"), [(HEAD, ""), (FOR_CLIENTS, "ray://")])
def test_a_cluster_that_asks_for_a_token_says_at_once_what_is_wrong_with_it(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    without_token: None,
    call: tuple[str, str],
    prefix: str,
) -> None:
    def check(request: Any, context: grpc.ServicerContext) -> bytes:
        if ("authorization", "Bearer right") not in context.invocation_metadata():
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "a token is missing or wrong")
        return b""

    with listening(*call, check) as address:
        with pytest.raises(RayUnavailableError, match="set RAY_AUTH_MODE=token here"):
            check_listening(prefix + address)
        monkeypatch.setenv("RAY_AUTH_MODE", "token")
        (tmp_path / "auth_token").write_text("wrong\n")
        with pytest.raises(RayUnavailableError, match="the cluster has another token than"):
            check_listening(prefix + address)
        (tmp_path / "auth_token").write_text("right\n")
        check_listening(prefix + address)


@pytest.mark.parametrize(("call", "prefix"), [(HEAD, "ray://"), (FOR_CLIENTS, "")])
def test_another_kind_of_server_is_named_as_such(
    without_token: None, call: tuple[str, str], prefix: str
) -> None:
    with (
        listening(*call, lambda request, context: b"") as address,
        pytest.raises(RayUnavailableError, match="not a Ray cluster of that kind; an address is"),
    ):
        check_listening(prefix + address)


def test_a_token_that_ray_made_is_kept_from_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "auth_token"
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(file))
    keep_token_private()
    file.write_text("secret")
    file.chmod(0o644)
    keep_token_private()
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("on", "why"),
    [
        ("nowhere", "is not an address of a Ray cluster"),
        ("auto", "is not an address of a Ray cluster"),
        ("ray://", "is not an address of a Ray cluster"),
        ("unix:/tmp/ray", "a Ray cluster has no Unix socket"),
        ("http://127.0.0.1:1", "is not an address of a Ray cluster"),
        ("two..dots:6379", "there is no Ray cluster .*"),
        ("127.0.0.1:1", "there is no Ray cluster .*"),
    ],
)
def test_a_wrong_address_is_named_also_where_ray_is_missing(on: str, why: str) -> None:
    with pytest.raises(RayUnavailableError, match=f"^{on}: {why}; an address is ray, ray://[^;]*$"):
        connect(on, {})
