"""One random game of Hex on both boards: the same legal moves, boards and winner."""

import random

import pyspiel

from referees.hex import SWAP, Hex
from research.against_openspiel import agree

_LETTERS = str.maketrans("-", ".")


def play(judge: Hex, chance: random.Random) -> str:
    """Play a game and return its result. Raises DisagreementError.

    OpenSpiel numbers cells as we do, and its swap after them. Every other game with the swap rule swaps.
    """
    settings = judge.settings
    swap = settings.rows * settings.columns
    parameters = {"num_rows": settings.rows, "num_cols": settings.columns, "swap": settings.swap}
    state = pyspiel.load_game("hex", {**parameters, "string_rep": "standard"}).new_initial_state()
    position = judge.start(0)
    while seats := judge.to_move(position):
        agree("over", False, state.is_terminal(), state)
        (seat,) = seats
        agree("to move", seat - 1, state.current_player(), state)
        legal = judge.legal_moves(position, seat)
        agree("moves", sorted(swap if move == SWAP else move for move in legal), state.legal_actions(), state)
        move = SWAP if SWAP in legal and chance.random() < 0.5 else chance.choice(legal)
        if move != SWAP:
            agree("name", judge.move_text(move), state.action_to_string(move), state)
        state.apply_action(swap if move == SWAP else move)
        position = judge.play(position, {seat: move})
        agree(
            "board", judge.board(position, 1).letters.translate(_LETTERS), "".join(str(state).split()), state
        )
    outcome = judge.outcome(position)
    assert outcome is not None
    agree("over", True, state.is_terminal(), state)
    agree("winner", outcome.winners, (1,) if state.returns()[0] > 0 else (2,), state)
    return outcome.summary
