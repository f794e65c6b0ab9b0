"""What the nodes of a Ray cluster offer, and what games need of them; both in words, too."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from arena.jobs import REMOTE, PlayerSetup
from arena.workers.ray_worker import gpus_of

T = TypeVar("T")
Node = Mapping[str, Any]
"""A node as Ray describes it."""
# What a game takes of a node if all of its players have dialled in, and think elsewhere.
_PASSING_ON_CPUS: Final = 0.1
# Ray counts amounts in ten thousandths.
_PLACES: Final = 4


@dataclass(frozen=True)
class Shape:
    """What a game needs of the node that plays it."""

    cpus: float
    gpus: float
    memory_bytes: int
    custom: tuple[tuple[str, float], ...]
    labels: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, players: Iterable[PlayerSetup]) -> "Shape":
        """What the players of a game need together."""
        needs = [player.resources for player in players if player.protocol != REMOTE]
        custom: defaultdict[str, list[float]] = defaultdict(list)
        for need in needs:
            for name, amount in need.custom.items():
                custom[name].append(amount)
        gpus = [need.gpus for need in needs]
        part = _sum(gpus)
        return cls(
            _sum(need.cpus for need in needs) if needs else _PASSING_ON_CPUS,
            # Ray gives whole ones, or a part of one.
            part if part < 1 else float(max(taken.stop for taken in gpus_of(gpus))),
            sum(need.memory_bytes for need in needs),
            tuple(sorted((name, _sum(amounts)) for name, amounts in custom.items())),
            tuple(sorted({label for need in needs for label in need.labels.items()})),
        )

    @property
    def wanted(self) -> dict[str, float]:
        """The amounts by Ray's names."""
        named = {"CPU": self.cpus, "GPU": self.gpus, "memory": float(self.memory_bytes), **dict(self.custom)}
        return {name: amount for name, amount in named.items() if amount}

    @property
    def text(self) -> str:
        """What it needs, for people."""
        return _listed(self.wanted, self.labels) or "nothing"

    def lacking(self, node: Node) -> str:
        """What a node does not have, neither free nor in use, for people; empty where a game fits."""
        offered, labels = node["Resources"], node.get("Labels") or {}
        short = {name: amount for name, amount in self.wanted.items() if offered.get(name, 0.0) < amount}
        return _listed(short, [(name, value) for name, value in self.labels if labels.get(name) != value])

    def fits(self, node: Node) -> bool:
        """Whether a node has that much, free or in use."""
        return not self.lacking(node)


def _sum(amounts: Iterable[float]) -> float:
    """The sum in Ray's steps, without the error of rounding, for which a node may lack it."""
    return round(sum(amounts), _PLACES)


def node_name(node: Node) -> str:
    """A node, for people."""
    return f"{node['NodeManagerHostname']} ({node['NodeID'][:6]})"


def grouped(items: Iterable[T], text: Callable[[T], str]) -> dict[str, list[T]]:
    """Those of which the same text is true, by it."""
    groups: defaultdict[str, list[T]] = defaultdict(list)
    for item in items:
        groups[text(item)].append(item)
    return groups


def in_groups(names: Iterable[str]) -> str:
    """Nodes that are alike: the first, and how many more there are."""
    first, *others = names
    return f"{first} and {len(others)} like it" if others else first


def offer_of(node: Node) -> str:
    """What a node offers, beside memory, for people."""
    offered = {
        name: amount
        for name, amount in sorted(node["Resources"].items())
        if not name.startswith(("node:", "object_store")) and name != "memory"
    }
    labels = [label for label in sorted((node.get("Labels") or {}).items()) if label[0] != "ray.io/node-id"]
    return _listed(offered, labels) or "nothing to offer"


def _listed(amounts: Mapping[str, float], labels: Iterable[tuple[str, str]]) -> str:
    """Amounts and labels for people."""
    words = [
        f"{amount / 2**30:,.6g} GiB of memory" if name == "memory" else f"{amount:g} {name}"
        for name, amount in amounts.items()
    ]
    return ", ".join([*words, *(f"the label {name} = {value}" for name, value in labels)])
