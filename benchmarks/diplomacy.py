"""How fast Diplomacy's rules are: random legal play of all powers, and convoys at their worst.

`python -m benchmarks.diplomacy`; `--package PYTHON` also measures the PyPI package `diplomacy`, in the same
run, in the environment of that interpreter: the package is AGPL and no part of this project.
"""

import argparse
import random
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace

from referees.diplomacy import (
    Order,
    OrderKind,
    Phase,
    Position,
    Season,
    Unit,
    UnitKind,
    adjudicate,
    adjustments,
    all_legal_orders,
    read_order,
    shipped_map,
)

STANDARD = shipped_map("standard")
YEARS = 20
# Of these years they have ten thousand phases.
GAMES = 175

# The same loop on the package, run by its own interpreter.
PACKAGE = """
import random, time
from diplomacy import Game
chance, adjudicating, phases = random.Random(1), 0.0, 0
began = time.process_time()
for _ in range(GAMES):
    game = Game()
    while not game.is_game_done and int(game.get_current_phase()[1:5]) < 1901 + YEARS:
        possible = game.get_all_possible_orders()
        for power in game.powers:
            game.set_orders(power, [chance.choice(possible[place])
                for place in game.get_orderable_locations(power) if possible[place]])
        before = time.process_time()
        game.process()
        adjudicating += time.process_time() - before
        phases += 1
whole = time.process_time() - began
print(f"the package diplomacy: {phases / whole:,.0f} phases a CPU-second,",
      f"adjudication alone {phases / adjudicating:,.0f}")
"""


def random_orders(position: Position, chance: random.Random) -> dict[int, list[Order]]:
    """One random legal order for each unit, as many builds or removals as are due."""
    below = chance.random
    orders = {
        power: [choices[int(below() * len(choices))] for choices in legal.values()]
        for power, legal in enumerate(all_legal_orders(position))
    }
    if position.phase is Phase.BUILDS:
        due = adjustments(position)
        return {power: chance.sample(given, abs(due[power])) for power, given in orders.items()}
    return orders


def random_play(games: int, seed: int) -> tuple[int, float, float, float]:
    """Phases, CPU-seconds of the whole loop and of adjudication alone, and the worst phase's CPU-seconds."""
    chance = random.Random(seed)
    phases, adjudicating, worst = 0, 0.0, 0.0
    began = time.process_time()
    for _ in range(games):
        position = Position.start(STANDARD)
        while position.year < STANDARD.first_year + YEARS:
            start = time.process_time()
            orders = random_orders(position, chance)
            before = time.process_time()
            position = adjudicate(position, orders).after
            end = time.process_time()
            adjudicating += end - before
            worst = max(worst, end - start)
            phases += 1
    return phases, time.process_time() - began, adjudicating, worst


def crowded(armies: int) -> tuple[Position, dict[int, list[Order]]]:
    """A fleet on every sea and armies on coasts, all to go by convoy; some fleets attack instead."""
    board, chance = STANDARD, random.Random(7)
    seas = [province for province in range(len(board.codes)) if board.seas >> province & 1]
    units = [Unit(sea % 7, UnitKind.FLEET, board.main_location[sea]) for sea in seas]
    coasts = [province for province in range(len(board.codes)) if board.sea_access[province]]
    for number, coast in enumerate(chance.sample(coasts, armies)):
        units.append(Unit(number % 7, UnitKind.ARMY, board.main_location[coast]))
    units.sort(key=lambda unit: unit.location)
    position = Position(
        board, board.first_year, Season.SPRING, Phase.MOVES, tuple(units), (), board.first_owners
    ).checked()
    orders: dict[int, list[Order]] = {}
    moves = {}
    for unit in units:
        if unit.kind is UnitKind.ARMY:
            target = chance.choice([coast for coast in coasts if board.main_location[coast] != unit.location])
            move = Order(OrderKind.CONVOYED_MOVE, unit.location, board.main_location[target])
            moves[board.province_of[unit.location]] = move
            orders.setdefault(unit.power, []).append(move)
    for unit in units:
        if unit.kind is UnitKind.FLEET:
            near = board.reach[unit.kind][unit.location]
            if chance.random() < 0.3:
                order = Order(OrderKind.MOVE, unit.location, chance.choice(near))
            else:
                source, move = chance.choice(list(moves.items()))
                order = Order(OrderKind.CONVOY, unit.location, move.target, source)
            orders.setdefault(unit.power, []).append(order)
    return position, orders


def tangled() -> tuple[Position, dict[int, list[Order]]]:
    """Paradoxes side by side: each convoyed army lands on a unit that supports an attack on its convoy.

    In the north two convoys depend on each other so (DATC 6.F.22).
    """
    ordered = {
        "ENG": "F EDI - NTH, F LON S F EDI - NTH",
        "FRA": "A BRE - LON VIA, F ECH C A BRE - LON",
        "GER": "F BEL S F PIC - ECH, F PIC - ECH",
        "RUS": "A NWY - BEL VIA, F NTH C A NWY - BEL, F SEV - BLA, F RUM S F SEV - BLA",
        "ITA": "F NAP - TYS, F ROM S F NAP - TYS, A SMY - CON VIA, F AEG C A SMY - CON",
        "TUR": "A ANK - RUM VIA, F BLA C A ANK - RUM, F CON S F GRE - AEG, F GRE - AEG",
        "AUS": "A TUN - ROM VIA, F TYS C A TUN - ROM",
    }
    units = [
        STANDARD.unit(STANDARD.power(code), " ".join(text.split()[:2]))
        for code, texts in ordered.items()
        for text in texts.split(", ")
    ]
    position = replace(Position.start(STANDARD), units=tuple(sorted(units, key=lambda unit: unit.location)))
    return position.checked(), {
        STANDARD.power(code): [read_order(position, text) for text in texts.split(", ")]
        for code, texts in ordered.items()
    }


def seconds_of(work: Callable[[], object]) -> float:
    """CPU-seconds of one call."""
    before = time.process_time()
    work()
    return time.process_time() - before


def main() -> None:
    """Print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--games", type=int, default=GAMES, help=f"games of {YEARS} years")
    arguments.add_argument("--package", help="the interpreter of an environment with the package diplomacy")
    chosen = arguments.parse_args()
    random_play(1, seed=0)
    phases, whole, adjudicating, worst = random_play(chosen.games, seed=1)
    print(
        f"random play, {phases:,} phases: {phases / whole:,.0f} a CPU-second, adjudication alone "
        f"{phases / adjudicating:,.0f}; worst phase {1000 * worst:.1f} ms"
    )
    hand_made = [
        (f"a fleet on each of the seas and {armies} armies", crowded(armies)) for armies in (5, 15, 40)
    ]
    for name, (position, orders) in (*hand_made, ("five paradoxes of convoys at once", tangled())):
        legal = seconds_of(lambda position=position: all_legal_orders(position))  # type: ignore[misc]
        resolving = seconds_of(lambda p=position, o=orders: adjudicate(p, o).results)  # type: ignore[misc]
        print(
            f"{name}: legal orders {1000 * legal:.1f} ms, adjudication with reasons {1000 * resolving:.1f} ms"
        )
    if chosen.package:
        script = PACKAGE.replace("GAMES", str(max(1, chosen.games // 10))).replace("YEARS", str(YEARS))
        subprocess.run([chosen.package, "-c", script], check=True, timeout=600)


if __name__ == "__main__":
    main()
