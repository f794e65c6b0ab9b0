"""A game's description survives the way to ACADEMY and back."""

import pytest

from academy.knowledge.boards import GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.spec import GameSpec, InvalidGame
from academy.knowledge.symmetries import NodeSymmetry
from academy.v1 import game_pb2
from clients.game_messages import game_message, spec_from_message

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
def test_there_and_back(spec: GameSpec) -> None:
    wire = game_message(spec).SerializeToString()
    assert spec_from_message(game_pb2.Game.FromString(wire)) == spec


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (game_pb2.Game(game_id="g", players=2), "game 'g': its geometry is missing"),
        (
            game_pb2.Game(
                game_id="g", players=2, geometry=game_pb2.Geometry(square=game_pb2.SquareGeometry(rows=9))
            ),
            "game 'g': a board of 9 rows and 0 columns",
        ),
        (
            game_pb2.Game(
                game_id="g",
                geometry=game_pb2.Geometry(square=game_pb2.SquareGeometry(rows=9, columns=9)),
            ),
            "0 players",
        ),
    ],
)
def test_descriptions_that_make_no_game_are_refused(game: game_pb2.Game, message: str) -> None:
    with pytest.raises(InvalidGame, match=message):
        spec_from_message(game)
