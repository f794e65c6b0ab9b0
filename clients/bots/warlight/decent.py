"""A decent WarLight bot: takes bonuses that are worth their price, defends borders, attacks when it is safe.

python -m clients.bots.warlight.decent [--seed N] [--academy]
"""

import argparse
import random
from collections.abc import Sequence

from clients.bots.warlight.counsel import STACK_ARMIES, WarLightAdvisor
from clients.bots.warlight.dialogue import Dialogue
from clients.bots.warlight.planning import BASE_INCOME, Memory, TurnPlan, expected_value


def main(arguments: Sequence[str] | None = None) -> None:
    """Play a game on standard input and output."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", help="for games that can be repeated")
    parser.add_argument("--academy", action="store_true", help="consult ACADEMY and propose, in a contest")
    parser.add_argument(
        "--income", type=int, default=BASE_INCOME, help="the game's setting, if it is another"
    )
    parser.add_argument(
        "--stack-armies", type=int, default=STACK_ARMIES, help="the same of what ACADEMY is asked about"
    )
    options = parser.parse_args(arguments)
    chance = random.Random(options.seed)
    dialogue = Dialogue()
    counsel = (
        WarLightAdvisor.from_environment(dialogue.map, options.stack_armies) if options.academy else None
    )
    memory = Memory()
    for view in dialogue.turns():
        memory.note(view)
        value = expected_value(dialogue.map, view, options.income)
        preferred = counsel.preferred(view, value) if counsel else {}
        known = counsel.opening(view) if counsel else ()
        plan = TurnPlan(dialogue.map, view, memory, chance, preferred, options.income)
        dialogue.answer(known or plan.orders(), value)
        if counsel:
            counsel.turn(view, value)
    if counsel:
        counsel.finish()


if __name__ == "__main__":
    main()
