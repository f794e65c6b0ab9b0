"""The tree of the Monte Carlo tuner: ever smaller parts of the parameters' ranges, and their results.

The formulas are those of Gomill's tuner. A node stands for a cuboid within the unit cuboid; its children
tile it, every side k being cut into split_k equal parts, the last side's index counting fastest. All nodes
start with V0 visits and W0 wins. Among children, a node's is chosen whose

    w / g + E * sqrt(ln(g_p) / g)

is greatest, g and w being its visits and wins, g_p the visits of the node itself.
"""

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from arena.control.changed_settings import REMEDY, changed
from arena.control.parameters import describe
from arena.control.plans import MonteCarloPlan
from arena.jobs import PlayerSetup
from arena.selection.matchups import Numbering
from arena.selection.selector import CompetitionChangedError, CompletedGame, Fixture, game_seed
from arena.selection.tuner import ThinnedPath, TreePath, Tuner, TuningState, points
from arena.selection.voids import VoidPolicy


@dataclass
class Node:
    """A part of the ranges; `children` are empty until it is expanded."""

    visits: float
    wins: float
    children: list["Node"] = field(default_factory=list)


class ParameterTree:
    """The search tree of a Monte Carlo tuner."""

    def __init__(self, plan: MonteCarloPlan) -> None:
        self._splits: Final = tuple(parameter.split for parameter in plan.parameters)
        self._width: Final = math.prod(self._splits)
        self._plan = plan
        self.root = self._node()
        self._expand(self.root)

    def choose(self, chance: random.Random) -> TreePath:
        """Walk to the leaf to try next; leaves that were tried before are expanded, down to the depth."""
        path: list[int] = []
        node = self.root
        while node.children:
            place = self._best(node, chance)
            path.append(place)
            node = node.children[place]
            tried = node.visits != self._plan.initial_visits
            if not node.children and tried and len(path) < self._plan.max_depth:
                self._expand(node)
        return tuple(path)

    def take(self, path: TreePath, points: float) -> None:
        """Take in a result: one more visit and the points for the root and every node of the path."""
        for node in self._nodes(path):
            node.visits += 1
            node.wins += points

    def known(self, path: TreePath) -> bool:
        """Whether there can be such a path in this tree."""
        return 1 <= len(path) <= self._plan.max_depth and all(0 <= place < self._width for place in path)

    def centre(self, path: TreePath) -> tuple[float, ...]:
        """The middle of a node's cuboid, from 0 to 1 in every dimension."""
        lows, breadths = [0.0] * len(self._splits), [1.0] * len(self._splits)
        for digits in self.coordinates(path):
            for dimension, digit in enumerate(digits):
                breadths[dimension] /= self._splits[dimension]
                lows[dimension] += digit * breadths[dimension]
        return tuple(low + breadth / 2 for low, breadth in zip(lows, breadths, strict=True))

    def coordinates(self, path: TreePath) -> list[tuple[int, ...]]:
        """For every level the part chosen in each dimension."""
        levels = []
        for place in path:
            digits = []
            for split in reversed(self._splits):
                place, digit = divmod(place, split)
                digits.append(digit)
            levels.append(tuple(reversed(digits)))
        return levels

    def best(self) -> TreePath:
        """From the root down the child with the most wins, the first among equals."""
        path: list[int] = []
        node = self.root
        while node.children:
            place = max(range(self._width), key=lambda place: node.children[place].wins)
            path.append(place)
            node = node.children[place]
        return tuple(path)

    def tried(self, depth: int) -> list[tuple[TreePath, Node]]:
        """All nodes of a depth that were tried, the most visited first."""
        level: list[tuple[TreePath, Node]] = [((), self.root)]
        for _ in range(depth):
            level = [
                ((*path, place), child) for path, node in level for place, child in enumerate(node.children)
            ]
        nodes = [item for item in level if item[1].visits > self._plan.initial_visits]
        return sorted(nodes, key=lambda item: (-item[1].visits, item[0]))

    def _node(self) -> Node:
        return Node(self._plan.initial_visits, self._plan.initial_wins)

    def _expand(self, node: Node) -> None:
        node.children = [self._node() for _ in range(self._width)]

    def _nodes(self, path: Sequence[int]) -> Iterator[Node]:
        node = self.root
        yield node
        for place in path:
            if not node.children:
                self._expand(node)
            node = node.children[place]
            yield node

    def _best(self, parent: Node, chance: random.Random) -> int:
        # A rotation settles equal values without favouring the first.
        start = chance.randrange(self._width)
        logarithm = math.log(parent.visits)
        best, best_value = start, -math.inf
        for step in range(self._width):
            place = (start + step) % self._width
            child = parent.children[place]
            value = child.wins / child.visits
            value += self._plan.exploration * math.sqrt(logarithm / child.visits)
            if value > best_value:
                best, best_value = place, value
        return best


class MonteCarloTuner(Tuner):
    """Game n is called `n` and played by the candidate `#n`.

    A win counts 1, a draw ½; an unknown result counts as a loss, as in Gomill. A void game is forgotten
    and its number not used again in the run. Games in progress do not weigh on the choice of others, so
    simultaneous games make for less informed choices.
    """

    void_policy = VoidPolicy.DROP

    def __init__(self, plan: MonteCarloPlan, opponent: PlayerSetup, seed: int, folder: str = "") -> None:
        self._plan = plan
        terms = {"initial_visits": plan.initial_visits, "initial_wins": plan.initial_wins}
        super().__init__(plan, opponent, seed, terms, folder)
        self.tree = ParameterTree(plan)
        self._numbers = Numbering(plan.games)
        self._running: dict[str, TreePath] = {}
        self._checked: set[tuple[object, ...]] = set()
        self._dropped = 0
        self._best: ThinnedPath[TreePath] = ThinnedPath()

    @property
    def total(self) -> int | None:
        """The number of games, None without an end."""
        return self._plan.games

    @property
    def description(self) -> str:
        """The kind, the algorithm's settings and the parameters."""
        plan = self._plan
        games = "unlimited" if plan.games is None else str(plan.games)
        parameters = " ".join(f"{parameter.code}/{parameter.split}" for parameter in plan.parameters)
        return (
            f"mc_tuner games={games} exploration={plan.exploration:g} initial_visits={plan.initial_visits:g} "
            f"initial_wins={plan.initial_wins:g} max_depth={plan.max_depth} opponent={self._opponent.name} "
            f"parameters: {parameters}"
        )

    @property
    def finished(self) -> bool:
        """Whether all games are completed or, in this run, void."""
        numbers = self._numbers
        return not numbers.open and numbers.given == numbers.completed + self._dropped

    def state(self) -> TuningState:
        """The best values, how they came about, and where in the tree they are."""
        best = self.tree.best()
        steps = self._best.steps(self._numbers.completed, best)
        centres = [(games, self.tree.centre(place)) for games, place in steps]
        return self._state_at(centres, place=tuple(self.tree.coordinates(best)))

    def next_game(self) -> Fixture | None:
        """A game of the candidate that the tree chooses."""
        if not self._numbers.open or self.short:
            return None
        number = self._numbers.lowest_open
        chance = random.Random(game_seed(self._seed, f"{number}/choice"))
        return self._give(number, self.tree.choose(chance))

    def completed(self, game: CompletedGame) -> None:
        """Take a result into the tree. Raises CompetitionChangedError."""
        number, path = self._parse(game.game_id), self._path(game.game_id, game.detail)
        self._running.pop(game.game_id, None)
        self._numbers.complete(number)
        self.tree.take(path, points(game, self._opponent.name) or 0.0)
        completed = self._numbers.completed
        if self._best.wants():
            self._best.note(completed, self.tree.best())
        if self._plan.log_period is not None and completed % self._plan.log_period == 0:
            self._news += [f"after {completed} games:", *self._tree_lines(), ""]

    def resume(self, game_id: str, players: Sequence[str], detail: str) -> Fixture | None:
        """The game of the same candidate."""
        number = self._parse(game_id)
        return self._give(number, self._path(game_id, detail)) if self._numbers.wants(number) else None

    def dropped(self, fixture: Fixture) -> None:
        """Forget the game."""
        self._running.pop(fixture.game_id, None)
        self._dropped += 1

    def report_lines(self) -> list[str]:
        """The candidates in progress, the most visited ones of each depth, and the best one."""
        shown = list(self._running.items())[: self._plan.shown_running]
        lines = [f"in progress: #{game_id} {self._place(path)}" for game_id, path in shown]
        if len(self._running) > len(shown):
            lines.append(f"and {len(self._running) - len(shown)} more")
        return [*lines, *self._tree_lines()]

    def history_remark(self, game_id: str, detail: str) -> str:
        """The candidate's parameters and its place in the tree. Raises CompetitionChangedError."""
        return self._parameters_at(self._path(game_id, detail))

    def _give(self, number: int, path: TreePath) -> Fixture:
        game_id = str(number)
        fixture = self._game(game_id, f"#{game_id}", self._values(path), number, path)
        self._numbers.give(number)
        self._running[game_id] = path
        return fixture

    def _parse(self, game_id: str) -> int:
        if not (game_id.isascii() and game_id.isdigit()):
            raise self.foreign(game_id)
        return int(game_id)

    def _path(self, game_id: str, detail: str) -> TreePath:
        if not detail:
            raise CompetitionChangedError(
                f"game {game_id!r}: it is not known which candidate played it; delete the games with "
                "`arena reset --really`, or give the competition another control file"
            )
        stored = json.loads(detail)
        self._check_terms(stored)
        path = tuple(stored["path"])
        if len(path) > self._plan.max_depth:
            raise CompetitionChangedError(
                changed("competition.max_depth", f"{len(path)} or more", self._plan.max_depth)
            )
        if not self.tree.known(path):
            raise CompetitionChangedError(
                f"parameters: game {game_id!r} was played at {path} of a tree of other splits than the "
                f"control file has now; {REMEDY}"
            )
        # Thousands of games have few candidates: each is checked once.
        candidate = (path, stored["candidate"], *stored["values"])
        if candidate not in self._checked:
            self._check_candidate(game_id, stored, self._values(path))
            self._checked.add(candidate)
        return path

    def _values(self, path: TreePath) -> list[object]:
        return self._values_at(self.tree.centre(path))

    def _coordinates(self, path: TreePath) -> str:
        return " ".join(f"({','.join(map(str, level))})" for level in self.tree.coordinates(path))

    def _place(self, path: TreePath) -> str:
        return f"{self._coordinates(path)} {describe(self._parameters, self._values(path))}"

    def _tree_lines(self) -> list[str]:
        games = self._numbers.completed
        lines = [f"{games} games, candidates won {self._share(self.tree.root)}"]
        for depth, count in enumerate(self._plan.summary[: self._plan.max_depth], start=1):
            tried = self.tree.tried(depth)[:count]
            if not tried:
                break
            lines += ["", f"most visited at depth {depth}:"]
            width = max(len(self._place(path)) for path, _ in tried)
            lines += [f"{self._place(path):<{width}}  {self._node(node)}" for path, node in tried]
        lines += ["", f"Best parameters: {self._parameters_at(self.tree.best())}"]
        return lines

    def _parameters_at(self, path: TreePath) -> str:
        return f"{describe(self._parameters, self._values(path))} [{self._coordinates(path)}]"

    def _node(self, node: Node) -> str:
        return f"{node.wins / node.visits:.3f} {node.visits - self._plan.initial_visits:4g}"

    def _share(self, root: Node) -> str:
        games = root.visits - self._plan.initial_visits
        return f"{(root.wins - self._plan.initial_wins) / games:.3f}" if games else "--"
