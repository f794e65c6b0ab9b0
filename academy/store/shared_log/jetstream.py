"""The log that servers share, as a stream of NATS JetStream: read in order, and written on condition."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import MaxPayloadError
from nats.js.api import Header
from nats.js.errors import APIError, NotFoundError

from academy.store.errors import LogMessageTooLargeError, LogUnavailableError, StoreError
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.reading import LogReader
from academy.store.shared_log.stream import FOLLOWS, Message
from academy.store.v1 import records_pb2

# "wrong last sequence", with the number and, where writers race, without.
_LOST_RACE: Final = (10071, 10164)
_PASS_SECONDS: Final = 1.0


class LostRaceError(StoreError):
    """Another server has written since; read on, and execute again."""


class JetStreamLog(LogReader):
    """A shared log: a stream that is read and written."""

    def __init__(self, address: LogAddress, known: records_pb2.LogPlace | None = None) -> None:
        """Connect; see `LogStream`."""
        super().__init__(address, known)
        self._own = 0
        self._is_asked = False
        self._name = secrets.token_bytes(8)

    def publish(self, message: Message, deadline: float) -> None:
        """Give a message its place, as the next one of the stream. It is stored when this returns.

        By its name it is stored once however often it is sent. Until `deadline` (`time.monotonic`) a server
        that does not answer is asked again. Raises LostRaceError where another message has the place,
        LogUnavailableError, LogMessageTooLargeError, LogDivergedError.
        """
        headers = {
            Header.EXPECTED_LAST_SEQUENCE.value: str(message.place - 1),
            Header.MSG_ID.value: message.name,
            FOLLOWS: message.follows,
        }

        async def ask() -> None:
            # After a loss the stream may have grown again to this very place, with other messages.
            self.check_read()
            try:
                await self.stream.publish(
                    self.address.subject,
                    message.data,
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
        if message.place < (await self.stream.stream_info(self.address.stream)).state.first_seq:
            raise LogUnavailableError(
                f"{self.address}: the log was cut past message {message.place:,}: whether the write was done "
                "is not known, try again"
            )
        return False

    def follow(self, after: int, name: str, tell_news: Callable[[], None]) -> None:
        """Read what follows a message; see `LogReader`. Hear also whom to let go first."""
        self.run(self._client.subscribe(self.address.pass_subject, cb=self._note_wish))
        super().follow(after, name, tell_news)

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
