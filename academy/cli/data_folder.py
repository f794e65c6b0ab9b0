"""Commands that work on a data folder itself, also while a server uses it."""

import getpass
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer
from rich.text import Text

from academy.cli import printing
from academy.cli.failures import CommandError, Commands, ExitCode
from academy.cli.libraries import Json
from academy.cli.serving import DEFAULT_DATA, Data

if TYPE_CHECKING:
    from academy.store.library_store import Store
    from academy.store.tokens import Token

_REMEDY: Final = "stop its servers, keep it for inspection, and restore a backup into another folder"
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_MOST_DIGITS: Final = 12
_LONGEST: Final = 100 * 365 * _SECONDS["d"]


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    tokens = typer.Typer(cls=Commands, no_args_is_help=True, help="Make, list and revoke bearer tokens.")
    tokens.command("create")(create_token)
    tokens.command("list")(list_tokens)
    tokens.command("revoke")(revoke_token)
    application.add_typer(tokens, name="tokens")
    application.command("check")(check)
    application.command("backup")(backup)
    application.command("restore")(restore)
    application.command("compact")(compact)


def create_token(
    name: Annotated[str, typer.Argument(help="Whom it is for: a bot's knowledge is kept under this name.")],
    role: Annotated[Literal["bot", "arena", "admin"], typer.Option(help="What its holder may do.")] = "bot",
    expires: Annotated[str, typer.Option(help="How long it is good: 12h, 30d, 52w; nothing: for ever.")] = "",
    analyst: Annotated[
        bool, typer.Option(help="Tell its holder any number of patterns outside of contests.")
    ] = False,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Make a token and print it. It is shown only now: ACADEMY keeps no more than a hash."""
    from academy.store.library_store import Store
    from academy.store.tokens import CreateToken, Role

    until = time.time() + _duration(expires) if expires else None
    with Store(data) as store:
        token, text = store.run(CreateToken(name, Role(role), until, analyst))
    if json:
        printing.print_json(_as_json(token) | {"token": text})
    else:
        typer.echo(text)


def list_tokens(data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """List all tokens, without their secrets."""
    with existing(data, read_only=True) as store:
        found = store.tokens()
    if json:
        printing.print_json([_as_json(token) for token in found])
        return
    table = printing.new_table("Tokens", " id", " name", " role", " created", " expires", " revoked")
    for token in found:
        table.add_row(
            token.token_id,
            Text(token.name),
            f"{token.role.value}, analyst" if token.analyst else token.role.value,
            _date(token.created),
            _date(token.expires),
            _date(token.revoked),
        )
    printing.console().print(table)


def revoke_token(
    token: Annotated[
        str,
        typer.Argument(
            help="The token's id, as `tokens list` shows it, or its name where no other has that."
        ),
    ],
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """End a token's rights at once, also at a running server."""
    from academy.store.tokens import RevokeToken

    with existing(data) as store:
        revoked = store.run(RevokeToken(_token_id(store, token)))
    if json:
        printing.print_json(_as_json(revoked))
    else:
        typer.echo(f"revoked {revoked.token_id} of {revoked.name}")


def check(
    data: Data = DEFAULT_DATA,
    replay: Annotated[
        bool, typer.Option(help="Make every library again from the event log, and compare.")
    ] = True,
    json: Json = False,
) -> None:
    """Check a data folder: indexes, counts, and the libraries against their events. Ends with 4 on faults."""
    from academy.store.maintenance import check as checking
    from academy.store.maintenance import scan

    _check_exists(data)
    # Records are read only from sound pages: others could end this process without a word.
    findings = [checking.Finding("", what) for what in scan.find_damage(data)]
    events = 0
    if not findings:
        with existing(data, read_only=True) as store:
            findings = list(checking.check(store.environment, replay=replay))
            events = store.events_kept()
    faults = sum(each.is_fault for each in findings)
    if json:
        printing.print_json(
            {
                "events": events,
                "findings": [
                    {"game_id": each.game_id, "what": each.what, "is_fault": each.is_fault}
                    for each in findings
                ],
            }
        )
    else:
        for each in findings:
            typer.echo(f"{each.game_id or 'all games'}: {each.what}")
        typer.echo(f"{data}: {events:,} events, " + (f"{faults} faults; {_REMEDY}" if faults else "sound"))
    if faults:
        raise typer.Exit(ExitCode.FAULTY)


def backup(
    target: Annotated[Path, typer.Argument(help="A folder that is empty or not there yet.")],
    data: Data = DEFAULT_DATA,
) -> None:
    """Copy a data folder as of this moment, also while a server uses it."""
    from academy.store.maintenance import backup as copies

    _check_pages(data)
    with existing(data, read_only=True) as store:
        size = copies.backup(store.environment, target)
    typer.echo(f"{target}: {size:,} bytes, verified")


def restore(
    source: Annotated[Path, typer.Argument(help="A backup.")],
    data: Annotated[
        Path, typer.Option("--data", envvar="ACADEMY_DATA", help="Empty, or not there yet.")
    ] = DEFAULT_DATA,
) -> None:
    """Put a backup into an empty data folder."""
    from academy.store.maintenance import backup as copies

    size = copies.restore(source, data)
    typer.echo(f"{data}: {size:,} bytes, verified; start it with: academy serve --data {data}")


def compact(
    data: Data = DEFAULT_DATA,
    keep: Annotated[
        int | None,
        typer.Option(min=1, help="How many of the newest events stay.", show_default="1000"),
    ] = None,
    shrink: Annotated[
        bool, typer.Option(help="Also give room back to the disk; no server may use the folder then.")
    ] = False,
    json: Json = False,
) -> None:
    """Replace old events by a snapshot of each game's libraries, also while a server uses the folder.

    The libraries stay as they are, and a contest that comes again is still not counted twice.
    """
    from academy.store.maintenance import compaction, defragment

    _check_pages(data)
    with existing(data) as store:
        done = compaction.compact(store.environment, keep=keep or compaction.EVENTS_KEPT)
    before, after = defragment.shrink(data) if shrink else (0, 0)
    if json:
        sizes = {"bytes_before": before, "bytes_after": after} if shrink else {}
        printing.print_json({"removed": done.removed, "left": done.left} | sizes)
        return
    typer.echo(f"{data}: {done.removed:,} events replaced by snapshots, {done.left:,} left")
    if shrink:
        typer.echo(f"{data}: {before:,} bytes before, {after:,} now")


def existing(data: Path, *, read_only: bool = False) -> "Store":
    """Open the data in a folder. Raises CommandError where it holds none."""
    from academy.store.library_store import Store

    _check_exists(data)
    return Store(data, read_only=read_only)


def _check_pages(data: Path) -> None:
    """Refuse to read all of a file with damaged pages: that could end this process without a word."""
    from academy.store.maintenance import scan

    _check_exists(data)
    for what in scan.find_damage(data):
        raise CommandError(f"{data}: {what}; {_REMEDY}", ExitCode.FAULTY)


def _check_exists(data: Path) -> None:
    if not (data / "data.mdb").exists():
        raise CommandError(f"{data}: holds no data of ACADEMY; give the folder with --data", ExitCode.USAGE)


def _token_id(store: "Store", wanted: str) -> str:
    """The id of the token with this id or, among those not revoked, this name."""
    found = store.tokens()
    named = [each.token_id for each in found if each.name == wanted and each.revoked is None]
    if any(each.token_id == wanted for each in found) or not named:
        return wanted
    if len(named) > 1:
        raise CommandError(f"{wanted!r} is the name of {len(named)} tokens; give an id: {', '.join(named)}")
    return named[0]


def _duration(text: str) -> float:
    number, unit = text[:-1], text[-1:]
    if unit not in _SECONDS or not number.isascii() or not number.isdigit() or not number.strip("0"):
        raise CommandError(
            f"{text!r} is no time: write a number and one of {' '.join(_SECONDS)}", ExitCode.USAGE
        )
    # Python reads no number of thousands of digits.
    if len(number) > _MOST_DIGITS or (seconds := int(number) * _SECONDS[unit]) > _LONGEST:
        raise CommandError(
            f"{text[:40]!r} is too long: at most 100 years; without --expires it is good for ever",
            ExitCode.USAGE,
        )
    return float(seconds)


def _date(seconds: float | None) -> str:
    when = _moment(seconds)
    return "" if when is None else when if isinstance(when, str) else when.strftime("%Y-%m-%d %H:%M")


def _moment(seconds: float | None) -> datetime | str | None:
    """A time of a token; beyond what a calendar tells, as earlier versions allowed, in words."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{seconds:.3g} s after 1970"


def _as_json(token: "Token") -> dict[str, object]:
    times = {"created": token.created, "expires": token.expires, "revoked": token.revoked}
    return {
        "token_id": token.token_id,
        "name": token.name,
        "role": token.role.value,
        "analyst": token.analyst,
    } | {
        name: when.isoformat() if isinstance(when := _moment(seconds), datetime) else when
        for name, seconds in times.items()
    }


def account_name() -> str:
    """Who is at the keyboard, for the event log."""
    try:
        return f"{getpass.getuser()} (data folder)"
    except (KeyError, OSError):
        return "data folder"
