"""Messages that are published on condition."""

import secrets
import time
from contextlib import closing
from typing import Any

import pytest
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg

from academy.store.errors import LogUnavailableError
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.jetstream import JetStreamLog, LostRaceError
from academy.store.shared_log.stream import Message


def publish(stream: JetStreamLog, message: Message) -> str:
    """Publish a message, and return what becomes of it."""
    try:
        stream.publish(message, time.monotonic() + 20)
    except LostRaceError:
        return "lost"
    return "stored"


def test_a_message_that_is_sent_again_is_stored_once_and_has_not_lost_to_itself(log: LogAddress) -> None:
    with closing(JetStreamLog(log)) as stream, closing(JetStreamLog(log)) as other:
        first, second, others = (
            Message(1, b"x", "first"),
            Message(2, b"x", "second"),
            Message(3, b"x", "others"),
        )
        assert [publish(stream, message) for message in (first, first, second, second)] == ["stored"] * 4
        assert publish(other, others) == "stored"
        # NATS may also have taken another server's message before it is asked again.
        assert publish(stream, second) == "stored"
        assert publish(stream, Message(3, b"x", "late")) == "lost"
        assert stream.find_last(time.monotonic() + 20) == 3


def test_a_message_that_is_sent_again_is_looked_for_until_nats_answers(
    log: LogAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A fake of a NATS server that falls silent between two questions.
    tries, get_msg = [], JetStreamContext.get_msg

    async def answer_the_third(stream: JetStreamContext, *place: Any, **more: Any) -> RawStreamMsg:
        tries.append(place)
        if len(tries) < 3:
            raise NatsTimeoutError
        return await get_msg(stream, *place, **more)

    with closing(JetStreamLog(log)) as stream:
        assert publish(stream, Message(1, b"x", "first")) == "stored"
        monkeypatch.setattr(JetStreamContext, "get_msg", answer_the_third)
        assert publish(stream, Message(1, b"x", "first")) == "stored"
        with pytest.raises(LogUnavailableError, match="what was asked may have been done: try again"):
            tries.clear()
            stream.publish(Message(1, b"x", "first"), time.monotonic())
    assert len(tries) == 1


def test_a_message_whose_place_was_cut_may_be_stored_and_one_beyond_the_end_has_lost(
    log: LogAddress,
) -> None:
    with closing(JetStreamLog(log)) as stream:
        for number in (1, 2):
            assert publish(stream, Message(number, b"x", secrets.token_hex(16))) == "stored"
        stream.cut(2)
        # Another server has read it, and its snapshot holds what it did.
        with pytest.raises(LogUnavailableError, match=r"past message 1: .* is not known, try again"):
            publish(stream, Message(1, b"x", "late"))
        # As in a stream that has lost messages.
        assert publish(stream, Message(9, b"x", "late")) == "lost"
