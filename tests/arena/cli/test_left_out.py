"""Engines that never get ready and bots that decline: others play on, and reports say who is left out."""

import json
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from clients.connection import Connection
from clients.remote_game import Engine, Game, GameDeclinedError, GameEnd, GameTurn
from clients.remote_play import AsyncGameOver, AsyncNewGame, dial_in, dial_in_async
from tests.arena.cli.command import Done, arena
from tests.arena.control_files import PASSING, SLOW, misbehaving, write_control
from tests.arena.visits import Visits
from tests.waiting import until

THREE = {"one": PASSING, "villain": misbehaving("exit-at-start"), "two": PASSING}
TOKEN = "a token for the tests"


def results(control: Path) -> dict[str, tuple[int, int, int]]:
    """Games, wins and forfeits of each player."""
    players = json.loads(arena("show", control, "--json").stdout)["players"]
    return {player["name"]: (player["games"], player["wins"], player["forfeits"]) for player in players}


def run(folder: Path, competition: str, players: dict[str, str] = THREE, more: str = "") -> tuple[Path, Done]:
    control = write_control(folder, players, None, competition, more)
    return control, arena("run", control, "-q")


@pytest.mark.usefixtures("games_here")
def test_void_retries_hold_from_the_first_game_on(tmp_path: Path) -> None:
    _, done = run(tmp_path, "rounds = 2\ncheck_players = false\nvoid_retries = 3")
    assert done.returncode == 4
    assert done.stderr.count("warning: game AvB_0 is void") == 4 and "halted by void games" in done.stderr


@pytest.mark.usefixtures("games_here")
def test_matchups_of_an_engine_that_dies_at_its_start_are_skipped_and_others_played(tmp_path: Path) -> None:
    control, done = run(tmp_path, 'rounds = 4\non_void = "skip-matchup"')
    assert done.returncode == 6
    assert "matchup AvB is left out of the competition from now on: too many void games" in done.stderr
    assert "all games have been played but for players or matchups that are left out" in done.stderr
    assert results(control) == {"one": (4, 2, 0), "two": (4, 2, 0), "villain": (0, 0, 0)}
    shown = json.loads(arena("show", control, "--json").stdout)
    assert [(entry["scope"], entry["name"]) for entry in shown["left_out"]] == [
        ("matchup", "AvB"),
        ("matchup", "BvC"),
    ]
    assert "exited with status" in shown["left_out"][0]["reason"]
    assert "matchup AvB is left out since" in arena("show", control).stdout
    page = control.with_name("page.html")
    assert arena("report", control, "--html", page).returncode == 0
    assert "matchup AvB is left out since" in page.read_text()

    # A later run keeps to it, and does not try the engine again.
    again = arena("run", control, "-q")
    assert again.returncode == 6 and "is void" not in again.stderr
    assert "matchup AvB was left out of the competition" in again.stderr

    # The engine is mended.
    write_control(tmp_path, {**THREE, "villain": PASSING}, None, 'rounds = 4\non_void = "skip-matchup"')
    mended = arena("run", control, "-q", "--readmit")
    assert mended.returncode == 0, mended.stderr
    assert results(control) == {"one": (8, 4, 0), "two": (8, 4, 0), "villain": (8, 4, 0)}
    assert json.loads(arena("show", control, "--json").stdout)["left_out"] == []


@pytest.mark.usefixtures("games_here")
def test_an_engine_that_dies_at_its_start_loses_where_void_games_are_forfeited(tmp_path: Path) -> None:
    control, done = run(tmp_path, 'rounds = 2\non_void = "forfeit"')
    assert done.returncode == 0, done.stderr
    assert results(control) == {"one": (4, 3, 0), "two": (4, 3, 0), "villain": (4, 0, 4)}
    assert "game AvB_0 was void, and is lost by villain: player villain" in done.stderr


def test_a_python_player_that_can_only_be_ended_with_its_worker_loses_such_games_too(tmp_path: Path) -> None:
    stuck = 'protocol = "python"\ncommand = "tests.arena.engines:stuck_at_start"\nstart_seconds = 0.3'
    settings = 'rounds = 2\non_void = "forfeit"\ncheck_players = false'
    control, done = run(tmp_path, settings, {"one": PASSING, "villain": stuck})
    assert done.returncode == 0, done.stderr
    assert results(control) == {"one": (2, 2, 0), "villain": (2, 0, 2)}


@pytest.mark.usefixtures("games_here")
def test_a_player_of_a_matchups_name_is_checked_where_the_matchup_is_left_out(tmp_path: Path) -> None:
    matchups = (
        '[[matchups]]\nid = "one"\nplayers = ["villain", "two"]\n'
        '[[matchups]]\nid = "rest"\nplayers = ["one", "two"]\n'
    )
    control = write_control(tmp_path, THREE, None, 'games = 1\non_void = "skip-matchup"', matchups)
    control.write_text(control.read_text().replace('"all-play-all"', '"playoff"'))
    log = control.with_suffix(".log")
    for _ in range(2):
        assert arena("run", control, "-q").returncode == 6
        assert "checking player one" in log.read_text()
        log.unlink()


@pytest.mark.usefixtures("games_here")
def test_where_all_matchups_are_left_out_the_run_is_halted(tmp_path: Path) -> None:
    players = {"one": PASSING, "villain": misbehaving("exit-at-start")}
    _, done = run(tmp_path, 'rounds = 2\non_void = "skip-matchup"', players)
    assert done.returncode == 4
    assert "all matchups with missing games are left out (`arena run --readmit`" in done.stderr


@pytest.mark.usefixtures("games_here")
def test_pairings_of_a_swiss_tournament_are_left_out_round_by_round(tmp_path: Path) -> None:
    players = {"one": PASSING, "villain": misbehaving("exit-at-start")}
    control = write_control(tmp_path, players, None, 'rounds = 2\non_void = "skip-matchup"\nvoid_retries = 1')
    control.write_text(control.read_text().replace('"all-play-all"', '"swiss"'))
    done = arena("run", control, "-q")
    assert done.returncode == 6, done.stderr
    assert "all games have been played but for players or matchups that are left out" in done.stderr
    # The second round has its own retry.
    assert done.stderr.count(" is void: ") == 4
    shown = json.loads(arena("show", control, "--json").stdout)
    assert [entry["name"] for entry in shown["left_out"]] == ["r1_AvB", "r2_BvA"]


@pytest.mark.parametrize("kind", ["sprt", "mc_tuner", "ce_tuner"])
def test_kinds_of_one_matchup_cannot_skip_it(tmp_path: Path, kind: str) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(
        arena("init", kind).stdout.replace("[competition]\n", '[competition]\non_void = "skip-matchup"\n')
    )
    done = arena("check", control)
    assert done.returncode == 1
    assert (
        f"competition.on_void: a competition of kind '{kind}' has one matchup: say 'halt' or 'forfeit'"
        in done.stderr
    )


TUNER = """[competition]
kind = "mc_tuner"
opponent = "steady"
games = 4
exploration = 0.4
initial_visits = 2
initial_wins = 1
void_retries = 0
check_players = false
on_void = "forfeit"
[game]
name = "go"
board_size = 5
komi = 0.5
move_limit = 20
[players.steady]
{steady}
[candidate]
{candidate}
environment = {{ LEVEL = "{{level}}" }}
[parameters.level]
low = 1
high = 4
split = 2
"""


@pytest.mark.parametrize(
    ("steady", "candidate", "status", "words"),
    [
        ("none", "exit-at-start", 0, "candidates won 0.000"),
        # A candidate has shown nothing where its opponent fails.
        ("exit-at-start", "none", 4, "0 games"),
    ],
)
@pytest.mark.usefixtures("games_here")
def test_only_the_candidate_of_a_tuner_can_lose_void_games(
    tmp_path: Path, steady: str, candidate: str, status: int, words: str
) -> None:
    control = tmp_path / "tuner.toml"
    control.write_text(TUNER.format(steady=misbehaving(steady), candidate=misbehaving(candidate)))
    assert arena("run", control, "-q").returncode == status
    assert words in arena("show", control).stdout


async def passing(turn: GameTurn) -> str:
    return "pass"


def unwilling(game: Game) -> Callable[[GameTurn], Awaitable[str]]:
    raise GameDeclinedError("only on Sundays")


class OneAtATime:
    """A bot that takes no game while it plays another."""

    def __init__(self) -> None:
        self._playing = ""

    def __call__(self, game: Game) -> Callable[[GameTurn], Awaitable[str]]:
        if self._playing:
            raise GameDeclinedError("one at a time")
        self._playing = game.game_id
        return passing

    async def over(self, game: Game, ending: GameEnd) -> None:
        if self._playing == game.game_id:
            self._playing = ""


def played_with(
    folder: Path,
    settings: str,
    bot: AsyncNewGame,
    over: AsyncGameOver | None = None,
    kind: str = '"all-play-all"',
    more: str = "",
) -> tuple[Path, int, str]:
    """Run a competition of two players and a bot that dials in as `remote`."""
    address = f"unix:{folder / 'lobby'}"
    (folder / "token").write_text(TOKEN)
    remote = 'protocol = "grpc"\ntoken_file = "token"\nstart_seconds = 60'
    players = {"one": SLOW, "remote": remote, "two": SLOW}
    control = write_control(folder, players, None, settings, f'[remote]\naddress = "{address}"\n{more}')
    control.write_text(control.read_text().replace('"all-play-all"', kind))
    connection, engine = Connection(address, token=TOKEN), Engine(games_at_once=8)
    with closing(Visits()) as visits:
        visits.begin(dial_in_async(connection, "remote", bot, engine, redial_seconds=120, game_over=over))
        done = arena("run", control, "-q")
    return control, done.returncode, done.stderr


@pytest.mark.usefixtures("games_here")
@pytest.mark.parametrize(("kind", "games"), [('"all-play-all"\nrounds = 4', 4), ('"swiss"\nrounds = 2', 2)])
def test_a_bot_that_declines_each_game_is_left_out_and_others_play_on(
    tmp_path: Path, kind: str, games: int
) -> None:
    control, status, errors = played_with(tmp_path, "leave_out_after = 2", unwilling, kind=kind)
    assert status == 6, errors
    assert (
        "player remote is left out of the competition from now on: it made 2 games in a row void; "
        "the last: player remote: declines the game: 'only on Sundays'"
    ) in errors
    assert {name: played for name, (played, _, _) in results(control).items()} == {
        "one": games,
        "two": games,
        "remote": 0,
    }
    (entry,) = json.loads(arena("show", control, "--json").stdout)["left_out"]
    assert (entry["scope"], entry["name"], entry["games_finished"]) == ("player", "remote", 0)


def test_a_bot_that_declines_while_it_plays_is_asked_again_when_it_has_played(tmp_path: Path) -> None:
    bot = OneAtATime()
    settings = "rounds = 3\nparallel = 3\nleave_out_after = 3"
    control, status, errors = played_with(tmp_path, settings, bot, bot.over)
    assert status == 0, errors
    assert results(control)["remote"][0] == 6
    # It is not asked again and again meanwhile.
    assert errors.count("is void") < 30


def await_voids(control: Path, count: int) -> None:
    """Wait until the run has noted this number of void games."""
    log = control.with_suffix(".log")
    until(lambda: log.exists() and log.read_text().count("is void") >= count)


def test_a_bots_game_goes_on_when_another_bot_made_the_game_void_that_it_waited_for(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 'lobby'}"
    (tmp_path / "token").write_text(TOKEN)
    remote = 'protocol = "grpc"\ntoken_file = "token"\nstart_seconds = 60'
    players = {"second": remote, "third": PASSING, "first": remote}
    settings = "rounds = 1\nparallel = 3\ncheck_players = false"
    control = write_control(tmp_path, players, None, settings, f'[remote]\naddress = "{address}"\n')
    has_the_game = threading.Event()
    declined: set[str] = set()

    # `second` gets ready for the game with `first` and declines the one with `third`; only then does `first`,
    # which plays `third`, decline the game with `second`.

    def first(game: Game) -> Callable[[GameTurn], str]:
        if "second" in game.players and "first" not in declined:
            await_voids(control, 1)
            declined.add("first")
            raise GameDeclinedError("one at a time")

        def choose(turn: GameTurn) -> str:
            await_voids(control, 2)
            return "pass"

        return choose

    def second(game: Game) -> Callable[[GameTurn], str]:
        if "first" in game.players:
            has_the_game.set()
        elif "second" not in declined:
            assert has_the_game.wait(60)
            declined.add("second")
            raise GameDeclinedError("one at a time")
        return lambda turn: "pass"

    connection, engine = Connection(address, token=TOKEN), Engine(games_at_once=8)
    for name, bot in (("first", first), ("second", second)):
        visit = partial(dial_in, connection, name, bot, engine, redial_seconds=20)
        threading.Thread(target=visit, daemon=True).start()
    done = arena("run", control, "-q")
    assert done.stderr.count("declines the game: 'one at a time'") == 2
    assert done.returncode == 0, done.stderr
    assert {name: played for name, (played, _, _) in results(control).items()} == dict.fromkeys(players, 2)


class Choosy:
    """A bot that plays with some opponents only."""

    def __call__(self, game: Game) -> Callable[[GameTurn], Awaitable[str]]:
        if "two" in game.players:
            raise GameDeclinedError("not with two")
        return passing


@pytest.mark.usefixtures("games_here")
def test_a_bot_does_not_choose_its_opponents(tmp_path: Path) -> None:
    _, status, errors = played_with(tmp_path, "rounds = 12\nleave_out_after = 3", Choosy())
    assert status == 6, errors
    assert "player remote is left out of the competition from now on: " in errors
    assert errors.count("is void") <= 6


@pytest.mark.usefixtures("games_here")
def test_in_mars_a_bot_that_declines_one_game_plays_the_next(tmp_path: Path) -> None:
    declined: list[str] = []

    def once(game: Game) -> Callable[[GameTurn], Awaitable[str]]:
        if not declined:
            declined.append(game.game_id)
            raise GameDeclinedError("not this one")
        return passing

    more = '[[series]]\nname = "s"\nselector = "least-played"\nclones = false\ngames = 3\n'
    control, status, errors = played_with(tmp_path, "leave_out_after = 3", once, kind='"mars"', more=more)
    assert status == 0, errors
    assert declined and "inhibited" not in errors
    assert results(control)["remote"][0] >= 2
