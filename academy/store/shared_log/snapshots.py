"""Snapshots in NATS' object store: new servers begin with one, and the log can be cut behind them.

A snapshot is a compressed archive of a server's folder, named by its log and the last message folded into it.
It has the saved pattern caches, too, which a new server would else make again from each pattern.
"""

import asyncio
import logging
import re
import shutil
import tarfile
import zlib
from collections.abc import Coroutine, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from gzip import BadGzipFile
from io import BufferedIOBase, BufferedReader, BufferedWriter
from itertools import count
from pathlib import Path
from typing import IO, Any, Final

from nats.errors import Error as NatsError
from nats.js.api import ObjectInfo, ObjectMeta, ObjectMetaOptions, StorageType
from nats.js.errors import APIError, NotFoundError
from nats.js.object_store import ObjectStore

from academy.store.environment import PATTERN_CACHES, Environment
from academy.store.errors import NO_ROOM, LogUnavailableError, StoreCorruptError, StoreError, StoreFullError
from academy.store.maintenance.backup import draft_in, place_copy, place_received
from academy.store.maintenance.compaction import lock_alone, put_in_place
from academy.store.shared_log import place
from academy.store.shared_log.address import LogAddress
from academy.store.shared_log.connection import describe
from academy.store.shared_log.stream import NAME_IN_USE, LogStream

# One may be damaged, and the log must not be cut behind the only other one.
KEPT: Final = 2
_DRAFT: Final = ".snapshot-"
_FETCHED: Final = ".fetched-"
# The fastest level already gains most.
_LEVEL: Final = 1
_PART: Final = 1 << 20
_DATA: Final = "data.mdb"
# The data of a folder that the log was cut past, when a snapshot took their place.
BEHIND: Final = "behind.mdb"
_CACHE: Final = re.compile(rf"{PATTERN_CACHES}/[0-9a-f]+\.patterns")
# What a message in the object store has at most.
_LARGEST_CHUNK: Final = 128 << 10
# A transfer that has not moved for this long is given up.
_STALLED_SECONDS: Final = 20.0
# What a killed server has left in the object store, or beside its data, is removed after this long.
_LEFT_SECONDS: Final = 3_600.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot: its name in the object store, the last message folded into it, its compressed bytes."""

    name: str
    followed: int
    size: int


def make(environment: Environment, *, keep: int = KEPT) -> Snapshot:
    """Store a snapshot of a folder that follows a log, and remove all but the newest `keep`.

    It needs room for a copy beside the data. Raises StoreError, LogUnavailableError, LogDivergedError.
    """
    with (
        _naming_faults(environment.folder),
        draft_in(environment.folder, _DRAFT, _LEFT_SECONDS) as draft,
        _open_log_of(environment) as log,
    ):
        copy, packed = draft / "copy", draft / "packed"
        with tarfile.open(packed, "w:gz", compresslevel=_LEVEL) as archive:
            # First the caches: those of later generations than the data would be made again.
            for cache in sorted(environment.folder.glob(f"{PATTERN_CACHES}/*.patterns")):
                # A server may remove one meanwhile.
                with suppress(FileNotFoundError):
                    _pack(archive, cache, f"{PATTERN_CACHES}/{cache.name}")
            place_copy(copy, environment)
            _pack(archive, copy / _DATA, _DATA)
        with Environment(copy, read_only=True) as copied, copied.reading() as transaction:
            now = place.read(transaction)
        assert now is not None  # as the folder it is a copy of
        made = Snapshot(f"{_prefix(log)}{now.followed:020d}", now.followed, packed.stat().st_size)
        with packed.open("rb") as file:
            log.run(_put(log, made, file))
        for old in _list(log)[keep:]:
            log.run(_remove(log, old))
        log.run(_remove_remains(log))
    return made


def cut(environment: Environment, *, keep: int = KEPT) -> int:
    """Remove the log's messages that the oldest of the `keep` newest snapshots holds; return the first left.

    With fewer snapshots nothing is removed. Raises StoreError, LogUnavailableError, LogDivergedError.
    """
    with _open_log_of(environment) as log:
        kept = _list(log)[:keep]
        if len(kept) == keep:
            log.cut(kept[-1].followed)
        return log.state.first


def fetch(folder: Path, address: LogAddress) -> int:
    """Put the newest snapshot that is good into a folder; return the last message in it.

    Data that the folder has are kept as `behind.mdb`, or `behind-2.mdb` and so on: only they have what the
    log lost since they were written. 0: there is no snapshot, and the log is read from its beginning. Raises
    StoreError where that was cut, or another process uses the folder, and LogUnavailableError.
    """
    with _naming_faults(folder), closing(LogStream(address)) as log:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for snapshot in _list(log):
            # Starts may be killed one after the other: the room that each one took is wanted at once.
            with draft_in(folder, _FETCHED, 0.0) as draft:
                try:
                    _take(log, snapshot, draft)
                except (StoreError, OSError, NatsError, TimeoutError) as error:
                    if isinstance(error, StoreFullError) or getattr(error, "errno", None) in NO_ROOM:
                        # The next one would find no room either, nor would the log.
                        raise
                    _log.warning("the snapshot of message %d cannot be used: %s", snapshot.followed, error)
                    continue
                with lock_alone(folder) as lock:
                    _keep_behind(folder)
                    shutil.rmtree(folder / PATTERN_CACHES, ignore_errors=True)
                    (draft / PATTERN_CACHES).replace(folder / PATTERN_CACHES)
                    put_in_place(draft / "copy" / _DATA, folder, lock)
                return snapshot.followed
        # The folder stays as it is, so that the next start tries again.
        if log.state.first > 1:
            raise StoreError(
                f"{address}: no snapshot can be used, and the log begins with message {log.state.first:,}: "
                "run `academy snapshot` at a server that has followed it, or restore a backup"
            )
    return 0


def _keep_behind(folder: Path) -> None:
    """Give a folder's data, if it has some, a second name under which they stay."""
    # Not another name: killed before the snapshot is in place, the folder must still have data.
    for number in count(1):
        behind = folder / (BEHIND if number == 1 else f"{Path(BEHIND).stem}-{number}.mdb")
        try:
            behind.hardlink_to(folder / _DATA)
        except FileNotFoundError:
            return
        except FileExistsError:
            if not behind.samefile(folder / _DATA):
                continue
            # A start that was killed left it.
        return


def _open_log_of(environment: Environment) -> closing[LogStream]:
    """Open the log that a folder follows: of any other its snapshot would push out those that are good."""
    with environment.reading() as transaction:
        now = place.read(transaction)
    if now is None:
        raise StoreError(f"{environment.folder}: has a log of its own; `academy backup` copies it")
    return closing(LogStream(LogAddress.parse(now.address), now))


@contextmanager
def _naming_faults(folder: Path) -> Iterator[None]:
    """Add to a fault of the disk where it is, and what a snapshot needs."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        kind = StoreFullError if error.errno in NO_ROOM else StoreError
        raise kind(
            f"{folder}: {error.strerror or error}; a snapshot needs room for two copies of the data beside "
            "them, and the right to write there"
        ) from error


def _take(log: LogStream, snapshot: Snapshot, draft: Path) -> None:
    """Fetch a snapshot into a folder. Raises StoreError where it is not one of this log, and others."""
    packed = draft / "packed"
    with packed.open("wb") as file:
        log.run(_get(log, snapshot, file))
    _unpack(packed, draft)
    with Environment(draft / "copy", read_only=True) as copied, copied.reading() as transaction:
        now = place.read(transaction)
    # It may have grown, or have been cut, since.
    log.look_again()
    if now is None or now.created != log.state.created or now.followed != snapshot.followed:
        raise StoreError("it is of another log")
    if not log.state.first - 1 <= now.followed <= log.state.last:
        raise StoreError(
            f"the log has messages {log.state.first:,} to {log.state.last:,}, which do not continue it"
        )
    log.check_holds(now.followed, place.name_of_last(now))


def _prefix(log: LogStream) -> str:
    """Return what names of the log's snapshots begin with: the stream may have been made again."""
    return re.sub(r"\D", "", log.state.created) + "-"


def _pack(archive: tarfile.TarFile, path: Path, name: str) -> None:
    with path.open("rb") as file:
        archive.addfile(archive.gettarinfo(arcname=name, fileobj=file), file)


def _unpack(packed: Path, draft: Path) -> None:
    """Write the caches and the data, which are verified. Raises StoreCorruptError."""
    (draft / PATTERN_CACHES).mkdir(mode=0o700)
    try:
        with tarfile.open(packed, "r:gz") as archive:
            for member in archive:
                file = archive.extractfile(member)
                if file is not None and member.name == _DATA:
                    place_received(_parts(file), draft / "copy")
                elif file is not None and _CACHE.fullmatch(member.name):
                    with (draft / member.name).open("wb") as cache:
                        cache.writelines(_parts(file))
                else:
                    raise StoreCorruptError(f"it holds {member.name[:80]!r}")
    except _UNREADABLE as error:
        raise _cannot_unpack(error) from error
    if not (draft / "copy").exists():
        raise StoreCorruptError("it holds no data")


_UNREADABLE: Final = (tarfile.TarError, EOFError, zlib.error, BadGzipFile)


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    try:
        while part := file.read(_PART):
            yield part
    except _UNREADABLE as error:
        raise _cannot_unpack(error) from error


def _cannot_unpack(error: Exception) -> StoreCorruptError:
    return StoreCorruptError(f"it cannot be decompressed: {error}")


# What the object store does; in the event loop of NATS' client


async def _open(log: LogStream, *, making: bool = False) -> ObjectStore:
    name = f"{log.address.stream}-snapshots"
    try:
        return await log.stream.object_store(name)
    except NotFoundError:
        if not making:
            raise
    # As many copies as the stream has: a folder's address does not say how many were wished.
    copies = (await log.stream.stream_info(log.address.stream)).config.num_replicas
    try:
        return await log.stream.create_object_store(name, storage=StorageType.FILE, replicas=copies or 1)
    except APIError as error:
        if error.err_code != NAME_IN_USE:
            raise
        return await log.stream.object_store(name)


async def _list_objects(log: LogStream) -> list[ObjectInfo]:
    # The client itself waits for ever where NATS is lost after the request.
    async with asyncio.timeout(_STALLED_SECONDS):
        try:
            return await (await _open(log)).list(ignore_deletes=True)
        except NotFoundError:
            return []


def _list(log: LogStream) -> list[Snapshot]:
    """Return the log's snapshots, newest first. Raises LogUnavailableError."""
    prefix = _prefix(log)

    async def find() -> list[Snapshot]:
        named = ((info.name or "", info.size or 0) for info in await _list_objects(log))
        return [
            Snapshot(name, int(name.removeprefix(prefix)), size)
            for name, size in named
            if name.startswith(prefix)
        ]

    return sorted(log.ask(find), key=lambda snapshot: snapshot.followed, reverse=True)


async def _put(log: LogStream, snapshot: Snapshot, file: BufferedReader) -> None:
    try:
        store = await _open(log, making=True)
        options = ObjectMetaOptions(max_chunk_size=min(_LARGEST_CHUNK, log.limit))
        await _watch(store.put(snapshot.name, file, ObjectMeta(options=options)), file)
    except (NatsError, TimeoutError) as error:
        raise LogUnavailableError(
            f"{log.address}: the snapshot cannot be stored: {describe(error)}"
        ) from error


async def _get(log: LogStream, snapshot: Snapshot, file: BufferedWriter) -> None:
    await _watch((await _open(log)).get(snapshot.name, file), file)


async def _remove(log: LogStream, snapshot: Snapshot) -> None:
    try:
        await (await _open(log)).delete(snapshot.name)
    except NotFoundError:
        # Another server removed it meanwhile.
        pass
    except (NatsError, TimeoutError) as error:
        # The next snapshot's server does it.
        _log.warning("the snapshot of message %d is not removed: %s", snapshot.followed, describe(error))


async def _remove_remains(log: LogStream) -> None:
    """Remove parts of snapshots that were never stored whole."""
    name = f"{log.address.stream}-snapshots"
    try:
        parts = (await log.stream.stream_info(f"OBJ_{name}", subjects_filter=f"$O.{name}.C.>")).state.subjects
        whole = {f"$O.{name}.C.{info.nuid}" for info in await _list_objects(log)}
        # The snapshot was stored just now; the clock here may be wrong, and another snapshot under way.
        newest = await log.time_of_last(f"OBJ_{name}", f"$O.{name}.M.>")
        for part in (parts or {}).keys() - whole:
            if newest - await log.time_of_last(f"OBJ_{name}", part) > _LEFT_SECONDS:
                await log.stream.purge_stream(f"OBJ_{name}", subject=part)
    except (NatsError, TimeoutError) as error:
        # The next snapshot's server does it.
        _log.warning("parts of snapshots are not removed: %s", describe(error))


async def _watch(transfer: Coroutine[Any, Any, object], file: BufferedIOBase) -> None:
    """Wait for a transfer as long as it moves. Raises TimeoutError."""
    task = asyncio.create_task(transfer)
    try:
        while True:
            before = file.tell()
            done, _ = await asyncio.wait({task}, timeout=_STALLED_SECONDS)
            if done:
                await task
                return
            if file.tell() == before:
                raise TimeoutError(f"nothing came for {_STALLED_SECONDS:.0f} s")
    finally:
        task.cancel()
