"""Actions before there is a competition: init writes a control file, describe a game for ACADEMY."""

import difflib
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from arena.control.sample import KINDS, sample
from arena.output import complain, say
from referees.toml_text import InvalidTomlError, read_toml

_USAGE: Final = 2
# What control files and the ringmaster call kinds besides.
_OTHER_WORDS: Final = {"round-robin": "all-play-all", "allplayall": "all-play-all"}


def add_to(application: typer.Typer) -> None:
    """Add the actions."""
    application.command()(init)
    application.command()(describe)


def init(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help=f"One of {', '.join(KINDS)}.", show_default=False)
    ],
    file: Annotated[
        Path | None,
        typer.Argument(metavar="CONTROL", help="The file to write; it must not exist.", show_default=False),
    ] = None,
) -> None:
    """Write a commented control file of a kind to begin with, or print it."""
    kind = _OTHER_WORDS.get(kind, kind)
    if kind not in KINDS:
        near = difflib.get_close_matches(kind, KINDS, n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise typer.BadParameter(f"{kind!r} is none of {', '.join(KINDS)}{meant}", param_hint="KIND")
    if file is None:
        say(sample(kind), end="")
        return
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(sample(kind))
    except FileExistsError:
        raise typer.BadParameter(f"{file} exists already; give another name", param_hint="CONTROL") from None
    except OSError as error:
        raise typer.BadParameter(f"can't write {file}: {error.strerror}", param_hint="CONTROL") from None
    say(str(file))


def describe(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A referee's name, as in [game].", show_default=False)
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of [game], such as board_size=9."),
    ] = None,
) -> None:
    """Print the description of a game for `academy games create`."""
    from google.protobuf import json_format

    from academy.wire.games import game_message
    from referees.api import InvalidSettingError, MissingSettingError, referee

    values = read_settings(settings or ())
    rules = referee(game)
    try:
        described = rules.from_settings(rules.located(values, Path.cwd())).spec()
    except MissingSettingError as error:
        example = shlex.quote(f"{error.setting}={error.example}")
        complain(f"arena: missing setting: add `--set {example}` ({error.allowed})")
        raise typer.Exit(_USAGE) from None
    except InvalidSettingError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from None
    say(json_format.MessageToJson(game_message(described), preserving_proto_field_name=True))


def read_settings(settings: Sequence[str]) -> dict[str, Any]:
    """The settings of a game as options give them, NAME=VALUE each."""
    values: dict[str, Any] = {}
    for name, value in map(_setting, settings):
        if name in values:
            raise typer.BadParameter(
                f"{name} is given twice, as {values[name]} and {value}: leave one out", param_hint="--set"
            )
        values[name] = value
    return values


def _setting(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--set")
    try:
        return name.strip(), read_toml(f"value = {value}")["value"]
    except InvalidTomlError:
        # A word without quotes.
        return name.strip(), value
