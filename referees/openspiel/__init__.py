"""The games of OpenSpiel (https://github.com/google-deepmind/open_spiel); `OpenSpiel` is the referee.

The rules are the library's, which is installed by the extra `openspiel` and loaded with the first game.
"""

from referees.openspiel.rules import OpenSpiel, SpielMove, SpielPosition

__all__ = ["OpenSpiel", "SpielMove", "SpielPosition"]
