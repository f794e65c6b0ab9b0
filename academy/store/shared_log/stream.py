"""The stream that is a shared log: made where it is missing, and known again by its messages' names."""

import time
from dataclasses import dataclass
from typing import Final, NamedTuple

from nats.js.api import Header, RetentionPolicy, StorageType, StreamConfig, StreamInfo
from nats.js.errors import APIError, NotFoundError

from academy.store.errors import LogDivergedError
from academy.store.shared_log import place
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.connection import PAUSE, NatsConnection
from academy.store.v1 import records_pb2

MOVE: Final = "`academy move --to own`, then `academy move --to nats://HOSTS/ANOTHER`"
# A new leader may take this long until it knows all that was stored.
SETTLING_SECONDS: Final = 10.0
NAME_IN_USE: Final = 10058
# The header with the name of the message before.
FOLLOWS: Final = "Academy-Follows"
# Within these a message that is published twice, as its acknowledgement was lost, is stored once.
_DUPLICATES_SECONDS: Final = 120.0


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


class LogStream(NatsConnection):
    """The stream of an address."""

    def __init__(self, address: LogAddress, known: records_pb2.LogPlace | None = None) -> None:
        """Connect, and make the stream where it is missing.

        A folder that follows the stream gives its place in it: then it must be there, and have that message.
        Raises LogUnavailableError, LogDivergedError.
        """
        super().__init__(address)
        self._may_make = known is None
        try:
            self.look_again()
            if known is not None:
                self._check_follower(known)
        except BaseException:
            self.close()
            raise

    def look_again(self) -> None:
        """Bring `state` up to date. Raises LogUnavailableError, LogDivergedError."""
        self.state = self._check(self.ask(self._find_stream))

    def find_last(self, deadline: float) -> int:
        """Ask for the number of the stream's last message. Raises LogUnavailableError."""

        async def ask() -> int:
            return (await self.stream.stream_info(self.address.stream)).state.last_seq

        return self.run(self._persist(ask, deadline))

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

    def _check_follower(self, known: records_pb2.LogPlace) -> None:
        """Raise LogDivergedError where the stream is not the one that a folder follows, or lacks messages."""
        deadline = time.monotonic() + SETTLING_SECONDS
        while self.state.created == known.created:
            if self.state.last >= known.followed:
                self.check_holds(known.followed, place.name_of_last(known))
                return
            if time.monotonic() > deadline:
                break
            time.sleep(PAUSE)
            self.look_again()
        raise LogDivergedError(
            f"this folder follows another stream than the one at {self.address} (made {self.state.created}, "
            f"{self.state.last:,} messages), to message {known.followed:,}: give the right address, or begin "
            "with an empty folder"
        )

    def check_holds(self, message: int, name: str) -> None:
        """Raise LogDivergedError where the stream has another message in the place of one that was folded.

        "" is a name that is not known, and a message that was cut has none. Raises LogUnavailableError.
        """
        self.ask(lambda: self._check_holds(self.state, message, name))

    async def _check_holds(self, state: StreamState, message: int, name: str) -> None:
        if not name or message < state.first:
            return
        self._check_name(message, await self._find_name(message), name)

    def read(self, message: int) -> bytes:
        """Return what the message that has this place holds. Raises LogUnavailableError."""
        stored = self.ask(lambda: self.stream.get_msg(self.address.stream, seq=message))
        return stored.data or b""

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

    def cut(self, last: int) -> None:
        """Remove the messages before this one, by which servers know that the log is still theirs.

        Raises LogUnavailableError, LogDivergedError.
        """
        if last <= 1:
            # Nothing comes before. NATS takes 0 for no limit, and would remove all.
            return
        self.ask(lambda: self.stream.purge_stream(self.address.stream, seq=last))
        self.look_again()

    async def time_of_last(self, stream: str, subject: str) -> float:
        """Return when a stream got a subject's last message, by NATS' clock in seconds since 1970.

        `subject` may have wildcards. Raises NatsError.
        """
        stored = (await self.stream.get_last_msg(stream, subject)).time
        assert stored is not None  # as it is of each stored message
        return stored.timestamp()
