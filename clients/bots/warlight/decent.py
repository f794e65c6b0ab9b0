"""A decent WarLight bot: takes bonuses that are worth their price, defends borders, attacks when it is safe.

    python -m clients.bots.warlight.decent
"""

import argparse
import random
from collections.abc import Sequence

from clients.bots.warlight.dialogue import Dialogue
from clients.bots.warlight.planning import Memory, Plan, expected_value


def main(arguments: Sequence[str] | None = None) -> None:
    """Play a game on standard input and output."""
    parser = argparse.ArgumentParser(prog="decent", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, help="for games that can be repeated")
    options = parser.parse_args(arguments)
    chance = random.Random(options.seed)
    dialogue = Dialogue()
    memory = Memory()
    for view in dialogue.turns():
        memory.note(view)
        plan = Plan(dialogue.map, view, memory, chance)
        dialogue.answer(plan.orders(), expected_value(dialogue.map, view))


if __name__ == "__main__":
    main()
