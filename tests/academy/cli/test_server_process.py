"""A server that is stopped before it serves."""

import signal
from pathlib import Path

import pytest

from academy.cli import server_process
from academy.service.server import ServerSettings
from academy.store.errors import LogUnavailableError
from academy.wire.addresses import ServerAddress


@pytest.mark.parametrize("stopped", [True, False])
def test_a_stop_that_python_drops_while_it_collects_garbage_ends_the_server_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    class Dying:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    def open_store(*_: object, **__: object) -> None:
        if stopped:
            Dying()
        raise LogUnavailableError("no NATS server lets this one in")

    # Where a garbage collection falls cannot be chosen in a server of its own.
    monkeypatch.setattr(server_process, "Store", open_store)
    monkeypatch.setattr("sys.unraisablehook", lambda _: None)
    settings = ServerSettings(ServerAddress("127.0.0.1", 0))
    ended = None
    try:
        server_process.run_server(tmp_path, settings, lambda: None, 1, 60, None)
    except LogUnavailableError as error:
        ended = error
    assert (ended is None) == stopped
