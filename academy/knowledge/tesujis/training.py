"""What the moves of a contest were chosen from, as tables of numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from academy.knowledge.cells import State
from academy.knowledge.contests import ContestReport
from academy.knowledge.learnt_weights import Numbers
from academy.knowledge.tesujis.shapes import OWN, PLAYERS, Places
from academy.knowledge.tesujis.surroundings import Surroundings

__all__ = ["Choices", "LearntMove", "choices_of", "moves_of"]


@dataclass(frozen=True, slots=True)
class LearntMove:
    """The boards before and after a move, the seat that made it, and its Elo in hundredths."""

    before: bytes
    after: bytes
    seat: int
    elo: int


def moves_of(report: ContestReport, teachers: dict[int, int]) -> list[LearntMove]:
    """Return the moves that are learnt from.

    Args:
        report: The contest's report.
        teachers: The Elos, in hundredths, of the players who teach, by seat.
    """
    return [
        LearntMove(before, after, ply.player, teachers[ply.player])
        for (before, after), ply in zip(pairwise(report.boards), report.plies, strict=True)
        if before and after and ply.player in teachers
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The cells that players could move to, ply by ply.

    `codes` has a row for each cell and `plies` the number of its ply, from 0 without gaps; `chosen` has for
    each ply the row of the cell moved to, `elos` the mover's Elo in hundredths.
    """

    codes: Numbers
    plies: Places
    chosen: Places
    elos: Numbers


def choices_of(around: Surroundings, moves: Sequence[LearntMove]) -> Choices:
    """Return the choices of those moves that fill one cell and lose none.

    Args:
        around: The game's surroundings of cells.
        moves: The moves.
    """
    before, after = (
        np.frombuffer(b"".join(states), dtype=np.uint8).reshape(len(moves), -1)
        for states in ((move.before for move in moves), (move.after for move in moves))
    )
    seats = np.array([move.seat for move in moves])
    views = np.empty((len(moves), before.shape[1] + 1), dtype=np.uint8)
    own_after = np.empty(after.shape, dtype=np.bool_)
    for player in range(1, PLAYERS + 1):
        own = seats == player
        views[own] = around.views(before[own], player)
        own_after[own] = around.views(after[own], player)[:, :-1] == OWN
    own_before = views[:, :-1] == OWN
    candidates = around.candidates(views, before)
    filled = (before == State.EMPTY) & own_after
    cells = filled.argmax(axis=1)
    fits = (filled.sum(axis=1) == 1) & ~(own_before & ~own_after).any(axis=1)
    # Where there is one cell only, nothing was chosen.
    fits &= (candidates.sum(axis=1) > 1) & candidates[np.arange(len(moves)), cells]
    candidates &= fits[:, None]
    boards, places = np.divmod(np.flatnonzero(candidates), candidates.shape[1])
    codes = around.codes(views, boards, places, seats[boards])
    elos = np.array([move.elo for move in moves], dtype=np.int64)[fits]
    return Choices(codes, (np.cumsum(fits) - 1)[boards], np.flatnonzero(places == cells[boards]), elos)
