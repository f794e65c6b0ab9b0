"""A player's seat in one contest: keeps to fair use by itself, and knows what is worth proposing.

Pure bookkeeping; the calls are made by `clients.academy`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from academy.knowledge.boards import Board, Geometry
from academy.knowledge.fair_use import LOW_VALUE, opening_allowance
from academy.knowledge.patterns import Pattern
from academy.knowledge.postmortem import gain, is_late, needed_gain
from academy.knowledge.settings import Library
from academy.knowledge.text import write_cells
from academy.v1 import consultation_pb2, proposals_pb2
from clients.advice import LIBRARY_CODES

MOST_PROPOSALS: Final = 10


@dataclass(frozen=True, slots=True)
class _Candidate:
    gain: float
    message: proposals_pb2.NewProposal


@dataclass
class Seat:
    """One player's side of a contest.

    `player` is the seat from 1; `contest_id` is empty outside a contest, where the limits on
    consultations do not hold and nothing can be proposed.
    """

    game_id: str
    geometry: Geometry
    player: int
    contest_id: str = ""
    _consultations: int = 0
    _tesuji: list[_Candidate] = field(default_factory=list)
    _endgame: list[_Candidate] = field(default_factory=list)

    # Consulting

    def opening_question(
        self, moves: Sequence[str], own_moves: int
    ) -> consultation_pb2.LookUpOpeningRequest | None:
        """The question for the moves played so far, or None where fair use has no room for it.

        `own_moves` is how many of them were one's own. Asking counts.
        """
        if self.contest_id:
            if self._consultations >= opening_allowance(own_moves + 1):
                return None
            self._consultations += 1
        return consultation_pb2.LookUpOpeningRequest(
            game_id=self.game_id, contest_id=self.contest_id, player=self.player, moves=moves
        )

    def may_ask_for_patterns(self, expected_value: float | None) -> bool:
        """Whether fair use has room for a question about patterns where so much is expected."""
        return not self.contest_id or (expected_value is not None and expected_value <= LOW_VALUE)

    def pattern_question(
        self,
        boards: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        libraries: Sequence[Library] = (),
        most: int = 0,
        with_cells: bool = False,
        both_players: bool = False,
    ) -> consultation_pb2.MatchPatternsRequest | None:
        """The question which patterns lie on some boards, or None where fair use forbids it.

        `expected_value` is one's own for the position to move in; in a contest it must be low, and be the one
        that the arena is told of this position. `plies` is how many plies were played before it: without it
        ACADEMY finds the position by the first of the boards, which then must be that of the position. With
        `both_players` the answer has the opponent's patterns too.
        """
        if not self.may_ask_for_patterns(expected_value):
            return None
        return consultation_pb2.MatchPatternsRequest(
            game_id=self.game_id,
            contest_id=self.contest_id,
            positions=[
                consultation_pb2.Position(
                    board=board.letters, player=self.player, expected_value=expected_value, plies=plies
                )
                for board in boards
            ],
            libraries=[LIBRARY_CODES[library] for library in libraries],
            max_matches=most,
            include_cells=with_cells,
            both_players=both_players,
        )

    def successor_question(
        self,
        board: Board,
        after: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        libraries: Sequence[Library] = (),
        most: int = 0,
        with_cells: bool = False,
    ) -> consultation_pb2.MatchSuccessorsRequest | None:
        """The question what moves change of the patterns on a board, or None where fair use forbids it.

        `after` are the boards after each move, at most 400; `expected_value` is one's own for `board`, and
        `plies` how many plies led to it, as in `pattern_question`.
        """
        if not self.may_ask_for_patterns(expected_value):
            return None
        return consultation_pb2.MatchSuccessorsRequest(
            game_id=self.game_id,
            contest_id=self.contest_id,
            position=consultation_pb2.Position(
                board=board.letters, player=self.player, expected_value=expected_value, plies=plies
            ),
            moves=[_candidate(board.letters, each.letters) for each in after],
            libraries=[LIBRARY_CODES[library] for library in libraries],
            max_matches=most,
            include_cells=with_cells,
        )

    # Proposing

    def moved(self, pattern: Pattern, ply: int, value_before: float | None, value: float) -> None:
        """Tell of an own move: the pattern around it as it stands after ply number `ply`, and its worth.

        `value` is the expected value, from 0 to 1, that the arena is told for this ply, and `value_before`
        what it was told last: for the own move before, None where it was told nothing. A move that raised
        the expected value enough becomes a middle-game proposal; every move is remembered as one for the
        endgame.
        """
        cells = write_cells(pattern, self.geometry)
        if value_before is not None:
            raised = gain(value_before, value)
            if raised >= needed_gain(value_before, value):
                message = proposals_pb2.NewProposal(
                    library=LIBRARY_CODES[Library.MIDDLE_GAME],
                    cells=cells,
                    ply=ply,
                    value=value,
                    value_before=value_before,
                )
                self._tesuji.append(_Candidate(raised, message))
        message = proposals_pb2.NewProposal(
            library=LIBRARY_CODES[Library.ENDGAME], cells=cells, ply=ply, value=value
        )
        self._endgame.append(_Candidate(abs(value - 0.5), message))

    @property
    def has_moved(self) -> bool:
        """Whether there may be anything to propose."""
        return bool(self.contest_id and self._endgame)

    def proposals(
        self, plies: int, average_length: float, most: int = MOST_PROPOSALS
    ) -> proposals_pb2.SubmitProposalsRequest | None:
        """What is worth proposing of a contest that ended after `plies` plies; None when nothing is.

        At most half are tesuji, those that gained most; the rest are the clearest positions among the last
        plies, as many as 20 % of the game's `average_length`: ACADEMY knows it, see `Academy.average_length`.
        """
        late = [each for each in self._endgame if is_late(each.message.ply, plies, average_length)]
        tesuji = sorted(self._tesuji, key=lambda each: -each.gain)[: most // 2]
        endgame = sorted(late, key=lambda each: -each.gain)[: most - len(tesuji)]
        chosen = [each.message for each in (*tesuji, *endgame)]
        if not chosen or not self.contest_id:
            return None
        return proposals_pb2.SubmitProposalsRequest(contest_id=self.contest_id, proposals=chosen)


def _candidate(before: str, after: str) -> consultation_pb2.CandidateMove:
    """What a move changes. Raises ValueError for boards of different sizes."""
    changed = [cell for cell, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    return consultation_pb2.CandidateMove(cells=changed, letters="".join(after[cell] for cell in changed))
