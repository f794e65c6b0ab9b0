"""A slow line to a server: what it answers arrives in pieces, with pauses."""

import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

PIECE, PAUSE = 200, 0.03


@contextmanager
def slow_line(base: str) -> Iterator[str]:
    """Relay to the server at `base`, some bytes at a time; yields the line's own address."""
    host, port = urlsplit(base).hostname, urlsplit(base).port

    class Line(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection((host, port)) as server:
                threading.Thread(target=self._ask, args=(server,), daemon=True).start()
                while piece := server.recv(PIECE):
                    self.request.sendall(piece)
                    time.sleep(PAUSE)

        def _ask(self, server: socket.socket) -> None:
            # The browser may break its connection, and the server may have closed its own.
            with suppress(OSError):
                while question := self.request.recv(65536):
                    server.sendall(question)
                server.shutdown(socket.SHUT_RDWR)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Line) as relay:
        relay.daemon_threads = True
        threading.Thread(target=relay.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{relay.server_address[1]}"
        relay.shutdown()
