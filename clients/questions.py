"""What a bot can ask of ACADEMY's libraries, whichever way the questions travel."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from academy.knowledge.boards import Board
from academy.knowledge.settings import Library
from academy.v1 import consultation_pb2
from clients.advice import (
    OpeningMove,
    PatternMatch,
    SuccessorMatches,
    opening_moves,
    opponent_gains,
    pattern_matches,
    successor_matches,
)
from clients.seat import Seat


class Questions(ABC):
    """What can be asked of the libraries; how a question travels is for subclasses to say."""

    @abstractmethod
    def _look_up(
        self, request: consultation_pb2.LookUpOpeningRequest
    ) -> consultation_pb2.LookUpOpeningResponse: ...

    @abstractmethod
    def _match(
        self, request: consultation_pb2.MatchPatternsRequest
    ) -> consultation_pb2.MatchPatternsResponse: ...

    @abstractmethod
    def _match_successors(
        self, request: consultation_pb2.MatchSuccessorsRequest
    ) -> consultation_pb2.MatchSuccessorsResponse: ...

    def opening(self, seat: Seat, moves: Sequence[str], own_moves: int) -> list[OpeningMove]:
        """Known continuations after `moves`, of which `own_moves` were one's own; best first."""
        question = seat.opening_question(moves, own_moves)
        return [] if question is None else opening_moves(self._look_up(question))

    def patterns(
        self,
        seat: Seat,
        boards: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        libraries: Sequence[Library] = (),
        most: int = 0,
        with_cells: bool = False,
        both_players: bool = False,
    ) -> list[list[PatternMatch]]:
        """The patterns that lie on each board; see `Seat.pattern_question`."""
        question = seat.pattern_question(
            boards,
            expected_value,
            plies=plies,
            libraries=libraries,
            most=most,
            with_cells=with_cells,
            both_players=both_players,
        )
        return [[] for _ in boards] if question is None else pattern_matches(self._match(question))

    def opponent_gains(
        self,
        seat: Seat,
        board: Board,
        after: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        libraries: Sequence[Library] = (),
        most: int = 0,
    ) -> list[list[PatternMatch]]:
        """The opponent's patterns that lie on each of the boards `after`, and do not on `board`.

        It is the same question as `patterns` for `board` and these with `both_players`, and its limits hold.
        """
        question = seat.pattern_question(
            [board, *after], expected_value, plies=plies, libraries=libraries, most=most, both_players=True
        )
        return [[] for _ in after] if question is None else opponent_gains(self._match(question))

    def successors(
        self,
        seat: Seat,
        board: Board,
        after: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        libraries: Sequence[Library] = (),
        most: int = 0,
        with_cells: bool = False,
    ) -> SuccessorMatches:
        """The patterns on a board, and what moves change of them; see `Seat.successor_question`."""
        question = seat.successor_question(
            board, after, expected_value, plies=plies, libraries=libraries, most=most, with_cells=with_cells
        )
        if question is None:
            return SuccessorMatches((), ((),) * len(after), ((),) * len(after))
        return successor_matches(self._match_successors(question))


class AsyncQuestions(ABC):
    """As `Questions`, for asyncio."""

    @abstractmethod
    async def _look_up(
        self, request: consultation_pb2.LookUpOpeningRequest
    ) -> consultation_pb2.LookUpOpeningResponse: ...

    @abstractmethod
    async def _match(
        self, request: consultation_pb2.MatchPatternsRequest
    ) -> consultation_pb2.MatchPatternsResponse: ...

    @abstractmethod
    async def _match_successors(
        self, request: consultation_pb2.MatchSuccessorsRequest
    ) -> consultation_pb2.MatchSuccessorsResponse: ...

    async def opening(self, seat: Seat, moves: Sequence[str], own_moves: int) -> list[OpeningMove]:
        """As `Academy.opening`."""
        question = seat.opening_question(moves, own_moves)
        return [] if question is None else opening_moves(await self._look_up(question))

    async def patterns(
        self,
        seat: Seat,
        boards: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        libraries: Sequence[Library] = (),
        most: int = 0,
        with_cells: bool = False,
        both_players: bool = False,
    ) -> list[list[PatternMatch]]:
        """As `Academy.patterns`."""
        question = seat.pattern_question(
            boards,
            expected_value,
            plies=plies,
            libraries=libraries,
            most=most,
            with_cells=with_cells,
            both_players=both_players,
        )
        return [[] for _ in boards] if question is None else pattern_matches(await self._match(question))

    async def opponent_gains(
        self,
        seat: Seat,
        board: Board,
        after: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        libraries: Sequence[Library] = (),
        most: int = 0,
    ) -> list[list[PatternMatch]]:
        """As `Academy.opponent_gains`."""
        question = seat.pattern_question(
            [board, *after], expected_value, plies=plies, libraries=libraries, most=most, both_players=True
        )
        return [[] for _ in after] if question is None else opponent_gains(await self._match(question))

    async def successors(
        self,
        seat: Seat,
        board: Board,
        after: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        libraries: Sequence[Library] = (),
        most: int = 0,
        with_cells: bool = False,
    ) -> SuccessorMatches:
        """As `Academy.successors`."""
        question = seat.successor_question(
            board, after, expected_value, plies=plies, libraries=libraries, most=most, with_cells=with_cells
        )
        if question is None:
            return SuccessorMatches((), ((),) * len(after), ((),) * len(after))
        return successor_matches(await self._match_successors(question))
