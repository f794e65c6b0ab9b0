"""The pages of an LMDB file, looked through without LMDB.

LMDB trusts its pages: one that was damaged on the disk can end the whole process. So a folder is checked
here before its records are read. The layout is that of LMDB 0.9 with 64-bit page numbers, as in its `mdb.c`.
"""

import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import lmdb

from academy.store import lock_file

_MAGIC: Final = 0xBEEFC0DE
_VERSION: Final = 1
_HEADER: Final = struct.Struct("<QHHHH")
_META: Final = struct.Struct("<IIQQ")
# One table: page size or key size, flags, depth, pages of three kinds, entries, root page.
_TABLE: Final = struct.Struct("<IHHQQQQQ")
_TAIL: Final = struct.Struct("<QQ")
_NODE: Final = struct.Struct("<HHHH")
_BRANCH, _LEAF, _OVERFLOW, _META_PAGE = 1, 2, 4, 8
_BIG_DATA, _SUB_TABLE = 1, 2
_EMPTY: Final = 2**64 - 1
_DEEPEST: Final = 32
_ATTEMPTS: Final = 1_000
# Two pages of the largest size there is.
_HEAD: Final = 2 * 65_536


@dataclass(frozen=True, slots=True)
class _Meta:
    page_size: int
    tables: tuple[tuple[int, int, int], tuple[int, int, int]]
    last_page: int
    transaction: int


def damage(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the pages in use of a folder's file, also while others write to it.

    Each finding names the page. Nothing yielded does not mean that the records' contents are right. This
    process must not have the folder open.
    """
    file_path = folder / "data.mdb"
    if file_path.exists() and file_path.stat().st_size == 0:
        yield "data.mdb is empty"
        return
    try:
        environment = lmdb.open(
            str(folder),
            readonly=True,
            max_dbs=0,
            max_readers=lock_file.MAX_READERS,
            lock=lock_file.reserve(folder, read_only=True),
        )
    except lmdb.Error as fault:
        # LMDB begins with the folder, which is told already.
        yield f"data.mdb cannot be opened: {str(fault).removeprefix(f'{folder}: ')}"
        return
    with (
        environment,
        file_path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        for _ in range(_ATTEMPTS):
            # While it is open, no page of its moment is written over.
            with environment.begin() as transaction:
                metas = [meta for meta in (_meta(content, 0), _meta(content, 1)) if meta is not None]
                seen = [meta for meta in metas if meta.transaction == transaction.id()]
                if seen:
                    yield from _Walk(content, seen[0]).damage()
                    return
                if not metas:
                    break
        yield "neither of the two pages that a file begins with can be read"


def missing(file_path: Path) -> str:
    """Say which pages in use a file lacks at its end, which LMDB would die of; empty where it lacks none.

    This process must not have the file's folder open.
    """
    with file_path.open("rb") as file:
        head = file.read(_HEAD)
        # Last, as others may be writing.
        size = os.fstat(file.fileno()).st_size
    if not head:
        return ""
    metas = [meta for meta in (_meta(head, 0), _meta(head, 1)) if meta is not None]
    newest = max(metas, key=lambda meta: meta.transaction, default=None)
    if newest is None or (newest.last_page + 1) * newest.page_size <= size:
        return ""
    return next(damage(file_path.parent), "")


def _meta(content: mmap.mmap | bytes, number: int) -> _Meta | None:
    size = 4096
    if number:
        first = _meta(content, 0)
        size = first.page_size if first is not None else mmap.PAGESIZE
    start = number * size + _HEADER.size
    if len(content) < start + 200:
        return None
    flags = _HEADER.unpack_from(content, start - _HEADER.size)[2]
    magic, version, _, _ = _META.unpack_from(content, start)
    if not flags & _META_PAGE or (magic, version) != (_MAGIC, _VERSION):
        return None
    tables = []
    for place in range(2):
        values = _TABLE.unpack_from(content, start + _META.size + place * _TABLE.size)
        tables.append((values[2], values[6], values[7]))
        if place == 0:
            size = values[0]
    last_page, transaction = _TAIL.unpack_from(content, start + _META.size + 2 * _TABLE.size)
    return _Meta(size, (tables[0], tables[1]), last_page, transaction)


class _Walk:
    """One pass over all pages that can be reached."""

    def __init__(self, content: mmap.mmap, meta: _Meta) -> None:
        self._content = content
        self._meta = meta
        self._size = meta.page_size
        self._last = min(meta.last_page, len(content) // meta.page_size - 1)
        self._seen = bytearray(self._last + 1)

    def damage(self) -> Iterator[str]:
        found = (what for table in self._meta.tables for what in self._table(*table))
        for number, what in enumerate(found):
            # By itself that is no damage: LMDB does not write pages at the end that it has no use for.
            if not number and self._last < self._meta.last_page:
                yield f"the file ends after page {self._last}, its data after page {self._meta.last_page}"
            yield what

    def _table(self, depth: int, entries: int, root: int) -> Iterator[str]:
        """Look through a tree of pages: (page, levels below it)."""
        if root == _EMPTY:
            return
        if depth > _DEEPEST:
            yield f"a table says that it is {depth} pages deep"
            return
        found = 0
        waiting = [(root, depth - 1)]
        faulty = False
        while waiting:
            page, below = waiting.pop()
            fault = self._fault(page, _BRANCH if below else _LEAF)
            if fault:
                faulty = True
                yield fault
                continue
            start = page * self._size
            nodes = list(self._nodes(start))
            for first, low, high, flags, key_size in nodes:
                if first + _NODE.size + key_size > start + self._size:
                    faulty = True
                    yield f"page {page}: a record's key leaves the page"
                elif below:
                    waiting.append((low | high << 16 | flags << 32, below - 1))
                else:
                    for what in self._record(page, first + _NODE.size + key_size, low | high << 16, flags):
                        faulty = True
                        yield what
            found += 0 if below else len(nodes)
        if not faulty and found != entries:
            yield f"a table with {entries:,} records has {found:,} (root page {root})"

    def _nodes(self, start: int) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield each node's place in the file and its header."""
        _, _, _, lower, _ = _HEADER.unpack_from(self._content, start)
        count = (lower - _HEADER.size) // 2
        for offset in struct.unpack_from(f"<{count}H", self._content, start + _HEADER.size):
            place = start + min(offset, self._size - _NODE.size)
            yield place, *_NODE.unpack_from(self._content, place)

    def _fault(self, page: int, kind: int) -> str:
        if not 2 <= page <= self._last:
            return f"page {page} is named, but there are pages 2 to {self._last}"
        if self._seen[page]:
            return f"page {page} is named twice"
        self._seen[page] = 1
        number, _, flags, lower, upper = _HEADER.unpack_from(self._content, page * self._size)
        if number != page:
            return f"page {page} says that it is page {number}"
        if not flags & kind:
            return f"page {page} is of another kind than where it hangs (flags {flags:#x})"
        if kind == _OVERFLOW:
            return ""
        if not _HEADER.size <= lower <= upper <= self._size or lower % 2:
            return f"page {page}: its free room, {lower} to {upper}, cannot be"
        offsets = struct.unpack_from(
            f"<{(lower - _HEADER.size) // 2}H", self._content, page * self._size + _HEADER.size
        )
        if any(not upper <= offset <= self._size - _NODE.size for offset in offsets):
            return f"page {page}: a record begins outside the page's records"
        return ""

    def _record(self, page: int, place: int, length: int, flags: int) -> Iterator[str]:
        """Look at a leaf's record whose data begin at `place` of the file."""
        end = (page + 1) * self._size
        if not flags & _BIG_DATA:
            if place + length > end:
                yield f"page {page}: a record of {length:,} bytes leaves the page"
            elif flags & _SUB_TABLE:
                if length != _TABLE.size:
                    yield f"page {page}: a table is described in {length} bytes"
                    return
                values = _TABLE.unpack_from(self._content, place)
                yield from self._table(values[2], values[6], values[7])
            return
        if place + 8 > end:
            yield f"page {page}: a record leaves the page"
            return
        (first,) = struct.unpack_from("<Q", self._content, place)
        fault = self._fault(first, _OVERFLOW)
        if fault:
            yield fault
            return
        (pages,) = struct.unpack_from("<I", self._content, first * self._size + 12)
        if _HEADER.size + length > pages * self._size or first + pages - 1 > self._last:
            yield f"page {first}: {pages} pages cannot hold a record of {length:,} bytes"
