"""Konane, or Hawaiian checkers: `Konane` is the referee, `mobility` a player that counts jumps."""

from konane.player import mobility
from konane.position import KonaneMove, KonanePosition
from konane.referee import Konane

__all__ = ["Konane", "KonaneMove", "KonanePosition", "mobility"]
