"""Commands that work on a data folder, mostly also while servers use it: check, backup, compact, move."""

import getpass
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from academy.cli import printing
from academy.cli.commands import CommandError, ExitCode, NoDataError
from academy.cli.connection import with_server_to_compare, with_server_where_asked
from academy.cli.options import Json
from academy.cli.progress import counting_events
from academy.cli.services import Server
from academy.cli.serving import DEFAULT_DATA, Data, Replicas

if TYPE_CHECKING:
    from academy.store.environment import Transaction
    from academy.store.library_store import Store
    from academy.store.maintenance.check import Finding

_REMEDY: Final = "stop its servers, keep it for inspection, and restore a backup into another folder"
_DIFFERENT: Final = "see whether both are of one log, and check the server's folder"


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    application.command("check")(with_server_to_compare(check))
    application.command("backup")(with_server_where_asked(backup))
    application.command("restore")(restore)
    application.command("compact")(compact)
    application.command("snapshot")(snapshot)
    application.command("freeze")(freeze)
    application.command("move")(move)


def check(
    server: Server | None,
    data: Data = DEFAULT_DATA,
    replay: Annotated[
        bool, typer.Option(help="Make every library again from the event log, and compare.")
    ] = True,
    json: Json = False,
) -> None:
    """Check a data folder: indexes, counts, and the libraries against their events. Exit status 4: faults.

    With --against also that its libraries are those of a server, byte for byte, as of the last event that
    both have learnt. Where the folder follows a shared log, the last message that it has read is named.
    """
    from academy.store import page_scan
    from academy.store.environment import TableName
    from academy.store.maintenance import check as checking

    _check_exists(data)
    # Records are read only from sound pages: others could end this process without a word.
    findings = [checking.Finding("", what) for what in page_scan.find_damage(data)]
    events, compared = 0, None
    follows: dict[str, str | int] = {}
    different: list[checking.Finding] = []
    if not findings:
        with open_existing(data, read_only=True) as store:
            with store.environment.reading() as transaction:
                events, follows = transaction.count(TableName.EVENTS), _read_place(transaction)
            with counting_events(events) as note:
                findings = list(checking.check(store.environment, replay=replay, note_event=note))
            if server is not None:
                different, compared = _compare(store, server)
    faults = sum(finding.is_fault for finding in findings)
    differences = sum(finding.is_fault for finding in different)
    findings += different
    if json:
        limit = {} if compared is None else {"compared_to_event": compared}
        printing.print_json({"events": events, **limit, **follows, "findings": list(map(asdict, findings))})
    else:
        for finding in findings:
            typer.echo(f"{finding.game_id or 'all games'}: {finding.what}")
        if follows:
            typer.echo(f"{data}: has read {follows['log']} to message {follows['message']:,}")
        typer.echo(f"{data}: {printing.counted(events, 'event')}, {_verdict(faults, differences, compared)}")
    if faults or differences:
        raise typer.Exit(ExitCode.FAULTY)


def _read_place(transaction: "Transaction") -> dict[str, str | int]:
    """The shared log that a folder follows, and the last message that it has read; nothing without one."""
    from academy.store.shared_log import place

    now = place.read(transaction)
    return {} if now is None else {"log": str(place.log_of(transaction)), "message": now.followed}


def _verdict(faults: int, differences: int, compared: int | None) -> str:
    """What is true of a folder, and of what was compared with a server's, as far as this event."""
    if faults:
        return f"{printing.counted(faults, 'fault')}; {_REMEDY}"
    if differences:
        return f"sound, but the server's differ in {printing.counted(differences, 'way')}; {_DIFFERENT}"
    return "sound" if compared is None else f"sound, and compared with the server's to event {compared:,}"


def _compare(store: "Store", server: Server) -> tuple[list["Finding"], int]:
    """Compare a folder with a copy of a server's; return what differs, and the last event of both."""
    from academy.store import event_log
    from academy.store.environment import Environment
    from academy.store.maintenance import agreement
    from academy.store.maintenance import backup as copies

    with _without_leftovers(), tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copies.place_received(_download(server, for_comparison=True), copy)
        with Environment(copy, read_only=True) as other:
            with store.environment.reading() as here, other.reading() as there:
                last = min(map(event_log.last_sequence, (here, there)))
            return list(agreement.disagreements(store.environment, other)), last


class _EndedError(KeyboardInterrupt):
    """SIGTERM came."""


@contextmanager
def _without_leftovers() -> Iterator[None]:
    """Let SIGTERM end this process as usual, once what it has copied so far is removed."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        # Another one must not interrupt the removal.
        signal.signal(number, signal.SIG_IGN)
        raise _EndedError

    before = signal.getsignal(signal.SIGTERM)
    if before != signal.SIG_IGN:
        signal.signal(signal.SIGTERM, end)
    try:
        yield
    except _EndedError:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def backup(
    server: Server | None,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="An empty or new folder.")],
    data: Data = DEFAULT_DATA,
) -> None:
    """Copy a data folder as of this moment, also while a server uses it; or that of a server elsewhere."""
    from academy.store.maintenance import backup as copies

    with _without_leftovers():
        if server is not None:
            size = copies.place_received(_download(server), target)
        else:
            _check_pages(data)
            with open_existing(data, read_only=True) as store:
                size = copies.backup(store.environment, target)
    typer.echo(f"{target}: {size:,} bytes, verified")


def _download(server: Server, *, for_comparison: bool = False) -> Iterator[bytes]:
    """Yield the parts of a server's copy, which it begins to make with the first."""
    from academy.v1 import libraries_pb2

    request = libraries_pb2.DownloadBackupRequest(for_comparison=for_comparison)
    for part in server.libraries.DownloadBackup(request):
        yield part.content


def restore(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A backup.")],
    data: Annotated[
        Path, typer.Option("--data", envvar="ACADEMY_DATA", help="An empty or new folder.")
    ] = DEFAULT_DATA,
) -> None:
    """Put a backup into an empty data folder."""
    from academy.store.maintenance import backup as copies

    with _without_leftovers():
        size = copies.restore(source, data)
    typer.echo(f"{data}: {size:,} bytes, verified; start it with: academy serve --data {data}")


def compact(
    data: Data = DEFAULT_DATA,
    keep: Annotated[int, typer.Option(min=1, help="How many of the newest events stay.")] = 1000,
    shrink: Annotated[
        bool, typer.Option(help="Also give room back to the disk; no server may use the folder then.")
    ] = False,
    json: Json = False,
) -> None:
    """Replace old events by a snapshot of each game's libraries, also while a server uses the folder.

    The libraries stay as they are, and a contest that comes again is still not counted twice.
    """
    from academy.store.environment import TableName
    from academy.store.maintenance import compaction

    _check_pages(data)
    with open_existing(data) as store:
        with store.environment.reading() as transaction:
            events = transaction.count(TableName.EVENTS)
        with counting_events(events) as note:
            done = compaction.compact(store, keep=keep, note_event=note)
    if not json:
        removed = printing.counted(done.removed, "event")
        typer.echo(f"{data}: {removed} replaced by snapshots, {done.left:,} left")
    before, after = compaction.shrink(data) if shrink else (0, 0)
    if json:
        sizes = {"bytes_before": before, "bytes_after": after} if shrink else {}
        printing.print_json({"removed": done.removed, "left": done.left} | sizes)
    elif shrink:
        typer.echo(f"{data}: {before:,} bytes before, {after:,} now")


def snapshot(
    data: Data = DEFAULT_DATA,
    keep: Annotated[
        int, typer.Option(min=2, help="How many of the newest snapshots stay; a single one may be damaged.")
    ] = 2,
    cut: Annotated[
        bool,
        typer.Option(
            help="Remove from the log what all kept snapshots hold. Servers that lag behind begin again with "
            "a snapshot."
        ),
    ] = False,
) -> None:
    """Store a snapshot of a folder that follows a shared log, with which new servers begin.

    Also while a server uses the folder. It is kept where the log is, in NATS' object store.
    """
    _check_pages(data)
    from academy.store.shared_log import place, snapshots

    with open_existing(data, read_only=True) as store:
        made = snapshots.make(store.environment, keep=keep)
        log = store.read(place.log_of)
        typer.echo(f"{data}: a snapshot of message {made.followed:,} of {log}, {made.size:,} bytes")
        if cut:
            first = snapshots.cut(store.environment, keep=keep)
            typer.echo(f"{log}: begins with message {first:,}")


def freeze(
    data: Data = DEFAULT_DATA,
    lift: Annotated[
        bool, typer.Option("--lift", help="Let them write again, if no server was upgraded.")
    ] = False,
) -> None:
    """Stop all servers of this version from writing to the shared log, before an upgrade.

    They go on answering questions. The first that is upgraded takes writes again.
    """
    from academy.store.shared_log import place

    _check_exists(data)
    with open_existing(data) as store:
        store.run(place.FreezeLog(lift))
        log = store.read(place.log_of)
    # The folder may be a backup, which follows the log that it was made of: then this was a mistake.
    done = (
        "writes go on"
        if lift
        else f"no server of this version writes any more; undo it with: academy freeze --lift --data {data}"
    )
    typer.echo(f"{log}: {done}")


def move(
    to: Annotated[
        str,
        typer.Option(
            help="A new stream, nats://HOST[:PORT][,HOST...][/STREAM], or `own`: a log of the folder's own."
        ),
    ],
    data: Data = DEFAULT_DATA,
    log_replicas: Replicas = 0,
) -> None:
    """Make a folder's history a log that servers share, or take a folder out of one.

    No server may use the folder meanwhile. A move that was killed goes on when it is run again.
    """
    from academy.store.shared_log import place
    from academy.store.shared_log.address import LogAddress
    from academy.wire.addresses import InvalidAddressError

    _check_pages(data)
    if to == "own":
        if log_replicas:
            raise CommandError("--log-replicas is for a new stream: leave it out", ExitCode.USAGE)
        from academy.store.environment import Environment
        from academy.store.maintenance.compaction import lock_alone
        from academy.store.maintenance.upgrade import upgrade

        with lock_alone(data):
            pass
        # No server does it where the stream is lost.
        upgrade(data)
        with Environment(data) as environment:
            with environment.reading() as transaction:
                read = _read_place(transaction)
            environment.write(place.remove)
        # Another server's folder may have read more, and no folder of a backup may read on.
        so_far = f", with what it had read of {read['log']}: to message {read['message']:,}" if read else ""
        typer.echo(f"{data}: has a log of its own now{so_far}")
        return
    try:
        address = LogAddress.parse(to, log_replicas)
    except InvalidAddressError as error:
        raise CommandError(f"{error}; or write own", ExitCode.USAGE) from error
    from academy.store.shared_log import moving

    count = moving.share(data, address)
    typer.echo(f"{data}: follows {address} now, {printing.counted(count, 'message')}")


def open_existing(data: Path, *, read_only: bool = False) -> "Store":
    """Open the data in a folder. Raises NoDataError where it holds none."""
    from academy.store.library_store import Store

    _check_exists(data)
    return Store(data, read_only=read_only)


def _check_pages(data: Path) -> None:
    """Refuse to read all of a file with damaged pages: that could end this process without a word."""
    from academy.store import page_scan

    _check_exists(data)
    for what in page_scan.find_damage(data):
        raise CommandError(f"{data}: {what}; {_REMEDY}", ExitCode.FAULTY)


def _check_exists(data: Path) -> None:
    if not (data / "data.mdb").exists():
        raise NoDataError(data)


def account_name() -> str:
    """Return the name of the account that runs the command, for the event log."""
    try:
        return f"{getpass.getuser()} (data folder)"
    except (KeyError, OSError):
        return "data folder"
