"""Rules of fair use lifted one by one; whatever else ACADEMY goes by, as the asking player's Elo, stays.

ACADEMY itself is the same as ever: before every move it is asked for openings by one who analyses, and for
patterns by a player who always says that he expects little.
"""

from collections.abc import Sequence
from enum import Enum

from academy.knowledge.boards import Board
from academy.knowledge.fair_use import LOW_VALUE, acceptable
from academy.knowledge.settings import Library
from academy.v1 import consultation_pb2
from clients.academy import Academy, Connection
from clients.advice import OpeningMove
from clients.seat import Seat


class Rule(Enum):
    """A rule of fair use."""

    OPENINGS = "openings are asked before no more than one move in four"
    PATTERNS = "patterns are asked where 0.33 or less is expected"


class UnlimitedPatternsSeat(Seat):
    """A seat that asks for patterns whatever its player expects."""

    def may_ask_for_patterns(self, expected_value: float | None) -> bool:
        """Always."""
        return True

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
        """As `Seat.pattern_question`, as if little were expected."""
        return super().pattern_question(
            boards,
            LOW_VALUE,
            plies=plies,
            libraries=libraries,
            most=most,
            with_cells=with_cells,
            both_players=both_players,
        )


class UnlimitedOpeningsAcademy(Academy):
    """A player's connection by which openings are asked for outside the contest: as often as he likes."""

    def __init__(self, connection: Connection, analysing: Connection, elo: float) -> None:
        """Ask by the contest's ticket, and for openings by a connection that may analyse."""
        super().__init__(connection)
        self._analysis = _OpeningAnalysis(analysing, elo)

    def close(self) -> None:
        """End both connections."""
        self._analysis.close()
        super().close()

    def opening(self, seat: Seat, moves: Sequence[str], own_moves: int) -> list[OpeningMove]:
        """As `Academy.opening`, without a contest."""
        return self._analysis.opening(Seat(seat.game_id, seat.geometry, seat.player), moves, own_moves)


class _OpeningAnalysis(Academy):
    """Leaves out what a player of some Elo would not be told in a contest."""

    def __init__(self, connection: Connection, elo: float) -> None:
        super().__init__(connection)
        self._elo = elo

    def _look_up(
        self, request: consultation_pb2.LookUpOpeningRequest
    ) -> consultation_pb2.LookUpOpeningResponse:
        response = super()._look_up(request)
        # Nobody moved to the first position: it has no Elo.
        if request.moves and not acceptable(response.position.elo, self._elo):
            return consultation_pb2.LookUpOpeningResponse()
        kept = [move for move in response.moves if acceptable(move.statistics.elo, self._elo)]
        del response.moves[:]
        response.moves.extend(kept)
        return response
