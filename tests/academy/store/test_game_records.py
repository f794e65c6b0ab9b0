"""Games and settings as messages and back."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.knowledge.boards import GraphGeometry, HexGeometry, InvalidBoardError, SquareGeometry
from academy.knowledge.settings import GREATEST, LEAST, InvalidSettingsError, Library, LibrarySettings
from academy.knowledge.spec import GameSpec, InvalidGameError
from academy.knowledge.symmetries import NodeSymmetry
from academy.store.codec.games import (
    library_from_proto,
    library_to_proto,
    pattern_library_from_proto,
    settings_from_proto,
    settings_to_proto,
    spec_to_proto,
)
from academy.store.errors import InvalidRecordError
from academy.v1 import game_pb2, pattern_pb2
from academy.wire.games import read_spec
from tests.academy.store.examples import go

SPECS = {
    "square with all symmetries": go(),
    "rectangle": GameSpec("draughts", SquareGeometry(8, 4), reversal="rotate_180"),
    "hex": GameSpec("hex-5", HexGeometry(5, 5), symmetries=("identity", "rotate_180"), reversal="transpose"),
    "graph": GameSpec(
        "map",
        GraphGeometry(("PAR", "BUR", "GAS"), ((0, 1), (1, 2))),
        players=7,
        symmetric=False,
        symmetries=("identity", "flip"),
        node_symmetries=(NodeSymmetry("flip", (2, 1, 0)),),
        expected_length=12.5,
    ),
    "simultaneous": GameSpec("war", GraphGeometry(("a",)), players=3, symmetric=False, simultaneous=True),
}


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS.keys())
def test_a_game_comes_back_as_it_was(spec: GameSpec) -> None:
    assert read_spec(spec_to_proto(spec)) == spec
    message = spec_to_proto(spec, LibrarySettings(endgame_capacity=7))
    assert spec_to_proto(read_spec(message), settings_from_proto(message.settings)) == message


def test_a_game_without_geometry_is_refused() -> None:
    with pytest.raises(InvalidGameError, match="without geometry"):
        read_spec(game_pb2.Game(game_id="x", players=2))


def test_an_empty_board_is_refused() -> None:
    game = spec_to_proto(go())
    game.geometry.square.rows = 0
    with pytest.raises(InvalidBoardError, match="0 rows"):
        read_spec(game)


def values_of(setting: str, kind: object) -> st.SearchStrategy[float]:
    """All that a setting may be."""
    if kind is bool:
        return st.booleans()
    if kind is float:
        return st.floats(0, 1)
    return st.integers(LEAST.get(setting, 0), GREATEST.get(setting, 1_000_000))


@given(
    st.builds(
        LibrarySettings,
        **{field.name: values_of(field.name, field.type) for field in fields(LibrarySettings)},
    )
)
def test_settings_come_back_as_they_were(settings: LibrarySettings) -> None:
    assert settings_from_proto(settings_to_proto(settings)) == settings


def test_settings_not_given_are_the_defaults_or_stay() -> None:
    given_one = game_pb2.LibrarySettings(opening_capacity=0)
    assert settings_from_proto(given_one) == LibrarySettings(opening_capacity=0)
    base = LibrarySettings(forget_after=9)
    assert settings_from_proto(given_one, base) == LibrarySettings(opening_capacity=0, forget_after=9)


@pytest.mark.parametrize("value", [float("nan"), -0.1, 1.1])
def test_settings_out_of_range_are_refused(value: float) -> None:
    with pytest.raises(InvalidSettingsError, match="prune_below"):
        settings_from_proto(game_pb2.LibrarySettings(prune_below=value))


@pytest.mark.parametrize("library", Library)
def test_libraries_come_back_as_they_were(library: Library) -> None:
    assert library_from_proto(library_to_proto(library)) is library


def test_no_library_and_the_wrong_library_are_refused() -> None:
    with pytest.raises(InvalidRecordError, match=r"content\.library: 0 names no library"):
        library_from_proto(pattern_pb2.LIBRARY_UNSPECIFIED, "content.library")
    with pytest.raises(InvalidRecordError, match="lines of moves"):
        pattern_library_from_proto(pattern_pb2.LIBRARY_OPENING)
