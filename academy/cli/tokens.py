"""Commands for bearer tokens: in a data folder, also while servers use it, or at a server."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from academy.cli import printing
from academy.cli.commands import CommandError, Commands, ExitCode
from academy.cli.connection import pages, with_server_where_asked
from academy.cli.data_folder import open_existing
from academy.cli.options import Json
from academy.cli.services import Server
from academy.cli.serving import DEFAULT_DATA, Data
from academy.wire.command_line import Program

if TYPE_CHECKING:
    from academy.store.tokens import Token
    from academy.v1 import tokens_pb2

_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_MOST_DIGITS: Final = 12
_LONGEST: Final = 100 * 365 * _SECONDS["d"]


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    tokens = Program("tokens", "Make, list and revoke bearer tokens.", Commands)
    tokens.command("create")(with_server_where_asked(create_token))
    tokens.command("list")(with_server_where_asked(list_tokens))
    tokens.command("revoke")(with_server_where_asked(revoke_token))
    application.add_typer(tokens)


def create_token(
    server: Server | None,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its holder: a bot's knowledge is kept under this name.")
    ],
    role: Annotated[
        Literal["bot", "analyst", "arena", "admin"], typer.Option(help="What its holder may do.")
    ] = "bot",
    expires: Annotated[str, typer.Option(help="How long it is good: 12h, 30d, 52w; nothing: for ever.")] = "",
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Make a token and print it. It is shown only now: ACADEMY keeps no more than a hash."""
    until = time.time() + _duration(expires) if expires else None
    if server is not None:
        token, text = _create_at_server(server, name, role, until)
    else:
        from academy.store.library_store import Store
        from academy.store.tokens import CreateToken, Role

        if not (data / "data.mdb").exists():
            typer.echo(f"academy: {data} is a new data folder", err=True)
        with Store(data) as store:
            token, text = store.run(CreateToken(name, Role(role), until))
    if json:
        printing.print_json(_as_json(token) | {"token": text})
    else:
        typer.echo(text)


def list_tokens(
    server: Server | None,
    ended: Annotated[
        bool, typer.Option("--all", help="Also those that are revoked or have expired.")
    ] = False,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """List the tokens that are good, without their secrets."""
    if server is not None:
        tokens = _tokens_at_server(server)
    else:
        from academy.store.tokens import tokens as read_tokens

        with open_existing(data, read_only=True) as store:
            tokens = store.read(read_tokens)
    now = time.time()
    good = [token for token in tokens if token.revoked is None and (token.expires or now) >= now]
    left_out = 0 if ended else len(tokens) - len(good)
    if not ended:
        tokens = good
    if json:
        printing.print_json([_as_json(token) for token in tokens])
        return
    title = "Tokens" if server is not None else f"Tokens in {data}"
    rows = []
    for token in tokens:
        # Older tokens are analysts' by a flag, which still holds.
        role = f"{token.role.value}, analyst" if token.analyst else token.role.value
        times = map(_date, (token.created, token.expires, token.revoked))
        rows.append((token.token_id, token.name, role, *times))
    headings = (" id", " name", " role", " created (UTC)", " expires (UTC)", " revoked (UTC)")
    printing.console().print(printing.table_of(title, rows, *headings))
    if left_out:
        printing.console().print(f"{left_out} that are revoked or have expired are listed with --all")


def revoke_token(
    server: Server | None,
    which: Annotated[
        str,
        typer.Argument(
            metavar="TOKEN",
            help="The token's id, as `tokens list` shows it, or its name where no other has that.",
        ),
    ],
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """End a token's rights at once, also at a running server."""
    if server is not None:
        from academy.v1 import tokens_pb2

        request = tokens_pb2.RevokeTokenRequest(token_id=_token_id(_tokens_at_server(server), which))
        revoked = _read_token(server.tokens.RevokeToken(request).token)
    else:
        from academy.store.tokens import RevokeToken
        from academy.store.tokens import tokens as read_tokens

        with open_existing(data) as store:
            revoked = store.run(RevokeToken(_token_id(store.read(read_tokens), which)))
    if json:
        printing.print_json(_as_json(revoked))
    else:
        typer.echo(f"revoked {revoked.token_id} of {revoked.name}")


def _create_at_server(server: Server, name: str, role: str, until: float | None) -> tuple["Token", str]:
    from academy.v1 import tokens_pb2

    number = tokens_pb2.TokenRole.Value(f"TOKEN_ROLE_{role.upper()}")
    request = tokens_pb2.CreateTokenRequest(name=name, role=number)
    if until is not None:
        request.expire_time.FromMicroseconds(round(until * 1e6))
    made = server.tokens.CreateToken(request)
    return _read_token(made.token), made.secret


def _tokens_at_server(server: Server) -> list["Token"]:
    """The tokens of a server, the oldest first."""
    from academy.v1 import tokens_pb2

    return list(map(_read_token, pages(server.tokens.ListTokens, tokens_pb2.ListTokensRequest(), "tokens")))


def _read_token(message: "tokens_pb2.Token") -> "Token":
    from academy.store.tokens import Role, Token
    from academy.v1 import tokens_pb2

    role = Role(tokens_pb2.TokenRole.Name(message.role).removeprefix("TOKEN_ROLE_").lower())
    return Token(
        message.token_id,
        message.name,
        role,
        message.create_time.seconds,
        message.expire_time.seconds or None,
        message.revoke_time.seconds or None,
    )


def _token_id(tokens: Sequence["Token"], wanted: str) -> str:
    """The id of the token with this id or, among those not revoked, this name."""
    named = [token.token_id for token in tokens if token.name == wanted and token.revoked is None]
    if any(token.token_id == wanted for token in tokens) or not named:
        return wanted
    if len(named) > 1:
        raise CommandError(f"{wanted!r} is the name of {len(named)} tokens; give an id: {', '.join(named)}")
    return named[0]


def _duration(text: str) -> float:
    number, unit = text[:-1], text[-1:]
    if unit not in _SECONDS or not number.isascii() or not number.isdigit() or not number.strip("0"):
        raise CommandError(
            f"{text!r} is not a time: write a number and one of {' '.join(_SECONDS)}", ExitCode.USAGE
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
    """Return a token's time; in words where no calendar reaches it, as earlier versions allowed."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{seconds:.3g} s after 1970"


def _as_json(token: "Token") -> dict[str, object]:
    times = {"created": token.created, "expires": token.expires, "revoked": token.revoked}
    return {"token_id": token.token_id, "name": token.name, "role": token.role.value} | {
        name: when.isoformat() if isinstance(when := _moment(seconds), datetime) else when
        for name, seconds in times.items()
    }
