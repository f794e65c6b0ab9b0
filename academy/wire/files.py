"""Files that a reader sees whole, as before or as they are now."""

import os
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

# A program that was killed left it. Nobody writes a file for so long.
_LEFT_SECONDS: Final = 86_400.0


def write_whole(path: Path, chunks: Iterable[bytes], *, private: bool = False, durable: bool = True) -> None:
    """Write a file whole or not at all; straight into devices and pipes, which cannot be replaced.

    A `private` one only this user can read; a link in its place is replaced, of others the file that it leads
    to. One that is `durable` is on the disk before it has its name. Raises OSError that names the file, and
    what `chunks` raises.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            file.writelines(chunks)
        return
    if not private:
        path = path.resolve()
    # A name of its own: others may be writing the same file.
    drafts = f".{path.name[:50]}.draft-"
    draft = path.with_name(drafts + secrets.token_hex(8))
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(chunks)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        if durable:
            _remove_left(path.parent, drafts)
    except OSError as error:
        if error.errno is not None and error.filename in (None, os.fspath(draft)):
            error.filename, error.filename2 = os.fspath(path), None
        raise


def _remove_left(folder: Path, drafts: str) -> None:
    # Others' may be theirs to remove, and gone meanwhile.
    with suppress(OSError):
        for file in list(folder.iterdir()):
            if file.name.startswith(drafts) and time.time() - file.stat().st_mtime > _LEFT_SECONDS:
                file.unlink()
