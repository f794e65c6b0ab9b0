"""A connection to NATS: made again where it is lost, and asked again where it does not answer.

NATS' client runs in an event loop of a thread of its own; other threads call it.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Set
from concurrent.futures import CancelledError
from ssl import SSLCertVerificationError
from typing import Any, Final, TypeVar

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError, ServiceUnavailableError

from academy.store.errors import LogHostUnknownError, LogRefusedError, LogUnavailableError
from academy.store.shared_log._compat import EncryptingClient
from academy.store.shared_log.address import LogAddress

# How long a write waits for a leader: one that was killed is replaced within 8 s.
PATIENCE: Final = 15.0
PAUSE: Final = 0.1
_CONNECTING_SECONDS: Final = 5.0
_ANSWER_SECONDS: Final = 3.0
# A server that has left this many pings unanswered is lost, as is one whose machine has no power: another is
# asked. The client's own setting, two minutes, would let no write through meanwhile.
_PING_SECONDS: Final = 2.0
_MOST_UNANSWERED: Final = 2
# Servers of the cluster may not know each other yet.
_TOO_FEW_SERVERS: Final = 10005
# Refusals that do not last: the message is being stored, too.
_PASSING: Final = (10158, _TOO_FEW_SERVERS)
# A refusal that lasts though NATS calls it a fault of its own: servers that are not a cluster keep one copy.
_NO_CLUSTER: Final = 10074
_SERVER_FAULT: Final = 500

_T = TypeVar("_T")


class NatsConnection:
    """A connection to the servers of an address. Its methods may be called from any thread."""

    def __init__(self, address: LogAddress) -> None:
        """Connect. Raises LogUnavailableError."""
        self.address = address
        self._client = EncryptingClient() if address.encrypted else Client()
        self._last_error: Exception | None = None
        self._gate = threading.Lock()
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="academy-log", daemon=True)
        self._thread.start()
        try:
            self.run(self._open())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the connection. Closing twice is harmless."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            closing = asyncio.run_coroutine_threadsafe(self._close(), self._loop)
        closing.result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do work of NATS' client in its event loop, and return its result.

        Raises like the work, and LogUnavailableError where the connection is closed, or is meanwhile.
        """
        with self._gate:
            # Nobody would do it, and who asked would wait for ever.
            if self._closed:
                work.close()
                raise LogUnavailableError(f"{self.address}: the connection was closed")
            doing = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return doing.result()
        except CancelledError as error:
            raise LogUnavailableError(f"{self.address}: the connection was closed") from error

    async def _open(self) -> None:
        try:
            await self._connect()
        except (NatsError, OSError, ValueError) as error:
            raise self._explain(self._last_error or error) from error

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
                reconnect_time_wait=PAUSE,  # type: ignore[arg-type]
                error_cb=self._note_error,
                disconnected_cb=self._note_loss,
                reconnected_cb=self._note_reconnection,
            )
        )
        # It tries without end, and may lose the one cancel of `asyncio.timeout`.
        _, late = await asyncio.wait({connecting}, timeout=_CONNECTING_SECONDS)
        await end(late)
        if connecting.cancelled():
            raise TimeoutError
        connecting.result()

    async def _note_error(self, error: Exception) -> None:
        # A connection that is reset hides why: an earlier try may have heard it.
        if self._last_error is None or _weight(error) >= _weight(self._last_error):
            self._last_error = error

    async def _note_loss(self) -> None:
        """The connection is lost; classes that read the stream note it."""

    async def _note_reconnection(self) -> None:
        """There is a connection again; classes that read the stream note it."""

    async def _close(self) -> None:
        # It waits without limit for a server that takes nothing, and fails where the connection is just lost.
        closing = asyncio.ensure_future(self._client.close())
        await asyncio.wait({closing}, timeout=_ANSWER_SECONDS)
        # The client leaves tasks behind where a transfer was given up.
        await end(asyncio.all_tasks() - {asyncio.current_task()})
        await asyncio.gather(closing, return_exceptions=True)

    @property
    def is_connected(self) -> bool:
        """Whether a server of NATS has answered lately."""
        return self._client.is_connected

    @property
    def limit(self) -> int:
        """How many bytes a message may have."""
        return self._client.max_payload

    @property
    def stream(self) -> JetStreamContext:
        """The client of JetStream, for `run`."""
        return self._client.jetstream(timeout=_ANSWER_SECONDS)

    def ask(self, ask: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Ask NATS until there is an answer. Raises LogUnavailableError."""
        return self.run(self._persist(ask))

    async def _persist(self, ask: Callable[[], Coroutine[Any, Any, _T]], deadline: float | None = None) -> _T:
        """Ask until there is an answer. Raises LogUnavailableError, at once for a refusal."""
        deadline = time.monotonic() + PATIENCE if deadline is None else deadline
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
            await asyncio.sleep(PAUSE)


async def end(tasks: Set[asyncio.Task[Any]]) -> None:
    """Cancel tasks until they have ended.

    Once may not do: `asyncio.wait_for` of Python 3.11 loses the cancel that comes together with the answer
    (CPython issue 86296, mended in 3.12), and the client asks with it.
    """
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=PAUSE)


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
        why = f"{error.description} ({error.err_code})"
        if error.err_code == _TOO_FEW_SERVERS:
            why += ": fewer NATS servers know each other than the stream is to have copies (--log-replicas)"
        return why
    return str(error) or type(error).__name__
