"""Prometheus' page over HTTP: a few requests at once, and none for long.

The package's own server makes a thread for each connection and waits without end for what it sends.
"""

import socket
import threading
import time
from contextlib import suppress
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app

from academy.wire.addresses import InvalidAddressError, ServerAddress

REQUESTS_AT_ONCE: Final = 16
SECONDS_PER_REQUEST: Final = 10.0


class _Silent(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: requests must not fill the log."""


class _FewRequests(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def __init__(self, host: str, port: int, seconds: float) -> None:
        self._seconds = seconds
        self._began: dict[Any, float] = {}
        self.address_family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        super().__init__((str(address[0]), port), _Silent)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, or close the connection if too many are open."""
        if len(self._began) >= REQUESTS_AT_ONCE:
            self.shutdown_request(request)
            return
        self._began[request] = time.monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self._began.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """End requests that take too long; called at least twice a second."""
        latest = time.monotonic() - self._seconds
        for request, began in list(self._began.items()):
            if began <= latest:
                # Its thread reads the end and closes it, unless it is already closed.
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log no broken connection: requests must not fill the log."""


class MetricsPage:
    """Serves a registry at an address (port 0: any free one) from its own threads until `close`.

    A request that takes longer than `seconds` is cut off. Raises InvalidAddressError.
    """

    def __init__(
        self, registry: CollectorRegistry, address: ServerAddress, seconds: float = SECONDS_PER_REQUEST
    ) -> None:
        if address.path:
            raise InvalidAddressError(f"{address}: metrics need host:port")
        try:
            self._server = _FewRequests(address.host, address.port, seconds)
        except OSError as error:
            raise InvalidAddressError(
                f"{address}: metrics cannot be served there ({error.strerror})"
            ) from error
        self._server.set_app(make_wsgi_app(registry))
        self.port: int = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more requests."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
