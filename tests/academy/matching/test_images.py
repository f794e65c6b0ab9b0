"""The numbered neighbours are closed under the symmetries, and forgotten when nobody asks for them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.symmetries import HEXAGON, SQUARE, GridSymmetry, NodeSymmetry
from academy.matching.images import Neighbourhood, SymmetryGroup

GROUPS: list[list[GridSymmetry]] = [list(SQUARE.values()), list(HEXAGON.values()), [SQUARE["identity"]]]


def check_images(neighbourhood: Neighbourhood, group: list[GridSymmetry]) -> None:
    for offset, images in zip(neighbourhood.offsets.tolist(), neighbourhood.images.tolist(), strict=True):
        for symmetry, image in zip(group, images, strict=True):
            assert tuple(neighbourhood.offsets[image].tolist()) == symmetry.image(*offset)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(GROUPS),
    st.lists(st.sets(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1), max_size=8),
)
def test_every_offset_has_its_images_through_all_changes(
    group: list[GridSymmetry], uses: list[set[tuple[int, int]]]
) -> None:
    neighbourhood = Neighbourhood(SymmetryGroup(group))
    for offsets in uses:
        cells = np.array(sorted(offsets), dtype=np.int32)
        numbers = neighbourhood.use(cells)
        assert neighbourhood.offsets[numbers].tolist() == cells.tolist()
        check_images(neighbourhood, group)
    for offsets in uses:
        places = {tuple(offset): number for number, offset in enumerate(neighbourhood.offsets.tolist())}
        neighbourhood.release(np.array([places[offset] for offset in sorted(offsets)], dtype=np.int32))
        before = neighbourhood.offsets.tolist()
        renumbered = neighbourhood.dropped()
        check_images(neighbourhood, group)
        for number, offset in enumerate(before):
            if renumbered is not None and renumbered[number] >= 0:
                assert neighbourhood.offsets[renumbered[number]].tolist() == offset
    assert len(neighbourhood) == 0


@pytest.mark.parametrize(("offset", "images"), [((0, 0), 1), ((0, 2), 4), ((1, 1), 4), ((1, 2), 8)])
def test_an_offset_brings_its_images(offset: tuple[int, int], images: int) -> None:
    neighbourhood = Neighbourhood(SymmetryGroup(SQUARE.values()))
    neighbourhood.use(np.array([offset], dtype=np.int32))
    assert len(neighbourhood) == images


def test_an_image_in_use_keeps_the_offset() -> None:
    neighbourhood = Neighbourhood(SymmetryGroup(SQUARE.values()))
    right = neighbourhood.use(np.array([(0, 1)], dtype=np.int32))
    neighbourhood.use(np.array([(-1, 0)], dtype=np.int32))
    neighbourhood.release(right)
    assert neighbourhood.dropped() is None
    assert len(neighbourhood) == 4


def test_nodes_go_where_their_symmetry_sends_them() -> None:
    group = SymmetryGroup([NodeSymmetry("identity", (0, 1, 2)), NodeSymmetry("swap", (0, 2, 1))])
    assert not group.moves
    images = group.images(np.array([(0, 0), (0, 2)], dtype=np.int32))
    assert images.tolist() == [[[0, 0], [0, 2]], [[0, 0], [0, 1]]]
