"""The command `academy-web`: pages of what ACADEMY knows."""

import os
import sys
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final

import typer

from academy.wire.addresses import DEFAULT_ADDRESS, InvalidAddressError, ServerAddress
from academy.wire.command_line import Command
from academy.wire.tls import Certificates, read_pem
from academy.wire.tokens import check_token, read_token_file
from clients.connection import Connection
from web.own_servers import ServerStartError, serving_competitions, serving_library
from web.serving import serve_pages
from web.settings import UnsafeAddressError, WebSettings

__all__ = ["application"]

_USAGE: Final = 2
# What the files of these options hold.
_PEM: Final = {
    "tls_cert": "CERTIFICATE",
    "tls_key": "PRIVATE KEY",
    "academy_tls_ca": "CERTIFICATE",
    "academy_tls_cert": "CERTIFICATE",
    "academy_tls_key": "PRIVATE KEY",
    "arena_tls_ca": "CERTIFICATE",
}
# What only a connection to another server takes.
_OF_ACADEMY: Final = ("academy_tls_ca", "academy_tls_cert", "academy_tls_key", "academy_insecure")
_OF_ARENA: Final = ("arena_token_file", "arena_tls_ca")
# One of each pair would be ignored.
_NOT_TOGETHER: Final = (
    *(("library", name) for name in ("academy", "academy_token_file", *_OF_ACADEMY)),
    ("sign_in", "academy_token_file"),
    *(("competitions", name) for name in ("arena", *_OF_ARENA)),
)

application = typer.Typer(
    name="academy-web", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)


class UnusableTokenError(ValueError):
    """A token that cannot be used; the message says why."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"academy-web {version('academy-arena')}")
        raise typer.Exit


@application.command("academy-web", cls=Command)
def serve(  # noqa: PLR0913
    context: typer.Context,
    address: Annotated[
        str, typer.Option(help="Where to listen: host:port; port 0 = any.")
    ] = "127.0.0.1:8080",
    library: Annotated[
        Path | None,
        typer.Option(help="Start an ACADEMY on this data folder, instead of asking one that runs."),
    ] = None,
    academy: Annotated[
        str | None,
        typer.Option(
            envvar="ACADEMY_ADDRESS",
            show_default=False,
            help=f"The ACADEMY to ask: host:port or unix:PATH ({DEFAULT_ADDRESS}).",
        ),
    ] = None,
    academy_token_file: Annotated[
        Path | None,
        typer.Option(help="File of the token to ask with, an admin's for all pages; else ACADEMY_TOKEN."),
    ] = None,
    academy_tls_ca: Annotated[
        Path | None,
        typer.Option(envvar="ACADEMY_TLS_CA", help="PEM file of the authority ACADEMY is checked by."),
    ] = None,
    academy_tls_cert: Annotated[
        Path | None,
        typer.Option(envvar="ACADEMY_TLS_CERT", help="PEM certificate to show ACADEMY (mutual TLS)."),
    ] = None,
    academy_tls_key: Annotated[
        Path | None, typer.Option(envvar="ACADEMY_TLS_KEY", help="PEM key of that certificate.")
    ] = None,
    academy_insecure: Annotated[
        bool, typer.Option("--academy-insecure", help="Send the token without TLS even to another machine.")
    ] = False,
    competitions: Annotated[
        Path | None,
        typer.Option(
            help="Show the competitions of this folder, or of this control file, also while they run."
        ),
    ] = None,
    arena: Annotated[
        str, typer.Option(help="Show the competitions of this arena's service too: host:port or unix:PATH.")
    ] = "",
    arena_token_file: Annotated[
        Path | None, typer.Option(help="File of a watcher's token for it; else ARENA_TOKEN.")
    ] = None,
    arena_tls_ca: Annotated[
        Path | None,
        typer.Option(envvar="ARENA_TLS_CA", help="PEM file of the authority the arena is checked by."),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Let everybody read who reaches the address.")
    ] = False,
    sign_in: Annotated[
        bool,
        typer.Option(
            "--sign-in",
            help="Ask each visitor for a token, and show what that token may read; the pages then need no "
            "token of their own.",
        ),
    ] = False,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy before these pages speaks TLS.")
    ] = False,
    tls_cert: Annotated[Path | None, typer.Option(help="PEM certificate to serve the pages with.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM key of that certificate.")] = None,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Serve pages of what ACADEMY knows and of an arena's competitions.

    They are for this machine unless they are made public, or visitors must sign in. All others who reach them
    read with the one token. To change something, sign in with an admin's or operator's token.
    With --competitions or --arena alone, without any token of ACADEMY, there are pages of competitions only.
    """
    try:
        place = ServerAddress.parse(address)
        settings = WebSettings(
            place,
            public,
            members=sign_in,
            own_arena=competitions is not None,
            behind_proxy=behind_proxy,
            certificate=tls_cert,
            key=tls_key,
        )
        _check_options(context)
        with ExitStack() as servers:
            watched = None
            if competitions is not None:
                watched = servers.enter_context(serving_competitions(competitions))
            elif arena:
                watched = _connection_to_arena(arena, arena_token_file, arena_tls_ca)
            connection = None
            if library is not None:
                connection = servers.enter_context(serving_library(library))
            elif _asks_academy(context):
                token = "" if sign_in else _read_token("academy_token_file", academy_token_file)
                certificates = Certificates(academy_tls_cert, academy_tls_key, academy_tls_ca)
                connection = _connection_to_academy(
                    academy or DEFAULT_ADDRESS, token, certificates, academy_insecure
                )
            serve_pages(connection, settings, _say_ready, watched)
    except (InvalidAddressError, UnsafeAddressError, UnusableTokenError) as error:
        sys.stderr.write(f"academy-web: {error}\n")
        raise typer.Exit(_USAGE) from None
    except (ServerStartError, OSError) as error:
        sys.stderr.write(f"academy-web: {error}\n")
        raise typer.Exit(1) from None


def _is_given(context: typer.Context, name: str) -> bool:
    """Whether an option is on the command line, not in the environment alone."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _asks_academy(context: typer.Context) -> bool:
    """Whether the pages have an ACADEMY: with an arena's competitions they need none."""
    given = context.params
    return bool(
        (given["competitions"] is None and not given["arena"])
        or given["academy_token_file"]
        or os.environ.get("ACADEMY_TOKEN")
        or _is_given(context, "academy")
        or (given["sign_in"] and (given["competitions"] is not None or given["academy"] is not None))
    )


def _check_options(context: typer.Context) -> None:
    """Refuse options that would be ignored, and files for TLS that cannot be used."""
    for first, second in _NOT_TOGETHER:
        if _is_given(context, first) and _is_given(context, second):
            raise InvalidAddressError(f"give {_option(first)} or {_option(second)}, not both")
    for name in _OF_ARENA:
        if _is_given(context, name) and not context.params["arena"]:
            raise InvalidAddressError(f"{_option(name)} is for --arena: give the service's address too")
    for name in _OF_ACADEMY:
        if _is_given(context, name) and not _asks_academy(context):
            raise InvalidAddressError(f"{_option(name)} is for --academy: give the server's address too")
    for name, what in _PEM.items():
        if (file := context.params[name]) is not None:
            try:
                # The context has options as the texts that they were given as.
                read_pem(Path(file), what)
            except InvalidAddressError as error:
                raise InvalidAddressError(f"{_option(name)} {error}") from None


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _say_ready(address: str) -> None:
    sys.stdout.write(f"Open {address} in a browser; Ctrl-C ends the pages.\n")
    sys.stdout.flush()


def _connection_to_academy(
    address: str, token: str, certificates: Certificates, insecure: bool
) -> Connection:
    place = ServerAddress.parse(address)
    secure = certificates.authority is not None or certificates.certificate is not None
    if not place.is_local and not secure and not insecure:
        raise InvalidAddressError(
            f"{address} is another machine: give --academy-tls-ca, or --academy-insecure to send the "
            "token in clear"
        )
    return Connection(str(place), token, certificates.authority, certificates.certificate, certificates.key)


def _connection_to_arena(address: str, token_file: Path | None, ca: Path | None) -> Connection:
    place = ServerAddress.parse(address)
    if not place.is_local and ca is None:
        raise InvalidAddressError(f"{address} is another machine: give --arena-tls-ca")
    token = _read_token("arena_token_file", token_file, "ARENA_TOKEN", "arena token NAME")
    return Connection(str(place), token, ca)


def _read_token(
    option: str,
    file: Path | None,
    variable: str = "ACADEMY_TOKEN",
    remedy: str = "academy tokens create NAME --role admin",
) -> str:
    text = os.environ.get(variable, "").strip()
    if file is None and not text:
        raise UnusableTokenError(f"{variable} is not set; `{remedy}` makes one for all pages")
    try:
        return check_token(text, variable) if file is None else read_token_file(file)
    except OSError as error:
        raise UnusableTokenError(f"{_option(option)} {file}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise UnusableTokenError(f"{error}; `{remedy}` makes one") from None
