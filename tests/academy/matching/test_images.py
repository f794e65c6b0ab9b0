"""The numbered neighbours lie in rings and are closed under the symmetries."""

import numpy as np
import pytest

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.symmetries import HEXAGON, SQUARE, GridSymmetry, NodeSymmetry
from academy.matching.board_tables import REACH, Neighbourhood, SymmetryGroup

GRIDS: list[tuple[Geometry, list[GridSymmetry], int]] = [
    (SquareGeometry(5, 5), list(SQUARE.values()), (2 * REACH + 1) ** 2),
    (HexGeometry(5, 5), list(HEXAGON.values()), 1 + 3 * REACH * (REACH + 1)),
]


@pytest.mark.parametrize(("geometry", "symmetries", "size"), GRIDS)
def test_every_offset_has_its_images(geometry: Geometry, symmetries: list[GridSymmetry], size: int) -> None:
    neighbourhood = Neighbourhood(geometry, SymmetryGroup(symmetries))
    offsets = neighbourhood.offsets.tolist()
    assert len(offsets) == size
    for offset, images in zip(offsets, neighbourhood.images.tolist(), strict=True):
        for symmetry, image in zip(symmetries, images, strict=True):
            assert tuple(offsets[image]) == symmetry.image(*offset)


@pytest.mark.parametrize(("geometry", "symmetries", "size"), GRIDS)
def test_the_first_offsets_are_rings_with_all_their_images(
    geometry: Geometry, symmetries: list[GridSymmetry], size: int
) -> None:
    neighbourhood = Neighbourhood(geometry, SymmetryGroup(symmetries))
    assert neighbourhood.offsets[0].tolist() == [0, 0]
    for number in range(size):
        needed = neighbourhood.needed(np.array([number], dtype=np.int32))
        assert number < needed
        assert neighbourhood.images[:needed].max() == needed - 1


@pytest.mark.parametrize(
    ("cell", "near"), [((0, 0), True), ((REACH, -REACH), True), ((REACH + 1, 0), False), ((0, -99), False)]
)
def test_only_near_cells_have_numbers(cell: tuple[int, int], near: bool) -> None:
    neighbourhood = Neighbourhood(SquareGeometry(19, 19), SymmetryGroup([SQUARE["identity"]]))
    number = int(neighbourhood.numbers(np.array([cell], dtype=np.int32))[0])
    assert (number >= 0) == near
    assert not near or tuple(neighbourhood.offsets[number].tolist()) == cell


def test_cells_that_a_hexagon_does_not_reach_are_far() -> None:
    neighbourhood = Neighbourhood(HexGeometry(9, 9), SymmetryGroup([HEXAGON["identity"]]))
    corners = np.array([(REACH, REACH), (REACH, -REACH)], dtype=np.int32)
    assert (neighbourhood.numbers(corners) >= 0).tolist() == [False, True]


def test_nodes_go_where_their_symmetry_sends_them() -> None:
    group = SymmetryGroup([NodeSymmetry("identity", (0, 1, 2)), NodeSymmetry("swap", (0, 2, 1))])
    assert not group.moves
    images = group.images(np.array([(0, 0), (0, 2)], dtype=np.int32))
    assert images.tolist() == [[[0, 0], [0, 2]], [[0, 0], [0, 1]]]
    neighbourhood = Neighbourhood(GraphGeometry(("a", "b", "c")), group)
    assert neighbourhood.images.tolist() == [[0, 0], [1, 2], [2, 1]]
