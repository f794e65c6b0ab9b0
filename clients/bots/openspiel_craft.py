"""OpenSpiel's games for a search: random games on one state of the library's, without positions between."""

import random

from clients.bots.craft import Playout, SearchGame
from referees.openspiel import OpenSpiel, SpielMove, SpielPosition


class OpenSpielCraft(SearchGame[SpielPosition, SpielMove]):
    """Scores are the returns, as far as who won goes."""

    def __init__(self, referee: OpenSpiel, chance: random.Random) -> None:
        super().__init__(referee, chance)

    def after(self, position: SpielPosition, move: SpielMove) -> SpielPosition:
        """The position after a move, which is one of those listed."""
        return position.after(move)

    def playout(self, position: SpielPosition) -> Playout[SpielMove]:
        """Play at random to the end."""
        state, random_number = position.state.clone(), self.chance.random
        while not state.is_terminal():
            actions = state.legal_actions()
            state.apply_action(actions[int(random_number() * len(actions))])
        returns = state.returns()
        best = max(returns)
        winners = sum(gained == best for gained in returns)
        return Playout(tuple(1.0 / winners if gained == best else 0.0 for gained in returns))
