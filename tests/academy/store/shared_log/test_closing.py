"""A connection to NATS that is closed leaves nobody waiting."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from academy.store.errors import LogUnavailableError
from academy.store.shared_log.stream import LogStream
from tests.academy.store.shared_log.nats_servers import NatsServer


def test_who_asks_while_the_connection_is_closed_hears_so(nats: NatsServer) -> None:
    for _ in range(10):
        log = LogStream(nats.address("closing"))
        is_waiting = threading.Event()

        def ask(log: LogStream = log, is_waiting: threading.Event = is_waiting) -> None:
            while True:
                log.find_last(0.0)
                is_waiting.set()

        with ThreadPoolExecutor() as threads:
            asking = [threads.submit(ask) for _ in range(3)]
            is_waiting.wait()
            log.close()
            for thread in asking:
                with pytest.raises(LogUnavailableError, match="closed"):
                    thread.result(120)
