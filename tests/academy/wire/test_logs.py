"""What the server's log says, of all modules in one form."""

import json
import logging
import threading
from collections.abc import Iterator
from contextvars import copy_context

import pytest
import structlog

from academy.wire import logs


@pytest.fixture(autouse=True)
def quiet_afterwards() -> Iterator[None]:
    yield
    logs.configure("error", "json")


def test_what_the_shared_log_does_is_an_event_as_others_are(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "json")
    log = logging.getLogger("academy.store.shared_log.shared_writer")
    log.info("a snapshot of message %d has %d bytes", 20, 300)
    log.debug("below the level")
    try:
        raise ValueError("wrong header")
    except ValueError as error:
        log.exception("message %d cannot be taken in", 21, exc_info=error)
    snapshot, failure = map(json.loads, capsys.readouterr().err.splitlines())
    assert snapshot.pop("timestamp")
    assert snapshot == {"event": "a snapshot of message 20 has 300 bytes", "level": "info"}
    assert (failure["event"], failure["level"]) == ("message 21 cannot be taken in", "error")
    assert failure["exception"].endswith("ValueError: wrong header")


@pytest.mark.parametrize("logger", [logging.getLogger("academy.store.writer"), structlog.get_logger()])
def test_each_line_names_its_process_whatever_thread_it_comes_from(
    capsys: pytest.CaptureFixture[str], logger: logging.Logger
) -> None:
    def serve() -> None:
        structlog.contextvars.bind_contextvars(process=3)
        logs.configure("info", "json")
        thread = threading.Thread(target=logger.warning, args=["writes are refused"])
        thread.start()
        thread.join()

    copy_context().run(serve)
    assert json.loads(capsys.readouterr().err)["process"] == 3


def test_a_traceback_on_a_terminal_shows_no_values(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "console")
    secret = "acd_" + "s" * 8
    try:
        raise ValueError("wrong" if secret else "")
    except ValueError:
        logging.getLogger("academy.store.writer").exception("a group of writes failed")
    shown = capsys.readouterr().err
    assert "ValueError: wrong" in shown and secret not in shown


def test_a_log_for_people_in_a_file_has_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "console")
    structlog.get_logger().info("serving", address="127.0.0.1:1")
    assert "\x1b" not in capsys.readouterr().err
