"""The output of commands: tables, or JSON."""

import json
import sys
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from rich.console import Console
from rich.table import Table
from rich.text import Text

from academy.wire.names import visible

# Up to here every reader of JSON keeps whole numbers; many round what is greater, such as codes of tesujis.
_WHOLE: Final = 2**53


class _Output(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command, which ends in order; rich would end with status 1."""
        raise BrokenPipeError


def console() -> Console:
    """Standard output, as wide as the terminal; wide enough for every table elsewhere."""
    return _Output(width=None if sys.stdout.isatty() else 160, highlight=False)


def print_json(value: object) -> None:
    """Print one JSON document."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def show(answer: Message | Sequence[Message], json: bool, table: Table) -> None:
    """Print an answer as JSON or as a table."""
    if not json:
        console().print(table)
    elif isinstance(answer, Message):
        print_json(as_json(answer))
    else:
        print_json([as_json(message) for message in answer])


def show_next_page(token: str, json: bool) -> None:
    """Say how a listing goes on, unless it is printed as JSON or ends here."""
    if token and not json:
        console().print(f"more with --page {token}", soft_wrap=True)


def shown(text: str) -> Text:
    """Return users' text without markup or terminal commands."""
    return Text(visible(text))


def counted(count: int, what: str, many: str = "") -> str:
    """Return a number of things in words; `many` is what several are called if an `s` does not do it."""
    return f"{count:,} {what if count == 1 else many or what + 's'}"


def as_json(message: Message) -> dict[str, Any]:
    """A message as plain data.

    Names are as in the protos, enums by name, times in ISO 8601, bytes in base64. Whole numbers
    above 2**53 are texts.
    """
    plain: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        if field.has_presence and not message.HasField(field.name):
            continue
        value = getattr(message, field.name)
        if isinstance(value, Mapping):
            plain[field.name] = {str(key): _plain(field, item) for key, item in sorted(value.items())}
        elif field.is_repeated:
            plain[field.name] = [_plain(field, item) for item in value]
        else:
            plain[field.name] = _plain(field, value)
    return plain


def _plain(field: Any, value: Any) -> Any:
    if isinstance(value, Timestamp):
        return value.ToJsonString()
    if isinstance(value, Message):
        return as_json(value)
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known is not None else value
    return str(value) if isinstance(value, int) and abs(value) > _WHOLE else value


def table_of(title: str, rows: Iterable[Iterable[object]], *headings: str) -> Table:
    """A table; a heading that begins with a blank is of text, others are of numbers.

    Cells are `shown`, but for those that are drawn already, as a `Text`.
    """
    # A player may have a name that looks like markup.
    table = Table(title=Text(title), title_justify="left")
    for heading in headings:
        numeric = not heading.startswith(" ")
        # A narrow terminal makes lines of what does not fit: half an id names nothing.
        table.add_column(heading.strip(), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else shown(str(cell)) for cell in row))
    return table
