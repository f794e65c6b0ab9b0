"""The command that runs a server."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from academy.cli.failures import CommandError, ExitCode
from academy.service import logs
from academy.service.addresses import DEFAULT_ADDRESS, Address, Certificates, InvalidAddress
from academy.service.lifetime import end_with_parent, signals, write_private
from academy.service.limits import Limits
from academy.service.processes import DataDamaged, ProcessFailed, ServerProcesses, own_ports, shared_port
from academy.service.server import AcademyServer, ServerSettings, serve_metrics
from academy.store import endings
from academy.store.errors import StoreCorrupt, UnknownTokenId
from academy.store.library_store import Store
from academy.store.tokens import CreateToken, RevokeToken, Role

EMBEDDED_NAME: Final = "arena"
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_MOST_SIGNALS: Final = 64
Data = Annotated[Path, typer.Option("--data", envvar="ACADEMY_DATA", help="The data folder.")]
DEFAULT_DATA: Final = Path("academy-data")


def add_to(application: typer.Typer) -> None:
    """Add this command."""
    application.command("serve")(serve)


def serve(
    data: Data = DEFAULT_DATA,
    address: Annotated[
        str, typer.Option(help="Where to listen: host:port (port 0: any free one) or unix:PATH.")
    ] = DEFAULT_ADDRESS,
    tls_cert: Annotated[Path | None, typer.Option(help="PEM certificate of the server.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM key of the certificate.")] = None,
    tls_client_ca: Annotated[
        Path | None,
        typer.Option(help="PEM file of the authority clients' certificates are checked by (mutual TLS)."),
    ] = None,
    processes: Annotated[
        int,
        typer.Option(
            min=1, max=64, help="Server processes that share the port; limits count in each of them."
        ),
    ] = 1,
    hang_seconds: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="With --processes: one that has done nothing at all for so long is killed and replaced "
            "(0: never).",
        ),
    ] = 30.0,
    insecure: Annotated[bool, typer.Option(help="Let other machines connect without TLS.")] = False,
    metrics_address: Annotated[
        str,
        typer.Option(
            help="Serve Prometheus metrics at this host:port, of further processes at the ports after it."
        ),
    ] = "",
    grace: Annotated[
        float, typer.Option(min=0.0, help="Seconds that running calls get when the server ends.")
    ] = 10.0,
    rate: Annotated[
        float, typer.Option(min=1.0, help="Questions a second that one caller may ask on average.")
    ] = Limits.questions_per_second,
    concurrent_calls: Annotated[
        int, typer.Option(min=1, help="Calls and streams answered at once.")
    ] = Limits.concurrent_calls,
    address_connections: Annotated[
        int, typer.Option(min=1, help="Connections that one address may have.")
    ] = Limits.connections_per_address,
    idle_seconds: Annotated[
        float, typer.Option(min=1.0, help="A stream on which nothing is asked for so long is closed.")
    ] = Limits.idle_stream_seconds,
    contest_hours: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="A contest open for longer keeps its players from analysis no more: its arena may be lost.",
        ),
    ] = Limits.contest_seconds / 3_600,
    analysis_patterns: Annotated[
        int,
        typer.Option(
            min=0,
            help="Different patterns that a name is told in an hour outside of contests (0: any number). "
            "Admins and analysts' tokens are free.",
        ),
    ] = Limits.analysed_patterns_per_hour,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], typer.Option(help="What to log.")
    ] = "info",
    log_format: Annotated[
        Literal["auto", "console", "json"],
        typer.Option(help="How: auto is console on a terminal, else JSON."),
    ] = "auto",
    embedded_token_file: Annotated[
        Path | None,
        typer.Option(
            help="For a program that starts its own server: write a fresh token with all rights to this file "
            "before listening, and end when that program does."
        ),
    ] = None,
    embedded_in: Annotated[
        int | None,
        typer.Option(min=1, help="The process id of that program, which may have ended meanwhile."),
    ] = None,
) -> None:
    """Run the server until SIGTERM or Ctrl-C; then finish what runs, and end with 0."""
    logs.configure(log_level, log_format)
    if embedded_token_file is not None:
        end_with_parent(embedded_in)
    try:
        settings = ServerSettings(
            address=Address.parse(address),
            certificates=Certificates(tls_cert, tls_key, tls_client_ca),
            insecure=insecure,
            metrics_address=Address.parse(metrics_address) if metrics_address else None,
            grace=grace,
            limits=Limits(
                questions_per_second=rate,
                question_burst=2 * rate,
                concurrent_calls=concurrent_calls,
                concurrent_calls_per_caller=min(concurrent_calls, Limits.concurrent_calls_per_caller),
                connections_per_address=min(address_connections, Limits.connections),
                idle_stream_seconds=idle_seconds,
                contest_seconds=3_600 * contest_hours,
                analysed_patterns_per_hour=analysis_patterns,
            ),
        )
        with (
            signals(*_SIGNALS) as told,
            endings.serving(data, harmless=(InvalidAddress, ProcessFailed)) as marker,
            Store(data) as store,
            embedded_token(store, marker, embedded_token_file),
        ):
            if processes == 1:
                ready = partial(_announce, data, _token_hint(store, data))
                asyncio.run(_serve(store, settings, ready, told))
            else:
                work = _Process(data, settings, partial(logs.configure, log_level, log_format))
                _serve_together(store, work, processes, hang_seconds, told)
    except InvalidAddress as error:
        raise CommandError(str(error), ExitCode.USAGE) from error
    except (StoreCorrupt, DataDamaged) as error:
        raise CommandError(str(error), ExitCode.FAULTY) from error
    except ProcessFailed as error:
        raise CommandError(f"{error}; its own messages say why") from error


def _announce(data: Path, hint: str, address: Address) -> None:
    typer.echo(f"academy: serving {data} at {address}; {hint}")


def _serve_together(store: Store, work: "_Process", count: int, hang_seconds: float, told: int) -> None:
    with shared_port(work.settings.address) as address:
        settings = replace(work.settings, address=address, shared_port=True)
        # Wrong settings are told here, once.
        settings.check()
        metrics = settings.metrics_address
        work = replace(work, settings=settings, metrics=own_ports(metrics, count) if metrics else ())
        ready = partial(_announce, work.data, _token_hint(store, work.data), address)
        ServerProcesses(work, count, partial(_damage, work.data), hang_seconds).run(ready, told)


def _damage(data: Path) -> str:
    # In a process of its own, since this one has the folder open.
    command = [sys.executable, "-P", "-m", endings.__name__, str(data)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False).stderr.strip()


@dataclass(frozen=True)
class _Process:
    """One of several processes that serve a folder."""

    data: Path
    settings: ServerSettings
    configure_logs: Callable[[], None]
    metrics: Sequence[Address] = ()

    def __call__(self, number: int, ready: Callable[[], None]) -> None:
        """Serve."""
        self.configure_logs()
        settings = replace(self.settings, metrics_address=self.metrics[number] if self.metrics else None)
        try:
            with signals(signal.SIGTERM) as told, Store(self.data) as store:
                asyncio.run(_serve(store, settings, lambda _: ready(), told))
        except InvalidAddress as error:
            sys.exit(f"academy: {error}")


async def _serve(store: Store, settings: ServerSettings, ready: Callable[[Address], None], told: int) -> None:
    stopped = asyncio.Event()
    hurried = asyncio.Event()

    def stop() -> None:
        with suppress(BlockingIOError):
            for _ in os.read(told, _MOST_SIGNALS):
                (hurried if stopped.is_set() else stopped).set()

    # It may have been told already.
    stop()
    if stopped.is_set():
        return
    asyncio.get_running_loop().add_reader(told, stop)
    server = AcademyServer(store, settings)
    if settings.metrics_address is not None:
        serve_metrics(server.metrics, settings.metrics_address)
    address = await server.start()
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
    for token_id in endings.noted(marker):
        # One whose record cannot be read gives no rights.
        with suppress(UnknownTokenId, StoreCorrupt):
            store.run(RevokeToken(token_id))
    if file is None:
        yield
        return
    token, text = store.run(CreateToken(EMBEDDED_NAME, Role.ADMIN))
    # Before anybody knows the text: killed until here, no usable token is left.
    endings.note(marker, token.token_id)
    write_private(file, text)
    try:
        yield
    finally:
        store.run(RevokeToken(token.token_id))


def _token_hint(store: Store, data: Path) -> str:
    try:
        usable = sum(token.revoked is None for token in store.tokens())
    except StoreCorrupt as fault:
        # Its holder is refused; the others are served.
        return f"{fault} (academy check --data {data})"
    if usable:
        return f"{usable} token{'s' if usable > 1 else ''} (academy tokens list --data {data})"
    return f"no tokens yet: academy tokens create NAME --role admin --data {data}"
