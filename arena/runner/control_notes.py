"""What the user of a control file should know of its rules before its games are believed."""

import secrets

from arena.control.settings import Control
from arena.match.game_seeds import SAFE_SEED
from arena.selection.kinds import players_to_check


def notes_on(control: Control) -> list[str]:
    """What the user of a control file should know of its rules before its games are believed."""
    remarks = []
    if control.ringmaster_rules:
        remarks.append(
            "a player that answers a move with 'illegal move' is believed, and its opponent forfeits: that "
            "is the rule of Gomill's ringmaster, whose control file this is (ACADEMY takes such games as "
            "void; in a control file in TOML the referee's verdict stands)"
        )
    small = control.seed is not None and control.seed < SAFE_SEED
    if small and any(game.rules().hides for _, game in players_to_check(control)):
        remarks.append(
            f"competition.seed = {control.seed}: players can guess so small a seed, and with it know what "
            "the game hides from them, and its dice; leave it out, or take a large random one, such as "
            f"{SAFE_SEED + secrets.randbelow(2**63 - SAFE_SEED)}"
        )
    return remarks
