"""What a move does to the chains beside it, where chains are taken."""

from dataclasses import astuple, replace
from math import isqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.spec import InvalidGameError, Placement
from academy.knowledge.tesujis.fights import Fight
from academy.knowledge.tesujis.shapes import InvalidTesujiError, Tesuji
from academy.knowledge.tesujis.surroundings import Surroundings

from ..games import GO, HEX
from .test_table import of

SIZE = 5
# More cells than a number of 64 bits has room for.
LARGE = 9


def around(size: int = SIZE) -> Surroundings:
    board = SquareGeometry(size, size)
    game = replace(GO, geometry=board, cell_names=(), placement=Placement.CAPTURING)
    return of(game)


def fight(letters: str, cell: int, player: int = 1) -> Fight:
    letters = "".join(letters.split())
    size = isqrt(len(letters))
    board = Board.from_letters(SquareGeometry(size, size), letters)
    known = around(size).read(int(around(size).of_cells(board, [cell], player)[0, 1])).fight
    assert known is not None
    return known


def at(row: int, column: int) -> int:
    return row * SIZE + column


@pytest.mark.parametrize(
    ("letters", "cell", "expected"),
    [
        pytest.param("----- ----- ----- ----- -----", at(2, 2), Fight(0, 0, 0, 3), id="alone in the middle"),
        pytest.param("----- ----- ----- ----- -----", at(0, 0), Fight(0, 0, 0, 2), id="alone in the corner"),
        # The stone in the corner has its last liberty beside it.
        pytest.param("o---- x---- ----- ----- -----", at(0, 1), Fight(1, 0, 0, 3), id="takes one"),
        pytest.param("oo--- xx--- ----- ----- -----", at(0, 2), Fight(2, 0, 0, 3), id="takes two"),
        pytest.param("oooo- xxxx- ----- ----- -----", at(0, 4), Fight(3, 0, 0, 2), id="takes four"),
        # The chain in the corner is on two sides of the cell, and counts once.
        pytest.param(
            "-oxxx ooxxx xxx-- ----- -----", at(0, 0), Fight(3, 0, 0, 2), id="takes a chain at both sides"
        ),
        pytest.param("x---- o---- ----- ----- -----", at(0, 1), Fight(0, 1, 0, 2), id="extends one"),
        pytest.param(
            "xx-o- oo--- ----- ----- -----", at(0, 2), Fight(0, 2, 0, 1), id="extends two, in atari again"
        ),
        pytest.param("o---- ----- ----- ----- -----", at(0, 1), Fight(0, 0, 1, 2), id="threatens one"),
        pytest.param("oo--- x---- ----- ----- -----", at(0, 2), Fight(0, 0, 2, 2), id="threatens two"),
        pytest.param("-o--- o---- ----- ----- -----", at(0, 0), Fight(0, 0, 0, 0), id="kills itself"),
        # Two own chains become one: their liberties are counted once.
        pytest.param("x-x-- o-o-- oooo- ----- -----", at(0, 1), Fight(0, 1, 0, 2), id="connects"),
    ],
)
def test_what_a_move_takes_extends_and_threatens(letters: str, cell: int, expected: Fight) -> None:
    assert fight(letters, cell) == expected
    exchanged = letters.translate(str.maketrans("xo", "ox"))
    assert fight(exchanged, cell, player=2) == expected


def chain(letters: str, cell: int) -> tuple[frozenset[int], frozenset[int]]:
    """The cells of a stone's chain, and its liberties, stone by stone."""
    seen, left, liberties = {cell}, [cell], set()
    while left:
        for beside in sides(letters, left.pop()):
            if letters[beside] == "-":
                liberties.add(beside)
            elif letters[beside] == letters[cell] and beside not in seen:
                seen.add(beside)
                left.append(beside)
    return frozenset(seen), frozenset(liberties)


def sides(letters: str, cell: int) -> list[int]:
    size = isqrt(len(letters))
    row, column = divmod(cell, size)
    steps = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [r * size + c for r, c in steps if 0 <= r < size and 0 <= c < size]


def counted(letters: str, cell: int, player: int) -> tuple[int, ...]:
    """What is taken, extended and threatened, and the liberties left, as far as it counts."""
    colours = ("x", "o") if player == 1 else ("o", "x")
    beside = [side for side in sides(letters, cell) if letters[side] != "-"]
    own, other = ({chain(letters, side) for side in beside if letters[side] == colour} for colour in colours)
    taken = [stones for stones, liberties in other if len(liberties) == 1]
    liberties = {
        side
        for side in sides(letters, cell)
        if letters[side] == "-" or any(side in stones for stones in taken)
    }
    liberties = liberties.union(*(free for _, free in own)) - {cell}
    figures = (
        sum(len(stones) for stones in taken),
        sum(len(stones) for stones, free in own if len(free) == 1),
        sum(len(stones) for stones, free in other if len(free) == 2),
        len(liberties),
    )
    return tuple(map(min, figures, (3, 2, 2, 3)))


@pytest.mark.parametrize("size", [SIZE, LARGE])
@given(st.data(), st.integers(1, 2))
def test_any_board_is_counted_as_by_hand(size: int, data: st.DataObject, player: int) -> None:
    stones = data.draw(st.text("-xo", min_size=size * size, max_size=size * size))
    cell = data.draw(st.integers(0, size * size - 1))
    letters = stones[:cell] + "-" + stones[cell + 1 :]
    assert astuple(fight(letters, cell, player)) == counted(letters, cell, player)


@given(st.builds(Fight, st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)))
def test_a_code_is_that_of_its_fight(known: Fight) -> None:
    code = around().code(Tesuji(1, {}, fight=known))
    assert around().read(code) == Tesuji(1, {}, fight=known)


@pytest.mark.parametrize("known", [Fight(4, 0, 0, 1), Fight(0, 0, 0, -1)])
def test_other_figures_than_are_counted_are_refused(known: Fight) -> None:
    with pytest.raises(InvalidTesujiError, match=r"from 0, the most that count are taken 3, extended 2"):
        around().code(Tesuji(1, {}, fight=known))


def test_chains_are_taken_on_square_boards_only() -> None:
    with pytest.raises(InvalidGameError, match="'capturing': for square boards only"):
        replace(HEX, placement=Placement.CAPTURING)


def test_people_read_it_in_words() -> None:
    assert str(Fight(3, 1, 2, 1)) == "takes 3+, extends 1, threatens 2+, 1 liberty"
    assert str(Fight(0, 0, 0, 3)) == "3+ liberties"
