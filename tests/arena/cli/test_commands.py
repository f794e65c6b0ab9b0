"""The command `arena`: what it prints, how it exits, and what it survives as a process of its own."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
from importlib.metadata import version
from pathlib import Path

import grpc
import pytest

from academy.store.tokens import Role
from academy.v1 import contests_pb2
from arena.academy import lifecycle, session
from tests.academy.service.running import serving
from tests.arena.cli.command import ARENA, Done, arena
from tests.arena.contest_server import ContestServer
from tests.arena.control_files import GNU_GO, PASSING, SLOW, misbehaving, write_control
from tests.arena.engines import needs_gnugo, noted
from tests.processes import left_running
from tests.waiting import until


def started(*arguments: str | Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*ARENA, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_a_run_prints_results_and_standings(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING})
    done = arena("run", control)
    assert (done.returncode, done.stderr) == (0, "")
    assert "game AvB_0: two beat one W+0.5" in done.stdout
    assert "player" in done.stdout and "Elo" in done.stdout
    assert "contest: the run is over: all games have been played" in done.stdout

    shown = arena("show", control)
    assert shown.stdout == (tmp_path / "contest.report").read_text()
    assert "2/2 games played" in shown.stdout

    results = json.loads(arena("show", control, "--json").stdout)
    assert (results["games"], results["total"], results["running"]) == (2, 2, False)
    assert [(player["name"], player["points"]) for player in results["players"]] == [
        ("one", 1.0),
        ("two", 1.0),
    ]

    (tmp_path / "contest.report").unlink()
    assert arena("report", control).returncode == 0
    assert (tmp_path / "contest.report").read_text() == shown.stdout

    refused = arena("reset", control)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert (
        "the competition contest has 2 games; to delete them, with records, logs and tokens, give --really"
        in (refused.stderr)
    )
    assert "2/2 games played" in arena("show", control).stdout
    assert arena("reset", control, "--really").stdout == (
        "the competition contest is deleted: 2 games, records, logs and tokens\n"
    )
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"contest.toml", "contest.lock", "contest.results.sqlite.contest.lock"}
    assert "there are no results of 'contest' yet" in arena("show", control).stderr


@pytest.mark.usefixtures("games_here")
def test_a_sequential_test_ends_with_its_state(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING}, competition="games = 2")
    text = control.read_text().replace('"all-play-all"', '"sprt"')
    control.write_text(
        text.replace("games = 2", 'competitors = ["one", "two"]\nelo0 = 0\nelo1 = 10\ngames = 2')
    )
    done = arena("run", control)
    assert done.returncode == 0, done.stderr
    assert "pairs by points of one: 0: 0  ½: 0  1: 1" in done.stdout and "LLR" in done.stdout
    assert "Elo" in done.stdout.splitlines()[-4]


def test_the_version_is_that_of_the_package() -> None:
    done = arena("--version")
    assert (done.returncode, done.stdout) == (0, f"arena {version('academy-arena')}\n")


@pytest.mark.parametrize("action", ["run", "check"])
@pytest.mark.usefixtures("games_here")
def test_the_option_for_other_machines_does_not_open_the_arena_to_local_programs(
    tmp_path: Path, action: str
) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING})
    refused = arena(action, control, "--insecure")
    assert refused.returncode == 2 and "No such option: --insecure" in refused.stderr
    assert arena(action, control, "--no-player-tokens").returncode == 0


@pytest.mark.parametrize("words", [(), ("league",), ("member",), ("pool",), ("season",)])
def test_help_in_a_narrow_terminal_says_whole_sentences_of_each_action(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = " ".join(arena(*words, "--help").stdout.split())
    assert "..." not in shown.replace("[ARGS]...", "")
    assert words or "First steps: arena init all-play-all cup.toml" in shown


def test_a_quiet_run_prints_nothing(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING})
    done = arena("run", control, "--quiet", "--max-games", "1", "--parallel", "2")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert lines(tmp_path / "contest.hist") == 1


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("run", "missing.toml"), 1, "arena: can't read the control file"),
        (("run",), 2, "Missing argument 'CONTROL'"),
        (("run", "CONTROL", "--parallel", "0"), 2, "Invalid value for '--parallel'"),
        (("run", "CONTROL", "--max-games", "-1"), 2, "Invalid value for '--max-games'"),
        (("walk",), 2, "No such command 'walk'"),
        (("stop", "CONTROL"), 1, "arena: the competition contest is not running"),
        (("show", "CONTROL"), 1, "arena: there are no results of 'contest' yet"),
    ],
)
def test_errors_are_one_line_without_traceback(
    tmp_path: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING})
    done = arena(*(str(control) if word == "CONTROL" else word for word in arguments))
    assert done.returncode == status
    assert message in done.stderr and "Traceback" not in done.stderr


def test_a_control_file_may_not_be_called_like_an_output(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING}).rename(tmp_path / "contest.log")
    assert "may not end in .log" in arena("run", control).stderr


def test_check_starts_players_and_shows_their_standard_error(tmp_path: Path) -> None:
    good = write_control(tmp_path, {"one": PASSING, "loud": misbehaving("flood-stderr")})
    done = arena("check", good)
    assert done.returncode == 0
    assert "player one works: always_pass" in done.stdout and "player loud works" in done.stdout

    bad = write_control(tmp_path, {"one": PASSING, "villain": misbehaving("exit-at-start")})
    done = arena("check", bad)
    assert done.returncode == 1 and "villain" in done.stderr
    done = arena("run", bad)
    assert done.returncode == 1 and "`arena check` shows" in done.stderr
    assert not (tmp_path / "contest.hist").exists()


def test_check_reads_the_openings_before_players_start(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING})
    control.write_text(control.read_text() + '[openings]\nfile = "openings.txt"\n')
    (tmp_path / "openings.txt").write_text("corner: A1\nbad: Z99\n")
    done = arena("check", control)
    assert done.returncode == 1 and "player one" not in done.stdout
    assert "openings.txt, line 2 (bad): move 1: 'Z99' is " in done.stderr


SERIES = """
[[series]]
name = "short"
[[series.settings]]
name = "large"
weight = 2
game = {{ board_size = 7 }}
[[series.settings]]
name = "small"
weight = {weight}
"""
MATCHUPS = """
[[matchups]]
id = "large"
players = ["one", "two"]
game = {{ board_size = 7 }}
[[matchups]]
id = "small"
players = ["one", "two"]
games = {games}
"""


@pytest.mark.parametrize(
    ("kind", "games", "fits"),
    [
        ("mars", SERIES.format(weight=0.5), False),
        ("mars", SERIES.format(weight=0), True),
        ("playoff", MATCHUPS.format(games=1), False),
        ("playoff", MATCHUPS.format(games=0), True),
    ],
    ids=["a light setting", "a setting that is never played", "a second matchup", "a matchup without games"],
)
def test_openings_are_read_in_each_game_that_may_be_played(
    kind: str, games: str, fits: bool, tmp_path: Path
) -> None:
    (tmp_path / "openings.txt").write_text("far: A7\n")
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING}, competition="")
    text = control.read_text().replace("all-play-all", kind)
    control.write_text(text + games + '[openings]\nfile = "openings.txt"\n')
    done = arena("check", control)
    assert done.returncode == (0 if fits else 1), done.stderr
    assert ("move 1: 'A7' is " in done.stderr) is not fits


def test_check_asks_academy_and_names_what_it_lacks(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING})
    players = control.read_text()

    def checked(address: object, token: str) -> Done:
        control.write_text(f'{players}[academy]\naddress = "{address}"\n{token}')
        return arena("check", control)

    with serving(tmp_path / "library") as academy:
        token = f'token = "{academy.token("cup", Role.ARENA)}"'
        done = checked(academy.address, token)
        assert (done.returncode, f"ACADEMY at {academy.address} answers" in done.stdout) == (0, True)
        games = academy.admin().contests.ListGames(contests_pb2.ListGamesRequest()).games
        assert not games, "a check registers nothing"
        for wrong in ("", 'token = "acd_0123456789abcdef_no"', f'token = "{academy.token("bot", Role.BOT)}"'):
            done = checked(academy.address, wrong)
            assert done.returncode == 1 and "player one works" in done.stdout
            assert "`academy tokens create NAME --role arena` makes a token" in done.stderr
    done = checked(f"unix:{tmp_path}/nobody", token)
    assert done.returncode == 1 and "asking for ratings in go-5x5" in done.stderr


@pytest.mark.parametrize(
    ("rule", "own"),
    [
        ("opening_plies_ahead = 6", "the game has 0, and a contest may only be stricter; give at most 0"),
        ("pattern_value_limit = 0.9", "the game has 0.33"),
        ("local_weights = true", "give false, or have an admin change the game's setting"),
    ],
)
def test_rules_of_fair_use_that_are_looser_than_the_games_are_refused_by_check_and_before_players_start(
    tmp_path: Path, rule: str, own: str
) -> None:
    with serving(tmp_path / "library") as academy:
        access = f'[academy]\naddress = "{academy.address}"\ntoken = "{academy.token("cup", Role.ARENA)}"\n'
        control = write_control(tmp_path, {"one": PASSING, "two": PASSING}, more=access)
        played = control.read_text()
        control.write_text(f"{played}[fair_use]\nelo_margin = 200\nopening_moves_per_consultation = 5\n")
        assert arena("check", control).returncode == 0
        control.write_text(f"{played}[fair_use]\n{rule}\n")
        # A run registers the game; before, there is none to compare with.
        for action in ("check", "run", "check"):
            done = arena(action, control)
            assert done.returncode == 1 and "answers" not in done.stdout
            assert (
                done.stderr.startswith(f"arena: fair_use.{rule.replace(' =', '')}: ") and own in done.stderr
            )
            assert ("checking" in done.stdout) == (action == "check")


@pytest.mark.usefixtures("games_here")
def test_rules_looser_than_those_of_an_embedded_academy_are_refused_by_check_while_it_is_to_begin(
    tmp_path: Path,
) -> None:
    control = write_control(
        tmp_path, {"one": PASSING, "two": PASSING}, competition="rounds = 1", more="[academy]\n"
    )
    plain = control.read_text()
    looser = f"{plain}[fair_use]\npattern_value_limit = 0.9\n"
    control.write_text(looser)
    done = arena("check", control)
    assert done.returncode == 1 and "fair_use.pattern_value_limit 0.9: the game has 0.33" in done.stderr
    assert not (tmp_path / "contest.academy").exists()
    control.write_text(plain)
    assert arena("run", control, "--quiet").returncode == 0
    # Its game may have rules of its own by now, which a run asks for.
    control.write_text(looser)
    assert arena("check", control).returncode == 0
    done = arena("run", control)
    assert done.returncode == 1 and "fair_use.pattern_value_limit 0.9: the game has 0.33" in done.stderr


@pytest.mark.usefixtures("games_here")
def test_a_run_that_waits_for_academy_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING})
    control.write_text(f'{control.read_text()}[academy]\naddress = "unix:{tmp_path}/nobody"\n')
    monkeypatch.setattr(session, "FIRST_CALL_SECONDS", 6.0)
    done = arena("run", control)
    (shown,) = (line for line in done.stdout.splitlines() if "; trying again for 6 s" in line)
    assert shown.startswith("warning: ") and f"{tmp_path}/nobody" in shown


@pytest.mark.usefixtures("games_here")
def test_reports_left_over_have_a_status_of_their_own(
    tmp_path: Path, server: ContestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING}, server, "rounds = 1")
    server.fail("ReportContest", *[grpc.StatusCode.UNAVAILABLE] * 20)
    with monkeypatch.context() as impatient:
        impatient.setattr(lifecycle, "DELIVERY_SECONDS", 0.2)
        done = arena("run", control)
    assert done.returncode == 5
    assert "1 report to ACADEMY not delivered yet; the next run sends what waits" in done.stderr
    server.failures.clear()
    assert arena("run", control).returncode == 0
    assert len(server.game_reports) == 1 and set(server.counted.values()) == {1}


def test_two_runs_of_a_competition_refuse_each_other_also_from_two_control_files_of_its_name(
    tmp_path: Path,
) -> None:
    controls = []
    for folder in (tmp_path / "here", tmp_path / "there"):
        folder.mkdir()
        controls.append(write_control(folder, {"one": SLOW, "two": SLOW}, competition=""))
    running, other = controls
    shared = ("--results", f"sqlite:///{tmp_path / 'shared.sqlite'}")
    run = started("run", running, *shared)
    try:
        until(lambda: lines(running.with_suffix(".hist")) >= 1, run)
        for control, refusal in (
            (running, f"the competition contest is already running (process {run.pid})"),
            (other, "is already running, from another control file of this"),
        ):
            for command in (("run", control, "-q"), ("reset", control, "--really")):
                second = arena(*command, *shared)
                assert second.returncode == 1 and second.stderr.count("\n") == 1
                assert refusal in second.stderr
        assert json.loads(arena("show", running, "--json", *shared).stdout)["running"] is True
        assert arena("stop", running).stdout == "contest stops when its games in progress are over\n"
        assert run.wait(120) == 0
        assert "asked to stop" in running.with_suffix(".log").read_text()
    finally:
        run.kill()
        run.communicate()


def test_an_interrupted_run_ends_its_players_and_can_go_on(tmp_path: Path) -> None:
    players = {"one": PASSING, "engine": misbehaving("hang-in-genmove")}
    control = write_control(tmp_path, players, competition="rounds = 1")
    pids = tmp_path / "pids"
    run = started("run", control, MISBEHAVING_PIDS=str(pids))
    # The first process is that of the check.
    until(lambda: len(noted(pids)) == 2, run)
    run.send_signal(signal.SIGTERM)
    assert run.wait(120) == 3
    assert run.stderr is not None and "interrupted" in run.stderr.read()
    assert left_running(noted(pids)) == []
    assert "the run was interrupted" in (tmp_path / "contest.log").read_text()
    assert not (tmp_path / "contest.games").exists()

    control.write_text(control.read_text().replace("hang-in-genmove", "none"))
    assert arena("run", control, "-q").returncode == 0
    assert lines(tmp_path / "contest.hist") == 1


@needs_gnugo
def test_a_competition_killed_again_and_again_counts_every_game_once(
    tmp_path: Path, server: ContestServer
) -> None:
    players = {"gnugo": GNU_GO, "slow": SLOW, "engine": misbehaving("none")}
    control = write_control(tmp_path, players, server, "rounds = 4\nparallel = 2\ncheck_players = false")
    history, pids = tmp_path / "contest.hist", tmp_path / "pids"
    for wanted in (1, 5):
        run = started("run", control, MISBEHAVING_PIDS=str(pids))
        until(lambda wanted=wanted: lines(history) >= wanted, run)  # type: ignore[misc]
        run.kill()
        run.wait()
    assert left_running(noted(pids)) == []
    done = arena("run", control)
    assert done.returncode == 0, done.stderr

    all_games = sorted(f"{pair}_{number}" for pair in ("AvB", "AvC", "BvC") for number in range(4))
    with sqlite3.connect(tmp_path / "contest.results.sqlite") as database:
        stored = sorted(name for (name,) in database.execute('SELECT "Name" FROM "ARENA_Game"'))
        (seats,) = database.execute('SELECT count(*) FROM "SAGA_Player"').fetchone()
    assert stored == all_games
    assert seats == 24
    assert sorted(line.split()[0] for line in history.read_text().splitlines()) == all_games
    assert sorted(path.stem for path in (tmp_path / "contest.games").iterdir()) == all_games

    reported = sorted(contest_id.split("/")[1] for contest_id in server.game_reports)
    assert reported == all_games
    assert server.void_reports, "no game was in progress at any of the kills"
    assert set(server.opened) <= set(server.reports)
    shown = json.loads(arena("show", control, "--json").stdout)
    assert shown["reports"]["waiting"] == 0 and shown["voids"] == 0
    assert sum(player["games"] for player in shown["players"]) == 24


def test_a_taken_port_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "arena.tokens").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        # A process of its own: what gRPC writes where nobody silences it goes past Python's standard error.
        done = subprocess.run(
            [*ARENA, "serve", str(tmp_path), "--address", address],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(f"arena: {address}: cannot listen there") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("player", "status", "advised"),
    [
        # The one that dials in may come later: it is left out when it has missed some games.
        ('protocol = "grpc"\nstart_seconds = 0.1', 4, False),
        (misbehaving("exit-at-start"), 1, True),
    ],
)
@pytest.mark.usefixtures("games_here")
def test_the_arena_shows_the_output_of_its_own_programs_only(
    tmp_path: Path, player: str, status: int, advised: bool
) -> None:
    remote = '[remote]\naddress = "127.0.0.1:0"\n'
    control = write_control(tmp_path, {"one": PASSING, "two": player})
    control.write_text(control.read_text() + remote)
    done = arena("run", control, "-q")
    assert done.returncode == status and "player two" in done.stderr
    assert ("`arena check` shows" in done.stderr) is advised


@pytest.mark.parametrize("action", ["run", "check"])
def test_games_are_not_played_here_where_a_variable_with_the_clusters_address_is_empty(
    tmp_path: Path, action: str
) -> None:
    (tmp_path / "cup.toml").write_text(arena("init").stdout)
    done = arena(action, tmp_path / "cup.toml", "--on", "")
    assert done.returncode == 2
    assert "'' is not a place: write local, ray or a cluster's address" in done.stderr
