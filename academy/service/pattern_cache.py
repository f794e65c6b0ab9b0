"""A game's patterns in memory: the matching index beside each pattern's figures.

`PatternCacheFiles` saves them as files in the data folder, so that a starting server does not compile every
pattern.
"""

import json
import math
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np
import structlog
from numpy.typing import NDArray

from academy.knowledge.library import PatternEntry
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.votes import VoteTally
from academy.matching.index import LAYOUT, PatternIndex
from academy.service.ranking import RankedPatterns
from academy.store import game_tables
from academy.store.codec import library_to_proto
from academy.store.environment import Transaction
from academy.store.replica import GameView

Figures = NDArray[np.void]
_FIGURES: Final = np.dtype(
    [
        ("pattern_id", np.int64),
        ("library", np.uint8),
        ("strength", np.float64),
        ("elo", np.float64),
        ("value", np.float64),
        ("proposers", np.uint32),
        ("player", np.uint32),
    ]
)
# The layout of the arrays of `PatternCache.to_arrays`.
CACHE_LAYOUT: Final = f"{LAYOUT} {_FIGURES.descr}"


class PatternCache:
    """The patterns of both libraries of a game, kept up to date one by one. For one thread at a time.

    Counts of uses are not here: no answer contains them, and each contest would change hundreds.

    One index holds both libraries, so that a query is prepared once; numbers are unique in a game.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._index = PatternIndex(spec)
        self._figures: Figures = np.empty(0, _FIGURES)
        # Rows that replace those of the same number; None for a removed pattern.
        self._changed: dict[int, tuple[float, ...] | None] = {}

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, pattern_id: int) -> bool:
        return pattern_id in self._index

    def put(self, library: Library, entry: PatternEntry) -> None:
        """Add a pattern, or replace the one with its number."""
        self._index.put(entry.pattern_id, entry.pattern)
        self.restate(library, entry.pattern_id, entry.player, entry.ballot)

    def restate(self, library: Library, pattern_id: int, player: int, ballot: VoteTally) -> None:
        """Replace the votes of a pattern that is here, or the player that it addresses."""
        self._change(
            pattern_id,
            (
                pattern_id,
                library_to_proto(library),
                ballot.strength,
                ballot.elo,
                ballot.value,
                ballot.proposers,
                player,
            ),
        )

    def remove(self, pattern_id: int) -> None:
        """Take a pattern out, if it is there."""
        if pattern_id in self._index:
            self._index.remove(pattern_id)
            self._change(pattern_id, None)

    def _change(self, pattern_id: int, row: tuple[float, ...] | None) -> None:
        self._changed[pattern_id] = row
        self.__dict__.pop("ranked", None)

    @cached_property
    def ranked(self) -> RankedPatterns:
        """The patterns as they are now, for queries; the same object until the next change."""
        return RankedPatterns(self._index.snapshot(), self.figures)

    @property
    def figures(self) -> Figures:
        """One row a pattern, by number."""
        if self._changed:
            rows = (row for _, row in sorted(self._changed.items()) if row is not None)
            fresh = np.fromiter(rows, _FIGURES)
            kept = self._figures[~np.isin(self._figures["pattern_id"], list(self._changed))]
            # Both are in order: nothing has to be sorted.
            self._figures = np.insert(kept, np.searchsorted(kept["pattern_id"], fresh["pattern_id"]), fresh)
            self._changed.clear()
        return self._figures

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the content as arrays that never change, from which `restore` fills another cache."""
        return self._index.to_arrays() | {"figures": self.figures.view(np.uint8)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Fill this empty cache with the content of another one of the same game.

        The arrays must come from `to_arrays` under the same `CACHE_LAYOUT`: they are not checked.
        """
        self._index.restore(arrays)
        self._figures = arrays["figures"].view(_FIGURES)


# The folder, the mark and the suffix of the files keep the name of earlier versions.
FOLDER: Final = "shelves"
_MAGIC: Final = b"SHELF 1\n"
# The magic, the checksum of the rest, the length of the description, the generation, its mark.
_HEADER: Final = struct.Struct(f"<8sIIQ{game_tables.MARK_LENGTH}s")
_SUMMED_FROM: Final = 12
_ALIGNED: Final = 8
_LARGEST_FILE: Final = 1 << 30
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SavedPatterns:
    """The content of a cache at a generation of its game, and the patterns that were learnt since.

    `mark` is the fingerprint of that generation in the feed. The arrays never change.
    """

    generation: int
    mark: bytes
    arrays: dict[str, Any]
    learnt: frozenset[tuple[Library, int]] = frozenset()


class PatternCacheFiles:
    """The saved pattern caches of one data folder. Several processes may write a file: the last one wins."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER

    def load(self, transaction: Transaction, view: GameView) -> SavedPatterns | None:
        """Return saved patterns that equal the view's once `learnt` is applied, None without any."""
        game_id = view.spec.game_id
        saved = self._read(game_id)
        if saved is None or saved.mark != game_tables.fingerprint(transaction, game_id, saved.generation):
            # The folder may have been restored since, so that the file seems to be ahead.
            self._remove(game_id)
            return None
        touched = game_tables.changes_since(transaction, game_id, saved.generation, view.generation)
        return None if touched is None else replace(saved, learnt=touched.patterns)

    def save(self, game_id: str, saved: SavedPatterns) -> bool:
        """Write a game's file; return whether that succeeded."""
        described = {name: (array.dtype.str, array.shape) for name, array in saved.arrays.items()}
        description = json.dumps({"layout": CACHE_LAYOUT, "arrays": described}).encode()
        parts = [_pad(description), *(_pad(array.tobytes()) for array in saved.arrays.values())]
        body = b"".join(parts)
        header = _HEADER.pack(_MAGIC, 0, len(description), saved.generation, saved.mark)
        checksum = zlib.crc32(body, zlib.crc32(header[_SUMMED_FROM:]))
        header = _HEADER.pack(_MAGIC, checksum, len(description), saved.generation, saved.mark)
        path = self.path(game_id)
        # Each process has its own partial file; a later process of the same number reuses it.
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
            _log.warning("pattern cache cannot be saved for the next start", game=game_id, fault=str(fault))
            return False
        return True

    def generation(self, game_id: str) -> int:
        """Return the generation that a game's file states; 0 if there is no file."""
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
            _log.warning("saved pattern cache cannot be removed", game=game_id, fault=str(fault))

    def _read(self, game_id: str) -> SavedPatterns | None:
        """Read a game's file; None if it is missing or was not written by this version."""
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
        # A file with this checksum was written by `save` and needs no further checks.
        if magic != _MAGIC or checksum != zlib.crc32(content[_SUMMED_FROM:]):
            _log.warning("saved pattern cache is damaged and is rebuilt", game=game_id)
            return None
        place = _HEADER.size
        description = json.loads(bytes(content[place : place + length]))
        if description["layout"] != CACHE_LAYOUT:
            return None
        place += _padded_length(length)
        arrays = {}
        for name, (kind, shape) in description["arrays"].items():
            array = np.frombuffer(content, kind, math.prod(shape), place).reshape(shape)
            arrays[name] = array
            place += _padded_length(array.nbytes)
        return SavedPatterns(generation, mark, arrays)

    def path(self, game_id: str) -> Path:
        """Where a game's file lies."""
        # Ids that differ in case only are one file name on some systems.
        return self._folder / f"{blake2b(game_id.encode(), digest_size=16).hexdigest()}.shelf"


def _padded_length(length: int) -> int:
    return -(-length // _ALIGNED) * _ALIGNED


def _pad(content: bytes) -> bytes:
    return content.ljust(_padded_length(len(content)), b"\0")
