"""How fast Diplomacy's rules are: random legal play, convoys at their worst, what agents see, and our bots.

`python -m benchmarks.diplomacy` also measures the PyPI package `diplomacy`, round by round in turn with ours,
in an environment that it makes for it, or in that of the interpreter `--package PYTHON`. All times are CPU
time of one process.
"""

import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import arguments, diplomacy_package
from benchmarks.diplomacy_package import NotInstalledError, Played
from clients.bots.diplomacy.bots import BOTS, bot
from referees.diplomacy import (
    Order,
    OrderKind,
    OrderResult,
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
from referees.diplomacy.deepmind import DiplomacyState, action_of

STANDARD = shipped_map("standard")
YEARS = 20
# With these years they have ten thousand phases.
GAMES = 175
ROUNDS = 5
OURS, THEIRS = "this project", "the package `diplomacy` 1.1.2"
PACKAGE_GAMES = 2
BOT_YEARS = 6


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


def random_play(games: int, seed: int) -> tuple[Played, float]:
    """Random legal play of all powers, and the CPU-seconds of the worst phase."""
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
    return Played(phases, time.process_time() - began, adjudicating), worst


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


def agents_loop(games: int) -> dict[str, float]:
    """CPU-seconds a phase of what DeepMind's runner calls, in random legal play."""
    chance, phases = random.Random(3), 0
    spent = dict.fromkeys(("observation()", "legal_actions()", "step()"), 0.0)
    for _ in range(games):
        state = DiplomacyState()
        while state.position.year < STANDARD.first_year + YEARS:
            orders = random_orders(state.position, chance)
            actions = [[action_of(order) for order in orders[power]] for power in range(len(STANDARD.powers))]
            spent["observation()"] += seconds_of(state.observation)
            spent["legal_actions()"] += seconds_of(state.legal_actions)
            spent["step()"] += seconds_of(partial(state.step, actions))
            phases += 1
    return {call: seconds / phases for call, seconds in spent.items()}


def thinking(name: str, seed: int) -> float:
    """CPU-seconds that a bot takes for a power's orders for a phase, in a game between seven of it."""
    position, decisions, spent = Position.start(STANDARD), 0, 0.0
    bots = [bot(name, f"{seed}/{power}") for power in range(len(STANDARD.powers))]
    while position.year < STANDARD.first_year + BOT_YEARS:
        began = time.process_time()
        orders = {power: player.orders(position, power) for power, player in enumerate(bots)}
        spent += time.process_time() - began
        decisions += sum(map(bool, orders.values()))
        position = adjudicate(position, orders).after
    return spent / decisions


def seconds_of(work: Callable[[], object]) -> float:
    """CPU-seconds of one call."""
    before = time.process_time()
    work()
    return time.process_time() - before


def print_rates(games: int, python: Path | None) -> None:
    """Ours and, where there is its interpreter, the package's, in turn; and our worst phase."""
    ours, theirs, worst = [], [], 0.0
    for number in range(ROUNDS):
        played, slowest = random_play(games // ROUNDS, seed=number + 1)
        ours.append(played)
        worst = max(worst, slowest)
        if python is not None:
            theirs.append(diplomacy_package.random_play(python, PACKAGE_GAMES, YEARS))
    print("| random legal play of all powers for 20 years | whole loop, phases/s | adjudication alone |")
    print("|---|---|---|")
    rates = {name: rate(rounds) for name, rounds in ((OURS, ours), (THEIRS, theirs)) if rounds}
    for name, (whole, alone) in rates.items():
        print(f"| {name} | {whole:,.0f} | {alone:,.0f} |")
    if theirs:
        times = [mine / other for mine, other in zip(rates[OURS], rates[THEIRS], strict=True)]
        print(f"| times as many | {times[0]:.1f} | {times[1]:.1f} |")
    print("\n| legal orders and adjudication | ms |")
    print("|---|---|")
    print(f"| the worst of {sum(played.phases for played in ours):,} random phases | {1000 * worst:.1f} |")


def rate(rounds: Sequence[Played]) -> tuple[float, float]:
    """Phases a CPU-second, of the whole loop and of adjudication alone: the medians of the rounds."""
    return (
        median(played.phases / played.whole for played in rounds),
        median(played.phases / played.adjudicating for played in rounds),
    )


def print_convoys() -> None:
    """Positions made to be hard, the slowest of several rounds each."""
    made = [
        (f"a fleet on each of the seas, {armies} armies by convoy", crowded(armies)) for armies in (5, 15, 40)
    ]
    for name, (position, orders) in (*made, ("five paradoxes of convoys at once", tangled())):
        legal = max(seconds_of(partial(all_legal_orders, position)) for _ in range(ROUNDS))
        resolving = max(seconds_of(partial(with_reasons, position, orders)) for _ in range(ROUNDS))
        print(f"| {name} | {1000 * legal:.1f} and {1000 * resolving:.1f} |")


def with_reasons(position: Position, orders: dict[int, list[Order]]) -> Sequence[OrderResult]:
    """The results of all orders, with their reasons."""
    return adjudicate(position, orders).results


def print_players() -> None:
    """What agents see, and how long our bots think."""
    print("\n| a phase of DeepMind's environment | us |")
    print("|---|---|")
    loops = [agents_loop(games=2) for _ in range(ROUNDS)]
    for call in loops[0]:
        print(f"| `{call}` | {1e6 * median(loop[call] for loop in loops):.0f} |")
    print("\n| a bot's orders for a power and phase | ms |")
    print("|---|---|")
    for name in BOTS:
        print(f"| `{name}` | {1000 * median(thinking(name, seed) for seed in range(ROUNDS)):.2f} |")


def main() -> None:
    """Print the figures."""
    parser = arguments.parser(__doc__)
    parser.add_argument(
        "--games",
        type=arguments.at_least(ROUNDS),
        default=GAMES,
        help=f"games of {YEARS} years (default {GAMES})",
    )
    parser.add_argument("--package", type=Path, help="the interpreter of an environment that has the package")
    chosen = parser.parse_args()
    random_play(1, seed=0)
    with ExitStack() as stack:
        python, missing = chosen.package, ""
        if python is None:
            try:
                python = stack.enter_context(diplomacy_package.installed())
            except NotInstalledError as error:
                missing = f"\nThe package could not be installed here: {error}"
        print_rates(chosen.games, python)
    print_convoys()
    print_players()
    if missing:
        print(missing)


if __name__ == "__main__":
    main()
