"""Serves the pages until a signal ends it."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn

from academy.wire.addresses import InvalidAddressError, ServerAddress
from clients.connection import Connection
from web.app import create_application
from web.settings import WebSettings

__all__ = ["serve_pages"]

_GRACE_SECONDS: Final = 5
_LARGEST_HEAD: Final = 32 * 1_024


class _Server(uvicorn.Server):
    """Ends at a signal with status 0, where uvicorn would raise the signal again."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def serve_pages(
    connection: Connection | None,
    settings: WebSettings,
    say_ready: Callable[[str], None],
    arena: Connection | None = None,
) -> None:
    """Serve the pages until SIGINT or SIGTERM.

    Args:
        connection: Where ACADEMY is, and the token that all pages are read with; None without its pages.
        settings: The address, who may read, and the limits.
        say_ready: Gets the address for browsers once it is listened on.
        arena: Where an arena's service is, and a watcher's token; None without pages of competitions.

    Raises:
        InvalidAddressError: The address cannot be listened on, or a certificate cannot be read.
    """
    limits = settings.limits
    config = uvicorn.Config(
        create_application(connection, settings, arena),
        http="h11",
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=limits.connections + limits.watchers,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        h11_max_incomplete_event_size=_LARGEST_HEAD,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
    )
    try:
        config.load()
    except OSError as error:
        files = f"--tls-cert {settings.certificate} and --tls-key {settings.key}"
        raise InvalidAddressError(f"{files}: {error}") from error
    with _listen(settings.address) as listener:
        address = settings.address.with_port(listener.getsockname()[1])
        say_ready(f"{'https' if settings.certificate else 'http'}://{address}/")
        asyncio.run(_Server(config).serve([listener]))


def _listen(address: ServerAddress) -> socket.socket:
    try:
        family = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((address.host, address.port), family=family, backlog=512)
    except OSError as error:
        raise InvalidAddressError(
            f"{address}: cannot listen there ({error.strerror}); another program may, or it is not this "
            "machine's address"
        ) from error
    # Connections take it over. Without it a page's body waits 40 ms for the visitor to confirm its head;
    # asyncio sets it, but only for sockets that name their protocol.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
