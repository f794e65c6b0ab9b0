"""Serves the pages until a signal ends it."""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import IPv6Address
from typing import Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from academy.wire.addresses import InvalidAddressError, ServerAddress
from academy.wire.open_files import allow_open_files
from clients.connection import Connection
from web.app import create_application
from web.settings import WebLimits, WebSettings
from web.shown_certificate import ShownCertificate

__all__ = ["serve_pages"]

_GRACE_SECONDS: Final = 5
# uvicorn's.
_TICKS_A_SECOND: Final = 10
_LARGEST_HEAD: Final = 32 * 1_024
# Connections above the limit that get an answer which says so; further ones are closed at once.
_REFUSED_AT_ONCE: Final = 64
# Those, the services that are asked, and what a program needs besides.
_OTHER_FILES: Final = _REFUSED_AT_ONCE + 64
_log = logging.getLogger(__name__)


class _Protocol(H11Protocol):
    """Closes connections that send no whole head of a request in time: uvicorn waits for it for ever."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        assert self.limit_concurrency is not None
        if len(self.connections) > self.limit_concurrency + _REFUSED_AT_ONCE:
            transport.abort()
            return
        wait = self.timeout_keep_alive
        self.timeout_keep_alive_task = self.loop.call_later(wait, self.timeout_keep_alive_handler)

    def data_received(self, data: bytes) -> None:
        # The time goes on to the whole head, where uvicorn ends it with the first byte.
        self.conn.receive_data(data)
        self.handle_events()


class _Server(uvicorn.Server):
    """Ends at a signal with status 0, where uvicorn would raise the signal again, and renews certificates."""

    def __init__(self, config: uvicorn.Config, shown: ShownCertificate | None) -> None:
        super().__init__(config)
        self._shown = shown

    async def on_tick(self, counter: int) -> bool:
        """Look each second whether the certificate's files were replaced."""
        if self._shown is not None and counter % _TICKS_A_SECOND == 0:
            self._shown.renew()
        return await super().on_tick(counter)

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
    """Serve the pages of `create_application` until SIGINT or SIGTERM. Raises InvalidAddressError.

    `say_ready` gets the address for browsers once it is listened on.
    """
    limits = _fit_open_files(settings.limits)
    settings = replace(settings, limits=limits)
    config = uvicorn.Config(
        create_application(connection, settings, arena),
        http=_Protocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=limits.connections + limits.forms + limits.watchers,
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
    shown = None
    if config.ssl is not None and settings.certificate is not None and settings.key is not None:
        shown = ShownCertificate(config.ssl, settings.certificate, settings.key)
    with _listen(settings.address) as listener:
        address = settings.address.with_port(listener.getsockname()[1])
        say_ready(f"{'https' if settings.certificate else 'http'}://{address}/")
        asyncio.run(_Server(config, shown).serve([listener]))


def _fit_open_files(limits: WebLimits) -> WebLimits:
    """Raise this process's limit of open files where the connections need it, or lower theirs."""
    wanted = limits.connections + limits.forms + limits.watchers
    needed = wanted + _OTHER_FILES
    # Many may come before the first of those that are too many is closed.
    files = allow_open_files(2 * needed)
    room = files - _OTHER_FILES
    if room >= wanted:
        return limits
    connections, forms = (max(1, room * most // wanted) for most in (limits.connections, limits.forms))
    watchers = max(1, room - connections - forms)
    _log.warning(
        "%d connections at once instead of %d, as this process may have %d open files; raise its limit "
        "(`ulimit -n %d`)",
        connections + forms + watchers, wanted, files, needed,
    )  # fmt: skip
    return replace(limits, connections=connections, forms=forms, watchers=watchers)


def _is_any_of_version_6(host: str) -> bool:
    """Whether an address, however it is written, is that of all networks."""
    try:
        return IPv6Address(host).is_unspecified
    except ValueError:
        return False


def _listen(address: ServerAddress) -> socket.socket:
    try:
        family = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server(
            (address.host, address.port),
            family=family,
            backlog=512,
            dualstack_ipv6=_is_any_of_version_6(address.host) and socket.has_dualstack_ipv6(),
        )
    except OSError as error:
        raise InvalidAddressError(
            f"{address}: cannot listen there ({error.strerror}); another program may, or it is not this "
            "machine's address"
        ) from error
    # Connections take it over. Without it a page's body waits 40 ms for the visitor to confirm its head;
    # asyncio sets it, but only for sockets that name their protocol.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
