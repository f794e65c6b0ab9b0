"""Captures, ko, liberties and area, by diagrams and against sgfmill's board."""

import random

import pytest
from sgfmill.boards import Board as SgfmillBoard

from referees.go.board import BLACK, EMPTY, NO_KO, PASS, WHITE, Board, OccupiedPointError
from tests.referees.go.diagrams import board, diagram, normal, point

# name: (colour that plays at `a`, before, after)
CAPTURES = {
    "one stone in the centre": (
        WHITE,
        """
        . O .
        O X O
        . a .
        """,
        """
        . O .
        O . O
        . O .
        """,
    ),
    "two stones at the edge": (
        WHITE,
        """
        X X a
        O O .
        . . .
        """,
        """
        . . O
        O O .
        . . .
        """,
    ),
    "three groups at once": (
        WHITE,
        """
        . O X O .
        O X a X O
        . O X O .
        . O X O .
        . . O . .
        """,
        """
        . O . O .
        O . O . O
        . O . O .
        . O . O .
        . . O . .
        """,
    ),
    "a stone without liberties lives by capturing": (
        WHITE,
        """
        . X O .
        X a X O
        . X O .
        . . . .
        """,
        """
        . X O .
        X O . O
        . X O .
        . . . .
        """,
    ),
    "filling the last eye takes the group around it": (
        BLACK,
        """
        a O X .
        O O X .
        X X . .
        . . . .
        """,
        """
        X . X .
        . . X .
        X X . .
        . . . .
        """,
    ),
    "self-capture of one stone": (
        BLACK,
        """
        a O .
        O . .
        . . .
        """,
        """
        . O .
        O . .
        . . .
        """,
    ),
    "self-capture of a group": (
        BLACK,
        """
        X X O
        a X O
        O O .
        """,
        """
        . . O
        . . O
        O O .
        """,
    ),
    "self-capture of all stones there are": (
        BLACK,
        """
        X a
        X X
        """,
        """
        . .
        . .
        """,
    ),
}


@pytest.mark.parametrize(("colour", "before", "after"), CAPTURES.values(), ids=CAPTURES)
def test_a_move_takes_off_the_groups_without_liberties(colour: int, before: str, after: str) -> None:
    stones = board(before)
    removed = stones.play(colour, point(before, "a"))
    assert diagram(stones.size, stones.stones) == normal(after)
    assert len(removed) == len(set(removed))
    assert all(stones.stones[gone] == EMPTY for gone in removed)
    assert sum(map(bool, board(before).stones)) + 1 - len(removed) == sum(map(bool, stones.stones))


# name: (before, the number of the point that simple ko forbids after White's move at `a`)
KOS = {
    "a lone stone takes a lone stone": (". X O .\nX a X O\n. X O .\n. . . .", 6),
    "in the corner": ("a X O .\nX O . .\n. . . .\n. . . .", 1),
    "two stones taken": (". X O O\nX a X X\n. X O O\n. . . .", NO_KO),
    "the taker is connected": (". O O .\nX a X O\n. X O .\n. . . .", NO_KO),
    "the taker has another liberty": (". X O .\n. a X O\n. X O .\n. . . .", NO_KO),
    "nothing taken": (". . . .\n. a . .\n. . . .\n. . . .", NO_KO),
}


@pytest.mark.parametrize(("before", "ko"), KOS.values(), ids=KOS)
def test_simple_ko_is_a_lone_stone_taken_by_a_lone_stone(before: str, ko: int) -> None:
    stones = board(before)
    stones.play(WHITE, point(before, "a"))
    assert stones.ko == ko


def test_a_pass_lifts_the_ko() -> None:
    stones = board(KOS["a lone stone takes a lone stone"][0])
    stones.play(WHITE, 5)
    assert stones.play(BLACK, PASS) == ()
    assert stones.ko == NO_KO


def test_a_snapback_is_not_a_ko() -> None:
    stones = board(
        """
        X O . . X
        X O O O X
        X X X X X
        . . . . .
        . . . . .
        """
    )
    assert not stones.play(BLACK, 2)
    assert (list(stones.play(WHITE, 3)), stones.ko) == ([2], NO_KO)
    assert sorted(stones.play(BLACK, 2)) == [1, 3, 6, 7, 8]


def test_a_stone_does_not_stand_on_another() -> None:
    stones = board("X .\n. .")
    with pytest.raises(OccupiedPointError, match="point 0"):
        stones.play(WHITE, 0)


LIBERTIES = """
    X X . O
    X O O O
    . X X .
    . O . .
    """


@pytest.mark.parametrize(("cell", "free"), [(0, {2, 8}), (3, {2, 11}), (9, {8, 11, 14}), (13, {12, 14})])
def test_liberties_are_counted_once_for_a_whole_group(cell: int, free: set[int]) -> None:
    stones = board(LIBERTIES)
    assert stones.liberties(cell) == free
    assert len(stones.liberties(cell, 1)) == 1


# name: (diagram, whether Black at `a` is self-capture, whether a group is in atari)
SITUATIONS = {
    "open": ("a . .\n. . .\n. . .", False, False),
    "lone stone walled in": ("a O .\nO . .\n. . .", True, False),
    "friend with another liberty": ("a X .\nO O .\n. . .", False, False),
    "friend without another liberty": ("a X O\nO O .\n. . .", True, True),
    "enemy with its last liberty here": ("a O X\nO O X\nX X .", False, True),
    "both sides out of breath": ("a O X\nX O X\nO X .", False, True),
}


@pytest.mark.parametrize(("before", "self_capture", "atari"), SITUATIONS.values(), ids=SITUATIONS)
def test_a_moves_effect_is_known_without_playing_it(before: str, self_capture: bool, atari: bool) -> None:
    stones = board(before)
    assert stones.is_self_capture(BLACK, point(before, "a")) == self_capture
    assert stones.has_atari() == atari


AREAS = {
    "empty board": (". .\n. .", (0, 0)),
    "one stone owns the board": ("X . .\n. . .\n. . .", (9, 0)),
    "stones only": ("X O\nO X", (2, 2)),
    "territory and a neutral point": (". X . O\nX X . O\n. X O O\nX X O .", (8, 6)),
    "a hopeless stone counts as alive": ("O . X .\n. . X .\nX X X .\n. . . .", (12, 1)),
}


@pytest.mark.parametrize(("position", "area"), AREAS.values(), ids=AREAS)
def test_area_is_stones_and_what_they_alone_surround(position: str, area: tuple[int, int]) -> None:
    assert board(position).area() == area


@pytest.mark.parametrize("size", [2, 3, 5, 9, 25])
def test_random_moves_go_as_on_sgfmills_board(size: int) -> None:
    chance = random.Random(size)
    for _ in range(max(1, 400 // size**2)):
        ours, theirs = Board(size), SgfmillBoard(size)
        for ply in range(min(2 * size * size, 500)):
            colour, letter = ((BLACK, "b"), (WHITE, "w"))[ply % 2]
            free = [point for point, state in enumerate(ours.stones) if not state]
            move = chance.choice(free)
            suicidal = ours.is_self_capture(colour, move)
            removed = ours.play(colour, move)
            ko = theirs.play(*divmod(move, size), letter)
            expected = [
                {None: EMPTY, "b": BLACK, "w": WHITE}[theirs.get(*divmod(point, size))]
                for point in range(size * size)
            ]
            assert list(ours.stones) == expected
            assert ours.ko == (NO_KO if ko is None else ko[0] * size + ko[1])
            assert suicidal == (move in removed)
            if ply % 10 == 0:
                assert ours.has_atari() == any(
                    len(ours.liberties(point)) == 1 for point, state in enumerate(ours.stones) if state
                )
            # sgfmill gives an empty board to both; nobody has it here.
            if any(expected):
                black, white = ours.area()
                assert black - white == theirs.area_score()
