"""ACADEMY's answers as plain values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import compress, pairwise, repeat
from typing import Final

import grpc

from academy.knowledge.boards import GraphGeometry
from academy.knowledge.contests import Verdict
from academy.knowledge.fair_use import FairUse
from academy.knowledge.node_analysis import SearchKind
from academy.knowledge.patterns import Pattern
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells
from academy.v1 import consultation_pb2, contests_pb2, game_pb2, pattern_pb2, proposals_pb2
from clients.connection import AcademyRefusedError

LIBRARIES: Final = {
    code: Library[name.removeprefix("LIBRARY_")] for name, code in pattern_pb2.Library.items() if code
}
LIBRARY_CODES: Final = {library: code for code, library in LIBRARIES.items()}
_VERDICTS: Final = {
    code: Verdict[name.removeprefix("VERDICT_")] for name, code in proposals_pb2.Verdict.items() if code
}


@dataclass(frozen=True, slots=True)
class Analysis:
    """What an analyst's search found out about a position: computed, not learnt from contests.

    Args:
        value: what the asking player may expect there, from 0 to 1; of a recommended move, its player.
        budget: how much was searched, in what the kind counts.
        analyst: who searched.
        kind: how it was searched; budgets of different kinds cannot be compared.
    """

    value: float
    budget: int
    analyst: str = ""
    kind: SearchKind = SearchKind.RANDOM_GAMES


@dataclass(frozen=True, slots=True)
class OpeningMove:
    """A known continuation of an opening.

    Args:
        move: the move, in the game's notation.
        equivalents: the same move under the symmetries of the position.
        visits: how many contests played it.
        wins: how many of them the asking player's side won.
        draws: how many were drawn.
        losses: how many it lost.
        value: the mean expected value after it, from 0 to 1, for the asking player's side.
        elo: the mean Elo of the players who made it.
        analysis: what a search found, which is in none of the other figures; None where nobody searched.
    """

    move: str
    equivalents: tuple[str, ...]
    visits: int
    wins: int
    draws: int
    losses: int
    value: float
    elo: float
    analysis: Analysis | None = None


@dataclass(frozen=True, slots=True)
class BookMove:
    """A move that the opening tree recommends.

    Args:
        move: the move, in the game's notation.
        equivalents: the same move under the symmetries of the position.
        value: what its mover may expect after it, from 0 to 1, the known replies considered.
        visits: how many contests played it.
        replies: what the tree recommends after `move` and each known reply to it, by the reply; empty where
            the game's setting `opening_plies_ahead` is 0.
        analysis: what a search found, as a part of `value`; None where nobody searched.
    """

    move: str
    equivalents: tuple[str, ...]
    value: float
    visits: int
    replies: Mapping[str, "BookMove"]
    analysis: Analysis | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """What ACADEMY says of the moves in a position.

    Args:
        log_odds: for each move compared what to add to its log odds: how much better it is than they are on
            average. Empty where they were not compared.
        cells: the cells compared, by index; empty where the question gave boards.
        book: the move that the opening tree recommends, to be played at once; None where it was not asked or
            recommends none.
        moves_asked: whether moves were compared; fair use may forbid it.
        opening_asked: whether the opening tree was asked; a `book` without that was held since an earlier
            answer.
        tesujis: how many different tesujis the numbers rest on.
        patterns: how many different patterns they rest on.
        evaluation_contests: how many contests taught the evaluation; 0 where that is not a part of them.
        tesuji_ids: the tesujis' codes, for a seat with `with_ids`.
        pattern_ids: the patterns' numbers, for a seat with `with_ids`.
    """

    log_odds: tuple[float, ...] = ()
    cells: tuple[int, ...] = ()
    book: BookMove | None = None
    moves_asked: bool = False
    opening_asked: bool = False
    tesujis: int = 0
    patterns: int = 0
    evaluation_contests: int = 0
    tesuji_ids: tuple[int, ...] = ()
    pattern_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A pattern that lies on a board.

    Args:
        pattern_id: the pattern.
        library: the library that has it.
        proposers: how many players proposed it.
        elo: their mean Elo.
        value: the expected value of positions with it, from 0 to 1: the asking player's, the opponent's if
            `for_opponent`.
        symmetry: the number of the game's symmetry under which the pattern lies here.
        row: the row of the image's top left cell. In a symmetric game of two, player 2's own
            patterns and the opponent's of player 1 are on the board reversed: turned by the game's reversal,
            colours swapped. `covered_cells` are on the board itself.
        column: the column of that cell.
        for_opponent: whether the pattern speaks of the opponent.
        cells: the pattern's text; "" where `MatchOptions.with_cells` does not ask for it.
    """

    pattern_id: int
    library: Library
    proposers: int
    elo: float
    value: float
    symmetry: int
    row: int
    column: int
    for_opponent: bool
    cells: str

    def covered_cells(self, spec: GameSpec, player: int) -> frozenset[int]:
        """Return the cells of the board asked about that the pattern says something of, row by row from 0.

        Args:
            spec: the game.
            player: the seat that asked, from 1.

        Raises:
            ValueError: the match has no `cells`: ask with `MatchOptions(with_cells=True)`.
        """
        if not self.cells:
            raise ValueError(
                f"pattern {self.pattern_id} came without its cells: ask with MatchOptions(with_cells=True)"
            )
        image = read_cells(self.cells, spec.geometry).image(spec.symmetry_group[self.symmetry])
        reversed_ = spec.symmetric and spec.players == 2 and (player == 2) != self.for_opponent
        return frozenset(
            spec.reversed_cells[cell] if reversed_ else cell for cell in self._placed(image, spec)
        )

    def _placed(self, image: Pattern, spec: GameSpec) -> Iterator[int]:
        geometry = spec.geometry
        for row, column in image.cells:
            if isinstance(geometry, GraphGeometry):
                yield column
                continue
            row, column = row + self.row, column + self.column
            if 0 <= row < geometry.rows and 0 <= column < geometry.columns:
                yield row * geometry.columns + column


@dataclass(frozen=True, slots=True)
class SuccessorMatches:
    """The matches on a position, and what each of some moves changes of them.

    Args:
        position: the matches on the position, strongest patterns first.
        gained: for each move the matches that it brings.
        lost: for each move the matches of `position` that it ends.
    """

    position: tuple[PatternMatch, ...]
    gained: tuple[tuple[PatternMatch, ...], ...]
    lost: tuple[tuple[PatternMatch, ...], ...]

    def after(self, move: int) -> list[PatternMatch]:
        """Return all matches on the position after a move: those that stay, then those gained.

        Args:
            move: the move's index among those asked about, from 0.
        """
        ended = set(self.lost[move])
        return [*(match for match in self.position if match not in ended), *self.gained[move]]


@dataclass(frozen=True, slots=True)
class ProposalStatus:
    """A proposal of one's own, and what became of it.

    Args:
        proposal_id: the proposal.
        contest_id: the contest that it comes from.
        library: the library that it is for.
        cells: the pattern's text.
        ply: the ply of the contest after which the pattern was on the board, from 1.
        verdict: what ACADEMY decided; `Verdict.HELD` until the contest is reported.
        reason: the rule that decided.
        pattern_id: the pattern that it became or changed; 0 without one.
    """

    proposal_id: str
    contest_id: str
    library: Library
    cells: str
    ply: int
    verdict: Verdict
    reason: str
    pattern_id: int


def fair_use_of(settings: game_pb2.LibrarySettings | contests_pb2.FairUseRules) -> FairUse:
    """The rules of fair use that a game's settings make, or that are in force in a contest."""
    # An older server does not know all of them.
    known = {field.name: value for field, value in settings.ListFields()}
    return FairUse(**{rule.name: known[rule.name] for rule in fields(FairUse) if rule.name in known})


def _book_move(message: consultation_pb2.BookMove) -> BookMove:
    replies = {
        reply.move: _book_move(reply.recommendation)
        for reply in message.replies
        if reply.HasField("recommendation")
    }
    return BookMove(
        message.move,
        tuple(message.equivalents),
        message.value,
        message.visits,
        replies,
        _analysis(message),
    )


def _analysis(
    message: consultation_pb2.OpeningStatistics | consultation_pb2.BookMove,
) -> Analysis | None:
    if not message.HasField("analysis"):
        return None
    # An older server does not say: then it was random games.
    kind = SearchKind(message.analysis.kind or SearchKind.RANDOM_GAMES)
    return Analysis(message.analysis.value, message.analysis.budget, message.analysis.analyst, kind)


def opening_moves(response: consultation_pb2.LookUpOpeningResponse) -> list[OpeningMove]:
    """The continuations of an opening lookup, best for the mover first."""
    return [
        OpeningMove(
            move.move,
            tuple(move.equivalents),
            move.statistics.visits,
            move.statistics.wins,
            move.statistics.draws,
            move.statistics.losses,
            move.statistics.value,
            move.statistics.elo,
            _analysis(move.statistics),
        )
        for move in response.moves
    ]


def pattern_matches(response: consultation_pb2.MatchPatternsResponse) -> list[list[PatternMatch]]:
    """The matches on each position asked about, strongest patterns first."""
    return [*map(_Table(response.patterns).matches, response.positions)]


def advice(request: consultation_pb2.AdviseRequest, response: consultation_pb2.AdviseResponse) -> Advice:
    """Read the answer to a question for advice."""
    return Advice(
        tuple(response.log_odds),
        # ACADEMY does not repeat what the question named.
        tuple(response.cells or (request.cells if response.moves_asked else ())),
        _book_move(response.book) if response.HasField("book") else None,
        response.moves_asked,
        response.opening_asked,
        response.tesujis,
        response.patterns,
        response.evaluation_contests,
        tuple(response.tesuji_ids),
        tuple(response.pattern_ids),
    )


def opponent_gains(response: consultation_pb2.MatchPatternsResponse) -> list[list[PatternMatch]]:
    """The opponent's matches on each position but the first that are not on the first.

    The answer is one for both players. Nothing is made of the other matches, which are most of them.
    """
    table = _Table(response.patterns)
    first, *after = (
        [*compress(_match_rows(position), position.for_opponent)] for position in response.positions
    )
    known = set(first)
    return [[table.match(row, True) for row in rows if row not in known] for rows in after]


def successor_matches(response: consultation_pb2.MatchSuccessorsResponse) -> SuccessorMatches:
    """The matches on a position, and what moves change of them."""
    table = _Table(response.patterns)
    position, moves = tuple(table.matches(response.position)), response.moves
    return SuccessorMatches(
        position,
        _split(table.matches(moves.gained), moves.gained_ends),
        _split([position[entry] for entry in moves.lost], moves.lost_ends),
    )


def _split(matches: Sequence[PatternMatch], ends: Iterable[int]) -> tuple[tuple[PatternMatch, ...], ...]:
    """The matches of each move, which end there."""
    return tuple(tuple(matches[first:end]) for first, end in pairwise([0, *ends]))


# The row of the table of patterns, the symmetry, and where the top left cell lies (row, column).
_MatchRow = tuple[int, int, int, int]


def _match_rows(position: consultation_pb2.PositionMatches) -> Iterator[_MatchRow]:
    return zip(position.patterns, position.symmetries, position.rows, position.columns, strict=True)


class _Table:
    """The patterns of an answer, read once: a message's fields are slow to read."""

    def __init__(self, table: consultation_pb2.PatternTable) -> None:
        libraries = [LIBRARIES[library] for library in table.libraries]
        self._rows = [
            *zip(table.pattern_ids, libraries, table.proposers, table.elos, table.values, strict=True)
        ]
        self._cells = [*table.cells] or [""] * len(libraries)

    def match(self, match_row: _MatchRow, for_opponent: bool) -> PatternMatch:
        """What is known of a match."""
        pattern, symmetry, row, column = match_row
        return PatternMatch(*self._rows[pattern], symmetry, row, column, for_opponent, self._cells[pattern])

    def matches(self, position: consultation_pb2.PositionMatches) -> list[PatternMatch]:
        """All matches on a position."""
        flags = position.for_opponent or repeat(False, len(position.patterns))
        return [*map(self.match, _match_rows(position), flags)]


def proposal_statuses(
    response: proposals_pb2.ListProposalsResponse | proposals_pb2.SubmitProposalsResponse,
) -> list[ProposalStatus]:
    """Proposals with their verdicts."""
    return [
        ProposalStatus(
            proposal.proposal_id,
            proposal.contest_id,
            LIBRARIES[proposal.content.library],
            proposal.content.cells,
            proposal.content.ply,
            _VERDICTS[proposal.verdict],
            proposal.reason,
            proposal.pattern_id,
        )
        for proposal in response.proposals
    ]


def refusal_of(response: consultation_pb2.PlayResponse) -> AcademyRefusedError | None:
    """Return the refusal that a stream's answer is; None for any other."""
    if response.WhichOneof("answer") != "refusal":
        return None
    refusal = response.refusal
    code = next((status.name for status in grpc.StatusCode if status.value[0] == refusal.code), "UNKNOWN")
    seconds = refusal.metadata.get("retry_after")
    return AcademyRefusedError(
        code, refusal.message, refusal.reason, refusal.metadata, None if seconds is None else float(seconds)
    )
