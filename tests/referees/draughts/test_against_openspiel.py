"""English draughts against OpenSpiel's checkers, in random games.

The rules differ in three things: OpenSpiel has one action for each jump, which is put together here; a
game is a draw after 40 plies without a capture, men's moves counted like kings'; positions may repeat.
"""

import random

import pyspiel
import pytest

from referees.draughts import VARIANTS, Draughts, DraughtsPosition
from tests.referees.draughts.placing import game

GAMES = 300
DRAWN_AFTER = 40

Captures = tuple[int, int, frozenset[int]]

# OpenSpiel has the side that moves first at the bottom, we have Black at the top: half a turn.
LAYOUT = VARIANTS["english"].layout
SQUARES = {
    f"{'hgfedcba'[column]}{row + 1}": number for number, (row, column) in enumerate(LAYOUT.cells, start=1)
}


def jumped(start: int, end: int) -> int | None:
    """The square between the ends of a jump; None for a plain move."""
    between = LAYOUT.between(start, end)
    return between[0] if between else None


def whole_moves(state: pyspiel.State) -> dict[Captures, list[int]]:
    """OpenSpiel's moves, jumps put together: start, end and squares taken, with one list of actions each."""
    found: dict[Captures, list[int]] = {}
    mover = state.current_player()

    def follow(state: pyspiel.State, start: int, at: int, taken: frozenset[int], actions: list[int]) -> None:
        for action in state.legal_actions():
            text = state.action_to_string(action)
            source, end = SQUARES[text[:2]], SQUARES[text[2:]]
            assert at in (0, source)
            over = jumped(source, end)
            after = state.clone()
            after.apply_action(action)
            now = taken | {over} if over else taken
            if after.current_player() == mover:
                follow(after, start or source, end, now, [*actions, action])
            else:
                found.setdefault((start or source, end, now), [*actions, action])

    follow(state, 0, 0, frozenset(), [])
    return found


def diagram(judge: Draughts, position: DraughtsPosition) -> str:
    """The board as OpenSpiel prints it, without its margins: `o` and `8` move first."""
    return judge.board(position, 1).letters.translate(str.maketrans("+-xbow", "..o8+*"))


@pytest.mark.parametrize("batch", range(4))
def test_the_same_moves_positions_and_outcomes(batch: int) -> None:
    checkers = pyspiel.load_game("checkers")
    judge = game("english", repetition=0, king_moves=0)
    ends: set[float] = set()
    for seed in range(batch * GAMES // 4, (batch + 1) * GAMES // 4):
        chance = random.Random(seed)
        state, position, idle = checkers.new_initial_state(), judge.start(seed), 0
        while not state.is_terminal():
            (seat,) = judge.to_move(position)
            assert state.current_player() == seat - 1
            theirs = whole_moves(state)
            ours = {
                (move.squares[0], move.squares[-1], frozenset(move.captured)): move for move in position.moves
            }
            assert ours.keys() == theirs.keys(), (seed, diagram(judge, position))
            key = chance.choice(sorted(ours, key=str))
            position = judge.play(position, {seat: ours[key]})
            for action in theirs[key]:
                state.apply_action(action)
            idle = 0 if key[2] else idle + 1
            printed = "".join(line[1:] for line in str(state).splitlines()[:8])
            assert diagram(judge, position) == printed[::-1]
        outcome = judge.outcome(position)
        ends.add(state.returns()[0])
        if outcome is None:
            assert state.returns() == [0.0, 0.0]
            assert idle == DRAWN_AFTER
        else:
            assert outcome.winners == ((1,) if state.returns()[0] > 0 else (2,))
    assert ends == {1.0, 0.0, -1.0}
