"""The selector of each kind of competition."""

from arena.control import plans
from arena.control.settings import Control
from arena.selection.all_play_all import AllPlayAll
from arena.selection.gauntlet import Gauntlet
from arena.selection.playoff import Playoff
from arena.selection.selector import Selector
from referees.api import referee


def selector_for(control: Control) -> Selector:
    """A fresh selector as the control file asks for. Raises ValueError for a kind there is not."""
    match control.plan:
        case plans.AllPlayAllPlan(competitors, rounds):
            rules = referee(control.game.name).from_settings(control.game.settings)
            return AllPlayAll(competitors, rounds, control.seed, rules.seats)
        case plans.PlayoffPlan(matchups):
            return Playoff(matchups, control.players, control.path.stem, control.seed)
        case plans.GauntletPlan(challengers, opponents, rounds):
            return Gauntlet(challengers, opponents, rounds, control.seed)
        case _:
            raise ValueError(f"there is no kind of competition called {control.kind!r}")
