"""A player of Konane that looks one move ahead and counts jumps."""

import random
from collections.abc import Callable

from arena.players.player import Choice
from konane.position import KonanePosition
from konane.referee import Konane


def mobility(referee: Konane, seat: int, seed: int) -> Callable[[KonanePosition], Choice]:
    """A Python player (`konane:mobility`): it leaves itself many jumps and its opponent few.

    Its value is its share of all jumps. Games repeat with their seed.
    """
    chance = random.Random(f"{seed}/{seat}")

    def value(position: KonanePosition) -> float:
        theirs = len(referee.legal_moves(position, position.mover))
        mine = len(referee.legal_moves(KonanePosition(position.cells, seat), seat))
        return (1 + mine) / (2 + mine + theirs) if theirs else 1.0

    def choose(position: KonanePosition) -> Choice:
        moves = list(referee.legal_moves(position, seat))
        chance.shuffle(moves)
        values = [value(referee.play(position, {seat: move})) for move in moves]
        best = max(values)
        return Choice(referee.move_text(moves[values.index(best)]), value=best)

    return choose
