"""Random events in the life of a game, made from a seed alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from random import Random
from typing import Any

from academy.knowledge.cells import Code, State
from academy.knowledge.contests import Contestant, ContestReport, Ply, Proposal, Result, Use
from academy.knowledge.game import PATTERN_LIBRARIES, GameKnowledge
from academy.knowledge.library import UnknownPatternError
from academy.knowledge.node_analysis import NodeAnalysis
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.patterns import grid_pattern
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.votes import Vote, VoteTally

from .games import GO

RESULTS = ((Result.WIN, Result.LOSS), (Result.LOSS, Result.WIN), (Result.DRAW, Result.DRAW))
MOVES = ("A1", "E5", "C3", "B2", "A5", "C1", "pass")
START = bytes([State.EMPTY]) * 25


@dataclass(frozen=True)
class Event:
    """A method of GameKnowledge, or of a part of it, and its arguments."""

    method: str
    arguments: tuple[Any, ...]

    def happen(self, game: GameKnowledge) -> object:
        try:
            return attrgetter(self.method)(game)(*self.arguments)
        except UnknownPatternError as error:
            return str(error)


def events(seed: int, count: int) -> Iterator[Event]:
    """`count` events of a small Go; the same for the same seed."""
    random = Random(seed)
    for number in range(1, count + 1):
        yield _event(random, number)


def _event(random: Random, number: int) -> Event:
    kind = random.random()
    library = random.choice(PATTERN_LIBRARIES)
    if kind < 0.75:
        return Event("learn", (_report(random, f"c{number}"), number))
    if kind < 0.80:
        return Event("judge_late", (_report(random, f"c{number}"), number))
    if kind < 0.84:
        return Event("put_others", ([(library, random.randint(1, 30))], []))
    if kind < 0.88:
        return Event("prune", (random.choice(tuple(Library)), random.choice((0.2, 0.4, 10.0))))
    if kind < 0.92:
        capacities: dict[str, Any] = {
            f"{library.name.lower()}_capacity": random.randint(0, 12) for library in Library
        }
        forget_after = random.choice((0, 0, 3))
        return Event("change_settings", (LibrarySettings(**capacities, forget_after=forget_after),))
    if kind < 0.96:
        entries = [_entry(random, at) for at in range(random.randint(0, 4))]
        return Event("import_patterns", (library, entries, random.random() < 0.3, number))
    if kind < 0.98:
        return Event("import_openings", (_nodes(random), random.random() < 0.3))
    analysis = NodeAnalysis(random.randint(0, 1_000_000), random.randint(1, 9), "ann")
    return Event("openings.analyse", (random.randint(1, 40), analysis))


def _report(random: Random, contest_id: str) -> ContestReport:
    plies, states = [], bytearray(START)
    for ply in range(random.randint(1, 9)):
        states[random.randrange(25)] = random.choice((State.FIRST_SOLDIER, State.SECOND_SOLDIER, State.EMPTY))
        # Movers nearly always say what they expect, others now and then.
        mover = ply % 2 + 1
        stated = {
            seat: random.random() for seat in (1, 2) if random.random() < (0.9 if seat == mover else 0.2)
        }
        plies.append(Ply(mover, random.choice(MOVES), bytes(states), random.randint(0, 25), ply > 3, stated))
    return ContestReport(
        contest_id,
        tuple(
            Contestant(f"bot {random.randint(1, 6)}", random.choice((-50.0, 900.0, 1000.0, 1250.0)))
            for _ in range(2)
        ),
        tuple(plies),
        random.choice(RESULTS),
        tuple(_proposal(random, plies) for _ in range(random.randint(0, 4))),
        tuple(
            Use(random.randint(1, 2), random.choice(PATTERN_LIBRARIES), (random.randint(1, 20),))
            for _ in range(random.randint(0, 2))
        ),
        START,
    )


def _proposal(random: Random, plies: list[Ply]) -> Proposal:
    number = random.randint(max(1, len(plies) - 1), len(plies))
    ply = plies[number - 1]
    seat = ply.player
    top, left = random.randint(0, 3), random.randint(0, 3)
    cut = grid_pattern(
        (row, column, ply.states[5 * (top + row) + left + column]) for row in (0, 1) for column in (0, 1)
    )
    value = ply.values.get(seat, random.choice((0.1, 0.5, 0.9)))
    earlier_values = [ply.values[seat] for ply in plies[: number - 1] if seat in ply.values]
    before = earlier_values[-1] if earlier_values else max(0.0, value - 0.25)
    return Proposal(seat, random.choice(PATTERN_LIBRARIES), cut, number, value, before)


def _entry(random: Random, number: int) -> PatternEntry:
    codes = [random.choice((Code.EMPTY, Code.FIRST_SOLDIER, Code.FIRST_PIECE)) for _ in range(4)]
    votes = tuple(
        Vote.of(f"bot {random.randint(1, 6)}", random.choice((900.0, 1250.0)), random.random(), 0)
        for _ in range(random.randint(1, 3))
    )
    pattern = grid_pattern((place // 2, place % 2, code) for place, code in enumerate(codes))
    return PatternEntry(number, pattern, random.randint(1, 2), VoteTally(votes))


def _nodes(random: Random) -> list[OpeningNode]:
    nodes = [OpeningNode(0, 0, "", 0, 0, 2, (2, 0), (0, 0), (0, 2), (2_000_000, 0), 0, 0)]
    for number, move in enumerate(random.sample(MOVES, 3), 1):
        figures = (1, (1, 0), (0, 0), (0, 1), (700_000, 300_000), 1, 120_000)
        nodes.append(OpeningNode(number, number - 1, move, number, 2 - number % 2, *figures))
    return nodes


def fresh_game() -> GameKnowledge:
    return GameKnowledge(GO, LibrarySettings(opening_capacity=10, middle_game_capacity=6, endgame_capacity=8))


def summary(game: GameKnowledge) -> tuple[object, ...]:
    """All that is stored of a game."""
    return (
        {library: dict(patterns.entries) for library, patterns in game.libraries.items()},
        dict(game.openings.nodes),
        game.counters,
        game.measures.as_json(),
        dict(game.ratings),
        game.settings,
    )


def tell(seed: int, count: int) -> str:
    """What comes of events and what is stored in the end, in an order that no hash decides."""
    game = fresh_game()
    outcomes = [event.happen(game) for event in events(seed, count)]
    return f"{outcomes}\n{_plain(dict(enumerate(summary(game))))}"


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return sorted((str(key), _plain(inner)) for key, inner in value.items())
    return str(value)
