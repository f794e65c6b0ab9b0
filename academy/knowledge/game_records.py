"""The records of a game's knowledge: all of them, those that changed, and what one copy hands to another."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from academy.knowledge.evaluation import EvaluationTable
from academy.knowledge.measures import Measures, Rating
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.pattern_entry import PatternEntry, UseCount
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import Description, GameSpec
from academy.knowledge.tesujis.table import TesujiTable

__all__ = ["ChangedKeys", "ChangedRecords", "Counters", "KnowledgeUpdate", "StoredKnowledge"]


@dataclass(frozen=True, slots=True)
class Counters:
    """The numbers that the next pattern and the next opening node get."""

    next_pattern_id: int = 1
    next_node_id: int = 1


@dataclass(frozen=True, slots=True)
class ChangedKeys:
    """What events stored, altered or removed: patterns and opening nodes by number, ratings by player.

    `used` are patterns of which nothing but the uses changed; they are not among `patterns`.
    """

    patterns: frozenset[tuple[Library, int]]
    used: frozenset[tuple[Library, int]]
    nodes: frozenset[int]
    players: frozenset[str]


@dataclass(frozen=True, slots=True)
class ChangedRecords(ChangedKeys):
    """What an event changed, with the tables that are one record each.

    `tesujis` says whether the tesujis changed, `evaluation` the same of the evaluation.
    """

    tesujis: bool = False
    evaluation: bool = False


@dataclass(frozen=True, slots=True)
class KnowledgeUpdate:
    """The difference between two copies of a game's knowledge, as the newer one has it."""

    description: Description
    settings: LibrarySettings
    counters: Counters
    measures: Measures
    ratings: tuple[Rating, ...]
    patterns: tuple[tuple[Library, PatternEntry], ...]
    patterns_gone: tuple[tuple[Library, int], ...]
    uses: tuple[tuple[Library, UseCount], ...]
    nodes: tuple[OpeningNode, ...]
    nodes_gone: tuple[int, ...]
    muted: frozenset[str]
    tesujis: TesujiTable
    evaluation: EvaluationTable


@dataclass(frozen=True, slots=True)
class StoredKnowledge:
    """All records of one game, as `GameKnowledge.restore` reads them: in any order, each iterable once."""

    spec: GameSpec
    settings: LibrarySettings
    patterns: Iterable[tuple[Library, PatternEntry]]
    nodes: Iterable[OpeningNode]
    counters: Counters
    measures: Measures
    ratings: Iterable[Rating]
    muted: Iterable[str] = ()
    tesujis: TesujiTable = field(default_factory=TesujiTable.empty)
    evaluation: EvaluationTable = field(default_factory=EvaluationTable)
