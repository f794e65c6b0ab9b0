"""What a run asks of Ray, with a stand-in for it: actors that are at once where a node has room for them."""

import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from importlib.metadata import version
from math import ceil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.control.settings import ControlError
from arena.control.toml_file import read
from arena.jobs import GameJob, PlayerSetup, Resources
from arena.runner import cluster_check
from arena.workers import ray_workers
from arena.workers.interface import WorkerLost
from arena.workers.ray_connection import RayUnavailableError
from arena.workers.ray_nodes import Shape, node_name
from arena.workers.ray_worker import PlayedJob, RayWorker, moved_to_copy, with_own_gpus
from arena.workers.ray_workers import RayWorkers
from tests.arena.engines import job, misbehaving, python_player

GIB = 2.0**30


class ActorLostError(Exception):
    """An actor ended with its node."""


class GameFailedError(Exception):
    """An error of a game's own, which Ray passes on."""


class GameNotConnectedError(GameFailedError, ConnectionError):
    """One that was an error of a connection where the game is played."""


class NotInstalledError(Exception):
    """What a worker needs on its node could not be installed there."""


class RayStandIn:
    """Games end as soon as they begin. While it is `starting`, actors are on a node and not yet ready.

    The run is on the first node.
    """

    exceptions = SimpleNamespace(
        RayActorError=ActorLostError, RayTaskError=GameFailedError, RuntimeEnvSetupError=NotInstalledError
    )

    def __init__(self, *offers: dict[str, float]) -> None:
        self.offers = {f"{number:06}": offer for number, offer in enumerate(offers)}
        self.free = {name: dict(offer) for name, offer in self.offers.items()}
        self.actors: list[Any] = []
        self.starting = False
        self.starts = 0

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {"NodeID": name, "NodeManagerHostname": "host", "Alive": True, "Resources": offer}
            for name, offer in self.offers.items()
        ]

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: "000000")

    def remote(self, actor: type) -> Any:
        return SimpleNamespace(options=self.options)

    def options(self, **wanted: Any) -> Any:
        amounts = {"CPU": wanted["num_cpus"], **(wanted["resources"] or {})}
        return SimpleNamespace(remote=lambda *_: self.make(amounts))

    def make(self, amounts: dict[str, float]) -> Any:
        actor = SimpleNamespace(amounts=amounts, on="", ready=Future[str](), live=None)
        actor.node = SimpleNamespace(remote=lambda: SimpleNamespace(future=lambda: actor.ready))
        actor.play = SimpleNamespace(remote=lambda job, _: SimpleNamespace(future=lambda: played(job)))
        self.actors.append(actor)
        self.place()
        return actor

    def place(self) -> None:
        for actor in [actor for actor in self.actors if not actor.on]:
            for name, free in self.free.items():
                if not actor.on and all(free.get(what, 0) >= much for what, much in actor.amounts.items()):
                    actor.on = name
                    self.take(actor, 1)
                    self.starts += 1
                    if not self.starting:
                        actor.ready.set_result(f"host ({name})")

    def take(self, actor: Any, sign: int) -> None:
        for what, much in actor.amounts.items():
            self.free[actor.on][what] = self.free[actor.on].get(what, 0) - sign * much

    def kill(self, actor: Any) -> None:
        if actor in self.actors:
            self.actors.remove(actor)
            if actor.on in self.free:
                self.take(actor, -1)
            self.place()

    def replace_node(self, name: str, offer: dict[str, float]) -> None:
        """Lose the nodes but the first, with the actors that start on them, and have another."""
        self.offers = {"000000": self.offers["000000"], name: offer}
        self.free = {name: dict(offer) for name, offer in self.offers.items()}
        for actor in self.actors.copy():
            actor.ready.set_exception(ActorLostError())

    def shutdown(self) -> None:
        """It has nothing to end."""


def played(game: GameJob) -> "Future[PlayedJob]":
    future: Future[PlayedJob] = Future()
    future.set_result(PlayedJob(WorkerLost(game.game_id, "it is over", game.attempt), b"", b""))
    return future


def workers_on(monkeypatch: pytest.MonkeyPatch, ray: RayStandIn, size: int) -> RayWorkers:
    monkeypatch.setattr(ray_workers, "connect", lambda on, environment: ray)
    return RayWorkers("host:6379", size)


def game_of(game_id: str, *needs: Resources) -> GameJob:
    players = [python_player(name, resources=need) for name, need in zip("ab", needs, strict=False)]
    return job(*players, game_id=game_id)


def checked(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    ray: RayStandIn,
    text: str,
    broken_on: Iterable[str] = (),
    call_on: Any = None,
) -> tuple[list[str], str]:
    """What `arena check` says, and its error, where no player works on some nodes."""
    path = folder / "cup.toml"
    path.write_text(f'[game]\nname = "go"\nboard_size = 5\nkomi = 0.5\n{text}')

    def answers(workers: RayWorkers, nodes: Sequence[Any], seconds: float, *_: object) -> dict[str, str]:
        return {node_name(node): "no such program" * (node["NodeID"] in broken_on) for node in nodes}

    monkeypatch.setattr(ray_workers, "connect", lambda on, environment: ray)
    monkeypatch.setattr(RayWorkers, "call_on", call_on or answers)
    lines: list[str] = []
    try:
        cluster_check.check_on_cluster(read(path), "host:6379", lines.append)
    except ControlError as error:
        return lines, str(error)
    return lines, ""


def player(name: str, needs: str) -> str:
    return f'[players.{name}]\ncommand = "true"\nresources = {{ {needs} }}\n'


ALL_PLAY_ALL = '[competition]\nkind = "all-play-all"\nrounds = 1\n'


def test_a_check_says_that_it_waits_for_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = ALL_PLAY_ALL + player("a", "") + player("b", "") + '[workers]\npackages = ["glider"]\n'
    lines, _ = checked(monkeypatch, tmp_path, RayStandIn({"CPU": 8.0}), text)
    assert lines[1] == "packages are installed on each node first, which takes minutes where they cannot be"
    assert len(lines) == 4


@pytest.mark.parametrize("order", [(4, 4096), (4096, 4)])
def test_a_check_passes_over_nodes_whose_memory_is_too_small_and_calls_all_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, order: tuple[int, ...]
) -> None:
    ray = RayStandIn(*({"CPU": 8.0, "memory": gib * GIB} for gib in order))
    players = player("a", 'memory = "1700.25 GiB"') + player("b", 'memory = "1700.25 GiB"')
    lines, error = checked(monkeypatch, tmp_path, ray, ALL_PLAY_ALL + players)
    small, large = (f"host ({order.index(gib):06})" for gib in (4, 4096))
    assert error == ""
    assert lines[0] == "node host (000000) and 1 like it: 8 CPU"
    assert sorted(lines[1:]) == sorted(
        line
        for name in "ab"
        for line in (
            f"player {name} on {small}: no game fits, for want of 3,400.5 GiB of memory",
            f"player {name} on {large}: works",
        )
    )


def test_a_check_calls_a_node_for_those_players_alone_whose_games_it_may_get(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ray = RayStandIn({"CPU": 2.0}, {"CPU": 4.0})
    competition = '[competition]\nkind = "playoff"\ngames = 1\n'
    cpus = {"a": 1, "b": 3, "c": 2, "d": 2, "e": 1, "f": 1}
    players = "".join(player(name, f"cpus = {amount}") for name, amount in cpus.items())
    players += "".join(
        f'[[matchups]]\nplayers = ["{first}", "{second}"]\n' for first, second in ("ab", "cd", "ef")
    )
    lines, error = checked(monkeypatch, tmp_path, ray, competition + players, broken_on=["000000"])
    assert [line for line in lines if "no such program" in line] == [
        f"player {name} on host (000000): no such program" for name in "ef"
    ]
    assert error.startswith("2 of the checks failed")


@pytest.mark.parametrize(
    ("gpus", "broken_on", "remedies"),
    [(0, ["000000"], ["program"]), (1, [], ["Amounts"]), (1, ["000000"], ["program", "Amounts"])],
)
def test_a_failed_check_names_the_remedies_of_what_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gpus: int, broken_on: list[str], remedies: list[str]
) -> None:
    players = player("a", "cpus = 1") + player("b", "cpus = 1") + player("c", f"gpus = {gpus}")
    _, error = checked(monkeypatch, tmp_path, RayStandIn({"CPU": 4.0}), ALL_PLAY_ALL + players, broken_on)
    assert [word for word in ("program", "Amounts") if word in error] == remedies, error


@pytest.mark.parametrize(
    ("on", "environment", "own"),
    [("ray", {}, False), ("ray", {"pip": ["glider"]}, True), ("host:6379", {}, True)],
)
def test_players_are_checked_here_where_a_cluster_starts_them_as_this_machine_does(
    monkeypatch: pytest.MonkeyPatch, on: str, environment: dict[str, Any], own: bool
) -> None:
    monkeypatch.setattr(ray_workers, "connect", lambda on, environment: RayStandIn({"CPU": 4.0}))
    assert RayWorkers(on, 1, runtime_env=environment).has_own_players is own


def test_a_check_of_more_different_line_ups_than_it_can_look_at_says_so_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Also those where a player would sit twice are gone through: aa, ab, ac, bb, bc, cc.
    monkeypatch.setattr(cluster_check, "MAX_AT_ONCE", 5)
    players = "".join(player(name, f"cpus = {cpus}") for cpus, name in enumerate("abc"))
    lines, error = checked(monkeypatch, tmp_path, RayStandIn({"CPU": 4.0}), ALL_PLAY_ALL + players)
    why = "players with 3 different resources are 6 combinations in a game of 2, at most 5 are checked: give"
    assert (lines, error[: len(why)]) == ([], why)
    alike = "".join(player(name, "cpus = 1") for name in "abc")
    assert checked(monkeypatch, tmp_path, RayStandIn({"CPU": 4.0}), ALL_PLAY_ALL + alike)[1] == ""


def test_a_check_waits_once_and_not_for_good_for_a_node_that_starts_no_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ray, waited = RayStandIn({"CPU": 2.0}), []

    def get(call: object, timeout: float) -> None:
        waited.append(timeout)
        raise TimeoutError

    task = SimpleNamespace(options=lambda **_: SimpleNamespace(remote=lambda *_: None))
    monkeypatch.setattr(ray, "get", get, raising=False)
    errors = {"TaskUnschedulableError": KeyError, "NodeDiedError": KeyError, "GetTimeoutError": TimeoutError}
    monkeypatch.setattr(ray, "exceptions", SimpleNamespace(**errors))
    affinity = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: node)
    monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", affinity)
    call_on = RayWorkers.call_on
    players = player("a", "cpus = 1") + player("b", "cpus = 1")
    with monkeypatch.context() as patch:
        patch.setattr(ray, "remote", lambda function: task)
        lines, _ = checked(patch, tmp_path, ray, ALL_PLAY_ALL + players, call_on=call_on)
    assert lines[1:] == [
        f"player {name} on host (000000): the node has not answered within 390 seconds" for name in "ab"
    ]
    assert len(waited) == 1


def test_a_run_whose_cluster_is_lost_hears_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = RayStandIn({"CPU": 2.0})
    workers = workers_on(monkeypatch, ray, 2)

    def lost(*_: object) -> None:
        raise ConnectionError("Client is shutting down.")

    monkeypatch.setattr(ray, "make", lost)
    with pytest.raises(RayUnavailableError, match=r"to Ray at host:6379 is lost; .* same command goes on"):
        workers.submit(game_of("first", Resources(cpus=1)))


@pytest.mark.parametrize("at", ["start", "end"])
def test_a_connection_that_is_lost_costs_no_game(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    ray, lost = RayStandIn({"CPU": 2.0}), Future[PlayedJob]()
    lost.set_exception(ConnectionError("the data client has disconnected"))
    ray.starting = at == "start"
    monkeypatch.setattr(sys.modules[__name__], "played", lambda job: lost)
    workers = workers_on(monkeypatch, ray, 2)
    workers.submit(game_of("first", Resources(cpus=1)))
    for actor in ray.actors if at == "start" else ():
        actor.ready.set_exception(ConnectionError("the data client has disconnected"))
    with pytest.raises(RayUnavailableError, match="is lost"):
        workers.next_result(10.0)


def test_an_error_of_a_games_own_connection_costs_that_game_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = Future[PlayedJob]()
    failed.set_exception(GameNotConnectedError("no route to ACADEMY"))
    monkeypatch.setattr(sys.modules[__name__], "played", lambda job: failed)
    workers = workers_on(monkeypatch, RayStandIn({"CPU": 2.0}), 2)
    workers.submit(game_of("first", Resources(cpus=1)))
    assert workers.next_result(10.0) == WorkerLost("first", "Ray: no route to ACADEMY")


def test_a_player_works_in_the_copy_where_the_node_lacks_the_control_files_folder(tmp_path: Path) -> None:
    there, copy, here = "/nowhere/cup/engines", str(tmp_path / "copy"), str(tmp_path)
    cases = {
        # The folder around the copied one, as the control file's, is not on the node.
        "/nowhere/cup": copy,
        "/nowhere/cup/engines/deep": f"{copy}/deep",
        "/nowhere/other": "/nowhere/other",
        here: here,
    }
    for given, expected in cases.items():
        player = PlayerSetup("a", (f"{there}/deep", "--gtp"), working_directory=given)
        moved = moved_to_copy(player, there, copy)
        assert (moved.command, moved.working_directory) == ((f"{copy}/deep", "--gtp"), expected)
    # On a node that has the folder, players work in it.
    own = PlayerSetup("a", ("deep",), working_directory=here)
    assert moved_to_copy(own, f"{here}/engines", copy).working_directory == here


def test_a_run_says_that_no_worker_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = RayStandIn({"CPU": 4})
    ray.starting = True
    monkeypatch.setattr(ray_workers, "_SLOW_START_SECONDS", 0.0)
    workers = workers_on(monkeypatch, ray, 2)
    workers.submit(game_of("1", Resources(1), Resources(1)))
    workers.news()
    assert workers.next_result(1.5) is None
    assert workers.next_result(1.5) is None
    news = workers.news()
    assert len(news) == 1 and news[0].startswith("no worker has begun on a node with 2 CPU for 0 s"), news


# As Ray writes it.
NOT_INSTALLED = (
    "Could not create the actor because its associated runtime env failed to be created.\n"
    'Traceback (most recent call last):\n  File "pip.py", line 1\n'
    "    ERROR: No matching distribution found for glider"
)


def test_a_run_whose_packages_cannot_be_installed_ends_with_the_reason_and_costs_no_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = RayStandIn({"CPU": 4})
    ray.starting = True
    workers = workers_on(monkeypatch, ray, 1)
    workers.submit(game_of("1", Resources(1), Resources(1)))
    ray.actors[0].ready.set_exception(NotInstalledError(NOT_INSTALLED))
    why = r"what \[workers\] asks for cannot be installed on a node: ERROR: No matching .* glider; mend it"
    with pytest.raises(RayUnavailableError, match=why):
        workers.next_result(5)


def test_a_run_goes_on_without_a_node_where_packages_cannot_be_installed_and_tells_so_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = RayStandIn({"CPU": 2})
    with workers_on(monkeypatch, ray, 2) as workers:
        workers.submit(game_of("1", Resources(1), Resources(1)))
        assert ended(workers) == "1"
        ray.starting = True
        ray.offers["another"] = ray.free["another"] = {"CPU": 1}
        workers.submit(game_of("2", Resources(0.5), Resources(0.5)))
        for _ in range(2):
            ray.actors[-1].ready.set_exception(NotInstalledError(NOT_INSTALLED))
            assert workers.next_result(0.7) is None
        news = [line for line in workers.news() if "glider" in line]
    assert news == [
        "a worker has not begun on a node with 1 CPU: ERROR: No matching distribution found for glider"
    ]


def test_one_node_without_the_packages_ends_no_run_that_another_can_play(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = RayStandIn({"CPU": 4})
    ray.starting = True
    with workers_on(monkeypatch, ray, 2) as workers:
        for game_id in ("1", "2"):
            workers.submit(game_of(game_id, Resources(1), Resources(1)))
        first, second = ray.actors
        ray.starting = False
        first.ready.set_exception(NotInstalledError(NOT_INSTALLED))
        second.ready.set_result("host (a)")
        assert {ended(workers), ended(workers)} == {"1", "2"}


def test_a_run_tells_at_once_why_its_first_worker_has_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = RayStandIn({"CPU": 4})
    ray.starting = True
    workers = workers_on(monkeypatch, ray, 1)
    workers.submit(game_of("1", Resources(1), Resources(1)))
    workers.news()
    for _ in range(2):
        ray.actors[-1].ready.set_exception(ActorLostError("The actor died because there is no arena. See."))
        assert workers.next_result(0.7) is None
    assert workers.news() == [
        "a worker has not begun on a node with 2 CPU: The actor died because there is no arena"
    ]


@pytest.mark.parametrize(
    ("on", "why"),
    [
        ("ray", "the cluster that this run started on this machine has ended; the same command goes on"),
        (
            "host:6379",
            r"node host \(000000\), by which .*, and the same command goes on once Ray is there again",
        ),
        ("ray://host:10001", r"node host \(000000\), by which"),
    ],
)
def test_a_run_whose_own_node_has_gone_ends_as_nodes_that_join_play_no_game_of_it(
    monkeypatch: pytest.MonkeyPatch, on: str, why: str
) -> None:
    ray = RayStandIn({"CPU": 4})
    ray.starting = True
    monkeypatch.setattr(ray_workers, "connect", lambda on, environment: ray)
    monkeypatch.setattr(ray_workers, "_LOOK_SECONDS", 0.0)
    workers = RayWorkers(on, 1)
    workers.submit(game_of("1", Resources(1), Resources(1)))
    ray.offers = {} if on == "ray" else {"another": {"CPU": 4}}
    with pytest.raises(RayUnavailableError, match=why):
        workers.next_result(5)


def test_a_run_ends_with_the_reason_where_ray_refuses_what_players_need_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = RayStandIn({"CPU": 4, "TPU": 4})

    def refuse(**_: Any) -> None:
        raise ValueError("3.0 TPU is not supported")

    monkeypatch.setattr(ray, "options", refuse)
    with (
        workers_on(monkeypatch, ray, 1) as workers,
        pytest.raises(RayUnavailableError, match=r"g \(a and b\): Ray refuses 1 CPU, 3 TPU, .*not supported"),
    ):
        workers.submit(game_of("g", Resources(custom={"TPU": 1}), Resources(custom={"TPU": 2})))


def test_players_whose_labels_exclude_each_other_are_refused_with_both_values(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ray = RayStandIn({"CPU": 4})
    why = "players.b.resources.labels: place is 'attic' here and 'cellar' for player a, and"
    players = player("a", 'labels = { place = "cellar" }') + player("b", 'labels = { place = "attic" }')
    lines, error = checked(monkeypatch, tmp_path, ray, ALL_PLAY_ALL + players)
    assert (lines, error[: len(why)]) == ([], why)
    game = game_of("g", *(Resources(labels={"place": place}) for place in ("cellar", "attic")))
    with workers_on(monkeypatch, ray, 1) as workers, pytest.raises(RayUnavailableError, match=why):
        workers.submit(game)


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("CPU", Resources),
        ("GPU", lambda amount: Resources(0, gpus=amount)),
        ("l", lambda amount: Resources(0, custom={"l": amount})),
    ],
)
def test_players_fit_on_a_node_that_has_just_what_they_need_together(
    name: str, needs: Callable[[float], Resources]
) -> None:
    for first, second in ((0.1, 0.2), (0.7, 0.1), (0.3333, 0.6666)):
        shape = Shape.of(game_of("g", needs(first), needs(second)).players)
        assert shape.lacking({"Resources": {name: round(first + second, 4)}}) == ""
        assert shape.lacking({"Resources": {name: round(first + second - 0.0001, 4)}}) != ""


@pytest.mark.parametrize(
    ("amounts", "game", "seen"),
    [
        ((0.5, 0), 0.5, ["0", ""]),
        ((0.6, 0.6), 2, ["0", "1"]),
        ((0.5, 0.7), 2, ["1", "0"]),
        ((0.6, 0.6, 0.6), 3, ["0", "1", "2"]),
        ((0.3, 0.3, 0.4), 1, ["0", "0", "0"]),
        ((0.5, 2, 0.5), 3, ["2", "0,1", "2"]),
        ((0, 1), 1, ["", "0"]),
    ],
)
def test_a_player_sees_the_gpus_that_it_takes_and_a_game_takes_all_that_its_players_see(
    monkeypatch: pytest.MonkeyPatch, amounts: tuple[float, ...], game: float, seen: list[str]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(ceil(game)))))
    players = tuple(python_player("a", resources=Resources(gpus=amount)) for amount in amounts)
    assert Shape.of(players).gpus == game
    assert [player.environment["CUDA_VISIBLE_DEVICES"] for player in with_own_gpus(players)] == seen


def test_workers_are_kept_for_the_next_game_of_their_needs_where_nodes_have_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = RayStandIn({"CPU": 100})
    with workers_on(monkeypatch, ray, 2) as workers:
        for number in range(10):
            workers.submit(game_of(str(number), Resources(cpus=1 + number % 2)))
            assert ended(workers) == str(number)
    assert ray.starts == 2


def test_idle_workers_give_way_to_games_of_other_needs_that_find_no_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with workers_on(monkeypatch, RayStandIn({"CPU": 2}), 4) as workers:
        for name, cpus in (("small", 1), ("large", 2)):
            workers.submit(game_of(name, Resources(cpus=cpus)))
            assert ended(workers) == name


def test_a_node_that_is_lost_while_many_workers_start_on_it_costs_no_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = RayStandIn({}, {"CPU": 50})
    ray.starting = True
    with workers_on(monkeypatch, ray, 50) as workers:
        for number in range(50):
            workers.submit(game_of(str(number), Resources(cpus=1)))
        ray.starting = False
        ray.replace_node("another", {"CPU": 50})
        results = [workers.next_result(60) for _ in range(50)]
    assert {result.reason for result in results if isinstance(result, WorkerLost)} == {"it is over"}


def ended(workers: RayWorkers) -> str:
    """The next game that ends."""
    result = workers.next_result(60)
    assert result is not None
    return result.game_id


def test_a_game_on_a_node_leaves_no_files_there_and_what_players_write_comes_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    worker = RayWorker(0, False, None)
    game = job(misbehaving("flood-stderr"), python_player("b"), log_path="log", live_path="live")
    played = worker.play(game, version("academy-arena"))
    assert worker._workers is not None
    worker._workers.stop()
    assert b"so much to say" in played.errors
    assert list(tmp_path.iterdir()) == []
    assert worker.live(0) == b""
