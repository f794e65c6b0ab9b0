"""Playing games on a Ray cluster: each game on a node that has what its players need."""

import asyncio
import contextlib
import logging
import os
import queue
import signal
import socket
import time
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

from academy.wire.addresses import InvalidAddressError, ServerAddress
from arena.jobs import REMOTE, GameJob, GameResult, PlayerSetup, label_clash
from arena.workers.interface import WorkerLost, Workers, WorkersError
from arena.workers.ray_lobby import LobbyLink, lobby_of, start_loop
from arena.workers.ray_worker import PlayedJob, RayWorker, gpus_of

LOCAL: Final = "ray"
_LOOK_SECONDS: Final = 2.0
T = TypeVar("T")
Node = Mapping[str, Any]
"""A node as Ray describes it."""
# How long a worker looks for a node before those that are idle make room for it.
_PATIENCE_SECONDS: Final = 2.0
_SLOW_START_SECONDS: Final = 30.0
_LIVE_SECONDS: Final = 0.5
_CONNECT_SECONDS: Final = 10.0
# Looks a second at games in progress, of all games together: with more games each is looked at less often.
_LIVE_LOOKS: Final = 50
# What a game takes of a node if all of its players have dialled in, and think elsewhere.
_PASSING_ON_CPUS: Final = 0.1
# Workers in a row that end before they are ready, after which it costs games.
_MOST_FAILED_STARTS: Final = 20
# What Ray is to do on the user's terminal, in its reports and its network: nothing, none, and what the user
# has set. It reads these when it is loaded.
_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # A call after the run would start another cluster.
    "RAY_ENABLE_AUTO_CONNECT": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # Notices of nodes that end would be printed among the results.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
}
# A cluster of one's own is for this machine alone; Ray would put another address in place of the loopback.
_LOCAL_HOSTS: Final = ("127.", "localhost:")
_LOOPBACK: Final = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


_ADDRESSES: Final = (
    "an address is ray, ray://HOST:10001, or HOST:6379 of the cluster that this machine is a node of"
)

_TOKEN: Final = (
    "the cluster asks for a token: set RAY_AUTH_MODE=token here, with the same token in ~/.ray/auth_token"
)
_OTHER_TOKEN: Final = (
    "the cluster has another token than this machine in RAY_AUTH_TOKEN, the file of RAY_AUTH_TOKEN_PATH, "
    "or ~/.ray/auth_token: copy that of the first machine"
)


class RayUnavailableError(WorkersError):
    """Games cannot be played on Ray; the message says why."""


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
        custom: defaultdict[str, float] = defaultdict(float)
        for need in needs:
            for name, amount in need.custom.items():
                custom[name] += amount
        gpus = [need.gpus for need in needs]
        return cls(
            sum(need.cpus for need in needs) if needs else _PASSING_ON_CPUS,
            # Ray gives whole ones, or a part of one.
            sum(gpus) if sum(gpus) < 1 else float(max(taken.stop for taken in gpus_of(gpus))),
            sum(need.memory_bytes for need in needs),
            tuple(sorted(custom.items())),
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


@dataclass(eq=False)
class _Worker:
    """An actor. `node` is empty until it is on one; `job` is None while it has no game."""

    number: int
    shape: Shape
    actor: Any
    node: str = ""
    job: GameJob | None = None
    live: Any = None
    link: LobbyLink | None = None
    offset: int = 0
    looked: float = 0.0
    hired: float = field(default_factory=time.monotonic)
    is_late: bool = False


@dataclass
class _Nodes:
    known: dict[str, Node] = field(default_factory=dict)
    looked: float = 0.0
    lost: float = 0.0


class RayPool(Workers):
    """At most `size` actors, each of which plays one game at a time on a node that has what its players need.

    `on` is `ray` (a cluster that is started here and ends with the run), `ray://HOST:PORT`, or the address of
    a cluster's head. An actor that ends costs its game, as lost with its machine. A game is given to an actor
    that is on a node, and waits until there is one; an actor without a game ends where games of other needs
    wait for its place.
    """

    def __init__(
        self, on: str, size: int, *, pin: bool = False, runtime_env: Mapping[str, Any] | None = None
    ) -> None:
        """Connect, or start a cluster. Raises RayUnavailableError."""
        if size < 1:
            raise ValueError(f"{size} workers: there must be at least one")
        self._on = on
        environment = dict(runtime_env or {})
        folder = environment.get("working_dir")
        self.copied = None if folder is None else str(Path(folder).absolute())
        self._pin = pin
        self._size = size
        # What a worker has for us: that it is on a node, or what came of its game.
        self._arrived: queue.SimpleQueue[tuple[_Worker, Any]] = queue.SimpleQueue()
        self._free = list(reversed(range(size)))
        self._workers: set[_Worker] = set()
        self._idle: defaultdict[Shape, list[_Worker]] = defaultdict(list)
        self._starting: defaultdict[Shape, list[_Worker]] = defaultdict(list)
        self._waiting: defaultdict[Shape, deque[GameJob]] = defaultdict(deque)
        self._failed_starts: Counter[Shape] = Counter()
        self._busy: dict[str, _Worker] = {}
        self._nodes = _Nodes()
        self._silent: dict[str, RayUnavailableError] = {}
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
        return self._size

    def submit(self, job: GameJob) -> None:
        """Hand in a game. It waits its turn where all workers are busy.

        Raises RayUnavailableError where players need what no node can have.
        """
        if clash := label_clash(job.players):
            raise RayUnavailableError(clash)
        self._waiting[Shape.of(job.players)].append(job)
        with self._connection():
            self._assign()

    def next_result(self, timeout: float | None = None) -> GameResult | WorkerLost | None:
        """The next finished game, as `Workers` says. Raises RayUnavailableError where the cluster is lost."""
        with self._connection():
            return self._next_result(None if timeout is None else time.monotonic() + timeout)

    def _next_result(self, deadline: float | None) -> GameResult | WorkerLost | None:
        while self._busy or any(self._waiting.values()):
            self._look_at_nodes()
            self._look_at_games()
            remaining = _LIVE_SECONDS if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                worker, future = self._arrived.get(timeout=min(remaining, _LIVE_SECONDS))
            except queue.Empty:
                if deadline is not None and time.monotonic() >= deadline:
                    return None
                continue
            if worker not in self._workers:
                continue
            result = self._end_of(worker, future) if worker.node else self._settle(worker, future)
            self._assign()
            if result is not None:
                return result
        return None

    @contextlib.contextmanager
    def _connection(self) -> Iterator[None]:
        """Raise RayUnavailableError where the connection that `ray://` stands for has ended."""
        try:
            yield
        except ConnectionError as error:
            raise RayUnavailableError(
                f"the connection to Ray at {self._on} is lost; what is stored stays, and the same command "
                "goes on once the cluster can be reached"
            ) from error

    def stop(self) -> None:
        """End all games at once; a cluster that was started here ends."""
        self._waiting.clear()
        self._busy.clear()
        for worker in list(self._workers):
            self._dismiss(worker)
        with contextlib.suppress(Exception):
            self._ray.shutdown()

    def machine(self, game_id: str) -> str:
        """The node that plays a game."""
        worker = self._busy.get(game_id)
        return "no node yet" if worker is None else worker.node

    def news(self) -> list[str]:
        """Nodes that came and went, and games that no node can play now."""
        news, self._news = self._news, []
        return news

    def kinds(self) -> dict[str, list[Node]]:
        """The nodes that there are, by what they offer beside memory, of which each has its own amount."""
        return dict(sorted(grouped(self._nodes.known.values(), _offer).items()))

    def call_on(
        self, nodes: Iterable[Node], seconds: float, function: Callable[..., T], *arguments: object
    ) -> dict[str, T | RayUnavailableError]:
        """What a function returns on each of some nodes within some seconds, by its name, or why nothing.

        A node that did not answer is not called again.
        """
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        calls = {}
        answers: dict[str, T | RayUnavailableError] = {}
        for node in nodes:
            if node_name(node) in self._silent:
                answers[node_name(node)] = self._silent[node_name(node)]
                continue
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            task = self._ray.remote(function).options(num_cpus=0, max_retries=0, scheduling_strategy=there)
            calls[node_name(node)] = task.remote(*arguments)
        deadline = time.monotonic() + seconds
        for name, call in calls.items():
            try:
                answers[name] = self._ray.get(call, timeout=max(0.0, deadline - time.monotonic()))
            except self._ray.exceptions.GetTimeoutError:
                # Such as a node with a full disk, which is alive and starts no process.
                self._silent[name] = RayUnavailableError(
                    f"the node has not answered within {seconds:.0f} seconds"
                )
                answers[name] = self._silent[name]
                with contextlib.suppress(Exception):
                    self._ray.cancel(call, force=True)
            except (self._ray.exceptions.TaskUnschedulableError, self._ray.exceptions.NodeDiedError):
                answers[name] = RayUnavailableError("the node has gone")
            except Exception as error:
                answers[name] = RayUnavailableError(_in_short(error))
        return answers

    def _assign(self) -> None:
        """Give games to idle workers; where games are left, hire workers that wait for a node."""
        for shape, jobs in self._waiting.items():
            idle = self._idle[shape]
            while jobs and idle:
                self._start(idle.pop(), jobs.popleft())
        self._note_missing()
        wanted = {shape: len(jobs) for shape, jobs in self._waiting.items() if jobs}
        patient = [self._starting[shape] for shape in wanted if shape not in self._missed]
        self._note_slow_starts(patient)
        if any(workers and time.monotonic() > workers[0].hired + _PATIENCE_SECONDS for workers in patient):
            # Those that are left idle may hold what others wait for.
            for worker in [worker for idle in self._idle.values() for worker in idle]:
                self._dismiss(worker)
        for shape, games in wanted.items():
            while len(self._starting[shape]) < games and self._make_room():
                self._hire(shape)

    def _note_slow_starts(self, starting: Iterable[list[_Worker]]) -> None:
        """Report that no worker at all comes, though nodes have room for some."""
        if any(worker.node for worker in self._workers):
            return
        for first in (workers[0] for workers in starting if workers):
            if not first.is_late and time.monotonic() > first.hired + _SLOW_START_SECONDS:
                first.is_late = True
                self._news.append(
                    f"no worker has begun on a node with {first.shape.text} for {_SLOW_START_SECONDS:g} s: "
                    "other runs may use them all, or Ray still installs what [workers] asks for, or cannot; "
                    "the logs there are in /tmp/ray/session_latest/logs"
                )

    def _make_room(self) -> bool:
        """Whether a worker can be hired; one for which there is no game is dismissed for it."""
        if self._free:
            return True
        for workers in (*self._idle.values(), *self._starting.values()):
            if workers and len(workers) > len(self._waiting[workers[0].shape]):
                self._dismiss(workers[0])
                return True
        return False

    def _start(self, worker: _Worker, job: GameJob) -> None:
        worker.job, worker.offset, worker.looked = job, 0, time.monotonic()
        self._busy[job.game_id] = worker
        self._note_end(worker, worker.actor.play.remote(job, self._release))
        if (lobby := lobby_of(job)) is not None:
            worker.link = self._link(lobby, worker.actor, job)

    def _link(self, lobby: str, actor: Any, job: GameJob) -> LobbyLink:
        attempt = job.game_id, job.attempt

        def fail(error: Exception) -> None:
            # The game is lost with its worker, as if the node was.
            if not isinstance(error, self._ray.exceptions.RayActorError):
                self._news.append(f"game {job.game_id} has lost its way to the lobby: {_in_short(error)}")
                self._ray.kill(actor)

        return LobbyLink(
            lobby,
            lambda: actor.receive_for_lobby.remote(attempt).future(),
            lambda pieces: actor.send_from_lobby.remote(attempt, pieces).future(),
            fail,
            self._loop,
        )

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return start_loop("lobby-links")

    def _note_end(self, worker: _Worker, call: Any) -> None:
        # The callback runs in a thread of Ray's.
        call.future().add_done_callback(lambda future: self._arrived.put((worker, future)))

    def _hire(self, shape: Shape) -> None:
        try:
            actor = self._actors.options(
                num_cpus=shape.cpus,
                num_gpus=shape.gpus,
                memory=shape.memory_bytes or None,
                resources=dict(shape.custom) or None,
                label_selector=dict(shape.labels) or None,
                max_restarts=0,
                # A game, a look at it meanwhile, and one call for each way between it and the lobby: each has
                # a thread, which lasts as long as the actor.
                max_concurrency=4,
            )
        except ValueError as error:
            job = self._waiting[shape][0]
            raise RayUnavailableError(
                f"game {job.game_id} ({_players_of(job)}): Ray refuses {shape.text}, which its players need "
                f"together: {_in_short(error)}; change their resources in the control file"
            ) from error
        number = self._free.pop()
        worker = _Worker(number, shape, actor.remote(number, self._pin, self.copied))
        self._workers.add(worker)
        self._starting[shape].append(worker)
        self._note_end(worker, worker.actor.node.remote())

    def _dismiss(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        self._free.append(worker.number)
        for workers in (self._idle[worker.shape], self._starting[worker.shape]):
            if worker in workers:
                workers.remove(worker)
        with contextlib.suppress(Exception):
            self._ray.kill(worker.actor)
        if worker.link is not None:
            worker.link.end()
            worker.link = None

    def _settle(self, worker: _Worker, future: Any) -> WorkerLost | None:
        """Take in a worker that has found a node. If none can start, it costs a game that waits for them."""
        try:
            worker.node = future.result()
        except Exception as error:
            self._check_connected(error)
            self._dismiss(worker)
            lost = isinstance(error, self._ray.exceptions.RayActorError)
            jobs = self._waiting[worker.shape]
            # Its node may have been lost just then, with many that started there, before a game was there.
            if lost and self._failed_starts[worker.shape] == _MOST_FAILED_STARTS:
                self._look_at_nodes(at_once=True)
            if worker.hired > self._nodes.lost:
                self._failed_starts[worker.shape] += 1
            if not jobs or (lost and self._failed_starts[worker.shape] <= _MOST_FAILED_STARTS):
                return None
            return self._lost(jobs.popleft(), "a node", error)
        self._failed_starts[worker.shape] = 0
        self._starting[worker.shape].remove(worker)
        self._idle[worker.shape].append(worker)
        if worker.shape in self._missed:
            # It is on a node that has just come.
            self._nodes.looked = 0.0
        return None

    def _end_of(self, worker: _Worker, future: Any) -> GameResult | WorkerLost:
        job = worker.job
        assert job is not None
        del self._busy[job.game_id]
        worker.job, worker.live = None, None
        try:
            played: PlayedJob = future.result()
        except Exception as error:
            self._check_connected(error)
            self._dismiss(worker)
            return self._lost(job, worker.node, error)
        if worker.link is not None:
            worker.link.end(played.to_lobby)
            worker.link = None
        self._idle[worker.shape].append(worker)
        _add_to(job.log_path, played.errors)
        _add_to(job.transcript, played.transcript)
        return played.result

    def _check_connected(self, error: Exception) -> None:
        """Raise an error that is the connection's own, and not one of the game's that Ray passes on."""
        if isinstance(error, ConnectionError) and not isinstance(error, self._ray.exceptions.RayTaskError):
            raise error

    def _lost(self, job: GameJob, node: str, error: Exception) -> WorkerLost:
        if isinstance(error, self._ray.exceptions.RayActorError):
            # Ray goes on with what might be the cause, and with advice about itself.
            cause = next((line.strip() for line in str(error).splitlines() if "because" in line), "")
            why = cause and f": {cause.partition('. ')[0].rstrip('.')}"
            return WorkerLost(job.game_id, f"{node}, which played it, was lost{why}", job.attempt, True)
        return WorkerLost(job.game_id, f"Ray: {_in_short(error)}", job.attempt)

    def _note_missing(self) -> None:
        """Report games that no node can play, and games whose node has come."""
        for shape, jobs in self._waiting.items():
            able = next(filter(shape.fits, self._nodes.known.values()), None)
            if able is None and jobs and shape not in self._missed:
                self._missed.add(shape)
                at = [
                    f"{in_groups(map(node_name, nodes))} lacks {lack}"
                    for kind in self.kinds().values()
                    for lack, nodes in grouped(kind, shape.lacking).items()
                ]
                self._news.append(
                    f"games like {jobs[0].game_id} ({_players_of(jobs[0])}) wait for a node with "
                    f"{shape.text}: {'; '.join(at) or 'the cluster has no node'}"
                )
            elif able is not None and shape in self._missed:
                self._missed.discard(shape)
                self._news.append(f"node {node_name(able)} has what games waited for: {shape.text}")

    def _look_at_nodes(self, *, at_once: bool = False) -> None:
        if not at_once and time.monotonic() < self._nodes.looked + _LOOK_SECONDS:
            return
        self._nodes.looked = time.monotonic()
        try:
            nodes = {node["NodeID"]: node for node in self._ray.nodes() if node["Alive"]}
        except Exception:  # The head may be away for a moment; games show it if it stays so.
            return
        for node_id in nodes.keys() - self._nodes.known.keys():
            self._news.append(f"node {node_name(nodes[node_id])} is there ({_offer(nodes[node_id])})")
        for node_id in self._nodes.known.keys() - nodes.keys():
            self._news.append(f"node {node_name(self._nodes.known[node_id])} has gone")
            self._nodes.lost = self._nodes.looked
            self._failed_starts.clear()
        self._nodes.known = nodes
        if not nodes and self._on == LOCAL:
            # No other node can join a cluster of this run's own.
            raise RayUnavailableError(
                "the cluster that this run started on this machine has ended; the same command goes on"
            )
        self._assign()

    def _look_at_games(self) -> None:
        """Ask games that last how far they are, for watchers, and take in what was answered."""
        now = time.monotonic()
        if now < self._looked_at_games + _LIVE_SECONDS / 4:
            return
        self._looked_at_games = now
        for worker in self._busy.values():
            if worker.live is not None:
                self._take_live(worker)
            elif now >= worker.looked + self._live_seconds:
                worker.looked = now
                worker.live = worker.actor.live.remote(worker.offset)

    def _take_live(self, worker: _Worker) -> None:
        ready, _ = self._ray.wait([worker.live], timeout=0)
        if not ready or worker.job is None:
            return
        try:
            grown = self._ray.get(worker.live)
        except Exception:  # The end of the game tells what became of the actor.
            worker.live = None
            return
        worker.live = None
        worker.offset += len(grown)
        _add_to(worker.job.live_path, grown)


def _add_to(path: str | None, content: bytes) -> None:
    """Append to a file of the arena's. A full disk costs what is written, not the game."""
    if path is not None and content:
        with contextlib.suppress(OSError), open(path, "ab", opener=_open_for_owner) as file:
            file.write(content)


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


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


def _players_of(job: GameJob) -> str:
    return " and ".join(player.name for player in job.players)


def _offer(node: Node) -> str:
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


def _in_short(error: Exception) -> str:
    """The line of an error of Ray's that says what is wrong: the last one of a traceback, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    traced = any(line.startswith('File "') for line in lines)
    return (lines[-1] if traced else lines[0]) if lines else type(error).__name__


def _check_listening(on: str) -> None:
    """Raises RayUnavailableError at once where Ray would try for minutes, as at another server's port."""
    import grpc

    target = on.removeprefix("ray://")
    # A head knows the first call, and its server for clients from outside the second, which it cannot read.
    question, expected = (
        ("/ray.rpc.NodeInfoGcsService/GetClusterId", (grpc.StatusCode.OK,))
        if target == on
        else ("/ray.rpc.RayletDriver/ClusterInfo", (grpc.StatusCode.OK, grpc.StatusCode.NOT_FOUND))
    )
    token = _token()
    answer = grpc.StatusCode.OK
    try:
        address = ServerAddress.parse(target)
        with socket.create_connection((address.host, address.port), _CONNECT_SECONDS):
            pass
        if os.environ.get("RAY_USE_TLS") == "1":
            return
        # As Ray, which asks no proxy.
        with grpc.insecure_channel(target, options=[("grpc.enable_http_proxy", 0)]) as channel:
            ask: Any = channel.unary_unary(question)
            metadata = [("authorization", f"Bearer {token}")] if token else None
            ask(b"", timeout=_CONNECT_SECONDS, metadata=metadata)
    except grpc.RpcError as error:
        answer = error.code()
    except (InvalidAddressError, OSError) as error:
        raise RayUnavailableError(f"{on}: there is no Ray cluster ({error}); {_ADDRESSES}") from error
    if answer is grpc.StatusCode.UNAUTHENTICATED:
        raise RayUnavailableError(f"{on}: {_OTHER_TOKEN if token else _TOKEN}")
    if answer not in expected:
        raise RayUnavailableError(f"{on}: what listens there is no Ray cluster of that kind; {_ADDRESSES}")


def _token() -> str:
    """The token that Ray sends to a cluster; empty where it sends none."""
    if os.environ.get("RAY_AUTH_MODE") != "token":
        return ""
    if token := os.environ.get("RAY_AUTH_TOKEN"):
        return token.strip()
    with contextlib.suppress(OSError):
        return _token_file().read_text().strip()
    return ""


def _token_file() -> Path:
    return Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or "~/.ray/auth_token").expanduser()


def _keep_token_private() -> None:
    """Let nobody else read the token that Ray made: who has it runs any program on the cluster."""
    with contextlib.suppress(OSError):
        file = _token_file()
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)


def _connected(on: str, runtime_env: dict[str, Any]) -> Any:
    """Ray, connected. Raises RayUnavailableError."""
    if find_spec("ray") is None:
        raise RayUnavailableError("Ray is not installed: pip install 'academy-arena[ray]'")
    local = on == LOCAL or on.startswith(_LOCAL_HOSTS)
    if on != LOCAL:
        _check_listening(on)
    for name, value in (_QUIET | _LOOPBACK if local else _QUIET).items():
        os.environ.setdefault(name, value)
    import ray

    options: dict[str, Any] = {"logging_level": "CRITICAL", "log_to_driver": False}
    if runtime_env:
        options["runtime_env"] = runtime_env
    # Without an address Ray would take a cluster that somebody else runs here.
    options["address"] = "local" if on == LOCAL else on
    if on == LOCAL:
        options["include_dashboard"] = False
    if local:
        options["_node_ip_address"] = "127.0.0.1"
    # Ray takes signals for itself, which are the run's.
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with warnings.catch_warnings(action="ignore"):
            ray.init(**options)
        # It logs a warning of its own where the connection is lost.
        logging.getLogger("ray.util.client.logsclient").setLevel(logging.CRITICAL)
    except Exception as error:
        raise RayUnavailableError(f"Ray at {on}: {_in_short(error)}") from error
    finally:
        _keep_token_private()
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return ray
