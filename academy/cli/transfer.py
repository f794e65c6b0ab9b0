"""Commands that move libraries between a server and files.

A file is text that people can read and edit (`academy.store.library_text`), or binary:
`ExportLibraryResponse` messages, each after its length as a varint, the game first; a length of 0 ends the
file.
"""

import io
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

import typer
from google.protobuf import proto
from google.protobuf.message import DecodeError

from academy.cli import printing
from academy.cli.commands import CommandError
from academy.cli.connection import with_server
from academy.cli.options import Game, Json, LibraryName, number_of
from academy.cli.services import Server
from academy.v1 import contests_pb2, game_pb2, libraries_pb2, pattern_pb2
from academy.wire.files import write_whole

TEXT_BEGINS = b"% academy text"
_NOT_IN_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_END = libraries_pb2.ExportLibraryResponse()


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    application.command("export")(with_server(export))
    application.command("import")(with_server(import_))
    application.command("fork")(with_server(fork))


def export(
    server: Server,
    game: Game,
    to: Annotated[Path | None, typer.Option(help="The file to write; nothing: standard output.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    form: Annotated[
        Literal["text", "binary"], typer.Option("--format", help="text can be edited, binary is smaller.")
    ] = "text",
    library: Annotated[LibraryName | None, typer.Option(help="Only this library.")] = None,
) -> None:
    """Write a game's libraries to a new file; with --force to an existing one, too."""
    if to is not None and to.is_file() and not force:
        raise CommandError(f"{to} already exists; use --force to overwrite it")
    request = libraries_pb2.ExportLibraryRequest(
        game_id=game, library=number_of(library) if library is not None else pattern_pb2.LIBRARY_UNSPECIFIED
    )
    records = server.libraries.ExportLibrary(request)
    chunks = _binary(records) if form == "binary" else _text(records)
    if to is None:
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        return
    try:
        write_whole(to, chunks)
        if to.is_file():
            typer.echo(f"{to}: {to.stat().st_size:,} bytes")
    except OSError as error:
        raise CommandError(f"{to}: cannot be written ({error.strerror})") from error


def import_(
    server: Server,
    game: Game,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `export` wrote, text or binary.")],
    replace: Annotated[
        bool,
        typer.Option(help="First empty the libraries that the file has records for, instead of merging."),
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Import even records that were imported before; they then count twice."),
    ] = False,
    json: Json = False,
) -> None:
    """Take a file's records into a game's libraries, all or none."""
    content = read_file(file)
    described = server.contests.GetGame(contests_pb2.GetGameRequest(game_id=game)).game
    if _is_text_unmarked(content):
        from academy.store.library_text.words import FIRST_LINE

        raise CommandError(
            f"{file}: is text, but its first line is not {FIRST_LINE!r}; write that line above it"
        )
    records = (
        _records_of_text(content, file, described)
        if content.lstrip().startswith(TEXT_BEGINS)
        else list(_records_of_binary(content, file, described))
    )
    header = libraries_pb2.ImportLibraryRequest(
        header=libraries_pb2.ImportHeader(game_id=game, replace=replace, again=again)
    )
    response = server.libraries.ImportLibrary(iter([header, *records]))
    if json:
        printing.print_json(printing.as_json(response))
    else:
        typer.echo(f"{game}: {_learnt(response)} taken in, {response.evicted:,} had no room")
        given = sum(record.HasField("pattern") for record in records)
        if left_out := given - response.patterns:
            typer.echo(
                f"{game}: {printing.counted(left_out, 'pattern')} left out, which only muted players voted "
                "for; to have them, unmute these players and import with --replace"
            )


def _learnt(response: libraries_pb2.ImportLibraryResponse | libraries_pb2.ForkGameResponse) -> str:
    """How much came with an import or a fork."""
    return (
        f"{printing.counted(response.patterns, 'pattern')}, {printing.counted(response.tesujis, 'tesuji')}, "
        f"{printing.counted(response.weights, 'weight')} and "
        f"{printing.counted(response.nodes, 'opening node')}"
    )


def fork(
    server: Server,
    game: Game,
    as_: Annotated[str, typer.Option("--as", metavar="NEW", help="The new game's id.", show_default=False)],
    json: Json = False,
) -> None:
    """Register a game that begins with another game's libraries and ratings: one whose rules were changed."""
    response = server.libraries.ForkGame(libraries_pb2.ForkGameRequest(game_id=game, new_game_id=as_))
    if json:
        printing.print_json(printing.as_json(response))
    elif response.created:
        typer.echo(f"{as_}: begins with {_learnt(response)} of {game}")
    else:
        typer.echo(f"{as_}: was forked from {game} before; it stays as it is")


def read_file(file: Path) -> bytes:
    """The content of a file, which is not empty. Raises CommandError."""
    try:
        # Editors on Windows put a byte order mark before a text.
        content = file.read_bytes().removeprefix(BOM_UTF8)
    except OSError as error:
        raise CommandError(f"{file}: cannot be read ({error.strerror})") from error
    if not content.strip():
        raise CommandError(f"{file}: is not an export, or not whole: it is empty")
    return content


def _is_text_unmarked(content: bytes) -> bool:
    """Return whether a file is neither a binary export nor begins as text does."""
    text = content.strip()
    if text.startswith(TEXT_BEGINS) or _NOT_IN_TEXT.search(text[:1_000]):
        return False
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _binary(records: Iterable[libraries_pb2.ExportLibraryResponse]) -> Iterator[bytes]:
    for record in chain(records, [_END]):
        chunk = io.BytesIO()
        proto.serialize_length_prefixed(record, chunk)
        yield chunk.getvalue()


def _text(records: Iterable[libraries_pb2.ExportLibraryResponse]) -> Iterator[bytes]:
    from academy.store.library_text.writing import write_text

    # Whole first: the server would not wait for who reads the text page by page.
    for line in write_text(list(records)):
        yield f"{line}\n".encode()


def _records_of_text(
    content: bytes, file: Path, described: game_pb2.Game
) -> list[libraries_pb2.ImportLibraryRequest]:
    from academy.store.library_text.reading import read_text
    from academy.wire.games import read_spec

    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise CommandError(f"{file}: byte {error.start} is not UTF-8") from error
    parsed = read_text(text, read_spec(described))
    return [
        *(libraries_pb2.ImportLibraryRequest(history=part) for part in parsed.history),
        *(
            libraries_pb2.ImportLibraryRequest(pattern=pattern)
            for patterns in parsed.patterns.values()
            for pattern in patterns
        ),
        *(libraries_pb2.ImportLibraryRequest(tesuji=tesuji) for tesuji in parsed.tesujis),
        *(libraries_pb2.ImportLibraryRequest(evaluation=part) for part in parsed.evaluation),
        *(libraries_pb2.ImportLibraryRequest(node=node) for node in parsed.nodes),
    ]


def _records_of_binary(
    content: bytes, file: Path, described: game_pb2.Game
) -> Iterator[libraries_pb2.ImportLibraryRequest]:
    number = -1
    for number, record in enumerate(read_export(content, file)):
        match record.WhichOneof("record"), number:
            case "game", 0:
                if record.game.geometry != described.geometry or record.game.players != described.players:
                    raise CommandError(
                        f"{file}: of {record.game.game_id!r}, whose board or players differ from "
                        f"{described.game_id!r}'s"
                    )
            case ("pattern" | "tesuji" | "evaluation" | "history" | "node" as kind, _) if number:
                yield libraries_pb2.ImportLibraryRequest(**{kind: getattr(record, kind)})
            case _:
                raise CommandError(f"{file}: is not an export: record {number + 1} is not what comes there")
    if number < 0:
        raise CommandError(f"{file}: is not an export: it has no game")


def read_export(content: bytes, file: Path) -> Iterator[libraries_pb2.ExportLibraryResponse]:
    """Read the records of a binary export. Raises CommandError."""
    stream = io.BytesIO(content)
    while True:
        began = stream.tell()
        try:
            record = proto.parse_length_prefixed(libraries_pb2.ExportLibraryResponse, stream)
            if record is None:
                raise EOFError
        # A length can be of 64 bits, more than anything can be read of.
        except (EOFError, DecodeError, ValueError, OverflowError) as error:
            raise CommandError(
                f"{file}: is not an export, or not whole: nothing readable at byte {began}"
            ) from error
        if record == _END:
            if stream.tell() < len(content):
                raise CommandError(f"{file}: is not an export: more follows its end at byte {stream.tell()}")
            return
        yield record
