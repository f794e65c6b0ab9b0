"""Random games of Diplomacy, and whether every phase of them keeps what always holds.

    python -m research.diplomacy_invariants [--games 10000] [--first 0] [--years 20] [--map standard]
        [--progress FILE]

Game n depends on n alone, so that many can be played in pieces, on several machines or one after the other.
With `--progress` the file says which game is next, and a run that was ended goes on from there. After each
phase it looks at the units (their number, one a province, where they may stand), at the centres, at the legal
orders, and on the standard map at the observation and legal actions that DeepMind's agents are given. At a
game's end its orders, as text, are played again. Ends with 1 at the first fault, which names the game.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from academy.wire.files import write_whole
from benchmarks import arguments
from benchmarks.diplomacy import random_orders
from referees.diplomacy import (
    NOBODY,
    Map,
    Order,
    Phase,
    PhaseAdjudication,
    Position,
    Season,
    Terrain,
    UnitKind,
    adjudicate,
    adjustments,
    all_legal_orders,
    order_text,
    read_order,
    shipped_map,
    shipped_maps,
)
from referees.diplomacy.deepmind import DiplomacyState, OrderCode, parts
from referees.diplomacy.deepmind.actions import STANDARD
from referees.diplomacy.deepmind.observation import position_of

GAMES = 10_000
YEARS = 20
# Columns of an observation of which exactly one is set.
ONE_OF = ((0, 3), (3, 11), (13, 16), (16, 24), (24, 27))


class BrokenInvariantError(AssertionError):
    """Something that always holds does not."""


@dataclass
class Tally:
    """What was played."""

    games: int = 0
    phases: int = 0
    dislodged: int = 0


def keep(holds: bool, what: str) -> None:
    """Raises BrokenInvariantError unless it holds."""
    if not holds:
        raise BrokenInvariantError(what)


def play(number: int, board: Map, years: int, tally: Tally) -> None:
    """Play a random game of `years` years, and look at every phase. Raises BrokenInvariantError."""
    chance = random.Random(f"game {number}")
    position = start = Position.start(board)
    texts: list[dict[int, list[str]]] = []
    while position.year < board.first_year + years:
        look_at(position)
        orders = random_orders(position, chance)
        adjudication = adjudicate(position, orders)
        compare(adjudication)
        texts.append(
            {power: [order_text(position, order) for order in given] for power, given in orders.items()}
        )
        position = adjudication.after
        tally.phases += 1
        tally.dislodged += len(position.dislodged)
    keep(replayed(start, texts) == position, "the orders, read as text and played again, end otherwise")
    tally.games += 1


def replayed(position: Position, texts_by_phase: Sequence[dict[int, list[str]]]) -> Position:
    """Where orders as text lead."""
    for phase in texts_by_phase:
        orders = {power: [read_order(position, text) for text in texts] for power, texts in phase.items()}
        position = adjudicate(position, orders).after
    return position


def look_at(position: Position) -> None:
    """What holds in any position. Raises BrokenInvariantError."""
    board = position.map
    for units in (position.units, [entry.unit for entry in position.dislodged]):
        provinces = [board.province_of[unit.location] for unit in units]
        keep(len(set(provinces)) == len(provinces), "two units in a province")
        for unit, province in zip(units, provinces, strict=True):
            terrain = board.terrain[province]
            if unit.kind is UnitKind.ARMY:
                keep(terrain is not Terrain.SEA, "an army at sea")
                keep(unit.location == board.main_location[province], "an army on a coast of several")
            else:
                keep(terrain is not Terrain.LAND, "a fleet inland")
                coasts = board.coasts[province]
                keep(not coasts or unit.location in coasts, "a fleet on none of several coasts")
    keep(len(position.owners) == len(board.centres), "a centre without an entry")
    owned_by = range(NOBODY, len(board.powers))
    keep(all(owner in owned_by for owner in position.owners), "an owner that is not a power")
    keep(bool(position.dislodged) is (position.phase is Phase.RETREATS), "dislodged units out of retreats")
    legal = all_legal_orders(position)
    due = adjustments(position)
    for power, by_province in enumerate(legal):
        keep(all(by_province.values()), "a unit without a legal order")
        for orders in by_province.values():
            keep(len(set(orders)) == len(orders), "a legal order twice")
        if position.phase is Phase.MOVES:
            own = {board.province_of[unit.location] for unit in position.units_of(power)}
            keep(own == by_province.keys(), "orders for other units than the power's")
        if position.phase is Phase.BUILDS:
            keep(len(by_province) >= abs(due[power]), "fewer builds or removals than are due")
    if board is STANDARD:
        look_as_agents_do(position, legal)


def look_as_agents_do(position: Position, legal: Sequence[dict[int, list[Order]]]) -> None:
    """What DeepMind's agents count on. Raises BrokenInvariantError."""
    state = DiplomacyState(position)
    seen, actions = state.observation(), state.legal_actions()
    for first, last in ONE_OF:
        keep(
            bool((seen.board[:, first:last].sum(axis=1) == 1).all()), f"columns {first} to {last} not one-hot"
        )
    keep(set(seen.board[:, 27:35].sum(axis=1).tolist()) == {0, 1}, "a centre of two owners")
    keep(position_of(seen, actions, position.year) == position, "the observation shows another position")
    for power, listed in enumerate(actions):
        keep(listed == sorted(set(listed)), "legal actions not in rising order")
        acting = {parts(action).province for action in listed if parts(action).code is not OrderCode.WAIVE}
        keep(acting == legal[power].keys(), "a unit without a legal action")


def compare(adjudication: PhaseAdjudication) -> None:
    """What holds of a phase played with legal orders. Raises BrokenInvariantError."""
    before, after = adjudication.position, adjudication.after
    now = Counter(unit.power for unit in after.units)
    then = Counter(unit.power for unit in before.units)
    keep((after.year, after.season, after.phase) in following(before), f"{after.name} after {before.name}")
    keep(
        all(result.succeeded or result.reason for result in adjudication.results), "a failure without reason"
    )
    if before.phase is Phase.MOVES:
        keep(now + Counter(entry.unit.power for entry in after.dislodged) == then, "units lost in moves")
        for unit, options in after.dislodged:
            reach = before.map.reach[unit.kind][unit.location]
            taken = {after.map.province_of[other.location] for other in after.units}
            keep(set(options) <= set(reach), "a retreat out of reach")
            keep(not taken & {after.map.province_of[option] for option in options}, "a retreat to a unit")
    elif before.phase is Phase.RETREATS:
        added = now - then
        keep(now & then == then, "units lost that were not dislodged")
        keep(added <= Counter(entry.unit.power for entry in before.dislodged), "units from nowhere")
    else:
        due = Counter({power: number for power, number in enumerate(adjustments(before)) if number})
        changed = {power: now[power] - then[power] for power in now | then if now[power] != then[power]}
        keep(changed == dict(due), "other numbers of units built or removed than were due")
    compare_centres(before, after)


def compare_centres(before: Position, after: Position) -> None:
    """Centres change hands when autumn is over, to who stands in them. Raises BrokenInvariantError."""
    taken = after.phase is Phase.BUILDS or after.year > before.year
    if before.phase is Phase.BUILDS or not taken:
        keep(after.owners == before.owners, "centres change hands before autumn is over")
        return
    standing = {after.map.province_of[unit.location]: unit.power for unit in after.units}
    for centre, had, has in zip(after.map.centres, before.owners, after.owners, strict=True):
        keep(has == standing.get(centre, had), f"{after.map.codes[centre]} has the wrong owner")
        keep(has != NOBODY or had == NOBODY, "a centre becomes nobody's")


def following(position: Position) -> Iterator[tuple[int, Season, Phase]]:
    """The phases that can come next; those with nothing to do are left out."""
    year, season, phase = position.year, position.season, position.phase
    if phase is Phase.MOVES:
        yield year, season, Phase.RETREATS
    if season is Season.SPRING:
        yield year, Season.AUTUMN, Phase.MOVES
        return
    if phase is not Phase.BUILDS:
        yield year, season, Phase.BUILDS
    yield year + 1, Season.SPRING, Phase.MOVES


def first_game(progress: Path | None, first: int, played: str) -> int:
    """Where to begin: where the file says, if there is one. `played` are the map and the years.

    Raises ValueError for a file that says no number, or is of games of another map or of other years.
    """
    if progress is None or not progress.exists():
        return first
    text = progress.read_text().strip()
    number, _, of_file = text.partition(" ")
    if not number.isdecimal() or of_file != played:
        rule = f"not the number of a game and {played!r}; name another file"
        raise ValueError(f"{progress}: has {text!r}, {rule}")
    return max(first, int(number))


def main() -> int:
    """Play, and say what was played."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--games", type=arguments.count, default=GAMES)
    parser.add_argument("--first", type=int, default=0, help="the number of the first game")
    parser.add_argument("--years", type=arguments.count, default=YEARS, help="of each game")
    parser.add_argument("--map", default="standard", choices=shipped_maps())
    parser.add_argument("--progress", type=Path, help="a file to go on from")
    chosen = parser.parse_args()
    board, tally = shipped_map(chosen.map), Tally()
    began, reported = time.process_time(), time.monotonic()
    end, played = chosen.first + chosen.games, f"{chosen.map} {chosen.years}"
    try:
        begin = first_game(chosen.progress, chosen.first, played)
    except ValueError as error:
        parser.error(str(error))
    if begin >= end:
        parser.error(
            f"{chosen.progress}: all games to {end - 1} were played; give more --games, or another file"
        )
    for number in range(begin, end):
        try:
            play(number, board, chosen.years, tally)
        except BrokenInvariantError as broken:
            print(f"game {number}: {broken}")
            return 1
        except Exception:
            print(f"game {number}:", file=sys.stderr)
            raise
        if time.monotonic() - reported > 10 or number == end - 1:
            reported = time.monotonic()
            if chosen.progress is not None:
                write_whole(chosen.progress, [f"{number + 1} {played}\n".encode()])
            print(f"{number + 1 - chosen.first} of {chosen.games} games", file=sys.stderr)
    print(
        f"{tally.games:,} games, {tally.phases:,} phases, {tally.dislodged:,} units dislodged: "
        f"no invariant broken ({time.process_time() - began:.0f} CPU-seconds)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
