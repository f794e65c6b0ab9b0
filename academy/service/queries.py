"""Answers to consultations: openings, patterns on positions, and what candidate moves change.

Placements and patterns are written as protobuf messages by the matching kernel (`WrittenAnswer`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise, starmap
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.cells import SWAP_COLOURS
from academy.knowledge.fair_use import acceptable
from academy.knowledge.openings import ROOT, OpeningNode, OpeningTree
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.matching import kernels
from academy.matching.arrays import Number
from academy.matching.changes import Change
from academy.matching.matches import Matches
from academy.matching.placement_lists import Fields, Lost, PlacementLists
from academy.matching.successors import Successors
from academy.service.ranking import RankedPatterns, RankedQuery, field_numbers
from academy.store.codec import library_to_proto, stored_cells
from academy.v1 import consultation_pb2 as messages


def opening_answer(
    tree: OpeningTree, moves: Sequence[str], player: int, player_elo: float | None
) -> messages.LookUpOpeningResponse:
    """Return a position's figures for a player and its continuations, best for their mover first.

    In a contest (`player_elo` given) nodes of players too weak for the asking one are left out.
    """

    def accepted(node: OpeningNode) -> bool:
        # Nobody moved to the first position: it has no Elo.
        return player_elo is None or node.node_id == ROOT or acceptable(node.elo, player_elo)

    node = tree.find(moves, player)
    if node is None or not accepted(node):
        return messages.LookUpOpeningResponse(known=False)
    answer = messages.LookUpOpeningResponse(known=True, position=_statistics(node, player))
    found = [each for each in tree.continuations(moves, player) if accepted(each.node)]
    found.sort(key=lambda each: (-each.node.value(each.node.mover), -each.node.visits, each.moves))
    for each in found:
        answer.moves.add(
            move=each.moves[0], equivalents=each.moves, statistics=_statistics(each.node, player)
        )
    return answer


def _statistics(node: OpeningNode, player: int) -> messages.OpeningStatistics:
    return messages.OpeningStatistics(
        visits=node.visits,
        wins=node.wins[player - 1],
        draws=node.draws[player - 1],
        losses=node.losses[player - 1],
        value=node.value(player),
        elo=node.elo,
    )


_POSITION: Final = field_numbers(messages.PositionMatches)
_ANSWER: Final = field_numbers(messages.MatchPatternsResponse)
_SUCCESSORS: Final = field_numbers(messages.MatchSuccessorsResponse)
_MOVE: Final = field_numbers(messages.MoveMatches)
_FIELDS: Final = Fields(
    first=_ANSWER["positions"],
    other=_ANSWER["positions"],
    gained=_MOVE["gained"],
    lost=_MOVE["lost"],
    table=_ANSWER["patterns"],
    patterns=_POSITION["patterns"],
    symmetries=_POSITION["symmetries"],
    rows=_POSITION["rows"],
    columns=_POSITION["columns"],
    for_opponent=_POSITION["for_opponent"],
    total=_POSITION["total"],
    more=_POSITION["more"],
)
_SUCCESSOR_FIELDS: Final = _FIELDS._replace(
    first=_SUCCESSORS["position"], other=_SUCCESSORS["moves"], table=_SUCCESSORS["patterns"]
)
_NO_FLAGS: Final = np.zeros(0, dtype=np.bool_)
_NO_ENTRIES: Final = np.zeros(0, dtype=np.int32)
_NOTHING_LOST: Final = Lost(_NO_ENTRIES, _NO_ENTRIES)


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """A message without cells that tells so many placements, and the places of the patterns in its table."""

    message: bytes
    placements: int
    table: NDArray[np.int32]
    _ranked: RankedPatterns

    def cells(self, stored: Mapping[int, bytes]) -> list[str]:
        """Return the cells of the patterns, in the order of the table."""
        pattern_ids = self._ranked.pattern_ids.take(self.table).tolist()
        return [stored_cells(stored[pattern_id]) for pattern_id in pattern_ids]

    def found(self, library: Library) -> list[int]:
        """The numbers of all patterns of a library that are in the table."""
        chosen = self.table[self._ranked.libraries.take(self.table) == library_to_proto(library)]
        found: list[int] = self._ranked.pattern_ids.take(chosen).tolist()
        return found


def positions_written(
    ranked: RankedPatterns, found: Sequence[Matches], for_opponent: Sequence[NDArray[np.bool_]]
) -> WrittenAnswer:
    """Write a MatchPatternsResponse; `for_opponent` are the flags of each position, where asked for."""
    return _written(ranked, _lists(found, for_opponent), _NOTHING_LOST, _FIELDS)


def each_written(
    ranked: RankedPatterns, answers: Sequence[Sequence[Matches]], for_opponent: Sequence[NDArray[np.bool_]]
) -> list[WrittenAnswer]:
    """Write several at once; either the flags of each position of every answer are asked for, or none are."""
    lists = _lists([matches for answer in answers for matches in answer], for_opponent)
    ends = np.array([*accumulate(map(len, answers))], dtype=np.int32)
    messages, message_ends, tables, table_ends = kernels.current().write_each(
        lists, ends, _NOTHING_LOST, ranked.records, _FIELDS
    )
    raw = messages.tobytes()
    placements = [slice_.stop - slice_.start for slice_ in _slices(lists.starts.take(ends))]
    return [
        WrittenAnswer(raw[message], count, tables[table], ranked)
        for message, count, table in zip(_slices(message_ends), placements, _slices(table_ends), strict=True)
    ]


def _lists(found: Sequence[Matches], for_opponent: Sequence[NDArray[np.bool_]]) -> PlacementLists:
    return PlacementLists(
        joined([each.places for each in found]),
        joined([each.symmetries for each in found]),
        joined([each.rows for each in found]),
        joined([each.columns for each in found]),
        joined(for_opponent) if for_opponent else _NO_FLAGS,
        np.array([*accumulate(map(len, found), initial=0)], dtype=np.int32),
        np.array([each.total for each in found], dtype=np.int64),
        np.array([each.more for each in found], dtype=np.bool_),
    )


def _slices(ends: NDArray[np.int32]) -> Iterator[slice]:
    return starmap(slice, pairwise([0, *ends.tolist()]))


def successors_written(ranked: RankedPatterns, lists: PlacementLists, lost: Lost) -> WrittenAnswer:
    """Write a MatchSuccessorsResponse: the position's placements, then what each move gains and loses."""
    return _written(ranked, lists, lost, _SUCCESSOR_FIELDS)


def _written(ranked: RankedPatterns, lists: PlacementLists, lost: Lost, fields: Fields) -> WrittenAnswer:
    message, table = kernels.current().write(lists, lost, ranked.records, fields)
    return WrittenAnswer(message.tobytes(), len(lists.places), table, ranked)


def joined(columns: Sequence[NDArray[Number]]) -> NDArray[Number]:
    """Return columns one behind the other."""
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


@dataclass(frozen=True, slots=True)
class PatternQuestion:
    """What is asked about a position.

    At most `matches_each` placements of one pattern are told, so that others have room among `max_matches`;
    `player_elo` is the asking player's, None outside a contest.
    """

    board: Board
    player: int
    both_players: bool
    max_matches: int
    matches_each: int
    player_elo: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PatternCall:
    """The positions that one call asks about, and the patterns that it asks for.

    All questions are about both players, or none is.
    """

    spec: GameSpec
    ranked: RankedPatterns
    libraries: Sequence[Library]
    questions: Sequence[PatternQuestion]

    @property
    def both_players(self) -> bool:
        """Whether placements of either player are asked for."""
        return self.questions[0].both_players

    def wishes(self, questions: Sequence[PatternQuestion]) -> list[RankedQuery]:
        """What is to be matched for some of the questions."""
        libraries = [library_to_proto(library) for library in self.libraries]
        return [self._wish(question, libraries) for question in questions]

    def _wish(self, question: PatternQuestion, libraries: Sequence[int]) -> RankedQuery:
        spec, board = self.spec, question.board
        if question.player != 1 and spec.symmetric and spec.players == 2:
            board = spec.reversed_board(board)
        only = 0 if spec.symmetric or question.both_players else question.player
        selection = self.ranked.selection(libraries, question.player_elo, only)
        both = question.both_players and spec.symmetric
        return RankedQuery(board, selection, question.max_matches, question.matches_each, both)

    def answered(self) -> WrittenAnswer:
        """Write the answer, a MatchPatternsResponse without cells.

        Raises InvalidBoardError for a board of another geometry.
        """
        match = self.ranked.match
        return self.written([match(*wish) for wish in self.wishes(self.questions)])

    def written(self, found: Sequence[Matches]) -> WrittenAnswer:
        """Write the answer, once all questions are matched."""
        return positions_written(self.ranked, found, self.for_opponent(found))

    def for_opponent(self, found: Sequence[Matches]) -> list[NDArray[np.bool_]]:
        """Which of the placements found for all questions are the opponent's; nothing if nobody asks."""
        if not self.both_players:
            return []
        if self.spec.symmetric:
            return [matches.reversed for matches in found]
        return [
            self.ranked.players.take(matches.places) != question.player
            for matches, question in zip(found, self.questions, strict=True)
        ]


def answered_together(calls: Sequence[PatternCall]) -> list[WrittenAnswer]:
    """Answer each call, in less time than one by one.

    Raises InvalidBoardError for a board of another geometry, and answers none then.
    """
    alike: dict[tuple[RankedPatterns, bool], list[int]] = {}
    for number, call in enumerate(calls):
        alike.setdefault((call.ranked, call.both_players), []).append(number)
    answers: dict[int, WrittenAnswer] = {}
    for (ranked, _), numbers in alike.items():
        some = [calls[number] for number in numbers]
        if len(some) == 1:
            # Written by itself it takes 20 us less.
            answers[numbers[0]] = some[0].answered()
            continue
        matches = iter(ranked.match_each([wish for call in some for wish in call.wishes(call.questions)]))
        found = [list(islice(matches, len(call.questions))) for call in some]
        flags = [
            each for call, of_call in zip(some, found, strict=True) for each in call.for_opponent(of_call)
        ]
        answers |= zip(numbers, each_written(ranked, found, list(flags)), strict=True)
    return [answers[number] for number in range(len(calls))]


Move = Sequence[Change]


class SuccessorAnswer:
    """Writes the answer to one call. Moves are added in parts, so that others are let in between.

    `question` is of one player only.
    """

    def __init__(
        self, spec: GameSpec, ranked: RankedPatterns, libraries: Sequence[Library], question: PatternQuestion
    ) -> None:
        self._ranked = ranked
        self._question = question
        self._board: Board = question.board
        self._turned: tuple[int, ...] | None = None
        if question.player != 1 and spec.symmetric and spec.players == 2:
            self._board = spec.reversed_board(question.board)
            self._turned = spec.reversed_cells
        only = 0 if spec.symmetric else question.player
        numbers = [library_to_proto(library) for library in libraries]
        self._wanted = ranked.selection(numbers, question.player_elo, only).wanted
        self._parts: list[Successors] = []

    def add(self, moves: Sequence[Move]) -> None:
        """Answer for some more moves. Raises InvalidCandidateMoveError and InvalidBoardError."""
        if self._turned is not None:
            turned = self._turned
            moves = [[(turned[cell], SWAP_COLOURS[state]) for cell, state in move] for move in moves]
        ranked, question = self._ranked, self._question
        self._parts.append(
            ranked.snapshot.match_successors(
                self._board, moves, ranked.ranking, self._wanted, question.max_matches, question.matches_each
            )
        )

    def written(self) -> WrittenAnswer:
        """Return the answer, a MatchSuccessorsResponse without cells, after at least one `add`."""
        parts = self._parts
        # Each part has found the same on the position.
        base = parts[0].base
        gained = [base, *(part.all_new for part in parts)]
        totals = [np.array([base.total]), *(part.totals for part in parts)]
        lists = PlacementLists(
            joined([each.places for each in gained]),
            joined([each.symmetries for each in gained]),
            joined([each.rows for each in gained]),
            joined([each.columns for each in gained]),
            np.zeros(0, dtype=np.bool_),
            _starts([np.array([0, len(base)], dtype=np.int32), *(part.new_starts for part in parts)]),
            np.concatenate(totals, dtype=np.int64),
            np.zeros(1 + sum(map(len, parts)), dtype=np.bool_),
        )
        lost = Lost(_starts([part.gone_starts for part in parts]), joined([part.all_gone for part in parts]))
        return successors_written(self._ranked, lists, lost)


def _starts(parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return where lists start, of which parts are put one behind the other."""
    lengths = np.concatenate([np.diff(starts) for starts in parts])
    return np.concatenate([np.zeros(1, dtype=np.int32), np.cumsum(lengths, dtype=np.int32)])
