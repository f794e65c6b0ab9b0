"""Prometheus' page: who asks, and who only holds a connection."""

import io
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from urllib.request import urlopen

import pytest
from prometheus_client import CollectorRegistry, Counter

from academy.wire.addresses import ServerAddress
from academy.wire.metrics_page import REQUESTS_AT_ONCE, MetricsPage

SECONDS = 90.0


@contextmanager
def served(seconds: float = SECONDS) -> Iterator[MetricsPage]:
    registry = CollectorRegistry()
    Counter("moves", "Moves played", registry=registry).inc(3)
    page = MetricsPage(registry, ServerAddress.parse("127.0.0.1:0"), seconds)
    try:
        yield page
    finally:
        page.close()


def half_a_request(page: MetricsPage) -> socket.socket:
    held = socket.create_connection(("127.0.0.1", page.port), SECONDS)
    held.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
    return held


def is_closed(held: socket.socket) -> bool:
    try:
        return held.recv(1) == b""
    except ConnectionError:
        return True


def page_text(page: MetricsPage) -> str:
    with urlopen(f"http://127.0.0.1:{page.port}/metrics", timeout=SECONDS) as answer:
        return str(answer.read().decode())


def test_page_shows_the_metrics() -> None:
    with served() as page:
        assert "moves_total 3.0" in page_text(page)


@pytest.mark.threat("held_places")
def test_connections_beyond_a_few_are_closed_and_take_no_thread() -> None:
    with served() as page, ExitStack() as all_held:
        before = threading.active_count()
        for _ in range(REQUESTS_AT_ONCE):
            all_held.enter_context(half_a_request(page))
        for _ in range(REQUESTS_AT_ONCE):
            assert is_closed(
                all_held.enter_context(socket.create_connection(("127.0.0.1", page.port), SECONDS))
            )
        assert threading.active_count() <= before + REQUESTS_AT_ONCE


@pytest.mark.threat("held_places")
def test_a_caller_that_does_not_finish_a_request_is_cut_off() -> None:
    stderr = io.StringIO()
    with redirect_stderr(stderr), served(seconds=0.1) as page, ExitStack() as all_held:
        held = [all_held.enter_context(half_a_request(page)) for _ in range(REQUESTS_AT_ONCE)]
        assert all(is_closed(connection) for connection in held)
    assert stderr.getvalue() == ""
