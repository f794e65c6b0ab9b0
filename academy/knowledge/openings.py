"""The opening tree of a game (its Fuseki library): what was played, and what came of it.

A node is the position after a list of moves, kept under the list's least symmetric image. Every
contest counts once in each node it passed, so a node that is removed stays counted in its parent.

Contests of players far weaker than the strongest twentieth are *silent*: they count at the root only. Each
node keeps what contests of each level left, so that what is silent now goes, whichever came first.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from academy.knowledge.contests import ContestReport
from academy.knowledge.node_analysis import NodeAnalysis
from academy.knowledge.opening_node import LevelVisits, OpeningNode, level_of
from academy.knowledge.settings import LibrarySettings
from academy.knowledge.spec import GameSpec

__all__ = ["ROOT", "Continuation", "OpeningTree", "UnknownLineError", "depth_limit"]

ROOT: Final = 0
# Contests this number of levels or more below the weakest of the strongest twentieth, 30 at least, are
# silent. Fewer than 30 contests of a high Elo silence nobody by themselves; by a mean, not this quantile,
# ten did.
SILENT_BELOW: Final = 4
STRONGEST_SHARE: Final = 20
FEWEST_STRONGEST: Final = 30


class UnknownLineError(LookupError):
    """A list of moves that the tree does not hold."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """A known move after a list of moves: all its symmetric spellings, and the node it leads to."""

    moves: tuple[str, ...]
    node: OpeningNode


class OpeningTree:
    """The nodes of one game's opening tree.

    Args:
        spec: The game.
    """

    def __init__(self, spec: GameSpec) -> None:
        self.nodes: dict[int, OpeningNode] = {}
        self.spec = spec
        # Nodes as they were at the last `take_changes`, of those touched since.
        self._before: dict[int, OpeningNode | None] = {}
        self._children: dict[int, dict[str, int]] = {}
        self._worths: dict[int, float] = {}
        # Leaves by worth, empty until a leaf must go; entries that `_worths` does not have are passed over.
        self._by_worth: list[tuple[float, int]] = []
        # How often `follow` was called.
        self.followed = 0
        self._last_change: dict[int, int] = {}
        # How many nodes there are of each depth.
        self._at_depth: Counter[int] = Counter()
        # The level below which nodes are known to hold nothing.
        self._cleared_below: int | None = None
        self._put(self._fresh(ROOT, ROOT, "", 0, 0))

    def __len__(self) -> int:
        """How many nodes there are; the root does not count."""
        return len(self.nodes) - 1

    @property
    def root(self) -> OpeningNode:
        """The first position."""
        return self.nodes[ROOT]

    @property
    def depth(self) -> int:
        """The depth of the deepest node."""
        return max(self._at_depth)

    def children(self, node_id: int) -> list[OpeningNode]:
        """Return the nodes one move on, oldest first.

        Args:
            node_id: The number of the node.
        """
        return [self.nodes[child] for child in sorted(self._children.get(node_id, {}).values())]

    def branch(
        self,
        start: OpeningNode,
        depth: int = 0,
        rank: Callable[[OpeningNode], tuple[int, ...]] = lambda child: (child.visits, -child.node_id),
    ) -> Iterator[OpeningNode]:
        """Yield a node and those below it, parents before children.

        Args:
            start: The node.
            depth: How many moves below it to go; 0 for all.
            rank: The order of siblings: those of the greatest rank come first.
        """
        waiting = [start]
        while waiting:
            node = waiting.pop()
            yield node
            if not depth or node.depth - start.depth < depth:
                waiting += sorted(self.children(node.node_id), key=rank)

    # Reading

    def find(self, moves: Sequence[str], player: int = 0) -> OpeningNode | None:
        """Return the node after a list of moves; None where the tree has none.

        Args:
            moves: The moves, in any symmetric image.
            player: Whose moves they are, in games of simultaneous moves; else 0.
        """
        node_id = ROOT
        for move in self._line(moves, player):
            child = self._children.get(node_id, {}).get(move)
            if child is None:
                return None
            node_id = child
        return self.nodes[node_id]

    def find_path(self, moves: Iterable[str], player: int = 0) -> list[OpeningNode]:
        """Return the nodes along a list of moves, the root first, as far as the tree has them.

        Args:
            moves: The moves, in any symmetric image.
            player: Whose moves they are, in games of simultaneous moves; else 0.
        """
        path = [self.root]
        for move in self._line(moves, player):
            child = self._children.get(path[-1].node_id, {}).get(move)
            if child is None:
                break
            path.append(self.nodes[child])
        return path

    def continuations(self, moves: Sequence[str], player: int = 0) -> list[Continuation]:
        """Return the known moves after a list of moves.

        Args:
            moves: The moves, in any symmetric image.
            player: Whose moves they are, in games of simultaneous moves; else 0.

        Returns:
            Each move, spelt in the orientation of `moves`, with its node; empty where the list is unknown.
        """
        node = self.find(moves, player)
        if node is None:
            return []
        children = self.children(node.node_id)
        spellings = self.spec.spellings_after(moves, [child.move for child in children])
        return [Continuation(spelt, child) for spelt, child in zip(spellings, children, strict=True)]

    def movers(self, moves: Sequence[str]) -> list[int]:
        """Return who makes each of a list of moves: as the tree has it, beyond it the players take turns.

        Args:
            moves: The moves, in any symmetric image; not of a game of simultaneous moves.
        """
        movers = [node.mover for node in self.find_path(moves)[1:]]
        players = self.spec.players
        if movers:
            following = movers[-1] % players + 1
        else:
            # After a handicap the second player begins.
            begun = Counter[int]()
            for child in self.children(ROOT):
                begun[child.mover] += child.visits
            following = max(begun, key=begun.__getitem__, default=1)
        turns = range(following - 1, following - 1 + len(moves) - len(movers))
        return [*movers, *(turn % players + 1 for turn in turns)]

    def _line(self, moves: Iterable[str], player: int) -> Iterable[str]:
        if self.spec.simultaneous:
            return (_branch(player), *moves)
        # Move by move, so that a list which leaves the tree costs no more than its way in it.
        return self.spec.canonical_line(moves)

    # Learning

    def learn(
        self, report: ContestReport, fresh_id: int, average_length: float, settings: LibrarySettings
    ) -> int:
        """Count a contest in the nodes it passed, add new nodes, evict and prune.

        Args:
            report: The contest's report.
            fresh_id: The number of the first new node.
            average_length: The plies of an average game before this contest.
            settings: The game's settings.

        Returns:
            The number after that of the last new node.
        """
        limit = depth_limit(self.spec, average_length)
        self._put(self.root.with_level(self.children(ROOT)))
        self._count(ROOT, LevelVisits.of(report, None, {}))
        least = self._least_level()
        if least is not None:
            self._clear_below(least)
            if level_of(report) < least:
                return fresh_id
        if self.spec.simultaneous:
            lines = [
                [(_branch(seat), seat, {}), *_own_line(report, seat, limit - 1)]
                for seat in range(1, self.spec.players + 1)
            ]
        else:
            moves = self.spec.canonical_moves([ply.move for ply in report.plies[:limit]])
            lines = [[(move, ply.player, ply.values) for move, ply in zip(moves, report.plies, strict=False)]]
        for line in lines:
            path = [ROOT]
            for move, mover, values in line:
                child = self._children.get(path[-1], {}).get(move)
                if child is None:
                    child, fresh_id = fresh_id, fresh_id + 1
                    self._put(self._fresh(child, path[-1], move, len(path), mover))
                self._count(child, LevelVisits.of(report, mover, values))
                path.append(child)
                self.evict_beyond(settings.opening_capacity)
                if child not in self.nodes:
                    break
            for node_id in reversed(path):
                if node_id in self.nodes:
                    self._prune(node_id, settings.prune_below, settings.prune_factor)
        return fresh_id

    def _fresh(self, node_id: int, parent_id: int, move: str, depth: int, mover: int) -> OpeningNode:
        none = (0,) * self.spec.players
        return OpeningNode(node_id, parent_id, move, depth, mover, 0, none, none, none, none, 0, 0)

    def _count(self, node_id: int, visit: LevelVisits) -> None:
        self._put(self.nodes[node_id].with_visits(visit))

    def _least_level(self) -> int | None:
        """Return the least level that is not silent; None while there are too few contests to say."""
        missing = max(FEWEST_STRONGEST, self.root.visits // STRONGEST_SHARE)
        for part in reversed(self.root.parts()):
            missing -= part.visits
            if missing <= 0:
                return part.level - SILENT_BELOW + 1
        return None

    def _clear_below(self, least: int) -> None:
        """Take out of all nodes but the root what silent contests left, and nodes that held nothing else."""
        if self._cleared_below is not None and least <= self._cleared_below:
            self._cleared_below = least
            return
        for node in sorted(self.nodes.values(), key=lambda node: (-node.depth, node.node_id)):
            if node.node_id == ROOT or node.lowest_level >= least:
                continue
            left = node.without_below(least)
            if left.visits or node.node_id in self._children:
                self._put(left)
            else:
                self._remove(node.node_id)
        self._cleared_below = least

    def analyse(self, node_id: int, analysis: NodeAnalysis) -> bool:
        """Take in what a search found out about a node; see `NodeAnalysis.replaces`.

        Args:
            node_id: The node's number; not the root's, which is compared with nothing.
            analysis: What was found.

        Returns:
            Whether it was news: the node is there, and the analysis replaces what was known.
        """
        node = self.nodes.get(node_id)
        if node is None or node_id == ROOT or not analysis.replaces(node.analysis):
            return False
        self._put(replace(node, analysis=analysis))
        return True

    def forget_analyses(self, analyst: str) -> int:
        """Take analyses out of all nodes.

        Args:
            analyst: Whose analyses; "" for everybody's.

        Returns:
            How many nodes had one of them.
        """
        analysed = [
            node
            for node in self.nodes.values()
            if node.analysis is not None and analyst in ("", node.analysis.analyst)
        ]
        for node in analysed:
            self._put(replace(node, analysis=None))
        return len(analysed)

    # Administration

    def delete(self, node_id: int) -> list[OpeningNode]:
        """Remove a node and all below it. The contests stay counted in the nodes above.

        Args:
            node_id: The node's number; not the root's.

        Returns:
            The removed nodes, parents first.

        Raises:
            UnknownLineError: There is no such node, or it is the root.
        """
        if node_id == ROOT or node_id not in self.nodes:
            raise UnknownLineError(f"the opening tree has no node {node_id} that could be deleted")
        branch = [self.nodes[node_id]]
        for node in branch:
            branch += self.children(node.node_id)
        for node in reversed(branch):
            self._remove(node.node_id)
        return branch

    def put_back(
        self,
        nodes: Iterable[OpeningNode],
        values_taken: Mapping[int, Mapping[int, Sequence[int]]],
        capacity: int,
    ) -> list[OpeningNode]:
        """Put removed nodes back as far as there is room and their parents are there.

        Args:
            nodes: The nodes. Where a node has become known again, the figures are added to it.
            values_taken: By node, what pruning its children took: see `OpeningNode.value_taken`.
            capacity: How many nodes the tree may have.

        Returns:
            The nodes that are back.
        """
        back = []
        numbers = {node_id: node_id for node_id in self.nodes}
        for node in sorted(nodes, key=lambda node: (node.depth, node.node_id)):
            parent = numbers.get(node.parent_id)
            if parent is None:
                continue
            known = self._children.get(parent, {}).get(node.move)
            if known is not None:
                self._put(self.nodes[known].unite(node))
            elif len(self) < capacity:
                known = node.node_id
                self._put(replace(node, parent_id=parent))
            else:
                continue
            numbers[node.node_id] = known
            back.append(node)
        for parent in {node.parent_id for node in back} & values_taken.keys():
            self._put(self.nodes[parent].with_value_back(values_taken[parent]))
        self._cleared_below = None
        return back

    # Room

    def evict_beyond(self, capacity: int) -> list[OpeningNode]:
        """Remove the leaves of least worth until no more than `capacity` nodes are left.

        Args:
            capacity: How many nodes may stay; the root does not count.

        Returns:
            The removed nodes.
        """
        removed = []
        while len(self) > capacity:
            worst = self._worst_leaf()
            removed.append(self.nodes[worst])
            self._remove(worst)
        return removed

    def prunable(self, below: float, factor: float) -> list[OpeningNode]:
        """Return what `prune` would erase.

        Args:
            below: As in `prune`.
            factor: As in `prune`.
        """
        trial = OpeningTree(self.spec)
        trial.restore(self.nodes.values())
        return trial.prune(below, factor)

    def prune(self, below: float, factor: float) -> list[OpeningNode]:
        """Prune wherever LUDAE's rule asks for it, from the leaves up.

        Args:
            below: A node's children go if all are leaves of less expected value for their mover, 0.0 to 1.0.
            factor: What the node's value for that mover is multiplied by then.

        Returns:
            The erased nodes.
        """
        erased = []
        for node in sorted(self.nodes.values(), key=lambda node: (-node.depth, node.node_id)):
            if node.node_id in self.nodes:
                erased += self._prune(node.node_id, below, factor)
        return erased

    def _prune(self, node_id: int, below: float, factor: float) -> list[OpeningNode]:
        """Erase a node's children if all of them, one or more, are leaves that are bad for their mover."""
        if self.spec.simultaneous and node_id == ROOT:
            return []  # its children are the players' own trees, not moves
        children = self.children(node_id)
        if not children or any(self._children.get(child.node_id) for child in children):
            return []
        if any(child.value(child.mover) >= below for child in children):
            return []
        movers = {child.mover for child in children}
        for child in children:
            self._remove(child.node_id)
        self._put(self.nodes[node_id].with_less_value(movers, factor))
        return children

    def _worst_leaf(self) -> int:
        if not self._by_worth:
            self._by_worth = [(worth, node_id) for node_id, worth in self._worths.items()]
            heapq.heapify(self._by_worth)
        while self._worths.get(self._by_worth[0][1]) != self._by_worth[0][0]:
            heapq.heappop(self._by_worth)
        return self._by_worth[0][1]

    def _weigh(self, leaf: OpeningNode) -> None:
        worth = leaf.worth
        if self._worths.get(leaf.node_id) == worth:
            return
        self._worths[leaf.node_id] = worth
        if len(self._by_worth) > 2 * len(self._worths):
            self._by_worth.clear()
        elif self._by_worth:
            heapq.heappush(self._by_worth, (worth, leaf.node_id))

    # Storing

    def restore(self, nodes: Iterable[OpeningNode]) -> None:
        """Store nodes under their numbers.

        Args:
            nodes: The nodes, in any order.
        """
        for node in nodes:
            self._put(node)
        self._cleared_below = None

    def follow(self, nodes: Iterable[OpeningNode], gone: Iterable[int]) -> None:
        """Follow the changes of another copy of this tree.

        Args:
            nodes: The nodes that changed, as they are there.
            gone: The numbers of nodes that are no longer there.
        """
        held = (self.nodes[node_id] for node_id in gone if node_id in self.nodes)
        for node in sorted(held, key=lambda node: -node.depth):
            self._remove(node.node_id)
        self.restore(nodes)
        self.followed += 1
        for number, before in self._before.items():
            changed = self.nodes.get(number)
            if changed is None and before is not None:
                changed = self.nodes.get(before.parent_id)
            # A changed node is a change of all lines through it.
            while changed is not None and self._last_change.get(changed.node_id) != self.followed:
                self._last_change[changed.node_id] = self.followed
                changed = self.nodes.get(changed.parent_id)
        self._before.clear()

    def last_change(self, node_id: int) -> int:
        """Return which of the calls of `follow` last changed a node or one below it, from 1; 0 for none.

        Args:
            node_id: The number of the node.
        """
        return self._last_change.get(node_id, 0)

    def unite(self, nodes: Sequence[OpeningNode], fresh_id: int, moved: bool = False) -> int:
        """Add the figures of another tree's nodes to this one's.

        Args:
            nodes: The other tree's nodes, in any order and orientation.
            fresh_id: The number of the first new node.
            moved: Whether new nodes keep their numbers.

        Returns:
            The next free number.

        Raises:
            UnknownLineError: A node's parent is not among them.
        """
        lines: dict[int, tuple[str, ...]] = {ROOT: ()}
        numbers = {ROOT: ROOT}
        for node in sorted(nodes, key=lambda node: (node.depth, node.node_id)):
            if node.depth == 0:
                first_moves = [other for other in nodes if other.depth == 1]
                root = self.root.with_level(self.children(ROOT))
                self._put(root.unite(node.with_level(first_moves)))
                continue
            if node.parent_id not in lines:
                raise UnknownLineError(
                    f"node {node.node_id} ({node.move!r}): its parent {node.parent_id} is missing"
                )
            lines[node.node_id] = (*lines[node.parent_id], node.move)
            # The nodes may come in another orientation.
            line = self.spec.canonical_moves(lines[node.node_id])
            parent = numbers[node.parent_id]
            known = self._children.get(parent, {}).get(line[-1])
            if known is None:
                known = node.node_id if moved else fresh_id
                self._put(self._fresh(known, parent, line[-1], len(line), node.mover))
                fresh_id = max(fresh_id, known + 1)
            numbers[node.node_id] = known
            self._put(self.nodes[known].unite(node))
        self._cleared_below = None
        return fresh_id

    def clear(self) -> None:
        """Remove everything, the root's figures included."""
        for node in self.nodes.values():
            self._before.setdefault(node.node_id, node)
        self.nodes.clear()
        self._children.clear()
        self._worths.clear()
        self._by_worth.clear()
        self._at_depth.clear()
        self._cleared_below = None
        self._put(self._fresh(ROOT, ROOT, "", 0, 0))

    def take_changes(self) -> frozenset[int]:
        """Return the numbers of the nodes that are new, different or gone since the last call."""
        changed = frozenset(
            node_id for node_id, before in self._before.items() if self.nodes.get(node_id) != before
        )
        self._before.clear()
        return changed

    def _put(self, node: OpeningNode) -> None:
        self._before.setdefault(node.node_id, self.nodes.get(node.node_id))
        if node.node_id not in self.nodes:
            self._at_depth[node.depth] += 1
            if node.node_id != ROOT:
                self._children.setdefault(node.parent_id, {})[node.move] = node.node_id
                self._worths.pop(node.parent_id, None)
        self.nodes[node.node_id] = node
        if node.node_id != ROOT and node.node_id not in self._children:
            self._weigh(node)

    def _remove(self, node_id: int) -> None:
        node = self.nodes.pop(node_id)
        self._last_change.pop(node_id, None)
        self._before.setdefault(node_id, node)
        del self._worths[node_id]
        self._at_depth[node.depth] -= 1
        if not self._at_depth[node.depth]:
            del self._at_depth[node.depth]
        siblings = self._children[node.parent_id]
        del siblings[node.move]
        if not siblings:
            del self._children[node.parent_id]
            if node.parent_id != ROOT:
                self._weigh(self.nodes[node.parent_id])


def depth_limit(spec: GameSpec, average_length: float) -> int:
    """Return how deep a contest is recorded, in plies: a third of an average game (source: LUDAE).

    Nodes that are there already stay when games get shorter.

    Args:
        spec: The game. With simultaneous moves the limit is a third of an average player's moves, and one for
            the root of that player's tree.
        average_length: The plies of an average game.
    """
    if spec.simultaneous:
        return 1 + int(average_length / spec.players / 3)
    return max(1, int(average_length / 3))


def _branch(player: int) -> str:
    """Return the move to the root of one player's tree, in games of simultaneous moves."""
    return f"player {player}"


def _own_line(report: ContestReport, seat: int, limit: int) -> list[tuple[str, int, Mapping[int, float]]]:
    own = [ply for ply in report.plies if ply.player == seat][:limit]
    return [(ply.move, seat, ply.values) for ply in own]
