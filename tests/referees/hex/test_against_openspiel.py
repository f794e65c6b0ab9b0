"""Random games go in OpenSpiel's Hex as in ours: the same legal moves, boards and outcomes."""

import random

import pytest

from referees.hex import BLACK, SWAP, Hex
from referees.hex.board import COLOUR

pyspiel = pytest.importorskip("pyspiel")

LETTERS = ".xo"


def play_random_games(game: Hex, games: int, chance: random.Random) -> None:
    """Play games on both boards; OpenSpiel numbers cells as we do, and its swap after them."""
    settings = game.settings
    swap = settings.rows * settings.columns
    theirs = pyspiel.load_game(
        "hex",
        {
            "num_rows": settings.rows,
            "num_cols": settings.columns,
            "swap": settings.swap,
            "string_rep": "standard",
        },
    )
    for _ in range(games):
        position, state = game.start(0), theirs.new_initial_state()
        while game.to_move(position):
            assert not state.is_terminal()
            assert state.current_player() == position.mover - 1
            legal = game.legal_moves(position, position.mover)
            assert sorted(swap if move == SWAP else move for move in legal) == state.legal_actions()
            # Every other game with the swap rule swaps.
            move = SWAP if SWAP in legal and chance.random() < 0.5 else chance.choice(legal)
            action = swap if move == SWAP else move
            if move != SWAP:
                assert state.action_to_string(action) == game.move_text(move)
            state.apply_action(action)
            position = game.play(position, {position.mover: move})
        assert "".join(LETTERS[cell & COLOUR] for cell in position.cells) == "".join(str(state).split())
        assert state.is_terminal()
        assert (state.returns()[0] > 0) == (position.winner == BLACK)


@pytest.mark.parametrize(
    ("settings", "games"),
    [
        ({"board_size": 2}, 50),
        ({"board_size": 3, "swap": True}, 200),
        ({"board_size": 5, "swap": True}, 200),
        ({"board_size": 4, "columns": 7}, 200),
        ({"board_size": 7}, 100),
        ({"board_size": 11, "swap": True}, 100),
    ],
)
def test_random_games_agree_with_openspiel(settings: dict[str, object], games: int) -> None:
    game = Hex.from_settings(settings)
    play_random_games(game, games, random.Random(game.spec().game_id))
