"""The words of a library's text, with the place of each."""

import json
import re
from dataclasses import dataclass
from typing import Final

from google.protobuf import json_format
from google.protobuf.message import Message

from academy.knowledge.votes import VALUE_SCALE
from academy.store.errors import InvalidRecordError
from academy.wire.names import visible

FIRST_LINE: Final = "% academy text 1"
END_LINE: Final = "% end"
INDENT: Final = "  "
# The section of what ACADEMY learnt of cells to move to, beside the libraries'.
TESUJIS: Final = "tesujis"
# What contests of a lower level left in an opening position, on a line below that of the position.
WEAKER: Final = "weaker"
EVALUATION: Final = "evaluation"
# What a tesuji without cells says of chains.
FIGHT: Final = ("taken", "extended", "threatened", "liberties")
PLAIN_MOVE: Final = re.compile(r'[^\s"%<]\S*')
_WORD: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]\S*|"')


class LibraryTextError(InvalidRecordError):
    """Text that is not a library's; `line` and `column` count from 1."""

    def __init__(self, line: int, column: int, what: str) -> None:
        super().__init__(f"line {line}, column {column}", what, line=line, column=column)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place, counted from 1. Its readers raise LibraryTextError."""

    text: str
    line: int
    column: int

    def refuse(self, what: str) -> LibraryTextError:
        """Return a complaint about this word."""
        return LibraryTextError(self.line, self.column, f"{self.text[:80]!r} {what}")

    def whole(self) -> int:
        """A whole number."""
        if not re.fullmatch(r"[0-9]{1,18}", self.text):
            raise self.refuse("is not a whole number of at most 18 digits")
        return int(self.text)

    def decimal(self, scale: int) -> int:
        """A number times scale, exactly."""
        digits = len(str(scale)) - 1
        match = re.fullmatch(rf"(-?)([0-9]{{1,13}})(?:\.([0-9]{{1,{digits}}}))?", self.text)
        if match is None:
            raise self.refuse(f"is not a number with at most {digits} decimals")
        value = int(match[2]) * scale + int((match[3] or "").ljust(digits, "0"))
        return -value if match[1] else value

    def level(self) -> int:
        """A whole number of up to 31 bits, which may be less than 0."""
        if not re.fullmatch(r"-?[0-9]{1,10}", self.text):
            raise self.refuse("is not a whole number of at most 10 digits")
        value = int(self.text)
        if abs(value) >= 2**31:
            raise self.refuse("is too great")
        return value

    def small(self) -> int:
        """A whole number of up to 32 bits."""
        value = self.whole()
        if value >= 2**32:
            raise self.refuse("is too great")
        return value

    def share(self) -> int:
        """A value from 0 to 1, in millionths."""
        value = self.decimal(VALUE_SCALE)
        if not 0 <= value <= VALUE_SCALE:
            raise self.refuse("is not a value from 0 to 1")
        return value

    def sum_of_shares(self) -> int:
        """A sum of values, in millionths."""
        value = self.decimal(VALUE_SCALE)
        if value < 0:
            raise self.refuse("is less than 0")
        return value

    def digest(self) -> int:
        """64 bits as hexadecimal digits."""
        if not re.fullmatch(r"[0-9a-f]{16}", self.text):
            raise self.refuse("is not a digest of 16 hexadecimal digits")
        return int(self.text, 16)

    def string(self) -> str:
        """A name in quotes."""
        try:
            value = json.loads(self.text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, str):
            raise self.refuse('is not a name in quotes, such as "gnugo 1"')
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise self.refuse(
                "has half of a character: write two escapes, as in \\ud83d\\ude00, or the letter"
            )
        return value

    def parts(self) -> list["Word"]:
        """The parts between slashes."""
        parts = []
        column = self.column
        for part in self.text.split("/"):
            parts.append(Word(part, self.line, column))
            column += len(part) + 1
        return parts


def words(line: int, text: str) -> list[Word]:
    """Split a line at blanks outside quotes."""
    return [Word(match[0], line, match.start() + 1) for match in _WORD.finditer(text)]


def quote(text: str) -> str:
    """Return a JSON string in which every character can be seen."""
    return visible(json.dumps(text, ensure_ascii=False))


def decimal(value: int, scale: int) -> str:
    """Return value / scale, exactly."""
    whole, rest = divmod(abs(value), scale)
    digits = str(scale + rest)[1:].rstrip("0")
    return f"{'-' if value < 0 else ''}{whole}{'.' if digits else ''}{digits}"


def on_one_line(message: Message) -> str:
    """A message as JSON without line ends."""
    return json_format.MessageToJson(message, preserving_proto_field_name=True, indent=None)
