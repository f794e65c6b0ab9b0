"""A stream of records gathered into one import, within limits."""

from collections.abc import AsyncIterator

from academy.knowledge.settings import Library
from academy.service.limits import Limits
from academy.service.refusals import require
from academy.store.game_records import pattern_library_from_proto
from academy.store.library_commands import ImportLibraries
from academy.v1 import libraries_pb2, pattern_pb2


async def gathered(
    requests: AsyncIterator[libraries_pb2.ImportLibraryRequest], actor: str, limits: Limits
) -> ImportLibraries:
    """Read the whole stream. Raises InvalidField for a stream without header or beyond the limits."""
    header: libraries_pb2.ImportHeader | None = None
    patterns: dict[Library, list[pattern_pb2.PatternRecord]] = {}
    nodes: list[pattern_pb2.OpeningNodeRecord] = []
    history: libraries_pb2.GameHistory | None = None
    count = size = 0
    async for request in requests:
        kind = request.WhichOneof("record")
        if header is None:
            require(kind == "header", "header", "the first of the stream must say what to import into")
            header = request.header
            continue
        known = ("pattern", "node", "history")
        require(kind in known, "record", "after the header come history, patterns and nodes only")
        count += len(request.history.ratings) if kind == "history" else 1
        size += request.ByteSize()
        most, largest = limits.records_per_import, limits.bytes_per_import
        require(count <= most, "record", f"more than {most:,} records: import them in parts", limit=most)
        require(
            size <= largest, "record", f"more than {largest:,} bytes: import them in parts", limit=largest
        )
        if kind == "history":
            history = history or libraries_pb2.GameHistory()
            history.MergeFrom(request.history)
        elif kind == "pattern":
            library = pattern_library_from_proto(request.pattern.library, f"patterns[{count - 1}].library")
            patterns.setdefault(library, []).append(request.pattern)
        else:
            nodes.append(request.node)
    require(header is not None, "header", "the stream is empty; it begins with what to import into")
    assert header is not None
    return ImportLibraries(header.game_id, patterns, nodes, header.replace, actor, history)
