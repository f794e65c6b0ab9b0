"""A game's patterns in memory: the matching index beside each pattern's figures.

`RankedPatterns` are those of one moment, strongest first, with the columns that answers list.
`PatternCacheFiles` saves them as files in the data folder, so that a starting server does not compile every
pattern.
"""

import json
import math
import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np
import structlog
from numpy.typing import NDArray

from academy.knowledge.fair_use import acceptable
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.votes import VoteTally
from academy.matching.index import LAYOUT, PatternIndex, Snapshot
from academy.matching.matches import Flags, Matches, MatchQuery, join_matches
from academy.store import game_tables
from academy.store.codec.games import library_to_proto
from academy.store.environment import PATTERN_CACHES, Transaction
from academy.store.replica import GameView

_SELECTIONS_REMEMBERED: Final = 64
# Patterns matched first for each match asked for: in a full library one pattern in ten lies on a position.
_MATCHED_FIRST: Final = 16
_MOST_OF_ALL: Final = 0.75


class RankedPatterns:
    """Patterns with their figures; neither changes.

    A *place* is a pattern's index in this order. `columns` are those of `academy.v1.PatternTable`.
    """

    def __init__(self, snapshot: Snapshot, figures: NDArray[np.void]) -> None:
        order = np.lexsort((figures["pattern_id"], figures["library"], -figures["strength"]))
        figures = figures.take(order)
        self.columns: dict[str, NDArray[Any]] = {
            "pattern_ids": np.ascontiguousarray(figures["pattern_id"]),
            "libraries": np.ascontiguousarray(figures["library"]),
            "proposers": np.ascontiguousarray(figures["proposers"]),
            "elos": np.ascontiguousarray(figures["elo"]),
            "values": np.ascontiguousarray(figures["value"]),
        }
        self.pattern_ids: NDArray[np.int64] = self.columns["pattern_ids"]
        self.libraries: NDArray[np.uint8] = self.columns["libraries"]
        self.players: NDArray[np.uint32] = np.ascontiguousarray(figures["player"])
        self.snapshot = snapshot.rank(self.pattern_ids)
        self._selections: dict[tuple[frozenset[int], float | None, int], Flags | None] = {}
        self._parts: dict[tuple[int, int], Snapshot] = {}

    def __len__(self) -> int:
        return len(self.pattern_ids)

    def select(
        self, libraries: Iterable[int], least_elo: float | None = None, player: int = 0
    ) -> Flags | None:
        """Return a flag for each place (None: all are selected): the patterns of some libraries (by number).

        With `least_elo` only patterns of players above this Elo; with `player` only what addresses
        this player.
        """
        key = (frozenset(libraries), least_elo, player)
        if key not in self._selections:
            if len(self._selections) >= _SELECTIONS_REMEMBERED:
                self._selections.clear()
            flags: Flags = np.isin(self.libraries, list(key[0]))
            if least_elo is not None:
                flags &= acceptable(self.columns["elos"], least_elo)
            if player:
                flags &= self.players == player
            self._selections[key] = None if flags.all() else flags
        return self._selections[key]

    def match(self, query: MatchQuery) -> Matches:
        """Return the matches on a board, the strongest patterns' first.

        A library has many times more matches than a query wants, so the strongest patterns are matched
        first, and the weaker ones only if those had too few. Raises InvalidBoardError.
        """
        size, first = len(self), self._count_first(query)
        if first == size:
            return self.snapshot.match(query)
        strongest = self._match_part(query, 0, first)
        listed = len(strongest.places)
        if listed == query.max_matches:
            return strongest._replace(more=True)
        left = query._replace(max_matches=query.max_matches - listed)
        rest = self._match_part(left, first, size)
        rest = rest._replace(places=rest.places + np.int32(first))
        return join_matches([strongest, rest])._replace(ranked_ids=self.pattern_ids)

    def _count_first(self, query: MatchQuery) -> int:
        """Return how many of the strongest patterns are matched first."""
        size = len(self)
        wanted = size if query.wanted is None else np.count_nonzero(query.wanted)
        if _MATCHED_FIRST * query.max_matches >= _MOST_OF_ALL * wanted:
            return size
        # A power of two, so that few parts are kept for all queries.
        first = 1 << int(_MATCHED_FIRST * query.max_matches * size / wanted - 1).bit_length()
        return first if first < _MOST_OF_ALL * size else size

    def _match_part(self, query: MatchQuery, first: int, end: int) -> Matches:
        """Match the patterns from one place to another; their places count from the first of them."""
        if (first, end) not in self._parts:
            self._parts[first, end] = self.snapshot.part(first, end)
        wanted = None if query.wanted is None else query.wanted[first:end]
        return self._parts[first, end].match(query._replace(wanted=wanted))


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

    def put(self, library: Library, entry: PatternEntry) -> None:
        """Add a pattern, or replace the one with its number."""
        self._index.put(entry.pattern_id, entry.pattern)
        self.restate(library, entry.pattern_id, entry.player, entry.votes)

    def restate(self, library: Library, pattern_id: int, player: int, votes: VoteTally) -> None:
        """Replace the votes of a pattern that is here, or the player that it addresses."""
        figures = votes.strength, votes.elo, votes.value, votes.proposers
        self._change(pattern_id, (pattern_id, library_to_proto(library), *figures, player))

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
        """Fill this empty cache with the content of a different one of the same game.

        The arrays must come from `to_arrays` under the same `CACHE_LAYOUT`: they are not checked.
        """
        self._index.restore(arrays)
        self._figures = arrays["figures"].view(_FIGURES)


_MAGIC: Final = b"CACHE 1\n"
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
        self._folder = data / PATTERN_CACHES

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
        except OSError as error:
            _log.warning("pattern cache cannot be saved for the next start", game=game_id, error=str(error))
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
        except OSError as error:
            _log.warning("saved pattern cache cannot be removed", game=game_id, error=str(error))

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
        return self._folder / f"{blake2b(game_id.encode(), digest_size=16).hexdigest()}.patterns"


def _padded_length(length: int) -> int:
    return -(-length // _ALIGNED) * _ALIGNED


def _pad(content: bytes) -> bytes:
    return content.ljust(_padded_length(len(content)), b"\0")
