"""The command that runs a server."""

from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from academy.cli.commands import CommandError, ExitCode
from academy.service.limits import Limits
from academy.store.shared_log.address import MOST_REPLICAS
from academy.wire.addresses import DEFAULT_ADDRESS
from academy.wire.command_line import not_nan

Data = Annotated[Path, typer.Option("--data", envvar="ACADEMY_DATA", help="The data folder.")]
Replicas = Annotated[
    int,
    typer.Option(
        min=0,
        max=MOST_REPLICAS,
        help="Where a stream is made: on how many NATS servers it is kept (0: on each that is named, at "
        "most 3).",
    ),
]
DEFAULT_DATA: Final = Path("academy-data")
# gRPC counts milliseconds in 32 bits.
_LONGEST_IDLE: Final = 2_147_483.0


def add_to(application: typer.Typer) -> None:
    """Add this command."""
    application.command("serve")(serve)


def serve(  # noqa: PLR0913
    data: Data = DEFAULT_DATA,
    address: Annotated[
        str, typer.Option(help="Where to listen: host:port (port 0: any free one) or unix:PATH.")
    ] = DEFAULT_ADDRESS,
    tls_cert: Annotated[Path | None, typer.Option(help="PEM certificate of the server.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM key of the certificate.")] = None,
    tls_client_ca: Annotated[
        Path | None,
        typer.Option(help="PEM file of the authority that checks clients' certificates (mutual TLS)."),
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
            max=86_400.0,
            callback=not_nan,
            help="With --processes: after how many seconds a process that hangs is killed and "
            "replaced (0: never).",
        ),
    ] = 30.0,
    insecure: Annotated[bool, typer.Option(help="Let other machines connect without TLS.")] = False,
    metrics_address: Annotated[
        str,
        typer.Option(
            help="Serve Prometheus metrics at this host:port; with --processes the others at the next ports."
        ),
    ] = "",
    grace: Annotated[
        float,
        typer.Option(min=0.0, callback=not_nan, help="Seconds that running calls get when the server ends."),
    ] = 10.0,
    rate: Annotated[
        float,
        typer.Option(
            min=1.0, callback=not_nan, help="Questions a second that one caller may ask on average."
        ),
    ] = Limits.questions_per_second,
    concurrent_calls: Annotated[
        int, typer.Option(min=1, help="Calls and streams answered at once.")
    ] = Limits.concurrent_calls,
    idle_seconds: Annotated[
        float,
        typer.Option(
            min=1.0,
            max=_LONGEST_IDLE,
            callback=not_nan,
            help="Seconds after which a stream without a question is closed.",
        ),
    ] = Limits.idle_stream_seconds,
    contest_hours: Annotated[
        float,
        typer.Option(
            min=0.0,
            callback=not_nan,
            help="Let players of a contest that is open for longer use analysis again.",
        ),
    ] = Limits.contest_seconds / 3_600,
    analysis_patterns: Annotated[
        int,
        typer.Option(
            min=0,
            help="Different patterns that a name may get in an hour outside of contests (0: any number). "
            "Admins and analysts' tokens are free.",
        ),
    ] = Limits.patterns_outside_contests_per_hour,
    backups: Annotated[
        Path | None,
        typer.Option(help="A folder for backups that admins make over the network; without it they cannot."),
    ] = None,
    log: Annotated[
        str,
        typer.Option(
            envvar="ACADEMY_LOG",
            help="Share a log with other servers: nats://HOST[:PORT][,HOST...][/STREAM]. An empty data "
            "folder follows it from then on.",
        ),
    ] = "",
    log_replicas: Replicas = 0,
    snapshot_every: Annotated[
        int,
        typer.Option(
            min=0,
            help="With a shared log: store a snapshot for new servers every this many messages (0: never).",
        ),
    ] = 0,
    cut_log: Annotated[
        bool,
        typer.Option(
            help="With --snapshot-every: remove from the log what the two newest snapshots hold. Servers "
            "that lag behind begin again with a snapshot."
        ),
    ] = False,
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
            hidden=True,  # for programs that start their own server
            help="Write a new token with all rights to this file before listening, and end with the program "
            "that started this one.",
        ),
    ] = None,
    embedded_in: Annotated[
        int | None,
        typer.Option(
            min=1, hidden=True, help="The process id of that program, which may have ended meanwhile."
        ),
    ] = None,
) -> None:
    """Serve a data folder over gRPC until SIGTERM or Ctrl-C.

    Then it finishes running calls and exits with status 0.
    """
    from academy.cli.server_process import run_server
    from academy.service.server import ServerSettings
    from academy.service.workers import end_with_parent
    from academy.store.shared_log.address import LogAddress
    from academy.wire import logs
    from academy.wire.addresses import InvalidAddressError, ServerAddress
    from academy.wire.tls import Certificates

    if cut_log and not snapshot_every:
        raise CommandError(
            "--cut-log: the log is cut behind snapshots only; add --snapshot-every N", ExitCode.USAGE
        )
    if log_replicas and not log:
        raise CommandError("--log-replicas: is of the log that --log names; add --log", ExitCode.USAGE)
    configure_logs = partial(logs.configure, log_level, log_format)
    configure_logs()
    if embedded_token_file is not None:
        end_with_parent(embedded_in)
    try:
        settings = ServerSettings(
            address=ServerAddress.parse(address),
            certificates=Certificates(tls_cert, tls_key, tls_client_ca),
            insecure=insecure,
            metrics_address=ServerAddress.parse(metrics_address) if metrics_address else None,
            grace=grace,
            backups=backups,
            log=LogAddress.parse(log, log_replicas) if log else None,
            snapshot_every=snapshot_every,
            cut_log=cut_log,
            limits=Limits(
                questions_per_second=rate,
                question_burst=2 * rate,
                concurrent_calls=concurrent_calls,
                concurrent_calls_per_caller=min(concurrent_calls, Limits.concurrent_calls_per_caller),
                idle_stream_seconds=idle_seconds,
                contest_seconds=3_600 * contest_hours,
                patterns_outside_contests_per_hour=analysis_patterns,
            ),
        )
        run_server(data, settings, configure_logs, processes, hang_seconds, embedded_token_file)
    except InvalidAddressError as error:
        raise CommandError(str(error), ExitCode.USAGE) from error
