"""Cutting patterns out of a board: for bots, under the name by which they have always known it."""

from academy.knowledge.cutting import InvalidCutError, around_move, cell_of_move, cut, cut_around

__all__ = ["InvalidCutError", "around_move", "cell_of_move", "cut", "cut_around"]
