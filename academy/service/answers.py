"""Answers to consultations: openings, patterns on positions, and changes by candidate moves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board, CellChanges
from academy.knowledge.book import Book
from academy.knowledge.cells import SWAP_COLOURS
from academy.knowledge.evaluation import EvaluationTable
from academy.knowledge.fair_use import acceptable
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.table import TesujiTable
from academy.knowledge.votes import VALUE_SCALE
from academy.matching.matches import Matches, MatchQuery, join_matches
from academy.matching.successors import Successors
from academy.service.pattern_cache import RankedPatterns
from academy.store.codec.games import library_to_proto
from academy.store.codec.patterns import stored_cells
from academy.store.columns import pack_columns
from academy.v1 import consultation_pb2 as messages

_REPLY_AND_MOVE: Final = 2
_REVISION_BYTES: Final = 8


def answer_opening(
    book: Book, player: int, plies_ahead: int, moves: tuple[str, ...]
) -> messages.LookUpOpeningResponse:
    """Return a position's figures for a player, its continuations, best for their mover first, and the move
    recommended, with what may follow it in `plies_ahead` plies of the book.

    Moves of players too weak for the book's reader are left out, and the position's own figures where they
    came from such players.
    """
    tree = book.tree
    node = tree.find(moves, player)
    if node is None:
        return messages.LookUpOpeningResponse(known=False)
    answer = messages.LookUpOpeningResponse(known=True)
    if book.accepts(node):
        answer.position.CopyFrom(_statistics(node, player))
    continuations = [move for move in tree.continuations(moves, player) if book.accepts(move.node)]
    continuations.sort(key=lambda move: (-move.node.value(move.node.mover), -move.node.visits, move.moves))
    for move in continuations:
        answer.moves.add(
            move=move.moves[0], equivalents=move.moves, statistics=_statistics(move.node, player)
        )
    _OpeningLine(book).write(answer, node, tree.spec.orientations(moves), plies_ahead)
    return answer


@dataclass(frozen=True, slots=True)
class _OpeningLine:
    """Writes recommended moves, and what a book knows behind them, as the game spells moves."""

    book: Book

    def write(
        self,
        message: messages.LookUpOpeningResponse | messages.BookReply,
        position: OpeningNode,
        orientations: Sequence[dict[str, str]],
        plies_ahead: int,
    ) -> None:
        """Write the recommendation after a position into the message's field, if there is one.

        `orientations` are those by which the tree's moves are spelt there.
        """
        best = self.book.recommend(position)
        if best is None:
            return
        spec, move = self.book.tree.spec, best.node.move
        spellings = spec.spellings(move, orientations)
        recommendation = message.recommendation
        recommendation.move, recommendation.value = spellings[0], best.value
        recommendation.equivalents.extend(spellings)
        recommendation.visits = best.node.visits
        _write_analysis(recommendation, best.node, best.node.mover)
        if plies_ahead < _REPLY_AND_MOVE:
            return
        after = spec.orientations_after(orientations, move, spellings[0])
        for reply in self.book.tree.children(best.node.node_id):
            if reply.mover == best.node.mover or self.book.recommend(reply) is None:
                continue
            for spelt in spec.spellings(reply.move, after):
                answer = recommendation.replies.add(move=spelt)
                self.write(
                    answer,
                    reply,
                    spec.orientations_after(after, reply.move, spelt),
                    plies_ahead - _REPLY_AND_MOVE,
                )


def _statistics(node: OpeningNode, player: int) -> messages.OpeningStatistics:
    statistics = messages.OpeningStatistics(
        visits=node.visits,
        wins=node.wins[player - 1],
        draws=node.draws[player - 1],
        losses=node.losses[player - 1],
        value=node.value(player),
        elo=node.elo,
    )
    _write_analysis(statistics, node, player)
    return statistics


def _write_analysis(
    message: messages.OpeningStatistics | messages.BookMove, node: OpeningNode, player: int
) -> None:
    """Write what a search found for a player into the message's field, if there was one."""
    if node.analysis is not None:
        searched = node.analysis.value_millionths
        value = (searched if player == node.mover else VALUE_SCALE - searched) / VALUE_SCALE
        analysis = messages.OpeningAnalysis(
            value=value,
            budget=node.analysis.budget,
            analyst=node.analysis.analyst,
            kind=node.analysis.kind.value,  # type: ignore[arg-type]
        )
        message.analysis.CopyFrom(analysis)


class AnsweredPatterns:
    """The patterns of one answer: each that has a match, once, in the order of their places."""

    def __init__(self, ranked: RankedPatterns, matched: Sequence[Matches]) -> None:
        self.ranked = ranked
        listed = np.zeros(len(ranked.pattern_ids), dtype=np.bool_)
        for matches in matched:
            listed[matches.places] = True
        self.places: NDArray[np.intp] = np.flatnonzero(listed)
        self._row_of = np.empty(len(ranked.pattern_ids), dtype=np.int32)
        self._row_of[self.places] = np.arange(len(self.places), dtype=np.int32)

    def write(self, message: messages.PatternTable) -> None:
        """Write the patterns' columns, without their cells."""
        columns = self.ranked.columns.items()
        pack_columns(message, **{name: column.take(self.places) for name, column in columns})

    def pattern_ids(self, libraries: Iterable[Library]) -> dict[Library, list[int]]:
        """Return the numbers of the patterns by library."""
        listed = self.ranked.libraries.take(self.places)
        pattern_ids = self.ranked.pattern_ids.take(self.places)
        return {library: pattern_ids[listed == library_to_proto(library)].tolist() for library in libraries}

    def write_matches(self, message: messages.PositionMatches, matches: Matches) -> None:
        """Write matches of the table's patterns."""
        pack_columns(
            message,
            patterns=self._row_of.take(matches.places),
            symmetries=matches.symmetries,
            rows=matches.rows,
            columns=matches.columns,
        )
        message.total = matches.total
        message.more = matches.more


Message = TypeVar("Message", messages.MatchPatternsResponse, messages.MatchSuccessorsResponse)


@dataclass(frozen=True, slots=True)
class MatchAnswer(Generic[Message]):
    """A message without cells, how many matches it lists, and its table of patterns."""

    message: Message
    matches_listed: int
    table: AnsweredPatterns

    def cells(self, stored: Mapping[int, bytes]) -> list[str]:
        """Return the cells of the patterns, in the order of the table."""
        pattern_ids = self.table.ranked.pattern_ids.take(self.table.places).tolist()
        return [stored_cells(stored[pattern_id]) for pattern_id in pattern_ids]


@dataclass(frozen=True, slots=True)
class PatternQuestion:
    """A position that a caller asks about.

    At most `matches_each` matches of one pattern are listed, so that others have room among `max_matches`;
    `least_elo` is the Elo above which the caller accepts knowledge, None outside a contest.
    """

    board: Board
    player: int
    both_players: bool
    max_matches: int
    matches_each: int
    least_elo: float | None = None

    def query(self, spec: GameSpec, ranked: RankedPatterns, libraries: Sequence[Library]) -> MatchQuery:
        """Return the query: the board as the player sees it, and the patterns for this player."""
        reversed_ = self.player != 1 and spec.symmetric and spec.players == 2
        only = 0 if spec.symmetric or self.both_players else self.player
        return MatchQuery(
            spec.reversed_board(self.board) if reversed_ else self.board,
            ranked.select(map(library_to_proto, libraries), self.least_elo, only),
            self.max_matches,
            self.matches_each,
            self.both_players and spec.symmetric,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PatternCall:
    """The positions of one call, and the patterns to match.

    Either all questions are about both players, or all about one.
    """

    spec: GameSpec
    ranked: RankedPatterns
    libraries: Sequence[Library]
    questions: Sequence[PatternQuestion]

    def match(self, questions: Sequence[PatternQuestion]) -> list[Matches]:
        """Match some of the questions. Raises InvalidBoardError for a board of another geometry."""
        match = self.ranked.match
        return [match(question.query(self.spec, self.ranked, self.libraries)) for question in questions]

    def answer(self) -> MatchAnswer[messages.MatchPatternsResponse]:
        """Return the answer, a MatchPatternsResponse without cells. Raises InvalidBoardError."""
        return self.encode(self.match(self.questions))

    def encode(self, matched: Sequence[Matches]) -> MatchAnswer[messages.MatchPatternsResponse]:
        """Return the answer, once all questions are matched."""
        message, table = messages.MatchPatternsResponse(), AnsweredPatterns(self.ranked, matched)
        for question, matches in zip(self.questions, matched, strict=True):
            position = message.positions.add()
            table.write_matches(position, matches)
            if question.both_players:
                pack_columns(position, for_opponent=self._for_opponent(question, matches))
        table.write(message.patterns)
        return MatchAnswer(message, sum(len(matches.places) for matches in matched), table)

    def _for_opponent(self, question: PatternQuestion, matches: Matches) -> NDArray[np.bool_]:
        if self.spec.symmetric:
            return matches.reversed
        flags: NDArray[np.bool_] = self.ranked.players.take(matches.places) != question.player
        return flags


# What `answer_weights` calls an answer without weights.
NO_WEIGHTS: Final = blake2b(b"//", digest_size=_REVISION_BYTES).hexdigest()


def answer_weights(
    evaluation: EvaluationTable, tesujis: TesujiTable, least_elo: float | None, known_revision: str
) -> messages.DownloadWeightsResponse:
    """Return all weights that a player of this least acceptable Elo gets, none if it has their revision."""
    evaluation = evaluation.for_player(least_elo)
    shown = np.ones(len(tesujis), dtype=np.bool_)
    if least_elo is not None:
        shown = acceptable(tesujis.elos, least_elo)
    weights = messages.DownloadWeightsResponse(
        contests=evaluation.contests, elo=evaluation.elo, uses=evaluation.uses, successes=evaluation.successes
    )
    digest = blake2b(digest_size=_REVISION_BYTES)
    for message, codes, millionths in (
        (weights.evaluation, evaluation.codes, evaluation.weight_millionths),
        (weights.tesujis, tesujis.codes[shown], tesujis.weight_millionths[shown]),
    ):
        pack_columns(message, codes=codes.astype("<u8"), millionths=millionths.astype("<i4"))
        digest.update(message.SerializeToString(deterministic=True) + b"/")
    weights.revision = digest.hexdigest()
    weights.unchanged = weights.revision == known_revision
    if weights.unchanged:
        weights.ClearField("evaluation")
        weights.ClearField("tesujis")
    return weights


class SuccessorAnswer:
    """Writes the answer to one call. Moves are added in parts, so that other callers have turns between them.

    `question` is of one player only. All parts are answered by `ranked`, whatever is learnt between them.
    """

    def __init__(
        self, spec: GameSpec, ranked: RankedPatterns, libraries: Sequence[Library], question: PatternQuestion
    ) -> None:
        self.ranked = ranked
        self._query = question.query(spec, ranked, libraries)
        self._cells = spec.reversed_cells if self._query.board is not question.board else None
        self._parts: list[Successors] = []

    def add(self, moves: Sequence[CellChanges]) -> None:
        """Answer for some more moves. Raises InvalidCandidateMoveError and InvalidBoardError."""
        if self._cells is not None:
            cells = self._cells
            moves = [[(cells[cell], SWAP_COLOURS[state]) for cell, state in move] for move in moves]
        self._parts.append(self.ranked.snapshot.match_successors(self._query, moves))

    def gained(self) -> tuple[Matches, NDArray[np.int32]]:
        """Return the matches that the moves bring, move after move, and where those of each end."""
        parts = self._parts
        return join_matches([part.all_new for part in parts]), _ends([part.new_starts for part in parts])

    def encode(self) -> MatchAnswer[messages.MatchSuccessorsResponse]:
        """Return the answer, a MatchSuccessorsResponse without cells, after at least one `add`."""
        parts = self._parts
        # Every part has matched the position, with the same result.
        base = parts[0].base
        gained, gained_ends = self.gained()
        message, table = messages.MatchSuccessorsResponse(), AnsweredPatterns(self.ranked, [base, gained])
        table.write_matches(message.position, base)
        table.write_matches(message.moves.gained, gained)
        pack_columns(
            message.moves,
            gained_ends=gained_ends,
            gained_totals=np.concatenate([part.totals for part in parts]),
            lost=np.concatenate([part.all_gone for part in parts]),
            lost_ends=_ends([part.gone_starts for part in parts]),
        )
        table.write(message.patterns)
        return MatchAnswer(message, len(base.places) + len(gained.places), table)


def _ends(starts_of_parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the ends of the moves' lists after the lists of all parts are joined."""
    lengths = np.concatenate([np.diff(starts) for starts in starts_of_parts])
    return np.cumsum(lengths, dtype=np.int32)
