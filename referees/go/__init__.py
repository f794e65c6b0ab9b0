"""Go: its rules, its records (SGF) and its words in GTP; `Go` is the referee."""

from referees.go.board import BLACK, EMPTY, PASS, WHITE, Board, GoPosition
from referees.go.rules import Go
from referees.go.settings import Compensation, GoSettings, Ko

__all__ = ["BLACK", "EMPTY", "PASS", "WHITE", "Board", "Compensation", "Go", "GoPosition", "GoSettings", "Ko"]
