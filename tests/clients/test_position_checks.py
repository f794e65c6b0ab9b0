"""What a bot asks at home about a position that cannot be is refused by name."""

from collections.abc import Callable, Sequence

import pytest

from academy.knowledge.boards import Board, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.spec import GameSpec, Placement
from academy.knowledge.text import read_cells
from academy.v1 import consultation_pb2
from clients import Academy, Connection, MatchOptions, Memory, Seat
from clients.local_weights import LocalWeights
from clients.responses import Analysis

GO = GameSpec("go-3x3", SquareGeometry(3, 3))
EMPTY = Board.from_letters(GO.geometry, "-" * 9)
TAKEN = Board.from_letters(GO.geometry, "x--------")
LARGER = Board.from_letters(SquareGeometry(4, 4), "-" * 16)
WEIGHTS = LocalWeights(GO, consultation_pb2.DownloadWeightsResponse())
FALLING = LocalWeights(
    GameSpec("falling", GO.geometry, placement=Placement.DROPPED), consultation_pb2.DownloadWeightsResponse()
)
MEMORY = Memory(GO)
SEAT = Seat("go-3x3", GO.geometry, 1)
HEX_SEAT = Seat("hex-5x5", HexGeometry(5, 5), 1)
MAP_SEAT = Seat("triangle", GraphGeometry(("a", "b", "c")), 1)
WIDE = read_cells("x - - - - o", GO.geometry)
PATTERN = read_cells("x", GO.geometry)


def analyse(moves: Sequence[str], budget: int) -> bool:
    """Report an analysis to an ACADEMY that does not exist."""
    with Academy(Connection("127.0.0.1:1")) as academy:
        return academy.report_analysis("go-3x3", moves, Analysis(0.5, budget))


@pytest.mark.parametrize(
    ("ask", "complaint"),
    [
        (lambda: WEIGHTS.log_odds([EMPTY, LARGER], 1), "a board of 16 cells: those of go-3x3 have 9"),
        (lambda: WEIGHTS.log_odds([EMPTY], 3), "player 3: it is 1 or 2"),
        (lambda: WEIGHTS.log_odds([EMPTY, EMPTY], 1, moves=[3]), "moves: 1 numbers for 2 boards"),
        (lambda: WEIGHTS.advise(EMPTY, [0, -1], 1), "cell -1: cells of go-3x3 are 0 to 8"),
        (lambda: WEIGHTS.advise(EMPTY, [9], 1), "cell 9"),
        (lambda: WEIGHTS.advise(TAKEN, [1, 0], 2), "cell 0: moves go to empty cells"),
        (lambda: FALLING.advise(EMPTY, [6, 3], 1), "cell 3: a piece falls past it; give the lowest empty"),
        (lambda: WEIGHTS.advise(LARGER, [0], 1), "a board of 16 cells"),
        (lambda: WEIGHTS.advise(EMPTY, [0], 0), "player 0"),
        (lambda: MEMORY.recall(EMPTY, 1, [99]), "cell 99"),
        (lambda: MEMORY.keep(LARGER, 2, [0], [0.1]), "a board of 16 cells"),
        (
            lambda: Seat("go-3x3", GO.geometry, 1).build_advice_request(EMPTY, [LARGER], 0.2),
            "a board of 16 cells after a move on one of 9",
        ),
        (lambda: SEAT.build_advice_request(EMPTY, [0, -1], 0.2), "cell -1: cells of go-3x3 are 0 to 8"),
        (lambda: SEAT.build_advice_request(EMPTY, [9], 0.2), "cell 9"),
        (
            lambda: SEAT.build_advice_request(EMPTY, [0], 0.2, plies=-1),
            "plies -1: it is from 0 to 4,294,967,295",
        ),
        (lambda: SEAT.build_pattern_request([EMPTY], 0.2, plies=2**33), "plies 8,589,934,592"),
        (lambda: SEAT.build_successor_request(EMPTY, [EMPTY], 0.2, plies=-1), "plies -1"),
        (lambda: MatchOptions(max_matches=-1), "max_matches -1: it is from 0"),
        (lambda: Seat("go-3x3", GO.geometry, 0), "player 0: it is from 1 to 64"),
        (lambda: Seat("go-3x3", GO.geometry, -1), "player -1"),
        (lambda: SEAT.record_move(PATTERN, -1, None, 0.5), "ply -1: it is from 1"),
        (
            lambda: SEAT.record_move(WIDE, 1, None, 0.5),
            "a pattern of 1 rows and 6 columns: on this board neither may be more than 5",
        ),
        (lambda: SEAT.record_marked_move("x*", 0, 0.2, 0.5), "ply 0"),
        (
            lambda: SEAT.record_marked_move("x-", 1, 0.2, 0.5),
            "the move goes to exactly one",
        ),
        (lambda: SEAT.record_marked_move("x?*", 1, 0.2, 0.5), r"line 1, column 2: letter '\?' is none of"),
        (lambda: SEAT.record_marked_move("x - - - *", 1, 0.2, 0.5), "a cell 4 steps from '\\*'"),
        (
            lambda: SEAT.record_marked_move("- - - - -\n- - * - -\n- x - - -", 1, 0.2, 0.5),
            "14 cells around '\\*': a proposed tesuji has 1 to 12",
        ),
        (lambda: SEAT.record_marked_move("# # *", 1, 0.2, 0.5), "0 cells around '\\*'"),
        (
            lambda: SEAT.record_marked_move("x * # # # #", 1, 0.2, 0.5),
            "a pattern of 1 rows and 6 columns: on this board neither may be more than 5",
        ),
        (
            lambda: HEX_SEAT.record_marked_move("  # # # x\n # # # #\n* # # #", 1, 0.2, 0.5),
            "a cell 5 steps from",
        ),
        # The mark has a letter of its own only while the text is read.
        (
            lambda: HEX_SEAT.record_marked_move("x -\n  *", 1, 0.2, 0.5),
            "^line 2, column 3: this cell is not half a cell beside the row above it",
        ),
        (lambda: MAP_SEAT.record_marked_move("x*", 1, 0.2, 0.5), "triangle is played on a graph"),
        (lambda: analyse(["A1"], 2**40), "budget 1,099,511,627,776: it is from 1 to 1,000,000,000"),
        (lambda: analyse(["A1"], 0), "budget 0"),
        (
            lambda: SEAT.build_opening_request("A1", 0),
            r"moves 'A1': one text, .* write \['A1'\] for",
        ),
        (lambda: SEAT.build_book_request("A1", 0), "moves 'A1'"),
        (lambda: SEAT.build_advice_request(EMPTY, [0], 0.2, line="A1"), "line 'A1'"),
        (lambda: analyse("A1", 100), "moves 'A1'"),
    ],
)
def test_what_cannot_be_is_refused(ask: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        ask()


def test_no_boards_have_no_log_odds() -> None:
    assert WEIGHTS.log_odds([], 1) == []
