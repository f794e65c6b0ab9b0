"""One random game of English draughts on both boards: the same whole moves, boards and winner.

OpenSpiel's rules differ in three things: it has one action for each jump, which is put together here; a
game is a draw after 40 plies without a capture, men's moves counted like kings'; positions may repeat.
"""

import random

import pyspiel

from referees.draughts import VARIANTS, Draughts
from research.against_openspiel import agree

DRAWN_AFTER = 40
JUDGE = Draughts.from_settings({"variant": "english", "repetition": 0, "king_moves": 0})

_LAYOUT = VARIANTS["english"].layout
# OpenSpiel has the side that moves first at the bottom, we have Black at the top: half a turn.
_SQUARES = {
    f"{'hgfedcba'[column]}{row + 1}": number for number, (row, column) in enumerate(_LAYOUT.cells, start=1)
}
_LETTERS = str.maketrans("+-xbow", "..o8+*")

# Start, end, and the squares of the pieces taken.
Move = tuple[int, int, tuple[int, ...]]


def play(chance: random.Random) -> str:
    """Play a game and return its result. Raises DisagreementError."""
    state, position, idle = pyspiel.load_game("checkers").new_initial_state(), JUDGE.start(0), 0
    while not state.is_terminal():
        agree("to move", JUDGE.to_move(position), (state.current_player() + 1,), state)
        theirs = _whole_moves(state)
        ours = {
            (move.squares[0], move.squares[-1], tuple(sorted(move.captured))): move for move in position.moves
        }
        agree("moves", sorted(ours), sorted(theirs), state)
        key = chance.choice(sorted(ours))
        position = JUDGE.play(position, {state.current_player() + 1: ours[key]})
        for action in theirs[key]:
            state.apply_action(action)
        idle = 0 if key[2] else idle + 1
        board = "".join(line[1:] for line in str(state).splitlines()[:8])
        agree("board", JUDGE.board(position, 1).letters.translate(_LETTERS), board[::-1], state)
    gained = state.returns()[0]
    if gained == 0:
        agree("plies without a capture", idle, DRAWN_AFTER, state)
        # We have rules of our own for draws; only a win may not be overlooked.
        agree("outcome", JUDGE.outcome(position), None, state)
        return "draw"
    outcome = JUDGE.outcome(position)
    agree("winner", outcome and outcome.winners, (1,) if gained > 0 else (2,), state)
    return "Black wins" if gained > 0 else "White wins"


def _whole_moves(state: pyspiel.State) -> dict[Move, list[int]]:
    """OpenSpiel's moves, jumps put together, with a list of actions each."""
    counts: dict[Move, list[int]] = {}
    mover = state.current_player()

    def follow(state: pyspiel.State, start: int, taken: tuple[int, ...], actions: list[int]) -> None:
        for action in state.legal_actions():
            text = state.action_to_string(action)
            source, end = _SQUARES[text[:2]], _SQUARES[text[2:]]
            between = _LAYOUT.between(source, end)
            now = tuple(sorted({*taken, *between}))
            after = state.clone()
            after.apply_action(action)
            if after.current_player() == mover:
                follow(after, start or source, now, [*actions, action])
            else:
                counts.setdefault((start or source, end, now), [*actions, action])

    follow(state, 0, (), [])
    return counts
