"""Shelves as files beside the data, so that a server that starts need not make every pattern's row again.

A file is a copy of what one shelf held at one generation of its game. It may be missing, old, damaged or of
another program at any time: then it is passed over, and the shelf is made from the store's patterns. What the
game learnt since is added by the store's feed of changes.
"""

import json
import math
import os
import struct
import zlib
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np
import structlog

from academy.knowledge.settings import Library
from academy.service.shelves import SHELF_LAYOUT
from academy.store import feed
from academy.store.environment import Transaction
from academy.store.following import GameView

FOLDER: Final = "shelves"
_MAGIC: Final = b"SHELF 1\n"
# The magic, the checksum of all that follows it, the length of the description, the generation, its mark.
_HEADER: Final = struct.Struct(f"<8sIIQ{feed.MARK_LENGTH}s")
_SUMMED_FROM: Final = 12
_ALIGNED: Final = 8
_LARGEST_FILE: Final = 1 << 30
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class KeptShelf:
    """What a shelf held at a generation of its game, and the patterns that were learnt since.

    `mark` is the feed's. Nothing in the arrays changes any more.
    """

    generation: int
    mark: bytes
    arrays: dict[str, Any]
    learnt: frozenset[tuple[Library, int]] = frozenset()


class KeptShelves:
    """The files of one data folder. Several processes may write them: the last one counts."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER

    def find(self, transaction: Transaction, view: GameView) -> KeptShelf | None:
        """Return a kept shelf that becomes the view's by what was learnt; None if none is of use."""
        game_id = view.spec.game_id
        kept = self._read(game_id)
        if kept is None or kept.mark != feed.mark(transaction, game_id, kept.generation):
            # It may be of a folder that was restored since, and seem to be ahead.
            self._remove(game_id)
            return None
        touched = feed.since(transaction, game_id, kept.generation, view.generation)
        return None if touched is None else replace(kept, learnt=touched.patterns)

    def keep(self, game_id: str, kept: KeptShelf) -> bool:
        """Write a shelf's file; return whether that could be done."""
        described = {name: (array.dtype.str, array.shape) for name, array in kept.arrays.items()}
        description = json.dumps({"layout": SHELF_LAYOUT, "arrays": described}).encode()
        parts = [_padded(description), *(_padded(array.tobytes()) for array in kept.arrays.values())]
        body = b"".join(parts)
        header = _HEADER.pack(_MAGIC, 0, len(description), kept.generation, kept.mark)
        checksum = zlib.crc32(body, zlib.crc32(header[_SUMMED_FROM:]))
        header = _HEADER.pack(_MAGIC, checksum, len(description), kept.generation, kept.mark)
        path = self.path(game_id)
        # Of each process its own, which the next one of that number uses again.
        partial = path.with_suffix(f".{os.getpid()}.part")
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(header)
                    file.write(body)
                partial.replace(path)
            except OSError:
                partial.unlink(missing_ok=True)
                raise
        except OSError as fault:
            _log.warning("shelf cannot be kept for the next start", game=game_id, fault=str(fault))
            return False
        return True

    def generation(self, game_id: str) -> int:
        """Return which generation a game's file is of, as it says itself; 0 where there is none."""
        try:
            with self.path(game_id).open("rb") as file:
                header = file.read(_HEADER.size)
        except OSError:
            return 0
        return int(_HEADER.unpack(header)[3]) if len(header) == _HEADER.size else 0

    def _remove(self, game_id: str) -> None:
        try:
            self.path(game_id).unlink(missing_ok=True)
        except OSError as fault:
            _log.warning("kept shelf cannot be removed", game=game_id, fault=str(fault))

    def _read(self, game_id: str) -> KeptShelf | None:
        """Read a game's file; None where it is missing, or not as it was written by this program."""
        try:
            with self.path(game_id).open("rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                # Read-only arrays would be another type to the compiled kernel, to be compiled for once more.
                content = np.empty(min(size, _LARGEST_FILE), np.uint8).data
                whole = file.readinto(content) == size
        except OSError:
            return None
        if not whole or size < _HEADER.size:
            return None
        magic, checksum, length, generation, mark = _HEADER.unpack_from(content)
        # What has this checksum was written by `keep` and is read without further checks.
        if magic != _MAGIC or checksum != zlib.crc32(content[_SUMMED_FROM:]):
            _log.warning("kept shelf is damaged, and made anew", game=game_id)
            return None
        place = _HEADER.size
        description = json.loads(bytes(content[place : place + length]))
        if description["layout"] != SHELF_LAYOUT:
            return None
        place += _room(length)
        arrays = {}
        for name, (kind, shape) in description["arrays"].items():
            array = np.frombuffer(content, kind, math.prod(shape), place).reshape(shape)
            arrays[name] = array
            place += _room(array.nbytes)
        return KeptShelf(generation, mark, arrays)

    def path(self, game_id: str) -> Path:
        """Where a game's file lies."""
        # Ids that differ in case only are one file name on some systems.
        return self._folder / f"{blake2b(game_id.encode(), digest_size=16).hexdigest()}.shelf"


def _room(length: int) -> int:
    return -(-length // _ALIGNED) * _ALIGNED


def _padded(content: bytes) -> bytes:
    return content.ljust(_room(len(content)), b"\0")
