"""Playing games on a Ray cluster: each game on a node that has what its players need."""

import contextlib
import os
import queue
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

from academy.wire.addresses import InvalidAddressError, ServerAddress
from arena.jobs import GameJob, GameResult
from arena.workers.interface import WorkerLost, Workers, WorkersError
from arena.workers.ray_worker import PlayedJob, RayWorker

LOCAL: Final = "ray"
_LOOK_SECONDS: Final = 2.0
T = TypeVar("T")
_LIVE_SECONDS: Final = 0.5
_CONNECT_SECONDS: Final = 10.0
# Looks a second at games in progress, of all games together: with more games each is looked at less often.
_LIVE_LOOKS: Final = 50
# What Ray is to do on the user's terminal, in its reports and its network: nothing, none, and what the user
# has set. It reads these when it is loaded.
_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # Notices of nodes that end would be printed among the results.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
}
# A cluster of one's own is for this machine alone; Ray would put another address in place of the loopback.
_LOCAL_HOSTS: Final = ("127.", "localhost:")
_LOOPBACK: Final = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


class RayUnavailableError(WorkersError):
    """Games cannot be played on Ray; the message says why."""


@dataclass(frozen=True)
class Shape:
    """What a game needs of the node that plays it."""

    cpus: float
    gpus: float
    memory_bytes: int
    custom: tuple[tuple[str, float], ...]

    @classmethod
    def of(cls, job: GameJob) -> "Shape":
        """What the players of a game need together."""
        needs = [player.resources for player in job.players]
        custom: dict[str, float] = {}
        for need in needs:
            for name, amount in need.custom.items():
                custom[name] = custom.get(name, 0.0) + amount
        return cls(
            sum(need.cpus for need in needs),
            sum(need.gpus for need in needs),
            sum(need.memory_bytes for need in needs),
            tuple(sorted(custom.items())),
        )

    @property
    def wanted(self) -> dict[str, float]:
        """The same by Ray's names."""
        named = {"CPU": self.cpus, "GPU": self.gpus, "memory": float(self.memory_bytes), **dict(self.custom)}
        return {name: amount for name, amount in named.items() if amount}

    @property
    def text(self) -> str:
        """The same for people."""
        return ", ".join(f"{amount:g} {name}" for name, amount in self.wanted.items()) or "nothing"

    def fits(self, node: Mapping[str, Any]) -> bool:
        """Whether a node has that much, free or in use."""
        offered = node["Resources"]
        return all(offered.get(name, 0.0) >= amount for name, amount in self.wanted.items())


@dataclass(frozen=True)
class NodeKind:
    """Nodes that offer the same; `node` is one of them."""

    name: str
    offer: str
    node: Mapping[str, Any]

    def fits(self, shape: Shape) -> bool:
        """Whether a game of this shape can be played there."""
        return shape.fits(self.node)


@dataclass
class _Slot:
    number: int
    actor: Any = None
    shape: Shape | None = None
    job: GameJob | None = None
    # Counts the games that were given to the slot: what comes of an earlier one is not heard.
    epoch: int = 0
    node: str = ""
    live: Any = None
    offset: int = 0
    looked: float = 0.0


@dataclass
class _Nodes:
    known: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    looked: float = 0.0


class RayPool(Workers):
    """`size` actors, each of which plays one game at a time on a node that has what its players need.

    `on` is `ray` (a cluster that is started here and ends with the run), `ray://HOST:PORT`, or the address of
    a cluster's head. An actor that ends costs its game, as lost with its machine. Where no node has what a
    game needs it waits for one.
    """

    def __init__(
        self, on: str, size: int, *, pin: bool = False, runtime_env: Mapping[str, Any] | None = None
    ) -> None:
        """Connect, or start a cluster. Raises RayUnavailableError."""
        if size < 1:
            raise ValueError(f"{size} workers: there must be at least one")
        environment = dict(runtime_env or {})
        folder = environment.get("working_dir")
        self.copied = None if folder is None else str(Path(folder).absolute())
        self._pin = pin
        self._arrived: queue.SimpleQueue[tuple[_Slot, int, Any]] = queue.SimpleQueue()
        self._slots = [_Slot(number) for number in range(size)]
        self._waiting: deque[GameJob] = deque()
        self._busy: dict[str, _Slot] = {}
        self._nodes = _Nodes()
        self._news: list[str] = []
        self._missed: set[Shape] = set()
        self._ray = _connected(on, environment)
        self._actors = self._ray.remote(RayWorker)
        self._release = version("academy-arena")
        self._live_seconds = max(_LIVE_SECONDS, size / _LIVE_LOOKS)
        self._looked_at_games = 0.0
        self._look_at_nodes()

    @property
    def size(self) -> int:
        """How many games can be in progress at a time."""
        return len(self._slots)

    def submit(self, job: GameJob) -> None:
        """Hand in a game. It waits its turn where all workers are busy."""
        self._waiting.append(job)
        self._assign()

    def next_result(self, timeout: float | None = None) -> GameResult | WorkerLost | None:
        """The next finished game, as `Workers` says."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._busy:
            self._look_at_nodes()
            self._look_at_games()
            remaining = _LIVE_SECONDS if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                slot, epoch, future = self._arrived.get(timeout=min(remaining, _LIVE_SECONDS))
            except queue.Empty:
                if deadline is not None and time.monotonic() >= deadline:
                    return None
                continue
            if slot.job is None or epoch != slot.epoch:
                continue
            result = self._end_of(slot, future)
            self._assign()
            return result
        return None

    def stop(self) -> None:
        """End all games at once; a cluster that was started here ends."""
        self._waiting.clear()
        self._busy.clear()
        for slot in self._slots:
            self._dismiss(slot)
        with contextlib.suppress(Exception):
            self._ray.shutdown()

    def machine(self, game_id: str) -> str:
        """The node that plays a game, empty while it waits for one."""
        slot = self._busy.get(game_id)
        return "" if slot is None else slot.node

    def news(self) -> list[str]:
        """Nodes that came and went, and games that no node can play now."""
        news, self._news = self._news, []
        return news

    def kinds(self) -> list[NodeKind]:
        """The kinds of nodes that there are."""
        kinds: dict[str, list[Mapping[str, Any]]] = {}
        for node in self._nodes.known.values():
            kinds.setdefault(_offer(node), []).append(node)
        return [
            NodeKind(
                f"{_name(nodes[0])}{f' and {len(nodes) - 1} like it' if nodes[1:] else ''}", offer, nodes[0]
            )
            for offer, nodes in kinds.items()
        ]

    def call_on(self, kind: NodeKind, function: Callable[..., T], *arguments: object) -> T:
        """What a function returns on a node of a kind. Raises RayUnavailableError where the node is lost."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        there = NodeAffinitySchedulingStrategy(kind.node["NodeID"], soft=False)
        task = self._ray.remote(function).options(num_cpus=0, max_retries=0, scheduling_strategy=there)
        try:
            answer: T = self._ray.get(task.remote(*arguments))
        except Exception as error:
            raise RayUnavailableError(f"{kind.name}: {str(error).strip()}") from error
        return answer

    def _assign(self) -> None:
        while self._waiting:
            idle = [slot for slot in self._slots if slot.job is None]
            if not idle:
                return
            job = self._waiting.popleft()
            shape = Shape.of(job)
            slot = next((slot for slot in idle if slot.shape == shape), idle[0])
            if slot.shape != shape:
                self._dismiss(slot)
                self._hire(slot, shape)
            slot.job, slot.epoch, slot.offset, slot.looked = job, slot.epoch + 1, 0, time.monotonic()
            self._busy[job.game_id] = slot
            future = slot.actor.play.remote(job, self._release).future()
            future.add_done_callback(partial(self._note, slot, slot.epoch))

    def _note(self, slot: _Slot, epoch: int, future: Any) -> None:
        # In a thread of Ray's.
        self._arrived.put((slot, epoch, future))

    def _hire(self, slot: _Slot, shape: Shape) -> None:
        if not any(map(shape.fits, self._nodes.known.values())) and shape not in self._missed:
            self._missed.add(shape)
            self._news.append(f"no node of the cluster has {shape.text}: games that need it wait for one")
        actor = self._actors.options(
            num_cpus=shape.cpus,
            num_gpus=shape.gpus,
            memory=shape.memory_bytes or None,
            resources=dict(shape.custom) or None,
            max_restarts=0,
            # A game, and a look at it meanwhile: each has a thread, which lasts as long as the actor.
            max_concurrency=2,
        )
        slot.actor = actor.remote(slot.number, self._pin, self.copied)
        slot.shape = shape

    def _dismiss(self, slot: _Slot) -> None:
        if slot.actor is not None:
            with contextlib.suppress(Exception):
                self._ray.kill(slot.actor)
        slot.actor, slot.shape, slot.job, slot.node, slot.live = None, None, None, "", None

    def _end_of(self, slot: _Slot, future: Any) -> GameResult | WorkerLost:
        job = slot.job
        assert job is not None
        del self._busy[job.game_id]
        slot.job, slot.live = None, None
        try:
            played: PlayedJob = future.result()
        except self._ray.exceptions.RayActorError as error:
            node = slot.node or "a node"
            self._dismiss(slot)
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            return WorkerLost(job.game_id, f"{node}, which played it, was lost: {why}", job.attempt, True)
        except Exception as error:
            self._dismiss(slot)
            return WorkerLost(job.game_id, f"Ray: {type(error).__name__}: {error}", job.attempt)
        _add_to(job.log_path, played.errors)
        _add_to(job.transcript, played.transcript)
        return played.result

    def _look_at_nodes(self) -> None:
        if time.monotonic() < self._nodes.looked + _LOOK_SECONDS:
            return
        self._nodes.looked = time.monotonic()
        try:
            nodes = {node["NodeID"]: node for node in self._ray.nodes() if node["Alive"]}
        except Exception:  # The head may be away for a moment; games show it if it stays so.
            return
        for node_id in nodes.keys() - self._nodes.known.keys():
            self._news.append(f"node {_name(nodes[node_id])} is there ({_offer(nodes[node_id])})")
        for node_id in self._nodes.known.keys() - nodes.keys():
            self._news.append(f"node {_name(self._nodes.known[node_id])} has gone")
        self._nodes.known = nodes

    def _look_at_games(self) -> None:
        """Ask games that last how far they are, for watchers, and take in what was answered."""
        now = time.monotonic()
        if now < self._looked_at_games + _LIVE_SECONDS / 4:
            return
        self._looked_at_games = now
        for slot in self._busy.values():
            if slot.live is not None:
                self._take_live(slot)
            elif now >= slot.looked + self._live_seconds and slot.job is not None:
                slot.looked = now
                slot.live = slot.actor.live.remote(slot.offset)

    def _take_live(self, slot: _Slot) -> None:
        ready, _ = self._ray.wait([slot.live], timeout=0)
        if not ready or slot.job is None:
            return
        try:
            slot.node, grown = self._ray.get(slot.live)
        except Exception:  # The end of the game tells what became of the actor.
            slot.live = None
            return
        slot.live = None
        slot.offset += len(grown)
        _add_to(slot.job.live_path, grown)


def _add_to(path: str | None, content: bytes) -> None:
    """Append to a file of the arena's. A full disk costs what is written, not the game."""
    if path is not None and content:
        with contextlib.suppress(OSError), open(path, "ab", opener=_open_for_owner) as file:
            file.write(content)


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _name(node: Mapping[str, Any]) -> str:
    return f"{node['NodeManagerHostname']} ({node['NodeID'][:6]})"


def _offer(node: Mapping[str, Any]) -> str:
    offered = node["Resources"]
    named = {
        name: offered[name] for name in sorted(offered) if not name.startswith(("node:", "object_store"))
    }
    named.pop("memory", None)
    return ", ".join(f"{amount:g} {name}" for name, amount in named.items()) or "nothing to offer"


def _check_listening(on: str) -> None:
    """Raises RayUnavailableError at once where Ray would try for two minutes."""
    try:
        address = ServerAddress.parse(on.removeprefix("ray://"))
        with socket.create_connection((address.host, address.port), _CONNECT_SECONDS):
            pass
    except (InvalidAddressError, OSError) as error:
        raise RayUnavailableError(
            f"{on}: there is no Ray cluster ({error}); an address is ray, ray://HOST:10001, or HOST:6379 "
            "of the cluster that this machine is a node of"
        ) from error


def _connected(on: str, runtime_env: dict[str, Any]) -> Any:
    """Ray, connected. Raises RayUnavailableError."""
    if find_spec("ray") is None:
        raise RayUnavailableError("Ray is not installed: pip install 'academy-arena[ray]'")
    if on != LOCAL:
        _check_listening(on)
    local = on == LOCAL or on.startswith(_LOCAL_HOSTS)
    for name, value in (_QUIET | _LOOPBACK if local else _QUIET).items():
        os.environ.setdefault(name, value)
    import ray

    options: dict[str, Any] = {"logging_level": "CRITICAL", "log_to_driver": False}
    if runtime_env:
        options["runtime_env"] = runtime_env
    if on == LOCAL:
        options["include_dashboard"] = False
    else:
        options["address"] = on
    if local:
        options["_node_ip_address"] = "127.0.0.1"
    # Ray takes signals for itself, which are the run's.
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        ray.init(**options)
    except Exception as error:
        raise RayUnavailableError(f"Ray at {on}: {str(error).strip() or type(error).__name__}") from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return ray
