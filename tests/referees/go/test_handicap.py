"""The standard layout of handicap stones, by table and against GNU Go."""

import pytest

from referees.api import InvalidSettingError
from referees.go import board
from referees.go.settings import fixed_handicap, free_handicap, max_fixed_handicap
from tests.referees.go.gnugo import Gnugo, needs_gnugo


@pytest.mark.parametrize(
    ("sizes", "most"), [((2, 3, 4, 5, 6), 0), ((7, 8, 10, 12, 14, 18, 24), 4), ((9, 11, 13, 19, 25), 9)]
)
def test_one_handicap_stone_more_than_the_board_has_places_for_is_refused(
    sizes: tuple[int, ...], most: int
) -> None:
    for size in sizes:
        assert max_fixed_handicap(size) == most
        with pytest.raises(InvalidSettingError, match=f"a board of size {size} allows"):
            fixed_handicap(most + 1, size)


@pytest.mark.parametrize(
    ("size", "stones", "layout"),
    [
        (19, 2, "D4 Q16"),
        (19, 3, "D4 Q16 D16"),
        (19, 4, "D4 Q16 D16 Q4"),
        (19, 5, "D4 Q16 D16 Q4 K10"),
        (19, 6, "D4 Q16 D16 Q4 D10 Q10"),
        (19, 7, "D4 Q16 D16 Q4 D10 Q10 K10"),
        (19, 8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"),
        (19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
        (13, 4, "D4 K10 D10 K4"),
        (12, 4, "C3 K10 C10 K3"),
        (9, 5, "C3 G7 C7 G3 E5"),
        (7, 4, "C3 E5 C5 E3"),
    ],
)
def test_the_layout_of_the_go_text_protocol(size: int, stones: int, layout: str) -> None:
    assert {board.name(point, size) for point in fixed_handicap(stones, size)} == set(layout.split())


@needs_gnugo
def test_gnu_go_places_the_same_stones() -> None:
    with Gnugo() as engine:
        for size in range(5, 20):
            engine.ask(f"boardsize {size}")
            for stones in range(2, 10):
                engine.ask("clear_board")
                accepted, placed = engine.answer(f"fixed_handicap {stones}")
                assert accepted == (stones <= max_fixed_handicap(size)), (size, stones)
                if accepted:
                    ours = {board.name(point, size) for point in fixed_handicap(stones, size)}
                    # GNU Go uses the fourth line on 12x12 already.
                    assert (set(placed.split()) == ours) == (size != 12), (size, stones)


@pytest.mark.parametrize(("size", "stones"), [(2, 3), (5, 2), (5, 24), (9, 9), (9, 20), (12, 143)])
def test_free_stones_that_nobody_places_begin_with_the_fixed_layout(size: int, stones: int) -> None:
    placed = free_handicap(stones, size)
    assert len(placed) == stones and placed <= set(range(size * size))
    if fixed := min(stones, max_fixed_handicap(size)):
        assert fixed_handicap(fixed, size) <= placed
