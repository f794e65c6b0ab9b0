"""Reading the stream in order, from a place on, whatever is lost meanwhile.

NATS' client reads ahead in its event loop; the writer's thread takes what came.
"""

import asyncio
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, Header

from academy.store.errors import LogCutError, LogDivergedError, LogUnavailableError
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.connection import PAUSE, describe, end
from academy.store.shared_log.stream import FOLLOWS, SETTLING_SECONDS, LogStream, Message, StreamState
from academy.store.v1 import records_pb2

# The server's beats on an idle stream, by which a lost consumer is noticed.
_HEARTBEAT: Final = 0.5
_LOOK_SECONDS: Final = 5.0
_MESSAGES_AT_ONCE: Final = 100
_MOST_BUFFERED: Final = 16 << 20
_REQUEST: Final = json.dumps(
    {
        "batch": _MESSAGES_AT_ONCE,
        "expires": round(_LOOK_SECONDS * 1e9),
        "idle_heartbeat": round(_HEARTBEAT * 1e9),
    }
).encode()
# What a request for messages gets besides these: a beat, "no messages", "expired".
_BEAT: Final = "100"
_ENDED: Final = ("404", "408")
_CONSUMER_LASTS: Final = 30.0

_log = logging.getLogger(__name__)


class LogReader(LogStream):
    """A stream that is read from a place on."""

    def __init__(self, address: LogAddress, known: records_pb2.LogPlace | None = None) -> None:
        """Connect; see `LogStream`."""
        # First, as a connection that is lost is noted here.
        self._reconnected = asyncio.Event()
        self._news: deque[Message] = deque()
        self._bytes = 0
        self._next = 1
        # The name of the message before the next one.
        self._last_name = ""
        self._is_checked = False
        self._reading_error: Exception | None = None
        self._short_since: float | None = None
        self._changed = threading.Condition()
        self._failure: Exception | None = None
        self._tell_news: Callable[[], None] = lambda: None
        self._reading: asyncio.Task[None] | None = None
        super().__init__(address, known)

    async def _note_loss(self) -> None:
        self._is_checked = False

    async def _note_reconnection(self) -> None:
        self._reconnected.set()

    async def _close(self) -> None:
        if self._reading is not None:
            await end({self._reading})
        await super()._close()

    @property
    def is_read(self) -> bool:
        """Whether NATS answers, and has the stream."""
        return self.is_connected and self._is_checked and self._reading_error is None

    def follow(self, after: int, name: str, tell_news: Callable[[], None]) -> None:
        """Read what follows `after`, a message of this `name` ("": not known).

        `tell_news` is called when something came, in another thread.
        """
        self._tell_news = tell_news

        async def begin() -> None:
            self._next, self._last_name = after + 1, name
            self._reading = asyncio.create_task(self._read())

        self.run(begin())

    def check_read(self) -> None:
        """Raise LogDivergedError or NatsError where the stream was lost or is not read now."""
        if self._failure is not None:
            raise self._failure
        if self._reading is not None and not (self._is_checked and self.is_connected):
            why = describe(self._reading_error) if self._reading_error else "no connection"
            raise NatsError(f"the stream cannot be read: {why}")

    def news(self, after: int) -> list[Message]:
        """Return what came and follows `after`, in order; what comes before is forgotten.

        Raises LogDivergedError where it is a different stream now, or has lost what follows.
        """
        with self._changed:
            while self._news and self._news[0].place <= after:
                self._bytes -= len(self._news.popleft().data)
            self._changed.notify_all()
            if self._failure is not None and not self._news:
                raise self._failure
            return list(self._news)

    def wait(self, after: int, deadline: float) -> None:
        """Wait until something came that follows `after`. Raises LogUnavailableError."""
        with self._changed:
            came = self._changed.wait_for(
                lambda: self._failure is not None or bool(self._news and self._news[-1].place > after),
                max(0.0, deadline - time.monotonic()),
            )
        if not came:
            raise LogUnavailableError(
                f"{self.address}: the stream goes on after message {after:,}, but NATS does not send it; "
                "try again"
            )

    async def _read(self) -> None:
        while True:
            try:
                await self._read_on()
            except LogDivergedError as error:
                with self._changed:
                    self._failure = error
                    self._changed.notify_all()
                self._tell_news()
                return
            except Exception as error:
                # Whatever comes, the log must be followed on.
                self._reading_error = error
                _log.debug("the shared log is read again from message %d: %s", self._next, describe(error))
                await asyncio.sleep(PAUSE)

    async def _read_on(self) -> None:
        """Read until the consumer is lost."""
        self._reconnected.clear()
        state = self._check(await self.stream.stream_info(self.address.stream))
        self._check_continues(state)
        await self._check_holds(state, self._next - 1, self._last_name)
        self._is_checked = True
        self._reading_error = None
        consumer = ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=self._next,
            ack_policy=AckPolicy.NONE,
            inactive_threshold=_CONSUMER_LASTS,
            mem_storage=True,
            num_replicas=1,
        )
        stream = self.address.stream
        known = await self.stream.add_consumer(stream, config=consumer)
        inbox = self._client.new_inbox()
        lasting = await self._client.subscribe(inbox)
        try:
            while not self._reconnected.is_set():
                if self._news:
                    # What could not be folded when it came, as on a full disk.
                    self._tell_news()
                await self._wait_for_room()
                # By hand: the client's own `fetch` with heartbeats is refused where messages have come early.
                request = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{known.name}"
                await self._client.publish(request, _REQUEST, reply=inbox)
                await self._take_requested(lasting)
                # The consumer's server may be the only one of the stream's that is left.
                await self.stream.stream_info(stream)
        finally:
            await lasting.unsubscribe()

    async def _take_requested(self, lasting: Subscription) -> None:
        """Take the messages of one request, until all came or it expires. Raises NatsError."""
        for _ in range(_MESSAGES_AT_ONCE):
            message = await lasting.next_msg(3 * _HEARTBEAT)
            while (status := (message.headers or {}).get(Header.STATUS)) == _BEAT:
                message = await lasting.next_msg(3 * _HEARTBEAT)
            if status in _ENDED:
                return
            if status is not None or message.metadata.sequence.stream != self._next:
                raise NatsError(f"the consumer is lost: {message.headers}")
            headers = message.headers or {}
            name, follows = headers.get(Header.MSG_ID, ""), headers.get(FOLLOWS, "")
            if follows and self._last_name:
                self._check_name(self._next - 1, follows, self._last_name)
            self._take(Message(self._next, message.data, name, follows))
            self._tell_news()

    def _check_continues(self, state: StreamState) -> None:
        first = self._next
        is_short = state.last < first - 1
        if is_short and self._short_since is None:
            self._short_since = time.monotonic()
        elif not is_short:
            self._short_since = None
        lasts = self._short_since is not None and time.monotonic() > self._short_since + SETTLING_SECONDS
        if state.created != self.state.created or lasts:
            raise LogDivergedError(
                f"{self.address}: the stream was made again, or has lost messages: it ends with "
                f"{state.last:,}, this server has followed to {first - 1:,}"
            )
        if is_short:
            raise NatsError("the stream has not come as far as this server")
        if state.first > first:
            raise LogCutError(
                f"{self.address}: the stream begins with message {state.first:,}, this folder needs "
                f"{first:,}: start its server again, and it begins with a snapshot"
            )

    def _take(self, message: Message) -> None:
        with self._changed:
            self._news.append(message)
            self._bytes += len(message.data)
            self._next, self._last_name = message.place + 1, message.name
            self._changed.notify_all()

    async def _wait_for_room(self) -> None:
        while self._bytes > _MOST_BUFFERED:
            await asyncio.sleep(PAUSE / 10)
