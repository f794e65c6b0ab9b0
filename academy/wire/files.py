"""Files that a reader sees whole, as before or as they are now."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, chunks: Iterable[bytes], *, private: bool = False, durable: bool = True) -> None:
    """Write a file whole or not at all; straight into devices and pipes, which cannot be replaced.

    A `private` one only this user can read; a link in its place is replaced, of others the file that it leads
    to. One that is `durable` is on the disk before it has its name. Raises OSError, and what `chunks` raises.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            file.writelines(chunks)
        return
    if not private:
        path = path.resolve()
    # A name of its own: others may be writing the same file.
    draft = path.with_name(f".draft-{secrets.token_hex(8)}")
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
