"""A game's patterns in memory, as consultations need them: the matching index beside each pattern's figures.

`PatternCacheFiles` keeps them as files beside the data, so that a server that starts need not compile every
pattern.
"""

import json
import math
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
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
# What arrays of `PatternCache.kept` can be read by.
SHELF_LAYOUT: Final = f"{LAYOUT} {_FIGURES.descr}"


class PatternCache:
    """The patterns of both libraries of a game, kept up to date one by one. For one thread at a time.

    How often they were used is not kept here: no answer tells it, and each contest would change hundreds.

    One index holds them all, since queries of two would be prepared twice. Numbers are given by game, so no
    two patterns have the same.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._index = PatternIndex(spec)
        self._figures: Figures = np.empty(0, _FIGURES)
        # Rows that are to replace those of the same number; None for a pattern that is gone.
        self._changed: dict[int, tuple[float, ...] | None] = {}
        self._ranked: RankedPatterns | None = None

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, pattern_id: int) -> bool:
        return pattern_id in self._index

    def put(self, library: Library, entry: PatternEntry) -> None:
        """Add a pattern, in place of the one of its number if there is one."""
        self._index.put(entry.pattern_id, entry.pattern)
        self.restate(library, entry.pattern_id, entry.player, entry.ballot)

    def restate(self, library: Library, pattern_id: int, player: int, ballot: VoteTally) -> None:
        """Take other votes for a pattern that is here, or another player addressed."""
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
        self._ranked = None

    @property
    def ranked(self) -> RankedPatterns:
        """The patterns as they are now, for queries; the same object until the next change."""
        if self._ranked is None:
            self._ranked = RankedPatterns(self._index.snapshot(), self.figures)
        return self._ranked

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

    def kept(self) -> dict[str, NDArray[Any]]:
        """Return all it holds as arrays that do not change any more, to `restore` another from."""
        return self._index.kept() | {"figures": self.figures.view(np.uint8)}

    def restore(self, kept: Mapping[str, NDArray[Any]]) -> None:
        """Fill a shelf that is empty yet with what another one of the same game held.

        The arrays must be as `kept` gave them under the same `SHELF_LAYOUT`: they are not looked through.
        """
        self._index.restore(kept)
        self._figures = kept["figures"].view(_FIGURES)


FOLDER: Final = "shelves"
_MAGIC: Final = b"SHELF 1\n"
# The magic, the checksum of all that follows it, the length of the description, the generation, its mark.
_HEADER: Final = struct.Struct(f"<8sIIQ{game_tables.MARK_LENGTH}s")
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


class PatternCacheFiles:
    """The files of one data folder. Several processes may write them: the last one counts."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER

    def find(self, transaction: Transaction, view: GameView) -> KeptShelf | None:
        """Return a kept shelf that becomes the view's by what was learnt; None if none is of use."""
        game_id = view.spec.game_id
        kept = self._read(game_id)
        if kept is None or kept.mark != game_tables.fingerprint(transaction, game_id, kept.generation):
            # It may be of a folder that was restored since, and seem to be ahead.
            self._remove(game_id)
            return None
        touched = game_tables.changes_since(transaction, game_id, kept.generation, view.generation)
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
