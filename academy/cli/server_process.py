"""The process that `academy serve` is: it serves a folder itself, or minds further processes that do."""

import asyncio
import gc
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import structlog
import typer

# Before all that loads gRPC, in this process and in those that it starts, which load this module first.
import academy.wire.silent_grpc  # noqa: F401
from academy.cli.commands import CommandError, ExitCode
from academy.service.server import AcademyServer, ServerSettings
from academy.service.workers import (
    DataDamagedError,
    ServerProcessError,
    ServerProcesses,
    own_ports,
    shared_port,
    signals,
)
from academy.store.errors import (
    LogHostUnknownError,
    LogRefusedError,
    LogUnavailableError,
    StoreCorruptError,
    UnknownTokenIdError,
)
from academy.store.library_store import Store, find_log
from academy.store.maintenance import clean_shutdown
from academy.store.tokens import CreateToken, RevokeToken, Role, tokens
from academy.wire.addresses import InvalidAddressError, ServerAddress
from academy.wire.files import write_whole
from academy.wire.metrics_page import MetricsPage

EMBEDDED_NAME: Final = "arena"
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_MOST_SIGNALS: Final = 64
# How long a server that starts waits for NATS: what is started together with it, as by Compose or Kubernetes,
# is there by then.
_AWAY_SECONDS: Final = 300.0
# A name may be mistyped. That of a container is known as soon as it runs, and Kubernetes' name service may
# keep for half a minute that it did not know one.
_UNKNOWN_HOST_SECONDS: Final = 60.0
_PAUSE_SECONDS: Final = 0.5
_T = TypeVar("_T")
_log = structlog.get_logger()


def run_server(
    data: Path,
    settings: ServerSettings,
    configure_logs: Callable[[], None],
    processes: int,
    hang_seconds: float,
    token_file: Path | None,
) -> None:
    """Serve a folder until SIGTERM or Ctrl-C.

    `configure_logs` is called in each of the `processes`; one that has done nothing for `hang_seconds` is
    replaced. A token for the program that started this one is written to `token_file`. Raises
    InvalidAddressError, CommandError and StoreError.
    """
    try:
        with (
            signals(*_SIGNALS) as signal_pipe,
            _serving(data, settings, signal_pipe) as marker,
            _open(data, settings, signal_pipe) as store,
            embedded_token(store, marker, token_file),
        ):
            _check_snapshots(data, settings, shares_log=store.follows_log is not None)
            if processes == 1:
                ready = partial(_announce, data, _token_hint(store, data))
                asyncio.run(_serve(store, settings, ready, signal_pipe))
            else:
                _serve_together(
                    store, _Process(data, settings, configure_logs), processes, hang_seconds, signal_pipe
                )
    except _StoppedError:
        return
    except (StoreCorruptError, DataDamagedError) as error:
        raise CommandError(str(error), ExitCode.FAULTY) from error
    except ServerProcessError as error:
        raise CommandError(f"{error}; its own messages say why") from error


@contextmanager
def _serving(data: Path, settings: ServerSettings, signal_pipe: int) -> Iterator[Path]:
    """Mark a folder as served. What is refused or stopped before that makes no folder."""
    if not (data / "data.mdb").exists():
        if settings.log is None:
            _check_snapshots(data, settings, shares_log=False)
        else:
            _wait_for_log(partial(find_log, settings.log), signal_pipe)
    harmless = (CommandError, InvalidAddressError, LogUnavailableError, ServerProcessError, _StoppedError)
    with clean_shutdown.serving(data, harmless) as marker:
        yield marker


def _check_snapshots(data: Path, settings: ServerSettings, *, shares_log: bool) -> None:
    if settings.snapshot_every and not shares_log:
        raise CommandError(
            f"--snapshot-every: snapshots are of a log that servers share, and {data} follows none; "
            "add --log, or leave this out",
            ExitCode.USAGE,
        )


class _StoppedError(Exception):
    """The server was asked to end before it served."""


def _open(data: Path, settings: ServerSettings, signal_pipe: int) -> Store:
    """Open the store, which may first read a long log. Raises _StoppedError as soon as a signal comes."""
    return _wait_for_log(lambda: Store(data, log=settings.log), signal_pipe)


def _wait_for_log(work: Callable[[], _T], signal_pipe: int) -> _T:
    """Do what needs the shared log, again while that is away. Raises _StoppedError as soon as a signal comes.

    Raises like the work, and LogUnavailableError when the log was away for too long.
    """

    def stop(*_: object) -> None:
        # Once: what was begun is undone in peace.
        restore()
        raise _StoppedError

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def check() -> None:
        if select.select([signal_pipe], [], [], 0)[0]:
            raise _StoppedError

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        for number in _SIGNALS:
            signal.signal(number, stop)
        # Also between tries: Python drops what a handler raises while it ends an import or collects garbage.
        check()
        return _try_again(work, check)
    finally:
        restore()


def _try_again(work: Callable[[], _T], check: Callable[[], None]) -> _T:
    """Do it until the log is not away; `check` is called after each try."""
    away_since: float | None = None
    allowed = 0.0
    while True:
        try:
            return work()
        except LogUnavailableError as error:
            check()
            if isinstance(error, LogRefusedError):
                raise
            now = time.monotonic()
            away_since = away_since or now
            known = allowed
            allowed = _UNKNOWN_HOST_SECONDS if isinstance(error, LogHostUnknownError) else _AWAY_SECONDS
            if now - away_since >= allowed:
                raise
            if allowed != known:
                _log.warning("waits for the shared log", why=str(error), at_most_seconds=allowed)
        time.sleep(_PAUSE_SECONDS)


def _announce(data: Path, hint: str, address: ServerAddress) -> None:
    typer.echo(f"academy: serving {data} at {address}; {hint}")


def _serve_together(
    store: Store, work: "_Process", count: int, hang_seconds: float, signal_pipe: int
) -> None:
    with shared_port(work.settings.address) as address:
        settings = replace(work.settings, address=address, shared_port=True)
        # Wrong settings are reported here, once.
        settings.endpoint.credentials()
        metrics = settings.metrics_address
        work = replace(work, settings=settings, metrics=own_ports(metrics, count) if metrics else ())
        ready = partial(_announce, work.data, _token_hint(store, work.data), address)
        ServerProcesses(work, count, partial(_damage, work.data), hang_seconds).run(ready, signal_pipe)


def _damage(data: Path) -> str:
    try:
        clean_shutdown.check_pages(data)
    except StoreCorruptError as error:
        return str(error)
    return ""


@dataclass(frozen=True)
class _Process:
    """One of several processes that serve a folder."""

    data: Path
    settings: ServerSettings
    configure_logs: Callable[[], None]
    metrics: Sequence[ServerAddress] = ()

    def __call__(self, number: int, ready: Callable[[], None]) -> None:
        """Serve."""
        self.configure_logs()
        settings = replace(self.settings, metrics_address=self.metrics[number] if self.metrics else None)
        try:
            with signals(signal.SIGTERM) as signal_pipe, _open(self.data, settings, signal_pipe) as store:
                asyncio.run(_serve(store, settings, lambda _: ready(), signal_pipe))
        except _StoppedError:
            return
        except InvalidAddressError as error:
            sys.exit(f"academy: {error}")


async def _serve(
    store: Store, settings: ServerSettings, ready: Callable[[ServerAddress], None], signal_pipe: int
) -> None:
    stopped = asyncio.Event()
    hurried = asyncio.Event()

    def stop() -> None:
        with suppress(BlockingIOError):
            for _ in os.read(signal_pipe, _MOST_SIGNALS):
                (hurried if stopped.is_set() else stopped).set()

    # The signal may have come already.
    stop()
    if stopped.is_set():
        return
    asyncio.get_running_loop().add_reader(signal_pipe, stop)
    server = AcademyServer(store, settings)
    if settings.metrics_address is not None:
        MetricsPage(server.metrics.registry, settings.metrics_address)
    address = await server.start()
    # What is there by now stays: Python's searches for cycles through it would stop all calls for 30 ms.
    gc.freeze()
    try:
        ready(address)
        await stopped.wait()
    finally:
        await _end(server, hurried)


async def _end(server: AcademyServer, hurried: asyncio.Event) -> None:
    """Drain the server; a second signal cuts that short."""
    ending = asyncio.create_task(server.stop())
    hurry = asyncio.create_task(hurried.wait())
    await asyncio.wait({ending, hurry}, return_when=asyncio.FIRST_COMPLETED)
    if not ending.done():
        await server.hurry()
    await ending
    hurry.cancel()


@contextmanager
def embedded_token(store: Store, marker: Path, file: Path | None) -> Iterator[None]:
    """A token for the program that started this server, good for as long as it serves.

    Those of servers that were killed are revoked first: their markers, and so this server's, name them.
    """
    for token_id in clean_shutdown.read_notes(marker):
        # One whose record cannot be read gives no rights.
        with suppress(UnknownTokenIdError, StoreCorruptError):
            store.run(RevokeToken(token_id))
    if file is None:
        yield
        return
    token, text = store.run(CreateToken(EMBEDDED_NAME, Role.ADMIN))
    # Before anybody knows the text: killed until here, no usable token is left.
    clean_shutdown.note(marker, token.token_id)
    write_whole(file, [text.encode()], private=True)
    try:
        yield
    finally:
        store.run(RevokeToken(token.token_id))


def _token_hint(store: Store, data: Path) -> str:
    try:
        usable = sum(token.revoked is None for token in store.read(tokens))
    except StoreCorruptError as error:
        # Its holder is refused; the others are served.
        return f"{error} (academy check --data {data})"
    if usable:
        return f"{usable} token{'s' if usable > 1 else ''} (academy tokens list --data {data})"
    return f"no tokens yet: academy tokens create NAME --role admin --data {data}"
