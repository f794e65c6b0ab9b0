"""The client of NATS JetStream: publishes on condition, and reads the stream in order.

The writer's thread calls it; NATS' client runs in an event loop of a thread of its own.
"""

import asyncio
import json
import logging
import secrets
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from ssl import SSLCertVerificationError
from typing import Any, Final, NamedTuple, TypeVar

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.errors import MaxPayloadError
from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    Header,
    RetentionPolicy,
    StorageType,
    StreamConfig,
    StreamInfo,
)
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError

from academy.store.errors import (
    LogCutError,
    LogDivergedError,
    LogHostUnknownError,
    LogMessageTooLargeError,
    LogRefusedError,
    LogUnavailableError,
    StoreError,
)
from academy.store.shared_log import place
from academy.store.shared_log._compat import EncryptingClient
from academy.store.shared_log.address import LogAddress
from academy.store.v1 import records_pb2

# How long a write waits for a leader: one that was killed is replaced within 8 s.
PATIENCE: Final = 15.0
# A new leader may take this long until it knows all that was stored.
SETTLING_SECONDS: Final = 10.0
_CONNECTING_SECONDS: Final = 5.0
_ANSWER_SECONDS: Final = 3.0
# A server that has left this many pings unanswered is lost, as is one whose machine has no power: another is
# asked. The client's own setting, two minutes, would let no write through meanwhile.
_PING_SECONDS: Final = 2.0
_MOST_UNANSWERED: Final = 2
_PAUSE: Final = 0.1
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
_PASS_SECONDS: Final = 1.0
_CONSUMER_LASTS: Final = 30.0
# Within these a message that is published twice, as its acknowledgement was lost, is stored once.
_DUPLICATES_SECONDS: Final = 120.0
# The name of the message before.
_FOLLOWS: Final = "Academy-Follows"
# "wrong last sequence", with the number and, where writers race, without.
_LOST_RACE: Final = (10071, 10164)
NAME_IN_USE: Final = 10058
# Refusals that do not last: the message is being stored; servers of the cluster do not know each other yet.
_PASSING: Final = (10158, 10005)
# A refusal that lasts though NATS calls it a fault of its own: servers that are not a cluster keep one copy.
_NO_CLUSTER: Final = 10074
_SERVER_FAULT: Final = 500
MOVE: Final = "`academy move --to own`, then `academy move --to nats://HOSTS/ANOTHER`"

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class LostRaceError(StoreError):
    """Another server has written since; read on, and execute again."""


class Message(NamedTuple):
    """A message with its place in the stream, its own name, and that of the one before it ("": not known)."""

    place: int
    data: bytes
    name: str = ""
    follows: str = ""


@dataclass(frozen=True, slots=True)
class StreamState:
    """A stream: when it was made, which tells it from others of its name, and what it holds."""

    created: str
    first: int
    last: int
    replicas: int


class JetStreamLog:
    """A stream that is read from a place on. Its methods may be called from any thread."""

    def __init__(self, address: LogAddress, known: records_pb2.LogPlace | None = None) -> None:
        """Connect, and make the stream where it is missing.

        A folder that follows the stream gives its place in it: then it must be there, and have that message.
        Raises LogUnavailableError, LogDivergedError.
        """
        self.address = address
        self._may_make = known is None
        self._client = EncryptingClient() if address.encrypted else Client()
        self._reconnected = asyncio.Event()
        self._last_error: Exception | None = None
        self._news: deque[Message] = deque()
        self._bytes = 0
        self._next = 1
        # The name of the message before the next one.
        self._last_name = ""
        self._is_checked = False
        self._reading_error: Exception | None = None
        self._own = 0
        self._short_since: float | None = None
        self._is_asked = False
        self._name = secrets.token_bytes(8)
        self._changed = threading.Condition()
        self._failure: Exception | None = None
        self._tell_news: Callable[[], None] = lambda: None
        self._reading: asyncio.Task[None] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="academy-log", daemon=True)
        self._thread.start()
        try:
            self.state = self.run(self._open())
            if known is not None:
                self._check_follower(known)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the connection. Closing twice is harmless."""
        if self._loop.is_closed():
            return
        self.run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do work of NATS' client in its event loop, and return its result. Raises like the work."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    # Connecting

    async def _open(self) -> StreamState:
        try:
            await self._connect()
        except (NatsError, OSError, ValueError) as error:
            raise self._explain(self._last_error or error) from error
        return await self._look_again()

    def _explain(self, error: Exception) -> LogUnavailableError:
        why = describe(error)
        remedy = "check the address and that the server runs with JetStream (nats-server --jetstream)"
        kind = LogUnavailableError
        if isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME:
            kind = LogHostUnknownError
        elif "Authorization" in why:
            remedy = "check the user and the password in the address, nats://USER:PASSWORD@HOST"
            kind = LogRefusedError
        elif isinstance(error, LogRefusedError | SSLCertVerificationError | ValueError):
            kind = LogRefusedError
        return kind(f"no NATS server lets this one in at {self.address}: {why}; {remedy}")

    async def _connect(self) -> None:
        connecting = asyncio.ensure_future(
            self._client.connect(
                servers=list(self.address.servers),
                name="academy",
                connect_timeout=2,
                ping_interval=_PING_SECONDS,  # type: ignore[arg-type]
                max_outstanding_pings=_MOST_UNANSWERED,
                max_reconnect_attempts=-1,
                reconnect_time_wait=_PAUSE,  # type: ignore[arg-type]
                error_cb=self._note_error,
                disconnected_cb=self._note_loss,
                reconnected_cb=self._note_reconnection,
            )
        )
        # It tries without end, and may lose the one cancel of `asyncio.timeout`.
        _, late = await asyncio.wait({connecting}, timeout=_CONNECTING_SECONDS)
        await _end(late)
        if connecting.cancelled():
            raise TimeoutError
        connecting.result()

    def look_again(self) -> None:
        """Bring `state` up to date. Raises LogUnavailableError, LogDivergedError."""
        self.state = self.run(self._look_again())

    def find_last(self, deadline: float) -> int:
        """Ask for the number of the stream's last message. Raises LogUnavailableError."""

        async def ask() -> int:
            return (await self.stream.stream_info(self.address.stream)).state.last_seq

        return self.run(self._persist(ask, deadline))

    async def _look_again(self) -> StreamState:
        return self._check(await self._persist(self._find_stream, time.monotonic() + PATIENCE))

    async def _note_error(self, error: Exception) -> None:
        # A connection that is reset hides why: an earlier try may have heard it.
        if self._last_error is None or _weight(error) >= _weight(self._last_error):
            self._last_error = error

    async def _note_loss(self) -> None:
        self._is_checked = False

    async def _note_reconnection(self) -> None:
        self._reconnected.set()

    async def _close(self) -> None:
        if self._reading is not None:
            await _end({self._reading})
        # It waits without limit for a server that takes nothing, and fails where the connection is just lost.
        closing = asyncio.ensure_future(self._client.close())
        await asyncio.wait({closing}, timeout=_ANSWER_SECONDS)
        # The client leaves tasks behind where a transfer was given up.
        await _end(asyncio.all_tasks() - {asyncio.current_task()})
        await asyncio.gather(closing, return_exceptions=True)

    @property
    def stream(self) -> JetStreamContext:
        """The client of JetStream, for `run`."""
        return self._client.jetstream(timeout=_ANSWER_SECONDS)

    async def _find_stream(self) -> StreamInfo:
        name = self.address.stream
        try:
            return await self.stream.stream_info(name)
        except NotFoundError as error:
            if not self._may_make:
                raise LogDivergedError(
                    f"{self.address}: there is no stream {name!r}, which this folder follows: give the right "
                    "address, or see what NATS has lost; to go on with what the folder has, move it to a new "
                    f"stream: {MOVE}"
                ) from error
            config = StreamConfig(
                name=name,
                subjects=[self.address.subject],
                storage=StorageType.FILE,
                num_replicas=self.address.replicas,
                duplicate_window=_DUPLICATES_SECONDS,
                deny_delete=True,
            )
        try:
            return await self.stream.add_stream(config)
        except APIError as error:
            if error.err_code != NAME_IN_USE:
                raise
            # Another server made it meanwhile, with other replicas.
            return await self.stream.stream_info(name)

    def _check_follower(self, known: records_pb2.LogPlace) -> None:
        """Raise LogDivergedError where the stream is not the one that a folder follows, or lacks messages."""
        deadline = time.monotonic() + SETTLING_SECONDS
        while self.state.created == known.created:
            if self.state.last >= known.followed:
                self.check_holds(known.followed, place.name_of_last(known))
                return
            if time.monotonic() > deadline:
                break
            time.sleep(_PAUSE)
            self.look_again()
        raise LogDivergedError(
            f"this folder follows another stream than the one at {self.address} (made {self.state.created}, "
            f"{self.state.last:,} messages), to message {known.followed:,}: give the right address, or begin "
            "with an empty folder"
        )

    def _check(self, info: StreamInfo) -> StreamState:
        config = info.config
        limits = (config.max_age, config.max_msgs, config.max_msgs_per_subject, config.max_bytes)
        lossy = (
            config.retention not in (None, RetentionPolicy.LIMITS)
            or config.storage == StorageType.MEMORY
            or any((most or 0) > 0 for most in limits)
        )
        if lossy or config.subjects != [self.address.subject]:
            raise LogDivergedError(
                f"the stream {self.address.stream!r} is not one of ACADEMY's: it must keep all messages of "
                f"the subject {self.address.subject!r}, and of no other, in files; name another stream"
            )
        replicas = config.num_replicas or 1
        return StreamState(str(info.created), info.state.first_seq, info.state.last_seq, replicas)

    def ask(self, ask: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Ask NATS until there is an answer. Raises LogUnavailableError."""
        return self.run(self._persist(ask, time.monotonic() + PATIENCE))

    def cut(self, last: int) -> None:
        """Remove the messages before this one, by which servers know that the log is still theirs.

        Raises LogUnavailableError, LogDivergedError.
        """
        if last <= 1:
            # Nothing comes before. NATS takes 0 for no limit, and would remove all.
            return
        self.ask(lambda: self.stream.purge_stream(self.address.stream, seq=last))
        self.look_again()

    def check_holds(self, message: int, name: str) -> None:
        """Raise LogDivergedError where the stream has another message in the place of one that was folded.

        "" is a name that is not known, and a message that was cut has none. Raises LogUnavailableError.
        """
        self.ask(lambda: self._check_holds(self.state, message, name))

    async def _check_holds(self, state: StreamState, message: int, name: str) -> None:
        if not name or message < state.first:
            return
        self._check_name(message, await self._find_name(message), name)

    async def _find_name(self, message: int) -> str:
        """Ask for the name of the message that has this place; raises NotFoundError where there is none."""
        stored = await self.stream.get_msg(self.address.stream, seq=message)
        name: str = (stored.headers or {}).get(Header.MSG_ID, "")
        return name

    def _check_name(self, message: int, stored: str, folded: str) -> None:
        if stored != folded:
            raise LogDivergedError(
                f"{self.address}: message {message:,} of the stream is not the one that this folder has: "
                "the stream has lost messages and has grown again since, as after a loss of power without "
                "`sync_interval: always`. Keep this folder, which has what was lost. To go on with the "
                "stream begin with an empty folder; to go on with what the folder has, move it to a new "
                f"stream: {MOVE}"
            )

    async def time_of_last(self, stream: str, subject: str) -> float:
        """Return when a stream got a subject's last message, by NATS' clock in seconds since 1970.

        `subject` may have wildcards. Raises NatsError.
        """
        answer = await self._client.request(
            f"$JS.API.STREAM.MSG.GET.{stream}",
            json.dumps({"last_by_subj": subject}).encode(),
            timeout=_ANSWER_SECONDS,
        )
        stored = json.loads(answer.data)["message"]["time"]
        return datetime.fromisoformat(stored).timestamp()

    async def _persist(self, ask: Callable[[], Coroutine[Any, Any, _T]], deadline: float) -> _T:
        """Ask until there is an answer. Raises LogUnavailableError, at once for a refusal."""
        while True:
            try:
                return await ask()
            except (NatsError, TimeoutError) as error:
                if _is_refusal(error):
                    raise LogRefusedError(f"{self.address}: NATS refuses: {describe(error)}") from error
                if time.monotonic() > deadline:
                    raise LogUnavailableError(
                        f"{self.address}: NATS does not answer ({describe(error)}); what was asked may "
                        "have been done: try again"
                    ) from error
            await asyncio.sleep(_PAUSE)

    @property
    def is_connected(self) -> bool:
        """Whether a server of NATS has answered lately."""
        return self._client.is_connected

    @property
    def is_read(self) -> bool:
        """Whether NATS answers, and has the stream."""
        return self.is_connected and self._is_checked and self._reading_error is None

    # Publishing

    @property
    def limit(self) -> int:
        """How many bytes a message may have."""
        return self._client.max_payload

    def publish(self, message: Message, deadline: float) -> None:
        """Give a message its place, as the next one of the stream. It is stored when this returns.

        By its name it is stored once however often it is sent. Until `deadline` (`time.monotonic`) a server
        that does not answer is asked again. Raises LostRaceError where another message has the place,
        LogUnavailableError, LogMessageTooLargeError, LogDivergedError.
        """
        headers = {
            Header.EXPECTED_LAST_SEQUENCE.value: str(message.place - 1),
            Header.MSG_ID.value: message.name,
            _FOLLOWS: message.follows,
        }

        async def ask() -> None:
            # After a loss the stream may have grown again to this very place, with other messages.
            if self._failure is not None:
                raise self._failure
            if self._reading is not None and not (self._is_checked and self.is_connected):
                why = describe(self._reading_error) if self._reading_error else "no connection"
                raise NatsError(f"the stream cannot be read: {why}")
            try:
                await self.stream.publish(
                    self.address.subject,
                    message.data,
                    timeout=_ANSWER_SECONDS,
                    stream=self.address.stream,
                    headers={key: value for key, value in headers.items() if value},
                )
            except APIError as error:
                if error.err_code not in _LOST_RACE:
                    raise
                # NATS may look at the place before the name: sent again, a message seems to lose to itself.
                if not await self._is_stored(message):
                    raise LostRaceError from error
            except MaxPayloadError as error:
                raise LogMessageTooLargeError(len(message.data), self.limit) from error

        self.run(self._persist(ask, deadline))
        with self._changed:
            self._own = message.place

    async def _is_stored(self, message: Message) -> bool:
        with suppress(NotFoundError):
            return await self._find_name(message.place) == message.name
        return False

    def ask_to_pass(self) -> None:
        """Wish that the other servers let this one go first, after a lost race; they may not hear it."""
        with suppress(NatsError):
            self.run(self._client.publish(self.address.pass_subject, self._name))

    async def _note_wish(self, wish: Msg) -> None:
        if wish.data != self._name:
            with self._changed:
                self._is_asked = True

    def let_pass(self) -> None:
        """If another server lost a race, wait for its message, but not for long.

        Else a busy server, whose next write is always ready first, would keep slower ones out.
        """
        with self._changed:
            if self._is_asked:
                self._is_asked = False
                self._changed.wait_for(lambda: self._next - 1 > self._own, _PASS_SECONDS)

    # Reading

    def follow(self, after: int, name: str, tell_news: Callable[[], None]) -> None:
        """Read what follows `after`, a message of this `name` ("": not known).

        `tell_news` is called when something came, in another thread.
        """
        self._tell_news = tell_news

        async def begin() -> None:
            self._next, self._last_name = after + 1, name
            await self._client.subscribe(self.address.pass_subject, cb=self._note_wish)
            self._reading = asyncio.create_task(self._read())

        self.run(begin())

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
                await asyncio.sleep(_PAUSE)

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
            name, follows = headers.get(Header.MSG_ID, ""), headers.get(_FOLLOWS, "")
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
            await asyncio.sleep(_PAUSE / 10)


async def _end(tasks: Set[asyncio.Task[Any]]) -> None:
    """Cancel tasks until they have ended.

    Once may not do: `asyncio.wait_for` of Python 3.11 loses the cancel that comes together with the answer
    (CPython issue 86296, mended in 3.12), and the client asks with it.
    """
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=_PAUSE)


def _weight(error: Exception) -> int:
    """How much a failed connection says: that of one server tells more than the unknown name of another."""
    if isinstance(error, socket.gaierror):
        return 0
    return 2 if isinstance(error, NatsError | LogRefusedError | SSLCertVerificationError) else 1


def _is_refusal(error: Exception) -> bool:
    """Whether the same request would be refused again."""
    if not isinstance(error, APIError) or error.err_code in _PASSING:
        return False
    return error.err_code == _NO_CLUSTER or (error.code or _SERVER_FAULT) < _SERVER_FAULT


def describe(error: BaseException) -> str:
    """Return what a fault of NATS' client says."""
    if isinstance(error, ServiceUnavailableError) and not error.description:
        return "JetStream has no leader yet, or is off: nats-server --jetstream turns it on"
    if isinstance(error, APIError):
        return f"{error.description} ({error.err_code})"
    return str(error) or type(error).__name__
