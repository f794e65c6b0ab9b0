"""The selector of each kind of competition, and the players that it needs."""

from collections.abc import Sequence

from arena.control import plans
from arena.control.parameters import Parameter
from arena.control.plans import GameSettings
from arena.control.settings import Control
from arena.jobs import PlayerSetup
from arena.selection.selector import Selector


def selector_for(control: Control) -> Selector:  # noqa: C901 - a case for each kind
    """A fresh selector as the control file asks for."""
    # Who plays whom need not be secret.
    plan, seed, folder = control.plan, control.seed or 0, str(control.path.parent)
    # Each loads what it needs itself: a run has one kind, and is to begin soon.
    match plan:
        case plans.AllPlayAllPlan():
            from arena.selection.round_robin import RoundRobin

            return RoundRobin(plan.competitors, plan.rounds, seed, control.game.rules().seats)
        case plans.PlayoffPlan():
            from arena.selection.playoff import Playoff

            return Playoff(plan.matchups, control.players, control.path.stem, seed)
        case plans.GauntletPlan():
            from arena.selection.round_robin import Gauntlet

            return Gauntlet(plan.challengers, plan.opponents, plan.rounds, seed)
        case plans.SwissPlan():
            from arena.selection.swiss import Swiss

            return Swiss(plan, seed)
        case plans.StandingPlan():
            from arena.selection.standing import Standing

            return Standing(plan, seed)
        case plans.SprtPlan():
            from arena.selection.sprt import SprtMatch

            return SprtMatch(plan, seed)
        case plans.MarsPlan():
            from arena.selection.mars import Mars

            return Mars(plan.series, control.game.rules().seats, seed)
        case plans.GenerationsPlan():
            from arena.selection.generations import Generations

            return Generations(plan, {name: control.players[name] for name in plan.panel}, seed)
        case plans.MonteCarloPlan():
            from arena.selection.monte_carlo import MonteCarloTuner

            return MonteCarloTuner(plan, control.players[plan.candidate.opponent], seed, folder)
        case plans.CrossEntropyPlan():
            from arena.selection.cross_entropy import CrossEntropyTuner

            return CrossEntropyTuner(plan, control.players[plan.candidate.opponent], seed, folder)


def players_to_check(control: Control) -> list[tuple[PlayerSetup, GameSettings]]:
    """The players that a run needs, each with the first game that it may play.

    Matchups that play no more games are passed over. A tuner gives one candidate: that of the tree's
    first part, or of the mean of the distribution. A family gives one member. Raises InvalidParameterError.
    """
    plan = control.plan
    games: dict[str, GameSettings] = {}
    match plan:
        case plans.PlayoffPlan(matchups):
            for matchup in matchups:
                for name in matchup.players if matchup.games != 0 else ():
                    games.setdefault(name, matchup.game)
            games = dict(sorted(games.items()))
        case plans.MarsPlan(mission):
            for series in mission:
                able = [name for name, weight in series.contestants.items() if weight > 0]
                game = max(series.settings, key=lambda setting: setting.weight).game
                for name in able if series.weight > 0 and not series.complete else ():
                    games.setdefault(name, game)
        case _:
            games = dict.fromkeys(plan.competitors, control.game)
    checked = [(control.players[name], game) for name, game in games.items()]
    if isinstance(plan, plans.TunerPlan):
        checked.insert(0, (_sample(plan), control.game))
    if isinstance(plan, plans.GenerationsPlan):
        checked += [(_sample_of(family), control.game) for family in plan.families]
    return checked


def games_to_play(control: Control) -> list[GameSettings]:
    """The games that a run may play: those of its matchups or of its series' settings, or the one it has."""
    match control.plan:
        case plans.PlayoffPlan(matchups):
            return [matchup.game for matchup in matchups if matchup.games != 0]
        case plans.MarsPlan(mission):
            played = (series for series in mission if series.weight > 0 and not series.complete)
            return [setting.game for series in played for setting in series.settings if setting.weight > 0]
        case _:
            return [control.game]


def child_programs(control: Control) -> list[tuple[str, plans.ChildProgram]]:
    """The programs that make variants, by their families' names."""
    families = control.plan.families if isinstance(control.plan, plans.GenerationsPlan) else ()
    return [
        (family.name, family.variants)
        for family in families
        if isinstance(family.variants, plans.ChildProgram)
    ]


def _sample_of(family: plans.Family) -> PlayerSetup:
    variants = family.variants
    if isinstance(variants, plans.ChildProgram):
        return family.make(family.name, list(variants.first.values()))
    return family.make(family.name, [parameter.value(0.5) for parameter in variants.parameters])


def _sample(plan: plans.MonteCarloPlan | plans.CrossEntropyPlan) -> PlayerSetup:
    parameters: Sequence[Parameter] = plan.parameters
    if isinstance(plan, plans.MonteCarloPlan):
        from arena.selection.monte_carlo import ParameterTree

        places = ParameterTree(plan).centre((0,))
    else:
        places = tuple(parameter.mean for parameter in plan.parameters)
    values = [parameter.value(place) for parameter, place in zip(parameters, places, strict=True)]
    return plan.candidate.make("candidate", values)
