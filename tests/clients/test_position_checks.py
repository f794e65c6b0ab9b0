"""What a bot asks at home about a position that cannot be is refused by name."""

from collections.abc import Callable

import pytest

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.spec import GameSpec
from academy.v1 import consultation_pb2
from clients import Memory, Seat
from clients.local_weights import LocalWeights

GO = GameSpec("go-3x3", SquareGeometry(3, 3))
EMPTY = Board.from_letters(GO.geometry, "-" * 9)
LARGER = Board.from_letters(SquareGeometry(4, 4), "-" * 16)
WEIGHTS = LocalWeights(GO, consultation_pb2.DownloadWeightsResponse())
MEMORY = Memory(GO)


@pytest.mark.parametrize(
    ("ask", "complaint"),
    [
        (lambda: WEIGHTS.log_odds([EMPTY, LARGER], 1), "a board of 16 cells: those of go-3x3 have 9"),
        (lambda: WEIGHTS.log_odds([EMPTY], 3), "player 3: it is 1 or 2"),
        (lambda: WEIGHTS.log_odds([EMPTY, EMPTY], 1, moves=[3]), "moves: 1 numbers for 2 boards"),
        (lambda: WEIGHTS.advise(EMPTY, [0, -1], 1), "cell -1: cells of go-3x3 are 0 to 8"),
        (lambda: WEIGHTS.advise(EMPTY, [9], 1), "cell 9"),
        (lambda: WEIGHTS.advise(LARGER, [0], 1), "a board of 16 cells"),
        (lambda: WEIGHTS.advise(EMPTY, [0], 0), "player 0"),
        (lambda: MEMORY.recall(EMPTY, 1, [99]), "cell 99"),
        (lambda: MEMORY.keep(LARGER, 2, [0], [0.1]), "a board of 16 cells"),
        (
            lambda: Seat("go-3x3", GO.geometry, 1).build_advice_request(EMPTY, [LARGER], 0.2),
            "a board of 16 cells after a move on one of 9",
        ),
    ],
)
def test_what_cannot_be_is_refused(ask: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        ask()


def test_no_boards_have_no_log_odds() -> None:
    assert WEIGHTS.log_odds([], 1) == []
