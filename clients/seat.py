"""A player's seat in one contest: keeps to fair use by itself, and knows what is worth proposing.

It makes no calls; `clients.academy` does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from academy.knowledge.boards import Board, Geometry, GraphGeometry
from academy.knowledge.fair_use import LUDAE_FAIR_USE, FairUse, FairUseExceededError, ValueNotLowError
from academy.knowledge.patterns import Pattern
from academy.knowledge.proposing import gain, is_late, needed_gain
from academy.knowledge.settings import Library
from academy.knowledge.spec import MAX_PLAYERS, check_outline
from academy.knowledge.text import write_cells
from academy.v1 import consultation_pb2, pattern_pb2, proposals_pb2
from clients.position_checks import check_cell, check_moves, check_number
from clients.responses import LIBRARY_CODES, BookMove

MAX_PROPOSALS: Final = 10
# A server takes this number in one call.
_MOST_IN_CALL: Final = 64


class FairUseError(RuntimeError):
    """Fair use forbids a question of a contest; ACADEMY is not asked.

    Args:
        message: the rule and when to ask again, for people.
        reason: ACADEMY's name of the rule: FAIR_USE_EXCEEDED (openings) or VALUE_NOT_LOW (patterns).
        next_own_move: the number, from 1, of the own move before which an opening may be looked up again;
            None for patterns, which may be asked for where at most the contest's
            `pattern_value_limit` is expected, by LUDAE's rules 0.33.
    """

    def __init__(self, message: str, reason: str, next_own_move: int | None = None):
        super().__init__(f"{message} [{reason}]")
        self.reason = reason
        self.next_own_move = next_own_move


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """Which patterns an answer has.

    Args:
        libraries: the libraries to look in; all where empty.
        max_matches: the limit of matches on each board; 0 for the server's own.
        with_cells: whether each match has its pattern's text.

    Raises:
        ValueError: `max_matches` is negative or more than a message holds.
    """

    libraries: Sequence[Library] = ()
    max_matches: int = 0
    with_cells: bool = False

    def __post_init__(self) -> None:
        check_number("max_matches", self.max_matches)


ANY_MATCHES: Final = MatchOptions()


@dataclass(frozen=True, slots=True)
class _Candidate:
    gain: float
    message: proposals_pb2.NewProposal


@dataclass
class Seat:
    """One player's side of a contest.

    Args:
        game_id: ACADEMY's name of the game, such as `go-9x9`.
        geometry: the game's board.
        player: the seat's number, from 1.
        contest_id: the contest; "" outside one, where fair use does not count and nothing can be proposed.
        fair_use: the contest's rules of fair use; `Academy.seat` reads them, `Academy.fair_use` the game's.
        with_ids: whether advice names the tesujis and patterns that it rests on.

    Raises:
        ValueError: no game has such a seat.
    """

    game_id: str
    geometry: Geometry
    player: int
    contest_id: str = ""
    fair_use: FairUse = LUDAE_FAIR_USE
    with_ids: bool = False
    _consultations: int = 0
    # What the opening tree recommended last, and after which moves.
    _book: tuple[Sequence[str], BookMove | None] = ((), None)
    _tesuji: list[_Candidate] = field(default_factory=list)
    _endgame: list[_Candidate] = field(default_factory=list)
    # How many proposals ACADEMY holds, and how many of them are tesujis.
    _submitted: int = 0
    _submitted_tesuji: int = 0

    def __post_init__(self) -> None:
        check_number("player", self.player, 1, MAX_PLAYERS)

    # Consulting

    def allows_opening(self, own_moves: int) -> bool:
        """Return whether fair use has room for a question about openings: by LUDAE's rules, one for every
        fourth own move.

        Args:
            own_moves: how many moves the seat has made.
        """
        return not self.contest_id or self._consultations < self.fair_use.opening_allowance(own_moves + 1)

    def allows_patterns(self, expected_value: float | None) -> bool:
        """Return whether fair use has room for a question about patterns: by LUDAE's rules, where 0.33 or
        less is expected.

        Args:
            expected_value: what the seat expects of the position to move in, from 0 to 1; None if unknown.
        """
        return not self.contest_id or self.fair_use.allows_patterns(expected_value)

    def build_opening_request(
        self, moves: Sequence[str], own_moves: int
    ) -> consultation_pb2.LookUpOpeningRequest:
        """Return the question for `Academy.opening`, and count it.

        Args:
            moves: all moves of the contest so far.
            own_moves: how many of them the seat made.

        Returns:
            The request.

        Raises:
            FairUseError: the seat may not ask before this move.
            ValueError: `moves` is one text.
        """
        check_moves("moves", moves)
        self._count_consultation(own_moves)
        return consultation_pb2.LookUpOpeningRequest(
            game_id=self.game_id, contest_id=self.contest_id, player=self.player, moves=moves
        )

    def build_book_request(self, moves: Sequence[str], own_moves: int) -> consultation_pb2.AdviseRequest:
        """Return the question for `Academy.book_move`, and count it.

        Args:
            moves: all moves of the contest so far.
            own_moves: how many of them the seat made.

        Returns:
            The request.

        Raises:
            FairUseError: the seat may not ask before this move.
            ValueError: `moves` is one text.
        """
        check_moves("moves", moves)
        self._count_consultation(own_moves)
        return consultation_pb2.AdviseRequest(
            game_id=self.game_id,
            contest_id=self.contest_id,
            position=consultation_pb2.Position(player=self.player),
            opening=consultation_pb2.AdviseOpening(moves=moves),
        )

    def _count_consultation(self, own_moves: int) -> None:
        if not self.allows_opening(own_moves):
            rule = FairUseExceededError(self._consultations, own_moves + 1, self.fair_use)
            again = self.fair_use.opening_moves_per_consultation * self._consultations + 1
            raise FairUseError(f"{rule}; ask again before own move {again}", "FAIR_USE_EXCEEDED", again)
        if self.contest_id:
            self._consultations += 1

    def hold_book(self, moves: Sequence[str], recommended: BookMove | None) -> None:
        """Keep a recommended move, with what is known to follow it.

        Args:
            moves: all moves of the contest before it.
            recommended: the move; None where the opening tree recommends none.
        """
        self._book = (tuple(moves), recommended)

    def held_book_move(self, moves: Sequence[str]) -> BookMove | None:
        """Return the recommended move for a position behind the last consultation; None where it holds none.

        Args:
            moves: all moves of the contest so far.
        """
        before, recommended = self._book
        since = moves[len(before) :]
        if tuple(moves[: len(before)]) != before or len(since) % 2:
            return None
        for own, reply in zip(since[::2], since[1::2], strict=True):
            if recommended is None or recommended.move != own:
                return None
            recommended = recommended.replies.get(reply)
        return recommended

    def build_pattern_request(
        self,
        boards: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        options: MatchOptions = ANY_MATCHES,
        both_players: bool = False,
    ) -> consultation_pb2.MatchPatternsRequest:
        """Return the question for `Academy.patterns`.

        Args:
            boards: the boards to find patterns on.
            expected_value: what the seat expects of the position to move in.
            plies: how many plies led to that position.
            options: which patterns.
            both_players: whether the answer has the opponent's patterns too.

        Returns:
            The request.

        Raises:
            FairUseError: too much is expected.
            ValueError: `plies` is negative or more than a message holds.
        """
        self._check_value(expected_value)
        return consultation_pb2.MatchPatternsRequest(
            game_id=self.game_id,
            contest_id=self.contest_id,
            positions=[self._position(board, expected_value, plies) for board in boards],
            libraries=[LIBRARY_CODES[library] for library in options.libraries],
            max_matches=options.max_matches,
            include_cells=options.with_cells,
            both_players=both_players,
        )

    def build_successor_request(
        self,
        board: Board,
        after: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        options: MatchOptions = ANY_MATCHES,
    ) -> consultation_pb2.MatchSuccessorsRequest:
        """Return the question for `Academy.successors`.

        Args:
            board: the board of the position to move in.
            after: the boards after each move, at most 400.
            expected_value: what the seat expects of that position.
            plies: how many plies led to it.
            options: which patterns.

        Returns:
            The request.

        Raises:
            FairUseError: too much is expected.
            ValueError: a board has another size, or `plies` is negative or more than a message holds.
        """
        self._check_value(expected_value)
        letters = board.letters
        return consultation_pb2.MatchSuccessorsRequest(
            game_id=self.game_id,
            contest_id=self.contest_id,
            position=self._position(board, expected_value, plies),
            moves=[candidate_move(letters, changed.letters) for changed in after],
            libraries=[LIBRARY_CODES[library] for library in options.libraries],
            max_matches=options.max_matches,
            include_cells=options.with_cells,
        )

    def build_advice_request(
        self,
        board: Board,
        moves: Sequence[int] | Sequence[Board] = (),
        expected_value: float | None = None,
        *,
        line: Sequence[str] | None = None,
        plies: int | None = None,
    ) -> consultation_pb2.AdviseRequest | None:
        """Return the question for `Academy.advise`, and count what it asks of the opening tree.

        Args:
            board: the board of the position to move in.
            moves: as in `Academy.advise`.
            expected_value: what the seat expects of that position.
            line: all moves of the contest so far.
            plies: how many plies led to `board`, where there is no `line`.

        Returns:
            The request, with the parts that fair use allows; None where it allows none.

        Raises:
            ValueError: a board has another size, or no such cell, `plies` is negative or more than a message
                holds, or `line` is one text.
        """
        if line is not None:
            check_moves("line", line)
        compares = self.allows_patterns(expected_value)
        asks_book = line is not None and self.allows_opening(len(line) // 2)
        if not (compares or asks_book):
            return None
        request = consultation_pb2.AdviseRequest(
            game_id=self.game_id, contest_id=self.contest_id, include_ids=self.with_ids
        )
        request.position.player = self.player
        if compares:
            plies = plies if line is None else len(line)
            request.position.CopyFrom(self._position(board, expected_value, plies))
            letters = board.letters
            for move in moves:
                if isinstance(move, Board):
                    request.moves.append(candidate_move(letters, move.letters))
                else:
                    check_cell(self.game_id, self.geometry, move)
                    request.cells.append(move)
        if asks_book and line is not None:
            self._count_consultation(len(line) // 2)
            request.opening.CopyFrom(consultation_pb2.AdviseOpening(moves=line))
        return request

    def _position(
        self, board: Board, expected_value: float | None, plies: int | None
    ) -> consultation_pb2.Position:
        if plies is not None:
            check_number("plies", plies)
        return consultation_pb2.Position(
            board=board.letters, player=self.player, expected_value=expected_value, plies=plies
        )

    def _check_value(self, expected_value: float | None) -> None:
        if not self.allows_patterns(expected_value):
            raise FairUseError(str(ValueNotLowError(expected_value, self.fair_use)), "VALUE_NOT_LOW")

    # Proposing

    def record_move(
        self,
        pattern: Pattern,
        ply: int,
        value_before: float | None,
        value: float,
        *,
        stated_before: float | None = None,
    ) -> None:
        """Record an own move, which may be worth proposing.

        A move that raised the expected value enough becomes a middle-game proposal; every move may become
        one for the endgame.

        Args:
            pattern: what stands around the move after it.
            ply: the move's number in the contest, from 1.
            value_before: the expected value that the arena heard with the own move before, from 0 to 1; None
                where it heard none.
            value: the expected value that the arena hears with this move, from 0 to 1.
            stated_before: the expected value of the position before the move, if the arena hears that too: a
                move gains over the larger of both values before it.

        Raises:
            ValueError: `ply` is less than 1 or more than a message holds, or the pattern is larger than the
                board and its edge: for one of these ACADEMY refuses all proposals of a call.
        """
        check_number("ply", ply, 1)
        check_outline(pattern, self.geometry)
        made: dict[str, Any] = {"cells": write_cells(pattern, self.geometry), "ply": ply, "value": value}
        self._record_tesuji(value_before, stated_before, made)
        message = proposals_pb2.NewProposal(library=pattern_pb2.LIBRARY_ENDGAME, **made)
        self._endgame.append(_Candidate(abs(value - 0.5), message))

    def record_marked_move(
        self,
        cells: str,
        ply: int,
        value_before: float | None,
        value: float,
        *,
        stated_before: float | None = None,
    ) -> None:
        """Record what stood around an own move, to propose it as a tesuji if the move gained enough.

        It stands beside the proposals of `record_move`, and with them among those that gained most.

        Args:
            cells: the board before the move as text, `*` for the empty cell that the move went to: up to 12
                other cells within three steps of it, `x` the first player's, `o` the second's, `-` empty,
                `+` off the board, `_` an empty cell where a piece would come to rest, `#` anything.
            ply: the move's number in the contest, from 1.
            value_before: as in `record_move`.
            value: as in `record_move`.
            stated_before: as in `record_move`.

        Raises:
            ValueError: as in `record_move`, `cells` is no such text or larger than the board and its edge, or
                the board is a graph.
        """
        check_number("ply", ply, 1)
        if isinstance(self.geometry, GraphGeometry):
            raise ValueError(f"{self.game_id} is played on a graph, which has no tesujis: use record_move")
        # Importing the client does not bring NumPy.
        from academy.knowledge.tesujis.shapes import check_proposed
        from academy.knowledge.tesujis.text import pattern_after, read_tesuji_cells

        # ACADEMY refuses all proposals of a call for one that is no such text or larger than the board.
        check_proposed(read_tesuji_cells(cells, self.player, self.geometry), self.geometry)
        check_outline(pattern_after(cells, self.player, self.geometry), self.geometry)
        self._record_tesuji(value_before, stated_before, {"cells": cells, "ply": ply, "value": value})

    def _record_tesuji(
        self, value_before: float | None, stated_before: float | None, made: dict[str, Any]
    ) -> None:
        if value_before is None:
            return
        before = value_before if stated_before is None else max(value_before, stated_before)
        raised = gain(before, made["value"])
        if raised >= needed_gain(before, made["value"]):
            message = proposals_pb2.NewProposal(
                library=pattern_pb2.LIBRARY_MIDDLE_GAME, value_before=value_before, **made
            )
            self._tesuji.append(_Candidate(raised, message))

    @property
    def has_moved(self) -> bool:
        """Whether there may be anything to propose."""
        return bool(self.contest_id and (self._endgame or self._tesuji))

    def build_proposals(
        self, plies: int, average_length: float, max_proposals: int = MAX_PROPOSALS, *, over: bool = True
    ) -> proposals_pb2.SubmitProposalsRequest | None:
        """Choose what is worth proposing of a contest and was not submitted before, for `Academy.propose`.

        At most half are tesuji, those that gained most; the rest are the clearest positions among the last
        plies.

        Args:
            plies: how many plies the contest had.
            average_length: the plies of an average contest (`Academy.average_length`); its last 20 % count as
                endgame.
            max_proposals: the limit of a contest; what was submitted before counts.
            over: whether the contest is over. One that goes on is expected to last as long as an average one
                at least: else its first plies would be its endgame, and take the places of later ones.

        Returns:
            The proposals; None where nothing is worth it, or no place is left.
        """
        last = plies if over else max(plies, math.ceil(average_length))
        late = [proposal for proposal in self._endgame if is_late(proposal.message.ply, last, average_length)]
        room = max(0, min(max_proposals - self._submitted, _MOST_IN_CALL))
        tesuji_room = min(room, max(0, max_proposals // 2 - self._submitted_tesuji))
        tesuji = sorted(self._tesuji, key=lambda candidate: -candidate.gain)[:tesuji_room]
        endgame = sorted(late, key=lambda candidate: -candidate.gain)[: room - len(tesuji)]
        chosen = [candidate.message for candidate in (*tesuji, *endgame)]
        if not chosen or not self.contest_id:
            return None
        return proposals_pb2.SubmitProposalsRequest(contest_id=self.contest_id, proposals=chosen)

    def note_submitted(self, request: proposals_pb2.SubmitProposalsRequest) -> None:
        """Note that ACADEMY holds proposals: they are not chosen again.

        The same again changes nothing, as at ACADEMY: two threads that share the seat may propose at once.

        Args:
            request: what `build_proposals` returned.
        """
        held = [
            candidate.message
            for candidate in (*self._tesuji, *self._endgame)
            if candidate.message in request.proposals
        ]
        self._tesuji, self._endgame = (
            [candidate for candidate in candidates if candidate.message not in held]
            for candidates in (self._tesuji, self._endgame)
        )
        self._submitted += len(held)
        self._submitted_tesuji += sum(
            proposal.library == pattern_pb2.LIBRARY_MIDDLE_GAME for proposal in held
        )

    @property
    def submitted(self) -> int:
        """How many proposals of the seat ACADEMY holds, by `note_submitted`."""
        return self._submitted


def candidate_move(before: str, after: str) -> consultation_pb2.CandidateMove:
    """Return what a move changes. Raises ValueError for boards of different sizes."""
    if len(after) != len(before):
        raise ValueError(f"a board of {len(after):,} cells after a move on one of {len(before):,}")
    changed = [cell for cell, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    return consultation_pb2.CandidateMove(cells=changed, letters="".join(after[cell] for cell in changed))
