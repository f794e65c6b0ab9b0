"""ACADEMY reads a game's description as the client meant it."""

import pytest

from academy.knowledge.boards import GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import NodeSymmetry
from academy.v1 import game_pb2
from academy.wire.games import game_message, read_spec, unusual_settings

SPECS = [
    GameSpec("plain", SquareGeometry(3, 4)),
    GameSpec("hexagons", HexGeometry(2, 3), symmetric=False, expected_length=12.5),
    GameSpec(
        "square",
        SquareGeometry(2, 2),
        symmetries=("identity", "rotate_180"),
        cell_names=("a2", "b2", "a1", "b1"),
    ),
    GameSpec(
        "map",
        GraphGeometry(("here", "there"), ((0, 1),)),
        players=7,
        symmetric=False,
        symmetries=("identity", "mirror"),
        node_symmetries=(NodeSymmetry("mirror", (1, 0)),),
    ),
    GameSpec("orders", GraphGeometry(("x",)), players=3, symmetric=False, simultaneous=True),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.game_id)
def test_the_server_reads_the_same_game(spec: GameSpec) -> None:
    wire = game_message(spec).SerializeToString()
    assert read_spec(game_pb2.Game.FromString(wire)) == spec


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "all are the usual ones"),
        ({"opening_capacity": 1_000, "pattern_value_limit": 0.33}, "all are the usual ones"),
        ({"endgame_capacity": 1_000_000, "consult_share": 0.5}, "endgame_capacity=1000000 consult_share=0.5"),
        ({"evaluation": True, "local_weights": False}, "evaluation=true"),
    ],
)
def test_settings_other_than_the_usual_ones_are_named_as_the_command_takes_them(
    settings: dict[str, float], words: str
) -> None:
    assert unusual_settings(game_pb2.LibrarySettings(**settings)) == words  # type: ignore[arg-type]
