"""How fast WarLight is refereed, and what the dialogue with two bots costs beside it.

    python -m benchmarks.warlight

Turns are those of scripted orders: each seat deploys its income at a border and attacks or transfers from
every territory that can. `standings` includes what each seat sees, as text. Figures are medians of rounds.
"""

import random
import sys
from statistics import median
from time import perf_counter

from arena.jobs import GameJob, PlayerSetup
from arena.match.game import play
from benchmarks import arguments
from referees.warlight import AttackTransfer, Deploy, Orders, WarLight, WarPosition
from referees.warlight.ai_challenge_2 import ChallengeLines

SEED = 7
ROUNDS = 5
TURNS = 100
# A bot that takes no time to think: it answers every standing with no orders.
SILENT = "import sys\nfor line in sys.stdin:\n    if line == 'EndStanding\\n': print('end', flush=True)\n"
Game = list[tuple[WarPosition, dict[int, Orders]]]


def scripted(rules: WarLight, position: WarPosition, seat: int, chance: random.Random) -> Orders:
    own = [at for at, owner in enumerate(position.owners) if owner == seat]
    ids = [territory.id for territory in rules.map.territories]
    orders: list[Deploy | AttackTransfer] = [Deploy(rules.income(position, seat), ids[chance.choice(own)])]
    for at in own:
        if position.armies[at] > 1:
            nears = rules.map.neighbours[at]
            foreign = [near for near in nears if position.owners[near] != seat]
            target = chance.choice(foreign or nears)
            orders.append(AttackTransfer(position.armies[at], ids[at], ids[target]))
    return tuple(orders)


def scripted_game(rules: WarLight) -> Game:
    chance, position = random.Random(SEED), rules.start(SEED)
    game: Game = []
    while rules.to_move(position) and len(game) < TURNS:
        orders = {seat: scripted(rules, position, seat, chance) for seat in (1, 2)}
        game.append((position, orders))
        position = rules.play(position, orders)
    return game


def turns_a_second(rules: WarLight, game: Game, with_standings: bool) -> float:
    lines = ChallengeLines(rules.map)
    rates = []
    for _ in range(ROUNDS):
        began = perf_counter()
        position = game[0][0]
        for _, orders in game:
            rules.to_move(position)
            if with_standings:
                for seat in (1, 2):
                    "\n".join(lines.standing(rules.view(position, seat), seat)).encode()
            position = rules.play(position, orders)
        rates.append(len(game) / (perf_counter() - began))
    return median(rates)


def idle_game(rules: WarLight, turns: int) -> Game:
    position = rules.start(SEED)
    game: Game = []
    for _ in range(turns):
        game.append((position, {1: (), 2: ()}))
        position = rules.play(position, {1: (), 2: ()})
    return game


def turns_a_second_with_bots(settings: dict[str, object]) -> float:
    bot = PlayerSetup("silent", (sys.executable, "-I", "-S", "-c", SILENT), protocol="lines")
    job = GameJob("1", "warlight", settings, (bot, bot), SEED, move_limit=10_000, describe_positions=False)
    rates = []
    for _ in range(ROUNDS):
        result = play(job)
        # The first turn waits until both programs have started.
        first = sum(move.seconds for move in result.moves[:2])
        rates.append((len(result.moves) / 2 - 1) / (result.play_seconds - first))
    return median(rates)


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument(
        "--map", default="double_earth", help="a map of the package, or a file that ends in .txt"
    )
    map_name = parser.parse_args().map
    rules = WarLight.from_settings({"map": map_name})
    game = scripted_game(rules)
    orders = sum(len(seat_orders) for _, turn in game for seat_orders in turn.values()) / len(game)
    # Without fog every standing has all rows.
    settings: dict[str, object] = {"map": map_name, "fog": False, "turn_limit": 300}
    seen = WarLight.from_settings(settings)
    print("| WarLight, one process | turns a second |")
    print("|---|---|")
    print(
        f"| scripted orders ({orders:.0f} a turn), rules alone | {turns_a_second(rules, game, False):,.0f} |"
    )
    print(
        f"| scripted orders, both seats' standings as text too | {turns_a_second(rules, game, True):,.0f} |"
    )
    alone = turns_a_second(seen, idle_game(seen, 300), True)
    print(f"| no orders, all {len(rules.map.territories)} territories in both standings | {alone:,.0f} |")
    print(f"| the same with two bots that answer `end` | {turns_a_second_with_bots(settings):,.0f} |")


if __name__ == "__main__":
    main()
