"""Generations: families whose best members stay, while variants of them take the other places.

A member has a place in its family, which it keeps while it is among the best; a new member is named
for the family, the generation and the place: `learning-g3-2`. Members of a family with a space of parameters
follow from the seed and the results. What a family's program answered is kept with the games, so that nothing
is asked twice and a report asks nothing.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Final

from arena.control.changed_settings import REMEDY, abridge
from arena.control.parameters import describe
from arena.control.plans import ChildProgram, Family, GenerationsPlan, ParameterSpace, Variation
from arena.control.settings import Scope
from arena.jobs import PlayerSetup
from arena.selection.child_program import ask_for_child
from arena.selection.selector import (
    CompetitionChangedError,
    CompletedGame,
    Fixture,
    Selector,
    check_terms,
    game_seed,
    original_name,
)

_GAME_ID: Final = re.compile(r"g(\d{1,9})_(\d{1,9})")
# A pair meets once in each seat.
LEGS: Final = 2
# How often a variant is drawn again that is like a member.
_MOST_DRAWS: Final = 20


@dataclass(frozen=True)
class Origin:
    """How a member came about: its genes, its parents' names, and the way.

    Genes are places from 0 to 1 on the parameters' scales, or the values that a program answered.
    """

    genes: Mapping[str, Any]
    parents: tuple[str, ...]
    variation: Variation


@dataclass
class Member:
    """A member of a family: its place there, the generation it was born in and the last it plays in.

    `origin` is None until the family's program has made it. `games` and `points` are of all generations.
    """

    name: str
    family: Family
    place: int
    born: int
    origin: Origin | None = None
    last: int = 0
    games: int = 0
    points: float = 0.0

    @property
    def score(self) -> float | None:
        """Its points a game; None before the first."""
        return self.points / self.games if self.games else None

    @property
    def values(self) -> dict[str, Any]:
        """What its genes are for its player. Raises InvalidParameterError."""
        if self.origin is None:
            return {}
        variants, genes = self.family.variants, self.origin.genes
        if isinstance(variants, ChildProgram):
            return dict(genes)
        return {parameter.code: parameter.value(genes[parameter.code]) for parameter in variants.parameters}

    @property
    def text(self) -> str:
        """Its values in a line."""
        variants = self.family.variants
        if isinstance(variants, ParameterSpace) and self.origin is not None:
            return describe(variants.parameters, list(self.values.values()))
        return "; ".join(f"{name}:{value}" for name, value in self.values.items())

    def setup(self) -> PlayerSetup:
        """The player that it is."""
        return self.family.make(self.name, list(self.values.values()))


@dataclass(frozen=True)
class Descendant:
    """A member as the descent has it: who it is, where it comes from, and what it has shown."""

    name: str
    family: str
    place: int
    born: int
    last: int
    variation: str
    parents: tuple[str, ...]
    values: Mapping[str, Any]
    text: str
    games: int
    score: float | None
    alive: bool


@dataclass(frozen=True)
class Descent:
    """All members that there have been, in the order of their births; `families` have their sizes."""

    generation: int
    generations: int
    families: Mapping[str, int]
    members: tuple[Descendant, ...]


@dataclass
class _Record:
    """A member's games of the generation that is on."""

    games: int = 0
    points: float = 0.0


@dataclass
class _Generation:
    """The pairs of a generation, round by round, and which of its games have no result yet.

    If `alike`, all members meet the same player of the panel in a round; earlier versions gave each another.
    """

    pairs: Sequence[tuple[str, str]]
    alike: bool = True
    waiting: dict[int, None] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    records: defaultdict[str, _Record] = field(default_factory=lambda: defaultdict(_Record))


class Generations(Selector):
    """Game n of generation g is `gG_N`. Selection follows the last game of a generation.

    A family keeps its best by their points a game in this generation; where all games are against the panel,
    by those of all their games. The older one is better among equals.
    """

    def __init__(self, plan: GenerationsPlan, panel: Mapping[str, PlayerSetup], seed: int) -> None:
        self._plan = plan
        self._panel = panel
        self._seed = seed
        self.generation = 0
        self._scheduled_before = 0
        # The games that were given up since a player was left out.
        self._given_up: set[str] = set()
        # By family: who is kept and what the last generation has shown, as its program hears of it.
        self._shown: dict[str, dict[str, Any]] = {}
        self._all: dict[str, Member] = {}
        self._present: dict[str, list[Member]] = {
            family.name: [self._newborn(family, place, ()) for place in range(family.size)]
            for family in plan.families
        }
        for family in plan.families:
            self._shown[family.name] = _show((), self._present[family.name][:1])
        self._begin()

    @property
    def total(self) -> int:
        """The games of all generations, with those who play now."""
        to_come = max(0, self._plan.generations - self.generation - 1) * len(self._schedule()) * LEGS
        begun = self._scheduled_before + len(self._now.pairs) * LEGS - len(self._given_up)
        return begun + to_come

    @property
    def description(self) -> str:
        """The kind, its generations and rounds, the families and the panel."""
        plan = self._plan
        families = ",".join(f"{family.name}*{family.size}/{family.keep}" for family in plan.families)
        return (
            f"generations generations={plan.generations} rounds={plan.rounds} meet={plan.meet} "
            f"families={families} panel={','.join(plan.panel)}"
        )

    @property
    def finished(self) -> bool:
        """Whether the last generation is over."""
        return self.generation >= self._plan.generations

    @property
    def short(self) -> str:
        """Why nobody has an opponent any more."""
        if not self.finished and not self._now.pairs:
            return "nobody is left whom the members of the families could meet"
        return ""

    def next_game(self) -> Fixture | None:
        """The next game of this generation; None while its last ones are in progress.

        Raises ChildProgramError where the program of a family does not make its member.
        """
        if not self._now.waiting:
            return None
        number = next(iter(self._now.waiting))
        fixture = self._fixture(number)
        del self._now.waiting[number]
        return fixture

    def completed(self, game: CompletedGame) -> None:
        """Take in a result; after a generation's last one, select. Raises CompetitionChangedError."""
        generation, number = self._parse(game.game_id)
        stored = json.loads(game.detail) if game.detail else {}
        check_terms(stored.get("terms", self._terms), self._terms)
        if generation >= self._plan.generations or game.game_id in self._given_up:
            return
        if generation != self.generation or number not in self._now.open:
            raise self._misplaced(game.game_id)
        self._pair_as(stored)
        players = self._players(number)
        if tuple(map(original_name, game.players)) != players:
            raise self._misplaced(game.game_id)
        for name, origin in stored.get("members", {}).items():
            self._recall(game.game_id, name, origin)
        self._now.waiting.pop(number, None)
        self._now.open.discard(number)
        winners = game.outcome.winners
        for seat, name in enumerate(players, start=1):
            # An unknown result is half a point for both.
            self._count(name, (seat in winners) / len(winners) if winners else 0.5)
        self._select_when_over()

    def resume(self, game_id: str, players: Sequence[str], detail: str) -> Fixture | None:
        """The game of this id, if it belongs to this generation."""
        generation, number = self._parse(game_id)
        if generation != self.generation or number not in self._now.waiting:
            return None
        stored = json.loads(detail) if detail else {}
        self._pair_as(stored)
        for name, origin in stored.get("members", {}).items():
            self._recall(game_id, name, origin)
        del self._now.waiting[number]
        return self._fixture(number)

    def exclude(self, scope: Scope, name: str) -> None:
        """Leave a player out: its games of this generation that have no result are not played."""
        super().exclude(scope, name)
        for number in [number for number in self._now.open if name in self._players(number)]:
            self._now.open.discard(number)
            self._now.waiting.pop(number, None)
            self._given_up.add(f"g{self.generation}_{number}")
        if self._now.pairs:
            self._select_when_over()

    def readmit(self, scope: Scope, name: str) -> None:
        """Let a player play again, from the next generation; from this one where it had no games."""
        super().readmit(scope, name)
        if not self._now.pairs:
            self._begin()

    def wants(self, fixture: Fixture) -> bool:
        """Whether the game is still open."""
        generation, number = self._parse(fixture.game_id)
        return generation == self.generation and number in self._now.open

    def parents(self, name: str) -> Sequence[str]:
        """A member's parents: a variant is about as strong as they are."""
        member = self._all.get(name)
        return () if member is None or member.origin is None else member.origin.parents

    def report_lines(self) -> list[str]:
        """The members that play now, family by family, the best first."""
        done = len(self._now.pairs) * LEGS - len(self._now.open)
        on = f"generation {self.generation} (of 0 to {self._plan.generations - 1}): {done} games over"
        lines = [f"all {self._plan.generations} generations are over" if self.finished else on]
        for family, members in self._present.items():
            lines.append(f"family {family}:")
            lines += [f"  {self._line(member)}" for member in self._ranked(members)]
        return lines

    def descent(self) -> Descent:
        """All members so far, with their parents."""
        alive = {member.name for members in self._present.values() for member in members}
        return Descent(
            self.generation,
            self._plan.generations,
            {family.name: family.size for family in self._plan.families},
            tuple(
                Descendant(
                    name=member.name,
                    family=member.family.name,
                    place=member.place,
                    born=member.born,
                    last=member.last,
                    variation=member.origin.variation,
                    parents=member.origin.parents,
                    values=member.values,
                    text=member.text,
                    games=member.games,
                    score=member.score,
                    alive=member.name in alive,
                )
                for member in self._all.values()
                if member.origin is not None
            ),
        )

    # Who plays whom

    def _begin(self) -> None:
        pairs = () if self.finished else self._schedule()
        numbers = range(len(pairs) * LEGS)
        self._now = _Generation(pairs, waiting=dict.fromkeys(numbers), open=set(numbers))
        for members in self._present.values():
            for member in members:
                member.last = min(self.generation, self._plan.generations - 1)

    def _pair_as(self, stored: Mapping[str, Any]) -> None:
        """Pair this generation as the version did that began it, by what is stored of one of its games."""
        if self._plan.meet == "panel" and stored and self._now.alike and not stored.get("alike"):
            self._now.alike = False
            self._now.pairs = self._schedule(alike=False)

    def _schedule(self, *, alike: bool = True) -> list[tuple[str, str]]:
        members = [member.name for members in self._present.values() for member in members]
        members = [name for name in members if name not in self.excluded.players]
        panel = [name for name in self._plan.panel if name not in self.excluded.players]
        chance = random.Random(game_seed(self._seed, f"generation {self.generation}/schedule"))
        if self._plan.meet == "everybody":
            return round_robin_rounds([*members, *panel], self._plan.rounds, chance)
        # Generations go on where the one before has stopped: rounds may be no multiple of the panel.
        first = self.generation * self._plan.rounds
        return [
            (name, panel[((first if alike else place) + turn) % len(panel)])
            for turn in range(self._plan.rounds)
            for place, name in enumerate(members)
            if panel
        ]

    def _players(self, number: int) -> tuple[str, str]:
        first, second = self._now.pairs[number // LEGS]
        return (first, second) if number % LEGS == 0 else (second, first)

    def _fixture(self, number: int) -> Fixture:
        players = self._players(number)
        game_id = f"g{self.generation}_{number}"
        members = {name: self._made(self._all[name]) for name in players if name in self._all}
        setups = tuple(self._all[name].setup() if name in members else self._panel[name] for name in players)
        return Fixture(
            game_id=game_id,
            matchup=f"generation {self.generation}",
            players=players,
            seed=game_seed(self._seed, game_id),
            setups=setups,
            opening=(self._scheduled_before + number) // LEGS,
            remarks=tuple(f"{name}: {abridge(self._all[name].text)}" for name in members),
            detail=json.dumps(
                {
                    "terms": self._terms,
                    "members": {name: asdict(origin) for name, origin in members.items()},
                    "alike": self._now.alike,
                }
            ),
        )

    # Selection and variants

    def _count(self, name: str, points: float) -> None:
        if name in self._all:
            for record in (self._all[name], self._now.records[name]):
                record.games += 1
                record.points += points

    def _merit(self, member: Member) -> float:
        record = member if self._plan.meet == "panel" else self._now.records[member.name]
        return record.points / record.games if record.games else -1.0

    def _ranked(self, members: Sequence[Member]) -> list[Member]:
        return sorted(
            members,
            key=lambda member: (
                member.name in self.excluded.players,
                -self._merit(member),
                member.born,
                member.place,
            ),
        )

    def _select_when_over(self) -> None:
        if self._now.open or self.finished:
            return
        self._scheduled_before += len(self._now.pairs) * LEGS
        self.generation += 1
        over = self.finished
        for family in self._plan.families:
            ranked = self._ranked(self._present[family.name])
            self._news.append(f"generation {self.generation - 1}, family {family.name}:")
            self._news += [f"  {self._line(member)}" for member in ranked]
            if not over:
                kept = ranked[: family.keep]
                stay = {member.place: member for member in kept}
                self._present[family.name] = [
                    stay.get(place) or self._newborn(family, place, kept) for place in range(family.size)
                ]
                self._shown[family.name] = _show(kept, ranked)
        self._news.append("")
        self._begin()

    def _newborn(self, family: Family, place: int, kept: Sequence[Member]) -> Member:
        member = Member(
            f"{family.name}-g{self.generation}-{place}", family, place, self.generation, last=self.generation
        )
        self._all[member.name] = member
        if isinstance(family.variants, ParameterSpace):
            member.origin = self._drawn(family.variants, member, kept)
        elif not kept and place == 0:
            member.origin = Origin(family.variants.first, (), "first")
        return member

    def _drawn(self, space: ParameterSpace, newborn: Member, kept: Sequence[Member]) -> Origin:
        """The origin of a member that is like no other of its family, if the space is not too small."""
        chance = random.Random(game_seed(self._seed, newborn.name))
        origin = draw_origin(space, kept, chance)
        siblings = (f"{newborn.family.name}-g{newborn.born}-{place}" for place in range(newborn.place))
        others = [*kept, *(self._all[name] for name in siblings if name in self._all)]
        taken = [member.origin.genes for member in others if member.origin is not None]
        for _ in range(_MOST_DRAWS):
            if not any(_alike(space, origin.genes, genes) for genes in taken):
                break
            origin = draw_origin(space, kept, chance)
        return origin

    def _made(self, member: Member) -> Origin:
        """The origin of a member, which its family's program makes now if it has not yet."""
        if member.origin is None:
            family = member.family
            assert isinstance(family.variants, ChildProgram)
            request = {
                "family": family.name,
                "generation": self.generation,
                "seed": game_seed(self._seed, member.name),
                **self._shown[family.name],
            }
            child = ask_for_child(family.variants, family.name, request)
            member.origin = Origin(child.values, child.parents, "program")
        return member.origin

    def _recall(self, game_id: str, name: str, stored: Mapping[str, Any]) -> None:
        """Take in how a member came about from one of its games. Raises CompetitionChangedError."""
        member = self._all.get(name)
        if member is None:
            raise self._misplaced(game_id)
        origin = Origin(stored["genes"], tuple(stored["parents"]), stored["variation"])
        if member.origin is None:
            member.origin = origin
        elif member.origin != origin:
            raise CompetitionChangedError(
                f"families.{member.family.name}: in game {game_id!r} {name} was another player than the "
                f"control file's families and seed make now; {REMEDY}"
            )

    def _line(self, member: Member) -> str:
        score = "" if member.score is None else f"{member.score:.3f} in {member.games} games"
        parents = " and ".join(member.origin.parents) if member.origin else ""
        parts = [member.name, score, abridge(member.text), f"from {parents}" if parents else ""]
        return "  ".join(part for part in parts if part)

    @cached_property
    def _terms(self) -> dict[str, object]:
        plan = self._plan
        return {
            "rounds": plan.rounds,
            "meet": plan.meet,
            "seed": self._seed,
            "families": ", ".join(
                f"{family.name} ({family.size}, {family.keep} kept)" for family in plan.families
            ),
            "panel": ", ".join(plan.panel) or "nobody",
        }

    def _misplaced(self, game_id: str) -> CompetitionChangedError:
        return self.foreign(game_id, f"generation {self.generation} of ")

    def _parse(self, game_id: str) -> tuple[int, int]:
        generation, number = map(int, self.parts_of(game_id, _GAME_ID))
        return generation, number


def _show(kept: Sequence[Member], members: Sequence[Member]) -> dict[str, Any]:
    """What a family's program hears of those who are kept and of all members, the best first."""
    return {
        "kept": [member.name for member in kept],
        "members": [
            {"name": member.name, "values": member.values, "score": member.score, "games": member.games}
            for member in members
        ],
    }


def round_robin_rounds(names: Sequence[str], rounds: int, chance: random.Random) -> list[tuple[str, str]]:
    """The pairs of some rounds of an all-play-all in random order: nobody meets twice before all have met.

    With an odd number another one has no game in each round.
    """
    order: list[str | None] = list(names)
    chance.shuffle(order)
    if len(order) % 2:
        order.append(None)
    pairs = []
    for turn in range(rounds):
        # The circle method: one stays, the others move on by one seat.
        moved = turn % max(1, len(order) - 1)
        circle = [*order[:1], *order[1 + moved :], *order[1 : 1 + moved]]
        for place in range(len(circle) // 2):
            first, second = circle[place], circle[-1 - place]
            if first is not None and second is not None:
                pairs.append((first, second))
    return pairs


def draw_origin(space: ParameterSpace, kept: Sequence[Member], chance: random.Random) -> Origin:
    """The genes of a variant of those that are kept; without any, a place in the space by chance."""
    codes = [parameter.code for parameter in space.parameters]
    parents = [member for member in kept if member.origin is not None]
    if not parents:
        return Origin({code: chance.random() for code in codes}, (), "drawn")
    combined = len(parents) > 1 and chance.random() < space.combine
    chosen = chance.sample(parents, 2) if combined else [chance.choice(parents)]
    genes = {}
    for code in codes:
        origin = chance.choice(chosen).origin
        assert origin is not None
        genes[code] = reflected(origin.genes[code] + chance.gauss(0.0, space.mutation))
    names = tuple(member.name for member in chosen)
    return Origin(genes, names, "combined" if combined else "mutated")


def reflected(place: float) -> float:
    """A place brought back between 0 and 1, as a mirror at both ends does."""
    place %= 2.0
    return 2.0 - place if place > 1.0 else place


def _alike(space: ParameterSpace, genes: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Whether genes make the same values."""
    return all(
        parameter.value(genes[parameter.code]) == parameter.value(others[parameter.code])
        for parameter in space.parameters
    )
