"""A simple WarLight bot, in one file that needs nothing but Python: copy it and make it better.

It places all its armies where most enemies are near, attacks every target that it has twice the armies of,
and leads armies that have no enemy beside them towards the front.

    python simple.py [--seed N]     # speaks the game's dialogue on standard input and output
    python -m clients.bots.warlight.simple --academy     # the same, with ACADEMY's advice
"""

import argparse
import random
import sys
from collections.abc import Iterable, Mapping, Sequence

BASE_INCOME = 5  # armies a turn without any bonus; the referee does not say how many there are; see --income

Neighbours = dict[int, list[int]]
Bonuses = list[tuple[int, list[int]]]


def read_map(lines: Iterable[str]) -> tuple[Neighbours, Bonuses]:
    """The neighbours of each territory, and the bonuses as (armies, territories)."""
    neighbours: Neighbours = {}
    bonuses: Bonuses = []
    for line in lines:
        match line.split():
            case ["TerritoryDefinition", territory, _name, *near]:
                neighbours[int(territory)] = [int(neighbour) for neighbour in near]
            case ["BonusDefinition", armies, _name, *members]:
                bonuses.append((int(armies), [int(member) for member in members]))
    return neighbours, bonuses


def read_standing(lines: Iterable[str]) -> tuple[dict[int, str], dict[int, int]]:
    """The owner (You, Neutral or Opponent) of each territory in sight, and its armies."""
    owner, armies = {}, {}
    for line in lines:
        match line.split():
            case ["Territory", territory, "ownedBy", name, "withArmies", count]:
                owner[int(territory)] = name
                armies[int(territory)] = int(count)
    return owner, armies


def up_to(last: str, lines: Iterable[str]) -> list[str]:
    """All lines before one."""
    before = []
    for line in lines:
        if line == last:
            break
        before.append(line)
    return before


def steps_to_front(neighbours: Neighbours, mine: set[int]) -> dict[int, int]:
    """How far each territory of mine is from one that is not mine."""
    steps: dict[int, int] = {}
    wave = [territory for territory in mine if any(near not in mine for near in neighbours[territory])]
    distance = 1
    while wave:
        steps.update(dict.fromkeys(wave, distance))
        wave = [
            near
            for territory in set(wave)
            for near in neighbours[territory]
            if near in mine and near not in steps
        ]
        distance += 1
    return steps


def decide(  # noqa: PLR0913 - plain values only: this file is an example to copy
    neighbours: Neighbours,
    bonuses: Bonuses,
    owner: Mapping[int, str],
    standing: Mapping[int, int],
    chance: random.Random,
    liking: Mapping[int, float],
    base_income: int = BASE_INCOME,
) -> list[str]:
    """The orders of a turn, line by line. `liking` says of some territories how good it is to take them."""
    mine = {territory for territory in owner if owner[territory] == "You"}
    if not mine:
        return []
    armies = dict(standing)
    orders = []

    # 1. Place the income, all on one territory.
    income = base_income + sum(worth for worth, members in bonuses if mine.issuperset(members))

    def threat(territory: int) -> tuple[float, float]:
        near = neighbours[territory]
        enemies = 3 * [owner.get(neighbour) for neighbour in near].count("Opponent")
        neutrals = [owner.get(neighbour) for neighbour in near].count("Neutral")
        return enemies + neutrals + sum(liking.get(neighbour, 0.0) for neighbour in near), chance.random()

    place = max(sorted(mine), key=threat)
    orders.append(f"Deploy {income} on {place}")
    armies[place] += income

    # 2. Attack, or walk to the front. One army always has to stay behind.
    steps = steps_to_front(neighbours, mine)
    for territory in sorted(mine):
        free = armies[territory] - 1
        targets = [neighbour for neighbour in neighbours[territory] if neighbour not in mine]
        targets.sort(
            key=lambda target: (owner[target] != "Opponent", -liking.get(target, 0.0), armies[target])
        )
        for target in targets:
            needed = max(1, 2 * armies[target])
            if needed <= free:
                # The last one that can be attacked gets all that are left.
                others = any(2 * armies[rival] <= free - needed for rival in targets if rival != target)
                sent = needed if others else free
                orders.append(f"AttackTransfer {sent} from {territory} to {target}")
                free -= sent
        if free > 0 and not targets:
            towards = min(neighbours[territory], key=lambda neighbour: steps[neighbour])
            orders.append(f"AttackTransfer {free} from {territory} to {towards}")
    return orders


def read_options(description: str, arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of a bot, from the command line where `arguments` are None."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", help="for games that can be repeated")
    parser.add_argument("--academy", action="store_true", help="consult ACADEMY and propose, in a contest")
    parser.add_argument(
        "--income", type=int, default=BASE_INCOME, help="the game's setting, if it is another"
    )
    parser.add_argument(
        "--stack-armies", type=int, default=10, help="the same of what ACADEMY is asked about"
    )
    return parser.parse_args(arguments)


def main() -> None:
    """Play until GameOver."""
    options = read_options(__doc__.partition("\n")[0])
    chance = random.Random(options.seed)
    lines = (line.strip() for line in sys.stdin)
    map_lines = up_to("EndMap", lines)
    neighbours, bonuses = read_map(map_lines)
    advisor = None
    if options.academy:
        # Only here is more needed than this file.
        from academy.wire.standard_streams import open_closed
        from clients.bots.warlight.advisor import PlainAdvisor

        # What the advisor complains of would go into the dialogue where standard error is closed.
        open_closed()
        advisor = PlainAdvisor(map_lines, options.income, options.stack_armies)
    for line in lines:
        if line == "GameOver":
            break
        if line.startswith("Turn"):
            owner, armies = read_standing(up_to("EndStanding", lines))
            if advisor is None:
                orders = decide(neighbours, bonuses, owner, armies, chance, {}, options.income)
            else:
                advice = advisor.advise(int(line.split()[1]), owner, armies)
                own = decide(neighbours, bonuses, owner, armies, chance, advice.weights, options.income)
                orders = [*(advice.orders or own), f"academy-expected_value {advice.value:.4f}"]
            # Without the flush the referee waits for lines that lie in a buffer.
            print(*orders, "end", sep="\n", flush=True)
    if advisor is not None:
        advisor.finish()


if __name__ == "__main__":
    main()
