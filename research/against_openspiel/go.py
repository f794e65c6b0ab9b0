"""One random game of Go on both boards: the same legal moves, boards and score.

OpenSpiel forbids self-capture, and ends a game as a draw when a board stands for the second time (which
is not a ko, as that is forbidden) or after twice as many plies as there are points.
"""

import random

import pyspiel

from referees.go import PASS, Go
from research.against_openspiel import agree

_LETTERS = str.maketrans("-xo", "+XO")
# Else most random games would end by two passes before much has been captured.
_PASSES = 0.02


def judge(size: int, komi: float = 0.5) -> Go:
    """A referee with the rules of OpenSpiel's Go."""
    return Go.from_settings({"board_size": size, "komi": komi, "self_capture": False})


def play(judge: Go, chance: random.Random) -> str:
    """Play a game and return its result, `repetition` where a board came twice. Raises DisagreementError."""
    size, komi = judge.settings.board_size, judge.settings.komi
    # OpenSpiel counts points from the bottom left and has the pass after them, we from the top left.
    actions = {
        (size - 1 - row) * size + column: row * size + column for row in range(size) for column in range(size)
    }
    actions[PASS] = size * size
    state = pyspiel.load_game("go", {"board_size": size, "komi": komi}).new_initial_state()
    position = judge.start(0)
    seen = {position.stones}
    passes = 0
    while not state.is_terminal():
        agree("over", judge.outcome(position), None, state)
        agree("to move", judge.to_move(position), (state.current_player() + 1,), state)
        legal = judge.legal_moves(position, position.mover)
        agree("moves", sorted(actions[move] for move in legal), state.legal_actions(), state)
        points = [move for move in legal if move != PASS]
        move = chance.choice(points) if points and chance.random() >= _PASSES else PASS
        passes = passes + 1 if move == PASS else 0
        state.apply_action(actions[move])
        position = judge.play(position, {position.mover: move})
        printed = [line.split()[1] for line in str(state).splitlines() if line.strip()[:1].isdigit()]
        agree("board", judge.board(position, 1).letters.translate(_LETTERS), "".join(printed), state)
        if move != PASS and position.stones in seen:
            agree("over by repetition", True, state.is_terminal(), state)
            return "repetition"
        seen.add(position.stones)
    agree("over by two passes", judge.outcome(position) is not None, passes == 2, state)
    # A game that is only too long is counted all the same.
    outcome = judge.outcome(position) or judge.adjudicate(position)
    assert outcome is not None
    agree("winner", outcome.winners, (1,) if state.returns()[0] > 0 else (2,), state)
    return "Black wins" if outcome.winners == (1,) else "White wins"
