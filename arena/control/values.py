"""The values of a control file's settings: types that check what they read."""

import math
import re
import shlex
import shutil
import sysconfig
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ByteSize,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)
from sqlalchemy import URL

from academy.wire.addresses import InvalidAddressError, ServerAddress
from arena.control.database_urls import database_url, within
from arena.control.validation import Form
from arena.ratings.elo import MOST_ELO
from referees.paths import path_from

MAX_TEXT: Final = 4096
MAX_MATCHUPS: Final = 10_000
MAX_SERIES: Final = 1000
MAX_PARALLEL: Final = 1_023
MAX_PARAMETERS: Final = 100
# The letters of the cross-table go from A to ZZ.
MAX_PLAYERS: Final = 702
# The matchups of an all-play-all, the games of a Swiss round or of a cross-entropy tuner's generation.
MAX_AT_ONCE: Final = 250_000
# Those of a standing arena come and go.
MAX_LISTED: Final = 10_000
# A node of the Monte Carlo tuner's tree has as many children as the splits' product.
MAX_CHILDREN: Final = 100_000
MAX_FAMILIES: Final = 16
# Members of one family.
MAX_MEMBERS: Final = 100
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9!$%&*+.:;<=>?^_~-]{0,63}")
# Labels as Kubernetes has them, and Ray.
_LABEL: Final = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_DOMAIN_PART: Final = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_LABEL_NAME: Final = re.compile(rf"({_DOMAIN_PART}(\.{_DOMAIN_PART})*/)?{_LABEL}")
_SIZE: Final = TypeAdapter(ByteSize)


def _check_text(value: str, most: int = MAX_TEXT) -> str:
    if "\0" in value or len(value) > most:
        raise ValueError(f"must be at most {most} characters, none of them NUL")
    return value


def _check_variable(value: str) -> str:
    if not value or "=" in value:
        raise ValueError("can't be a variable's name: write one without '='")
    return value


def _check_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(
            f"{value!r} is not a name: write at most 64 letters of ASCII, digits and "
            "!$%&*+.:;<=>?^_~- without blanks, a letter or digit first"
        )
    return value


def _check_label_name(value: str) -> str:
    if not _LABEL_NAME.fullmatch(value):
        raise ValueError(
            "is not a label's name: write at most 63 letters, digits and ._-, a letter or digit first and "
            "last, and before them a domain and / if need be"
        )
    return value


def _split_command(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return tuple(shlex.split(_check_text(value)))
    except ValueError as error:
        raise ValueError(f"can't be split into words ({error}): {value!r}") from None


def _locate_command(words: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    if not words or not words[0]:
        raise ValueError("is empty: it must name a program")
    return _locate_program(words[0], info), *words[1:]


def _locate_program(program: str, info: ValidationInfo) -> str:
    """The program: beside the control file if it has a `/`, else on PATH or installed with this one."""
    if "/" in program:
        return _path_from(info, program)
    if shutil.which(program) is None:
        return shutil.which(program, path=sysconfig.get_path("scripts")) or program
    return program


def _path_from(info: ValidationInfo, name: str) -> str:
    """A file's path from the control file's folder, `~` being the user's home. Raises ValueError."""
    if not name:
        raise ValueError("is empty: write a path, or leave it out")
    return str(path_from(_folder(info), name))


def _locate_socket(address: str, info: ValidationInfo) -> str:
    """An address whose path, if it is that of a Unix socket, is the same for programs in any folder."""
    try:
        path = ServerAddress.parse(address).path
    except InvalidAddressError:
        # "embedded" and "none"; the table refuses the others, where its address is in use.
        return address
    return f"unix:{Path(_path_from(info, path)).absolute()}" if path else address


def _folder(info: ValidationInfo) -> Path:
    """The control file's folder, which `validation.read` gives."""
    folder: Any = info.context
    assert isinstance(folder, Path)
    return folder


def _join_words(value: object) -> object:
    words = isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)
    return " ".join(value) if words else value  # type: ignore[arg-type]


def _read_size(value: object) -> int:
    try:
        size = _SIZE.validate_python(value)
    except ValidationError:
        raise ValueError(f"must be bytes or text such as '500 MB' or '2 GiB', not {value!r}") from None
    if not 2**20 <= size <= 2**50:
        raise ValueError(f"must be from 1 MiB to 1024 TiB, not {value!r}")
    return int(size)


def _require_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be text in quotes, not {value!r}")
    return _check_text(value)


def _read_path(value: object, info: ValidationInfo) -> Path:
    return Path(_path_from(info, _require_text(value)))


def _read_results_url(value: object, info: ValidationInfo) -> URL:
    return within(_folder(info), database_url(_require_text(value)))


def _check_argument(value: object) -> object:
    """Anything that a TOML file and JSON both have. Raises ValueError."""
    if isinstance(value, list):
        return [_check_argument(item) for item in value]
    if isinstance(value, dict):
        return {name: _check_argument(item) for name, item in value.items()}
    if isinstance(value, str | int | float | bool):
        return value
    raise ValueError(f"must be a text, number, truth value, list or table, not {value!r}")


def check_format(text: str) -> str:
    """A format of the `%` operator for one value. Raises ValueError."""
    if re.search(r"\d{4}", text):
        raise ValueError(f"may not ask for a thousand characters or more, as {text!r} does")
    for sample in (1.5, 1, "word"):
        try:
            _ = text % sample
        except (TypeError, ValueError):
            continue
        return text
    raise ValueError(f"must hold one value's place, such as '%s' or '%.2f', not {text!r}")


def _check_plain(value: object) -> object:
    if not isinstance(value, str | int | float):
        raise ValueError(f"must be text, a number, true or false, not {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"must be a finite number, not {value!r}")
    _check_text(str(value))
    return value


Text = Annotated[str, AfterValidator(lambda value: _check_text(value))]
Address = Annotated[Text, AfterValidator(_locate_socket)]
VariableName = Annotated[Text, AfterValidator(_check_variable)]
Workers = Annotated[
    str,
    Field(min_length=1),
    AfterValidator(lambda value: _check_text(value)),
    Form("'local', 'ray' or the address of a cluster"),
]
Description = Annotated[str, AfterValidator(lambda value: _check_text(value, 100_000))]
Name = Annotated[Text, AfterValidator(_check_name)]
GameId = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
    Form("text of at most 64 letters, digits and ._-"),
]
FamilyName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_]{0,31}$"),
    Form("text of at most 32 letters, digits and _"),
]
LabelName = Annotated[str, AfterValidator(_check_label_name)]
LabelValue = Annotated[
    str,
    Field(pattern=f"^{_LABEL}$"),
    Form("text of at most 63 letters, digits and ._-"),
]
Version = Annotated[
    str,
    Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._+-]{0,63})?$"),
    Form("text of at most 64 letters, digits and ._+-, a letter or digit first"),
]
Names = Annotated[tuple[Name, ...], Field(strict=False, max_length=MAX_PLAYERS)]
Command = Annotated[
    tuple[Text, ...],
    Field(strict=False, max_length=1000),
    BeforeValidator(_split_command),
    AfterValidator(_locate_command),
    Form("text or a list of words"),
]
Folder = Annotated[Text, AfterValidator(lambda name, info: _path_from(info, name))]
Interpreter = Annotated[Text, AfterValidator(_locate_program)]
GtpCommand = Annotated[Text, BeforeValidator(_join_words), Form("text or a list of words")]
Memory = Annotated[int, PlainValidator(_read_size), Form('bytes, or text with a unit: `"500 MB"`, `"2 GiB"`')]
FilePath = Annotated[
    Path, PlainValidator(_read_path), Form("the path of a file, relative to the control file")
]
Results = Annotated[URL, PlainValidator(_read_results_url), Form("the URL of a database")]
Argument = Annotated[Any, PlainValidator(_check_argument), Form("any value")]
Plain = Annotated[Any, PlainValidator(_check_plain), Form("text, a number, true or false")]
Format = Annotated[Text, AfterValidator(check_format)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
CountFromZero = Annotated[int, Field(ge=0, le=10_000_000)]
LateTurns = Annotated[int, Field(ge=1, le=100_000)]
Moves = Annotated[int, Field(ge=1, le=1_000_000)]
Elo = Annotated[float, Field(ge=-MOST_ELO, le=MOST_ELO)]
Seconds = Annotated[float, Field(ge=0.001, le=1e6)]
ClockSeconds = Annotated[float, Field(ge=0, le=1e7)]
HalfPoint = Annotated[float, Field(ge=0, le=0.5)]
Weight = Annotated[float, Field(ge=0, le=1e9)]
# As messages and the reference print it: 1 itself is refused.
Share = Annotated[float, Field(ge=1e-9, le=0.999999)]
Chance = Annotated[float, Field(ge=1e-6, le=0.499)]
TestElo = Annotated[float, Field(ge=-1000, le=1000)]
Number = Annotated[float, Field(ge=-1e300, le=1e300)]
