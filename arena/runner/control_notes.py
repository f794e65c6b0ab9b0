"""What the user of a control file should know of its rules before its games are believed."""

import secrets
from collections.abc import Mapping

from arena.control import plans
from arena.control.candidates import CandidateMaker, CandidateTemplate
from arena.control.settings import Control
from arena.match.game_seeds import SAFE_SEED
from arena.selection.kinds import games_to_play


def notes_on(control: Control) -> list[str]:
    """What the user of a control file should know of its rules before its games are believed."""
    remarks = []
    if control.ringmaster_rules:
        remarks.append(
            "a player that answers a move with 'illegal move' is believed, and its opponent forfeits: that "
            "is the rule of Gomill's ringmaster, whose control file this is (ACADEMY takes such games as "
            "void; in a control file in TOML the referee's verdict stands)"
        )
    for place, make in _makers(control.plan).items():
        if isinstance(make, CandidateTemplate) and (words := make.unknown()):
            known = ", ".join(f"{{{code}}}" for code in make.codes)
            remarks += [
                f"{place}: {{{word}}} stays as it is: parameters are {known}; {{seed}} is the seat's seed"
                for word in words
            ]
    small = control.seed is not None and control.seed < SAFE_SEED
    if small and any(game.rules().hides for game in games_to_play(control)):
        remarks.append(
            f"competition.seed = {control.seed}: players can guess so small a seed, and with it know what "
            "the game hides from them, and its dice; leave it out, or take a large random one, such as "
            f"{SAFE_SEED + secrets.randbelow(2**63 - SAFE_SEED)}"
        )
    return remarks


def _makers(plan: plans.Plan) -> Mapping[str, CandidateMaker]:
    """What makes players of parameters' values, by its place in the control file."""
    if isinstance(plan, plans.TunerPlan):
        return {"candidate": plan.candidate.make}
    families = plan.families if isinstance(plan, plans.GenerationsPlan) else ()
    return {f"families.{family.name}.player": family.make for family in families}
