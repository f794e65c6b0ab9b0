"""A simple WarLight bot, in one file that needs nothing but Python: copy it and make it better.

It places all its armies where most enemies are near, attacks whatever it has twice the armies of, and
leads armies that have no enemy beside them towards the front.

    python simple.py            # speaks the game's dialogue on standard input and output
"""

import random
import sys

BASE_INCOME = 5  # armies a turn without any bonus; the referee does not say how many there are


def read_map(lines):
    """Read up to EndMap: the neighbours of each territory, and the bonuses as (armies, territories)."""
    neighbours, bonuses = {}, []
    for line in lines:
        words = line.split()
        if words == ["EndMap"]:
            break
        if words and words[0] == "TerritoryDefinition":
            territory, _name, *near = words[1:]
            neighbours[int(territory)] = [int(each) for each in near]
        elif words and words[0] == "BonusDefinition":
            armies, _name, *members = words[1:]
            bonuses.append((int(armies), [int(each) for each in members]))
    return neighbours, bonuses


def read_standing(lines):
    """Read up to EndStanding: the owner of each territory in sight, and its armies."""
    owner, armies = {}, {}
    for line in lines:
        words = line.split()
        if words == ["EndStanding"]:
            break
        if words and words[0] == "Territory":  # Territory 198 ownedBy Neutral withArmies 1
            owner[int(words[1])] = words[3]  # You, Neutral or Opponent
            armies[int(words[1])] = int(words[5])
    return owner, armies


def steps_to_front(neighbours, mine):
    """How far each territory of mine is from one that is not mine."""
    steps = {}
    wave = [each for each in mine if any(near not in mine for near in neighbours[each])]
    distance = 1
    while wave:
        steps.update(dict.fromkeys(wave, distance))
        wave = [near for each in set(wave) for near in neighbours[each] if near in mine and near not in steps]
        distance += 1
    return steps


def orders(neighbours, bonuses, owner, armies, chance):
    """Decide on a turn: its orders, line by line."""
    mine = {each for each in owner if owner[each] == "You"}
    if not mine:
        return []
    answer = []

    # 1. Place the income, all on one territory.
    income = BASE_INCOME + sum(worth for worth, members in bonuses if mine.issuperset(members))

    def threat(territory):
        near = [owner.get(each) for each in neighbours[territory]]
        return 3 * near.count("Opponent") + near.count("Neutral"), chance.random()

    place = max(sorted(mine), key=threat)
    answer.append(f"Deploy {income} on {place}")
    armies[place] += income

    # 2. Attack, or walk to the front. One army always has to stay behind.
    steps = steps_to_front(neighbours, mine)
    for territory in sorted(mine):
        free = armies[territory] - 1
        targets = [each for each in neighbours[territory] if each not in mine]
        targets.sort(key=lambda each: (owner[each] != "Opponent", armies[each]))
        for target in targets:
            needed = 2 * armies[target]
            if 0 < needed <= free:
                # The last one that can be attacked gets all that are left.
                left = [each for each in targets if each != target and 2 * armies[each] <= free - needed]
                sent = needed if left else free
                answer.append(f"AttackTransfer {sent} from {territory} to {target}")
                free -= sent
        if free > 0 and not targets:
            towards = min(neighbours[territory], key=lambda each: steps.get(each, 0))
            answer.append(f"AttackTransfer {free} from {territory} to {towards}")
    return answer


def main():
    """Play until GameOver."""
    chance = random.Random(sys.argv[1]) if len(sys.argv) > 1 else random.Random()
    lines = (line.strip() for line in sys.stdin)
    neighbours, bonuses = read_map(lines)
    for line in lines:
        if line == "GameOver":
            break
        if line.startswith("Turn"):
            owner, armies = read_standing(lines)
            for order in orders(neighbours, bonuses, owner, armies, chance):
                print(order)
            # Without the flush the referee waits for lines that lie in a buffer.
            print("end", flush=True)


if __name__ == "__main__":
    main()
