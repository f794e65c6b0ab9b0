"""The selector of each kind of competition."""

from arena.control import plans
from arena.control.settings import Control
from arena.selection.all_play_all import AllPlayAll
from arena.selection.cross_entropy import CrossEntropyTuner
from arena.selection.gauntlet import Gauntlet
from arena.selection.mars import Mars
from arena.selection.monte_carlo import MonteCarloTuner
from arena.selection.playoff import Playoff
from arena.selection.selector import Selector
from arena.selection.sprt import SprtMatch
from arena.selection.swiss import Swiss


def selector_for(control: Control) -> Selector:
    """A fresh selector as the control file asks for."""
    # Who plays whom need not be secret.
    plan, seed, folder = control.plan, control.seed or 0, str(control.path.parent)
    match plan:
        case plans.AllPlayAllPlan():
            return AllPlayAll(plan.competitors, plan.rounds, seed, _seats(control))
        case plans.PlayoffPlan():
            return Playoff(plan.matchups, control.players, control.path.stem, seed)
        case plans.GauntletPlan():
            return Gauntlet(plan.challengers, plan.opponents, plan.rounds, seed)
        case plans.SwissPlan():
            return Swiss(plan, seed)
        case plans.SprtPlan():
            return SprtMatch(plan, seed)
        case plans.MarsPlan():
            return Mars(plan.series, _seats(control), seed)
        case plans.MonteCarloPlan():
            return MonteCarloTuner(plan, control.players[plan.candidate.opponent], seed, folder)
        case plans.CrossEntropyPlan():
            return CrossEntropyTuner(plan, control.players[plan.candidate.opponent], seed, folder)


def _seats(control: Control) -> int:
    return control.game.rules().seats
