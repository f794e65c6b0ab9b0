"""Draughts: its rules, its records (PDN) and its words in GTP; `Draughts` is the referee."""

from referees.draughts.moves import DraughtsPosition, Move, legal_moves
from referees.draughts.rules import Draughts
from referees.draughts.settings import DraughtsSettings
from referees.draughts.variants import VARIANTS, Variant

__all__ = ["VARIANTS", "Draughts", "DraughtsPosition", "DraughtsSettings", "Move", "Variant", "legal_moves"]
