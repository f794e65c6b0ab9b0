"""Hex: its rules, its records (SGF) and its words in GTP; `Hex` is the referee."""

from referees.hex.board import BLACK, EMPTY, SWAP, WHITE, Board, HexPosition
from referees.hex.rules import Hex
from referees.hex.settings import HexSettings

__all__ = ["BLACK", "EMPTY", "SWAP", "WHITE", "Board", "Hex", "HexPosition", "HexSettings"]
