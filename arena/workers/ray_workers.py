"""Playing games on a Ray cluster: each game on a node that has what its players need."""

import asyncio
import contextlib
import math
import os
import queue
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, TypeVar

from arena.jobs import GameJob, GameResult, label_clash
from arena.workers.interface import WorkerLost, Workers
from arena.workers.ray_connection import LOCAL, RayUnavailableError, connect, in_short
from arena.workers.ray_lobby import LobbyLink, lobby_of, start_loop
from arena.workers.ray_nodes import Node, Shape, grouped, in_groups, node_name, offer_of
from arena.workers.ray_worker import PlayedJob, RayWorker

_LOOK_SECONDS: Final = 2.0
T = TypeVar("T")
# How long a worker looks for a node before those that are idle make room for it.
_PATIENCE_SECONDS: Final = 2.0
_SLOW_START_SECONDS: Final = 30.0
_LIVE_SECONDS: Final = 0.5
# Looks a second at games in progress, of all games together: with more games each is looked at less often.
_LIVE_LOOKS: Final = 50
# Workers in a row that end before they are ready, after which it costs games.
_MOST_FAILED_STARTS: Final = 20


@dataclass(eq=False)
class _Worker:
    """An actor. `node` is empty until it is on one; `job` is None while it has no game."""

    number: int
    shape: Shape
    actor: Any
    node: str = ""
    job: GameJob | None = None
    link: LobbyLink | None = None
    # How much of the game's file for watchers is here, and when it was looked at; infinity: a look goes on.
    offset: int = 0
    looked: float = 0.0
    hired: float = field(default_factory=time.monotonic)
    is_late: bool = False


@dataclass
class _Nodes:
    known: dict[str, Node] = field(default_factory=dict)
    looked: float = 0.0
    lost: float = 0.0


class RayWorkers(Workers):
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
        self._has_environment = bool(environment)
        folder = environment.get("working_dir")
        self.copied = None if folder is None else str(Path(folder).absolute())
        self._pin = pin
        self._size = size
        # What workers have answered, each with what takes it in.
        self._arrived: queue.SimpleQueue[tuple[_Worker, Callable[..., Any], Any]] = queue.SimpleQueue()
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
        self._ray = connect(on, environment)
        self._actors = self._ray.remote(RayWorker)
        self._release = version("academy-arena")
        # It owns all workers for Ray, which ends those of a driver whose node has gone, and starts no others.
        self._home = self._ray.get_runtime_context().get_node_id()
        self._live_seconds = max(_LIVE_SECONDS, size / _LIVE_LOOKS)
        self._looked_at_games = 0.0
        self._look_at_nodes()

    @property
    def size(self) -> int:
        """How many games can be in progress at a time."""
        return self._size

    @property
    def has_own_players(self) -> bool:
        """False for a cluster on this machine alone that installs and copies nothing for them."""
        return self._on != LOCAL or self._has_environment

    def submit(self, job: GameJob) -> None:
        """Hand in a game. It waits its turn where all workers are busy.

        Raises RayUnavailableError where players need what no node can have.
        """
        if clash := label_clash(job.players):
            raise RayUnavailableError(clash)
        self._waiting[Shape.of(job.players)].append(job)
        with self._connection():
            self._assign()

    def next_result(self, timeout: float) -> GameResult | WorkerLost | None:
        """The next finished game, as `Workers` says. Raises RayUnavailableError where the cluster is lost."""
        with self._connection():
            return self._next_result(time.monotonic() + timeout)

    def _next_result(self, deadline: float) -> GameResult | WorkerLost | None:
        while self._busy or any(self._waiting.values()):
            self._look_at_nodes()
            self._look_at_games()
            remaining = max(0.0, deadline - time.monotonic())
            try:
                worker, take_in, future = self._arrived.get(timeout=min(remaining, _LIVE_SECONDS))
            except queue.Empty:
                if time.monotonic() >= deadline:
                    return None
                continue
            if worker not in self._workers:
                continue
            result: GameResult | WorkerLost | None = take_in(worker, future)
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
        return dict(sorted(grouped(self._nodes.known.values(), offer_of).items()))

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
            pinning = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            task = self._ray.remote(function).options(num_cpus=0, max_retries=0, scheduling_strategy=pinning)
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
                answers[name] = RayUnavailableError(in_short(error))
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
                    "the logs there are in session_latest/logs of Ray's folder, /tmp/ray if not changed"
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
        self._ask(worker, worker.actor.play.remote(job, self._release), self._end_of)
        if (lobby := lobby_of(job)) is not None:
            worker.link = self._link(lobby, worker.actor, job)

    def _link(self, lobby: str, actor: Any, job: GameJob) -> LobbyLink:
        attempt = job.game_id, job.attempt

        def fail(error: Exception) -> None:
            # The game is lost with its worker, as if the node was.
            if not isinstance(error, self._ray.exceptions.RayActorError):
                self._news.append(f"game {job.game_id} has lost its way to the lobby: {in_short(error)}")
                self._ray.kill(actor)

        return LobbyLink(
            lobby,
            lambda: actor.receive_for_lobby.remote(attempt).future(),
            lambda piece: actor.send_from_lobby.remote(attempt, piece).future(),
            fail,
            self._loop,
        )

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return start_loop("lobby-links")

    def _ask(self, worker: _Worker, call: Any, take_in: Callable[..., Any]) -> None:
        # The callback runs in a thread of Ray's.
        call.future().add_done_callback(lambda future: self._arrived.put((worker, take_in, future)))

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
                f"together: {in_short(error)}; change their resources in the control file"
            ) from error
        number = self._free.pop()
        worker = _Worker(number, shape, actor.remote(number, self._pin, self.copied))
        self._workers.add(worker)
        self._starting[shape].append(worker)
        self._ask(worker, worker.actor.node.remote(), self._settle)

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
            failed = isinstance(error, self._ray.exceptions.RuntimeEnvSetupError)
            if failed and self._none_will_begin(worker.shape):
                raise RayUnavailableError(
                    f"what [workers] asks for cannot be installed on a node: {self._cause(error)}; mend it "
                    "in the control file or on the node, and the same command goes on"
                ) from error
            lost = failed or isinstance(error, self._ray.exceptions.RayActorError)
            jobs = self._waiting[worker.shape]
            # Its node may have been lost just then, with many that started there, before a game was there.
            if lost and self._failed_starts[worker.shape] == _MOST_FAILED_STARTS:
                self._nodes.looked = 0.0
                self._look_at_nodes()
            if worker.hired > self._nodes.lost:
                self._failed_starts[worker.shape] += 1
            # What a node cannot get its packages for is played by another.
            waits = failed or (lost and self._failed_starts[worker.shape] <= _MOST_FAILED_STARTS)
            if jobs and not waits:
                return self._lost(jobs.popleft(), "a node", error)
            if self._failed_starts[worker.shape] == 1:
                self._news.append(
                    f"a worker has not begun on a node with {worker.shape.text}: {self._cause(error)}"
                )
            return None
        self._failed_starts[worker.shape] = 0
        self._starting[worker.shape].remove(worker)
        self._idle[worker.shape].append(worker)
        if worker.shape in self._missed:
            # It is on a node that has just come.
            self._nodes.looked = 0.0
        return None

    def _none_will_begin(self, shape: Shape) -> bool:
        """Whether packages can be installed nowhere, as far as can be seen.

        No worker has found a node, and one for each game at a time has failed.
        """
        if any(other.node for other in self._workers):
            return False
        return not self._workers or self._failed_starts[shape] + 1 >= self._size

    def _end_of(self, worker: _Worker, future: Any) -> GameResult | WorkerLost:
        job = worker.job
        assert job is not None
        del self._busy[job.game_id]
        worker.job = None
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
            why = f"{node}, which played it, was lost: {self._cause(error)}"
            return WorkerLost(job.game_id, why, job.attempt, True)
        return WorkerLost(job.game_id, f"Ray: {in_short(error)}", job.attempt)

    def _cause(self, error: Exception) -> str:
        """Why a worker ended. Ray goes on with what might be the cause, and with advice about itself."""
        if isinstance(error, self._ray.exceptions.RuntimeEnvSetupError):
            return in_short(error)
        causes = (line.strip() for line in str(error).splitlines() if "because" in line)
        return next(causes, in_short(error)).partition(". ")[0].rstrip(".")

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

    def _look_at_nodes(self) -> None:
        if time.monotonic() < self._nodes.looked + _LOOK_SECONDS:
            return
        self._nodes.looked = time.monotonic()
        try:
            nodes = {node["NodeID"]: node for node in self._ray.nodes() if node["Alive"]}
        except Exception:  # The head may be away for a moment; games show it if it stays so.
            return
        for node_id in nodes.keys() - self._nodes.known.keys():
            self._news.append(f"node {node_name(nodes[node_id])} is there ({offer_of(nodes[node_id])})")
        for node_id in self._nodes.known.keys() - nodes.keys():
            self._news.append(f"node {node_name(self._nodes.known[node_id])} has gone")
            self._nodes.lost = self._nodes.looked
            self._failed_starts.clear()
        if self._home not in nodes:
            raise RayUnavailableError(self._describe_lost_home())
        self._nodes.known = nodes
        self._assign()

    def _describe_lost_home(self) -> str:
        if self._on == LOCAL:
            return "the cluster that this run started on this machine has ended; the same command goes on"
        home = self._nodes.known.get(self._home)
        name = f"node {node_name(home)}" if home else "the node"
        return (
            f"{name}, by which this run was in the cluster, has gone, and its games with it; what is stored "
            "stays, and the same command goes on once Ray is there again"
        )

    def _look_at_games(self) -> None:
        """Ask games that last how far they are, for watchers."""
        now = time.monotonic()
        if now < self._looked_at_games + _LIVE_SECONDS / 4:
            return
        self._looked_at_games = now
        for worker in self._busy.values():
            if worker.job is not None and now >= worker.looked + self._live_seconds:
                worker.looked = math.inf
                take_in = partial(self._take_live, worker.job)
                self._ask(worker, worker.actor.live.remote(worker.offset), take_in)

    def _take_live(self, job: GameJob, worker: _Worker, future: Any) -> None:
        # It may play another game by now.
        if worker.job is job:
            worker.looked = time.monotonic()
            # The end of the game tells what became of the actor.
            with contextlib.suppress(Exception):
                grown: bytes = future.result()
                worker.offset += len(grown)
                _add_to(job.live_path, grown)


def _add_to(path: str | None, content: bytes) -> None:
    """Append to a file of the arena's. A full disk costs what is written, not the game."""
    if path is not None and content:
        with contextlib.suppress(OSError), open(path, "ab", opener=_open_for_owner) as file:
            file.write(content)


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _players_of(job: GameJob) -> str:
    return " and ".join(player.name for player in job.players)
