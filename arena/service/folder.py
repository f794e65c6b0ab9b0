"""The folder of control files that a service may run: names to files, and new files."""

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from arena.control.ringmaster.ctl_file import is_ringmasters
from arena.control.settings import ControlError
from arena.control.tokens import variables_named
from arena.control.toml_file import MAX_BYTES, read, read_text
from arena.lobby.errors import InvalidRequestError
from arena.service.errors import CompetitionConflictError, InvalidControlFileError, UnknownCompetitionError
from referees.toml_text import InvalidTomlError, read_toml

SUFFIX: Final = ".toml"
# Files of Gomill's ringmaster are programs, which a run executes.
_PROGRAM: Final = ".ctl"
_REMEDY: Final = (
    "is a control file of Gomill's ringmaster, a program in Python that a service does not execute; "
    "run it with `arena run`, or write it in TOML (`arena init` prints one to begin with)"
)
_NO_TOML: Final = f"is not a control file: a service takes a folder of them, or one that ends in {SUFFIX}"
MAX_LISTED: Final = 10_000
NAME_RULE: Final = "of letters, digits, '-' and '_', with '/' between folders"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}(/[A-Za-z0-9][A-Za-z0-9_-]{0,63}){0,3}")
_HIDDEN: Final = re.compile(r"(^|/)\.")


class CompetitionFolder:
    """Control files in a folder and the folders in it. A competition's name is its path without suffix.

    Instead of the folder, one control file may be given: then there is no other competition.
    """

    def __init__(self, folder: Path) -> None:
        """Raises InvalidControlFileError for a missing folder, or a file that is not a control file."""
        at = folder.resolve()
        self._only: str | None = None
        if at.is_file():
            if at.suffix != SUFFIX:
                raise InvalidControlFileError(f"{folder} {_REMEDY if at.suffix == _PROGRAM else _NO_TOML}")
            at, self._only = at.parent, at.stem
        elif not at.is_dir():
            raise InvalidControlFileError(
                f"{folder}: there is no such folder, and no such control file; make it with "
                f"`mkdir {shlex.quote(str(folder))}`, or correct its name"
            )
        self.folder = at

    def control_file(self, name: str) -> Path:
        """The control file of a competition.

        Raises InvalidRequestError, UnknownCompetitionError and InvalidControlFileError.
        """
        path = self._path(name, SUFFIX)
        # A link may lead out of the folder.
        if path.is_file() and path.resolve().is_relative_to(self.folder):
            return path
        if self._path(name, _PROGRAM).is_file():
            raise InvalidControlFileError(f"{name}{_PROGRAM} {_REMEDY}")
        raise UnknownCompetitionError(f"there is no competition {name!r}", name=name)

    def _path(self, name: str, suffix: str) -> Path:
        """Raises InvalidRequestError, and UnknownCompetitionError where there is one control file alone."""
        # The one file that was given may have any name, as for `arena run`.
        if name != self._only and not _NAME.fullmatch(name):
            raise InvalidRequestError(f"name: {name[:80]!r}: it must be {NAME_RULE}")
        if self._only not in (None, name):
            raise UnknownCompetitionError(f"there is no competition {name!r}", name=name)
        return self.folder / f"{name}{suffix}"

    def names(self) -> Sequence[str]:
        """All competitions, by name."""
        if self._only is not None:
            return [self._only]
        return sorted(islice(filter(_NAME.fullmatch, self._files()), MAX_LISTED))

    def left_out(self) -> Sequence[str]:
        """The control files whose names no competition can have, without hidden ones."""
        if self._only is not None:
            return []
        others = (name for name in self._files() if not _NAME.fullmatch(name) and not _HIDDEN.search(name))
        return sorted(f"{name}{SUFFIX}" for name in islice(others, MAX_LISTED))

    def _files(self) -> Iterator[str]:
        for path in self.folder.rglob(f"*{SUFFIX}"):
            if path.is_file():
                yield path.relative_to(self.folder).as_posix().removesuffix(SUFFIX)

    def token_variables(self) -> frozenset[str]:
        """The variables with tokens that any of the control files names."""
        named: set[str] = set()
        for name in self.names():
            # A file that cannot be read is not run.
            with suppress(ControlError, InvalidTomlError):
                named.update(variables_named(read_toml(read_text(self._path(name, SUFFIX)))))
        return frozenset(named)

    def add(self, name: str, text: str) -> Path:
        """Write a new control file; one that is there already must be the same.

        Raises InvalidRequestError, UnknownCompetitionError, InvalidControlFileError for a file that can't be
        used, CompetitionConflictError and OSError.
        """
        path = self._path(name, SUFFIX)
        content = text.encode()
        if len(content) > MAX_BYTES:
            raise InvalidControlFileError(f"control: {len(content)} bytes; at most {MAX_BYTES} are allowed")
        if is_ringmasters(text):
            raise InvalidControlFileError(f"control: this {_REMEDY}")
        if self._path(name, _PROGRAM).exists():
            raise CompetitionConflictError(f"there is a competition {name!r} already", name=name)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = path.open("xb")
        except FileExistsError:
            if path.read_bytes() != content:
                raise CompetitionConflictError(
                    f"there is a competition {name!r} already", name=name
                ) from None
            return path
        try:
            with file:
                file.write(content)
            read(path)
        except (ControlError, OSError):
            # A part of it, on a full disk, would keep the whole from being sent again.
            path.unlink()
            raise
        return path
