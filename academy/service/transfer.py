"""Whole libraries as streams of records: sent, and received."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence, Set
from typing import Final

from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.measures import Measures
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.settings import Library
from academy.knowledge.votes import ELO_SCALE
from academy.service.errors import InvalidFieldError, require
from academy.service.limits import Limits
from academy.store import game_tables
from academy.store.codec.games import pattern_library_from_proto, spec_to_proto
from academy.store.codec.learnt_tables import evaluation_records, tesuji_records
from academy.store.codec.openings import node_to_proto
from academy.store.codec.patterns import entry_with_figures
from academy.store.environment import Transaction
from academy.store.library_import import ImportLibraries
from academy.store.replica import GameView, read_view
from academy.store.sources import of_libraries as sources_of_libraries
from academy.v1 import contests_pb2, libraries_pb2, pattern_pb2

_RECORDS_AT_ONCE: Final = 200
_RATINGS_AT_ONCE: Final = 5_000


def read_for_export(
    transaction: Transaction, game_id: str, wanted: Set[Library]
) -> tuple[GameView, Set[Library], list[tuple[str, int]] | None, list[bytes]]:
    """Read what `exported` takes, all of one moment; without ratings where not all libraries are wanted.

    Raises UnknownGameError.
    """
    view = read_view(transaction, game_id)
    if Library.OPENING in wanted:
        # Built here, in the caller's thread.
        view.openings  # noqa: B018
    whole = len(wanted) == len(Library)
    ratings = sorted(game_tables.list_ratings(transaction, game_id)) if whole else None
    return view, wanted, ratings, sources_of_libraries(transaction, game_id, wanted)


async def exported(
    view: GameView, wanted: Set[Library], ratings: Sequence[tuple[str, int]] | None, sources: Iterable[bytes]
) -> AsyncIterator[libraries_pb2.ExportLibraryResponse]:
    """Yield a game's libraries: the game, its history, patterns, tesujis, the evaluation, then opening nodes.

    Patterns and the moves after a position come in the order of their numbers, tesujis in their own, so that
    equal libraries give equal exports. `ratings` are the players' Elos in hundredths, in order; without them
    (None) the measures are left out, too. `sources` are the games whose contests the libraries come from.
    """
    # As they are now: later lessons do not change the export.
    patterns = [
        (library, sorted(view.libraries[library].stored.items()))
        for library in PATTERN_LIBRARIES
        if library in wanted
    ]
    tesujis, evaluation, nodes = view.tesujis, view.evaluation, list[OpeningNode]()
    if Library.OPENING in wanted:
        nodes = list(view.openings.branch(view.openings.root, rank=lambda child: (-child.node_id,)))
    yield libraries_pb2.ExportLibraryResponse(game=spec_to_proto(view.spec, view.settings))
    yield libraries_pb2.ExportLibraryResponse(history=libraries_pb2.GameHistory(sources=sources))
    if ratings is not None:
        for history in _history(view.measures, ratings):
            yield libraries_pb2.ExportLibraryResponse(history=history)
    async for pattern in _patterns(view, patterns):
        yield libraries_pb2.ExportLibraryResponse(pattern=pattern)
    if Library.MIDDLE_GAME in wanted:
        for first in range(0, len(tesujis), _RECORDS_AT_ONCE):
            await asyncio.sleep(0)
            rows = range(first, min(first + _RECORDS_AT_ONCE, len(tesujis)))
            for tesuji in tesuji_records(tesujis, view.spec, rows):
                yield libraries_pb2.ExportLibraryResponse(tesuji=tesuji)
        for weights in evaluation_records(evaluation, view.spec):
            await asyncio.sleep(0)
            yield libraries_pb2.ExportLibraryResponse(evaluation=weights)
    for node in nodes:
        yield libraries_pb2.ExportLibraryResponse(node=node_to_proto(node, view.spec.game_id))


async def _patterns(
    view: GameView, patterns: Iterable[tuple[Library, Iterable[tuple[int, bytes]]]]
) -> AsyncIterator[pattern_pb2.PatternRecord]:
    every = ((library, stored) for library, numbered in patterns for _, stored in numbered)
    for sent, (library, stored) in enumerate(every, start=1):
        if sent % _RECORDS_AT_ONCE == 0:
            await asyncio.sleep(0)
        record = entry_with_figures(view.libraries[library].read(stored), library, view.spec)
        # Which event brought a vote means nothing elsewhere; which came first does.
        votes = [*record.votes, *record.silent_votes]
        for order, vote in enumerate(sorted(votes, key=lambda vote: (vote.event, vote.order))):
            vote.event, vote.order = 0, order
        record.votes.sort(key=lambda vote: vote.order)
        record.silent_votes.sort(key=lambda vote: vote.order)
        yield record


def _history(measures: Measures, ratings: Sequence[tuple[str, int]]) -> Iterator[libraries_pb2.GameHistory]:
    """The measures with the first ratings, then the others."""
    for first in range(0, max(1, len(ratings)), _RATINGS_AT_ONCE):
        yield libraries_pb2.GameHistory(
            measures=game_tables.write_measures(measures) if first == 0 else "",
            ratings=[
                contests_pb2.PlayerRating(player=name, elo=elo / ELO_SCALE)
                for name, elo in ratings[first : first + _RATINGS_AT_ONCE]
            ],
        )


async def read_import(
    requests: AsyncIterator[libraries_pb2.ImportLibraryRequest], actor: str, limits: Limits
) -> ImportLibraries:
    """Read the whole stream. Raises InvalidFieldError for a stream without header or beyond the limits."""
    header: libraries_pb2.ImportHeader | None = None
    patterns: dict[Library, list[pattern_pb2.PatternRecord]] = {}
    nodes: list[pattern_pb2.OpeningNodeRecord] = []
    tesujis: list[pattern_pb2.TesujiRecord] = []
    evaluation: list[pattern_pb2.EvaluationRecord] = []
    history: libraries_pb2.GameHistory | None = None
    count = size = 0
    async for request in requests:
        kind = request.WhichOneof("record")
        if header is None:
            require(kind == "header", "header", "the first of the stream must say what to import into")
            header = request.header
            continue
        known = ("pattern", "node", "history", "tesuji", "evaluation")
        require(
            kind in known,
            "record",
            "after the header come history, patterns, tesujis, the evaluation and nodes only",
        )
        count += len(request.history.ratings) + len(request.evaluation.weights) or 1
        size += request.ByteSize()
        most, largest = limits.records_per_import, limits.bytes_per_import
        remedy = "import them in parts; only the first part names sources"
        require(count <= most, "record", f"more than {most:,} records: {remedy}", limit=most)
        require(size <= largest, "record", f"more than {largest:,} bytes: {remedy}", limit=largest)
        if kind == "history":
            history = history or libraries_pb2.GameHistory()
            history.MergeFrom(request.history)
        elif kind == "pattern":
            library = pattern_library_from_proto(request.pattern.library, f"patterns[{count - 1}].library")
            patterns.setdefault(library, []).append(request.pattern)
        elif kind == "tesuji":
            tesujis.append(request.tesuji)
        elif kind == "evaluation":
            evaluation.append(request.evaluation)
        else:
            nodes.append(request.node)
    if header is None:
        raise InvalidFieldError("header", "the stream is empty; it begins with what to import into")
    return ImportLibraries(
        header.game_id, patterns, nodes, header.replace, actor, history, tesujis, evaluation, header.again
    )
