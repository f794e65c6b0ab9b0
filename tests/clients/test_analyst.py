"""The program `academy-analyst` against a real server: what it searches, when it rests, where it goes on."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import pytest

from academy.service.server import ServerSettings
from academy.store.tokens import CreateToken, RevokeToken, Role
from academy.v1 import contests_pb2, libraries_pb2
from academy.wire.addresses import ServerAddress
from academy.wire.games import game_message
from clients.academy import Academy
from clients.analyst import Analyst, LineSearcher, SearchGuard, main
from clients.bots.strength import Strength
from clients.connection import AcademyRefusedError, Connection
from referees.api import referee
from tests.academy.service.examples import contest, report
from tests.academy.service.running import Running, limited, serving
from tests.ports import free_ports
from tests.waiting import until

HEX = referee("hex").from_settings({"board_size": 4})
GAME = HEX.spec().game_id

Search = Callable[..., str]
Refusal = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def academy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with Hex on 4x4, of which forty games are known."""
    with serving(tmp_path_factory.mktemp("analyst") / "data") as running:
        learn(running, contests=40)
        yield running


@pytest.fixture
def unsearched(academy: Running) -> Running:
    """The same, with nothing searched."""
    academy.admin().libraries.ForgetAnalyses(libraries_pb2.ForgetAnalysesRequest(game_id=GAME))
    return academy


def learn(academy: Running, contests: int) -> None:
    """Report games of random moves."""
    chance = Random(1)
    arena = academy.arena().contests
    arena.RegisterGame(contests_pb2.RegisterGameRequest(game=game_message(HEX.spec())))
    for number in range(contests):
        moves: list[str] = []
        position = HEX.start(0)
        while seats := HEX.to_move(position):
            move = chance.choice(list(HEX.legal_moves(position, seats[0]) or ())[: 3 + len(moves)])
            moves.append(HEX.move_text(move))
            position = HEX.play(position, {seats[0]: move})
        outcome = HEX.outcome(position)
        assert outcome is not None
        first = "WIN" if outcome.winners == (1,) else "LOSS"
        arena.ReportContest(report(contest(f"{number}", GAME), moves, first=first))


def command(academy: Running, *options: str, board_size: int = 4) -> list[str]:
    address = str(academy.address)
    game = ("hex", "--set", f"board_size={board_size}", "--playouts", "200")
    return [sys.executable, "-m", "clients.analyst", *game, "--academy", address, *options]


def run(academy: Running, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(academy, *options),
        env=os.environ | {"ACADEMY_TOKEN": academy.token("analyst", Role.ANALYST)},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tests that follow an analyst in this process keep their priority and their signal."""
    monkeypatch.setattr("os.nice", lambda _: None)
    # A watch would go on after the analyst, and end this process by its signal at the deadline.
    monkeypatch.setattr(SearchGuard, "_watch", lambda _: None)
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.fixture
def search(
    in_this_process: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Search:
    """Runs the analyst in this process to its good end; returns what it printed."""

    def searched(academy: Running, *options: str) -> str:
        monkeypatch.setenv("ACADEMY_TOKEN", academy.token("analyst", Role.ANALYST))
        main(command(academy, *options)[3:])
        return capsys.readouterr().out

    return searched


@pytest.fixture
def refusal(
    in_this_process: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Refusal:
    """Runs the analyst in this process; returns its exit status and what it printed of a refusal."""

    def refused(academy: Running, *options: str, role: Role = Role.ANALYST, board_size: int = 4) -> Any:
        monkeypatch.setenv("ACADEMY_TOKEN", academy.token("analyst", role))
        with pytest.raises(SystemExit) as ended:
            main(command(academy, *options, board_size=board_size)[3:])
        printed = capsys.readouterr()
        assert printed.out == ""
        # Python prints a status that is a text, and ends with 1.
        code = ended.value.code
        return (1, code) if isinstance(code, str) else (code, printed.err)

    return refused


def analysed(academy: Running) -> dict[str, tuple[int, int]]:
    """Visits and found values by the lines' last moves, of lines of one move."""
    nodes = academy.admin().libraries.ListOpenings(
        libraries_pb2.ListOpeningsRequest(game_id=GAME, depth=1, page_size=1_000)
    )
    return {
        node.move: (node.visits, node.analysis.value_millionths)
        for node in nodes.nodes
        if node.HasField("analysis")
    }


def test_the_most_visited_are_searched_first_and_the_next_run_goes_on(
    unsearched: Running, search: Search
) -> None:
    *lines, last = search(unsearched, "--nodes", "2", "--once").splitlines()
    assert last == f"{GAME}: 2 positions analysed"
    searched = [line.partition(":")[0] for line in lines]
    again = search(unsearched, "--nodes", "4", "--once")
    assert again.splitlines()[-1] == f"{GAME}: 2 positions analysed"
    statistics = unsearched.admin().libraries.GetStatistics(libraries_pb2.GetStatisticsRequest(game_id=GAME))
    assert statistics.analysed_nodes == 4
    # What it found is what the same search finds anywhere.
    values = analysed(unsearched)
    value = LineSearcher(HEX, Strength(playouts=200)).value([searched[0]])
    assert value is not None
    assert round(value * 1_000_000) in {value for _, value in values.values()}
    listed = unsearched.admin().libraries.ListOpenings(
        libraries_pb2.ListOpeningsRequest(game_id=GAME, page_size=1_000)
    )
    most = max(node.visits for node in listed.nodes if node.node_id and not node.HasField("analysis"))
    assert min(visits for visits, _ in values.values()) >= most


@dataclass(frozen=True)
class NotingSearcher(LineSearcher):
    """Notes which lines it searches."""

    searched: list[str] = field(default_factory=list)

    def value(self, line: Sequence[str]) -> float | None:
        self.searched.append(" ".join(line))
        return super().value(line)


def test_two_analysts_side_by_side_share_the_searches(academy: Running) -> None:
    game_id = "hex-side-by-side"
    academy.admin().libraries.ForkGame(libraries_pb2.ForkGameRequest(game_id=GAME, new_game_id=game_id))
    connection = Connection(str(academy.address), academy.token("analyst", Role.ANALYST))
    before = signal.getsignal(signal.SIGUSR1)
    searchers = [NotingSearcher(HEX, Strength(playouts=250)) for _ in range(2)]
    guards = [SearchGuard(None, None) for _ in searchers]
    signal.signal(signal.SIGUSR1, before)

    def analyse(searcher: NotingSearcher, guard: SearchGuard) -> None:
        with Academy(connection) as own:
            Analyst(own, searcher, guard, nodes=40, game_id=game_id).run(once=True)

    with ThreadPoolExecutor() as threads:
        list(threads.map(analyse, searchers, guards))
    first, second = (set(searcher.searched) for searcher in searchers)
    assert len(first | second) == 40
    # A few by both are chance.
    assert len(first & second) < 20


def test_a_fork_is_analysed_under_its_own_name(academy: Running, search: Search) -> None:
    academy.admin().libraries.ForkGame(libraries_pb2.ForkGameRequest(game_id=GAME, new_game_id="hex-fork"))
    before = analysed(academy)
    done = search(academy, "--game-id", "hex-fork", "--nodes", "1", "--playouts", "300", "--once")
    assert done.splitlines()[-1] == "hex-fork: 1 positions analysed"
    assert analysed(academy) == before


def test_values_of_another_games_rules_are_not_stored(academy: Running, refusal: Refusal) -> None:
    before = analysed(academy)
    status, words = refusal(academy, "--game-id", GAME, "--once", "--playouts", "900", board_size=5)
    assert status == 1
    assert f"these rules are of hex-5x5, and {GAME!r} at ACADEMY has another geometry" in words
    assert analysed(academy) == before


@contextmanager
def an_open_contest(academy: Running, contest_id: str) -> Iterator[None]:
    arena = academy.arena().contests
    opened = contest(contest_id, GAME)
    arena.OpenContest(contests_pb2.OpenContestRequest(contest=opened))
    yield
    arena.ReportContest(contests_pb2.ReportContestRequest(contest=opened, void=True))


def test_an_analyst_rests_while_a_contest_is_open(unsearched: Running) -> None:
    environment = os.environ | {"ACADEMY_TOKEN": unsearched.token("analyst", Role.ANALYST)}
    options = ("--when-idle", "--once", "--nodes", "2")
    with an_open_contest(unsearched, "busy"):
        program = subprocess.Popen(
            command(unsearched, *options), env=environment, stdout=subprocess.PIPE, text=True
        )
        assert program.stdout is not None
        assert program.stdout.readline() == "resting: contests are open\n"
        time.sleep(0.3)
        during = unsearched.admin().libraries.GetStatistics(libraries_pb2.GetStatisticsRequest(game_id=GAME))
        assert during.analysed_nodes == 0
        assert os.getpriority(os.PRIO_PROCESS, program.pid) == 19
    out, _ = program.communicate(timeout=60)
    assert program.returncode == 0
    assert out.splitlines()[-1] == f"{GAME}: 2 positions analysed"


@contextmanager
def a_resting_analyst(academy: Running, token: str, *options: str) -> Iterator["subprocess.Popen[str]"]:
    """An analyst of endless searches, in a contest that ends with the block."""
    program = subprocess.Popen(
        command(academy, "--when-idle", "--playouts", "1000000", *options),
        env=os.environ | {"ACADEMY_TOKEN": token},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with an_open_contest(academy, "busy-again"):
        assert program.stdout is not None
        assert program.stdout.readline() == "resting: contests are open\n"
        yield program


def refusal_of(program: "subprocess.Popen[str]") -> str:
    try:
        _, errors = program.communicate(timeout=60)
    finally:
        program.kill()
    assert program.returncode == 1 and "Traceback" not in errors
    return errors


def test_an_analyst_whose_token_is_revoked_while_it_rests_ends_and_says_so(academy: Running) -> None:
    token, text = academy.store.run(CreateToken("leaver", Role.ANALYST))
    with a_resting_analyst(academy, text) as program:
        academy.store.run(RevokeToken(token.token_id))
        assert "revoked" in refusal_of(program)


def processor_seconds(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def test_an_analyst_whose_academy_goes_away_while_it_searches_ends_and_says_so(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as academy:
        learn(academy, contests=1)
        with a_resting_analyst(academy, academy.token("analyst", Role.ANALYST), "--once") as program:
            rested = processor_seconds(program.pid)
        # It has the lowest priority. Nothing but a search takes so much.
        until(lambda: processor_seconds(program.pid) >= rested + 0.4, program)
    assert "academy-analyst: " in refusal_of(program)


def read_until(program: "subprocess.Popen[str]", pattern: str) -> None:
    assert program.stdout is not None
    assert any(re.fullmatch(pattern, line.rstrip("\n")) for line in program.stdout), pattern


@contextmanager
def a_standing_analyst(academy: Running, *options: str) -> Iterator["subprocess.Popen[str]"]:
    """An analyst that looks again ten times a second."""
    hurry = "import clients.analyst as analyst; analyst.SECONDS_BETWEEN_WALKS = 0.1; analyst.main()"
    with subprocess.Popen(
        [sys.executable, "-c", hurry, *command(academy, *options)[3:]],
        env=os.environ | {"ACADEMY_TOKEN": academy.token("analyst", Role.ANALYST)},
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        try:
            yield program
        finally:
            program.kill()


def test_a_standing_analyst_waits_for_an_academy_that_is_away_and_goes_on(tmp_path: Path) -> None:
    settings = ServerSettings(address=ServerAddress.parse(f"127.0.0.1:{free_ports(1)[0]}"))
    with ExitStack() as ending:
        with serving(tmp_path / "data", settings) as academy:
            learn(academy, contests=1)
            program = ending.enter_context(a_standing_analyst(academy, "--when-idle"))
            read_until(program, r"\w+: 0\.\d+")
        read_until(program, r"ACADEMY cannot be asked now \(.+\): looking again after a minute")
        with serving(tmp_path / "data", settings) as academy:
            learn(academy, contests=3)
            read_until(program, r"\w+.*: 0\.\d+")


def test_a_standing_analyst_waits_where_a_refusal_will_pass(tmp_path: Path) -> None:
    with limited(tmp_path / "data", questions_per_second=0.001, question_burst=20.0) as academy:
        learn(academy, contests=1)
        with a_standing_analyst(academy) as program:
            for _ in range(2):
                read_until(
                    program, r"ACADEMY cannot be asked now \(.+RATE_EXCEEDED.+: looking again after a minute"
                )


def test_a_standing_analyst_searches_again_what_is_missing_at_academy(academy: Running) -> None:
    game_id = "hex-forgotten"
    admin = academy.admin().libraries
    admin.ForkGame(libraries_pb2.ForkGameRequest(game_id=GAME, new_game_id=game_id))
    with a_standing_analyst(academy, "--game-id", game_id, "--nodes", "1") as program:
        for _ in range(3):
            read_until(program, r"\w+: [01]\.\d+")
            forgotten = admin.ForgetAnalyses(libraries_pb2.ForgetAnalysesRequest(game_id=game_id))
            assert forgotten.forgotten == 1


def test_an_analyst_that_finds_nothing_to_search_says_why(tmp_path: Path, search: Search) -> None:
    with serving(tmp_path / "data") as academy:
        learn(academy, contests=0)
        empty = search(academy, "--once")
        learn(academy, contests=5)
        first, again = (search(academy, "--nodes", "3", "--once") for _ in range(2))
    assert empty == f"{GAME}: 0 positions analysed: no contest is in its opening tree yet\n"
    assert first.endswith(f"{GAME}: 3 positions analysed\n")
    assert again == (
        f"{GAME}: 0 positions analysed: each of the 3 most visited was searched with 200 random games or "
        "more or in another way, or cannot be searched by these rules\n"
    )


def test_a_long_search_ends_when_its_seconds_are_over(academy: Running) -> None:
    ended = run(academy, "--playouts", "1000000", "--seconds", "1")
    assert (ended.returncode, ended.stdout) == (0, f"{GAME}: 0 positions analysed: the time is over\n")


def test_what_was_found_before_the_seconds_were_over_is_counted(academy: Running) -> None:
    searched: list[str] = []
    # It has the lowest priority: on a busy machine it may not begin within two seconds.
    for seconds in ("2", "8", "32"):
        *searched, last = run(academy, "--playouts", "400", "--seconds", seconds).stdout.splitlines()
        assert last.startswith(f"{GAME}: {len(searched)} positions analysed")
        if searched:
            break
    assert searched


def test_a_token_of_another_academy_is_named_with_where_it_is_unknown_and_the_remedy(
    academy: Running, monkeypatch: pytest.MonkeyPatch, refusal: Refusal
) -> None:
    monkeypatch.setattr(academy, "token", lambda *_: "academy_" + "0" * 43)
    status, words = refusal(academy, "--once")
    assert status == 1
    assert f"academy-analyst: ACADEMY at {academy.address} refuses: the token is not known here" in words
    assert words.endswith("; give ACADEMY_TOKEN a token of its `academy tokens create NAME --role analyst`")


def test_what_cannot_be_done_is_named(
    academy: Running, refusal: Refusal, capsys: pytest.CaptureFixture[str]
) -> None:
    # Longer than any other search here, so that there is something to report.
    status, words = refusal(academy, "--once", "--playouts", "800", role=Role.BOT)
    assert status == 1
    assert "is for admin, analyst; this token's role is bot" in words
    assert "; give ACADEMY_TOKEN a token of its `academy tokens create NAME --role analyst`" in words
    for end in (["--once"], ["--seconds", "50"]):
        status, words = refusal(academy, *end, "--academy", "localhost:1")
        assert status == 1 and "no server answers at localhost:1 (" in words
    assert "start one with `academy serve`, or give its address with --academy" in words
    free = ("go", "--set", "board_size=9", "--set", "handicap=3", "--set", "handicap_style=free")
    with pytest.raises(SystemExit):
        main([*free, "--academy", str(academy.address), "--once"])
    assert "go-9x9-h3-free: a player arranges its first position" in capsys.readouterr().err
    status, words = refusal(academy, "--nodes", "0")
    assert status == 2 and "'0': it must be a number above 0" in words


DRAUGHTS = ["draughts", "--set", "variant=english"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*DRAUGHTS, "--playouts", "9", "--depth", "6"], "--playouts 9: it is for --search monte-carlo, not"),
        ([*DRAUGHTS, "--search", "alpha-beta", "--playouts", "9"], "--playouts 9: it is for --search monte"),
        ([*DRAUGHTS, "--playouts", "9"], "--playouts 9: it says too little to be kept; give 200 or more"),
        (
            ["hex", "--set", "board_size=4", "--depth", "4"],
            "--depth 4: it says too little to be kept; give 5",
        ),
    ],
)
def test_a_budget_chooses_the_search_and_one_that_it_does_not_go_by_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_words_of_a_server_command_no_terminal(
    in_this_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AcademyRefusedError("INTERNAL", "\x1b[31m no")

    monkeypatch.setattr(Academy, "game", refuse)
    with pytest.raises(SystemExit) as ended:
        main(["hex", "--set", "board_size=4", "--academy", "127.0.0.1:1", "--once"])
    assert ended.value.code == r"academy-analyst: ACADEMY at 127.0.0.1:1 refuses: \x1b[31m no [INTERNAL]"
