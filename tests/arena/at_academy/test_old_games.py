"""Games that were played elsewhere teach ACADEMY as those of a run do, each of them once."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import termios
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from academy.store.tokens import Role
from academy.v1 import contests_pb2, libraries_pb2
from arena.academy.old_games import OldGamesTeacher, UnusableGameError, as_result
from arena.academy.session import AcademySession
from arena.control.settings import AcademySettings
from arena.jobs import GameJob, PlayerSetup
from arena.match.game import play
from arena.runner.files import CompetitionFiles
from referees.api import GameRecord, RecordedGame, Termination, referee
from referees.go.sgf import elo_of_rank
from tests.academy.service.running import Running, serving
from tests.arena.cli.command import ARENA, arena
from tests.arena.engines import python_player
from tests.processes import asleep, children
from tests.waiting import until

NINE = {"board_size": 9, "komi": 7.0}
CHANCE = python_player("chance", "arena.players.random_moves:random_moves")
WARRIOR = PlayerSetup(
    "chance", (sys.executable, str(Path(__file__).parents[1] / "warlight_bot.py"), "none"), protocol="lines"
)
# Ctrl-C's signal is ignored at first, as in a command that a script starts in the background.
BEHIND = ("sh", "-c", "trap '' INT; exec \"$@\"", "sh")
MAIN_LINE = "(;GM[1]FF[4]SZ[9]KM[7]PB[Ann]PW[Bob]BR[2d]WR[1850?]RE[{result}];B[ee];W[cc];B[gc])\n"


def control_file(path: Path, academy: Running, size: int = 9, more: str = "") -> Path:
    """The control file of a competition of Go that this ACADEMY learns from."""
    path.write_text(
        f'[competition]\nkind = "all-play-all"\n[game]\nname = "go"\nboard_size = {size}\n'
        f'[players.a]\ncommand = "a"\n[players.b]\ncommand = "b"\n'
        f'[academy]\naddress = "{academy.address}"\ntoken = "{academy.token("arena", Role.ARENA)}"\n{more}'
    )
    return path


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("go", {"board_size": 5}),
        ("hex", {"board_size": 4}),
        ("draughts", {"variant": "russian"}),
        ("openspiel", {"game": "connect_four"}),
        ("openspiel", {"game": "breakthrough(rows=5,columns=5)"}),
        ("diplomacy", {"year_limit": 2}),
        ("warlight", {"map": "double_small"}),
    ],
)
def test_a_record_of_a_game_teaches_what_the_game_did(name: str, settings: dict[str, Any]) -> None:
    if name == "openspiel":
        pytest.importorskip("pyspiel")
    rules = referee(name).from_settings(settings)
    players = (WARRIOR if name == "warlight" else CHANCE,) * rules.seats
    job = GameJob("0_1", name, settings, players, seed=5, move_limit=1000, describe_positions=True)
    result = play(job)
    assert result.outcome is not None
    (game,) = rules.read_records(result.record.encode())
    assert [game.winners, list(game.players)] == [result.outcome.winners, ["chance"] * rules.seats]
    again = as_result(rules, game)
    assert again.start_board == result.start_board
    facts = ("seat", "text", "board", "legal_moves", "interaction", "opening_move")
    for taught, played in zip(again.moves, result.moves, strict=True):
        assert [getattr(taught, fact) for fact in facts] == [getattr(played, fact) for fact in facts]


@pytest.mark.parametrize(
    ("game", "why"),
    [
        (RecordedGame("", ["E5"]), "does not say who won"),
        (RecordedGame("", [], winners=(1,)), "no moves"),
        (RecordedGame("", ["E5", "E5"], winners=(1,)), "move 2: point E5 is occupied"),
        (RecordedGame("", ["pass", "pass", "E5"], winners=(1,)), "is over after move 2 of 3"),
        (RecordedGame("", ["E5"], winners=(3,)), r"winners \(3,\) are not seats"),
        (RecordedGame("", ["E5"], ("Ann",), (1,)), "1 players, not 2"),
        (RecordedGame("", ["E5"], (), (1,), (2000.0,)), "1 ratings, not 2"),
        (RecordedGame("", [], fault="its board has 19 rows, not 9"), "its board has 19 rows"),
        (RecordedGame("", ["E5"], winners=(1,), doubt="its komi is 0.5"), "its komi is 0.5"),
    ],
)
def test_a_game_that_teaches_nothing_says_why(game: RecordedGame, why: str) -> None:
    with pytest.raises(UnusableGameError, match=why):
        as_result(referee("go").from_settings(NINE), game)


@pytest.mark.parametrize(
    ("rank", "elo"),
    [
        ("1d", 2100),
        ("7 dan", 2700),
        ("1k", 2000),
        ("20kyu", 100),
        ("1p", 2700),
        ("9P", 2940),
        ("strong", None),
    ],
)
def test_a_rank_of_go_is_a_rating_on_the_european_scale(rank: str, elo: float | None) -> None:
    assert elo_of_rank(rank) == elo


@pytest.mark.parametrize(
    ("heading", "winners", "elo"),
    [
        ("RE[B+R]BR[3d]WR[2150]", (1,), [2300.0, 2150.0]),
        ("RE[W+0.5]", (2,), [None, None]),
        ("RE[0]", (1, 2), [None, None]),
        ("RE[Jigo]KM[7.5]", (1, 2), [None, None]),
        ("RE[Void]", (), [None, None]),
    ],
)
def test_the_heading_of_a_record_in_sgf_has_the_result_and_the_ratings(
    heading: str, winners: tuple[int, ...], elo: list[float | None]
) -> None:
    (game,) = referee("go").from_settings(NINE).read_records(f"(;SZ[9]{heading};B[ee])".encode())
    assert (game.winners, game.elo) == (winners, elo)


@pytest.mark.parametrize(
    ("komi", "doubt"),
    [
        ("6.5", ""),
        ("0.5", "its komi is 0.5, more than a point from 7"),
        ("375", "its komi is 375, more than a point from 7"),
        ("nan", "its komi is nan, more than a point from 7"),
        ("none", r"its komi, KM[none], is not a number"),
    ],
)
def test_another_komi_leaves_the_result_in_doubt(komi: str, doubt: str) -> None:
    (game,) = referee("go").from_settings(NINE).read_records(f"(;SZ[9]RE[B+2]KM[{komi}];B[ee])".encode())
    assert (game.fault, game.doubt) == ("", doubt)


@pytest.mark.parametrize(
    ("name", "settings", "other", "doubt"),
    [
        ("warlight", {"map": "double_small"}, {"luck": 0.75}, "it was played with luck 0.0, not 0.75"),
        ("warlight", {"map": "double_small"}, {"income": 7}, "it was played with income 5, not 7"),
        ("diplomacy", {"year_limit": 2}, {"edition": "1971"}, "it was played with "),
    ],
)
def test_a_record_of_other_rules_leaves_the_result_in_doubt(
    name: str, settings: dict[str, Any], other: dict[str, Any], doubt: str
) -> None:
    rules = referee(name).from_settings(settings)
    outcome = rules.drawn(Termination.AGREEMENT)
    names = ("ann",) * rules.seats
    record = rules.record(GameRecord("1", "cup", "2026-11-22", names, (), outcome, seed=5)).encode()
    (game,) = referee(name).from_settings(settings | other).read_records(record)
    assert game.doubt.startswith(doubt)
    assert not game.fault


@pytest.mark.parametrize(
    ("content", "winners", "elo"),
    [
        (b'[White "w"][Black "b"][WhiteRating "2100"] 1. 11-15 1-0', (2,), (None, 2100.0)),
        (b'[Result "0-1"] 1. 11-15 0-1', (1,), (None, None)),
        (b"1. 11-15 1/2-1/2", (1, 2), (None, None)),
        (b'[Result "*"] 1. 11-15 1-0', (2,), (None, None)),
        (b"1. 11-15 *", (), (None, None)),
    ],
)
def test_in_english_draughts_black_has_the_first_seat(
    content: bytes, winners: tuple[int, ...], elo: tuple[float | None, ...]
) -> None:
    (game,) = referee("draughts").from_settings({"variant": "english"}).read_records(content)
    assert (game.winners, game.elo) == (winners, elo)
    assert game.players in (("b", "w"), ())


def test_a_game_of_draughts_with_two_results_teaches_nothing() -> None:
    rules = referee("draughts").from_settings({"variant": "english"})
    (game,) = rules.read_records(b'[Result "1-0"] 1. 11-15 0-1')
    with pytest.raises(UnusableGameError, match="its Result is 1-0, and it ends with 0-1"):
        as_result(rules, game)


def test_games_of_a_folder_are_learnt_once_and_others_are_left_out_with_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / "old" / "2019"
    folder.mkdir(parents=True)
    (folder / "a.SGF").write_text(MAIN_LINE.format(result="B+R") + MAIN_LINE.format(result="W+3"))
    (folder / "b.sgf").write_text("(;GM[1]FF[4]SZ[19]RE[W+3];B[ee];W[aa])")
    (folder / "c.sgf").write_text("no game")
    (folder / "notes.txt").write_text("no record")
    with serving(tmp_path / "data") as academy:
        control = control_file(tmp_path / "cup.toml", academy)
        done = arena("teach", control, tmp_path / "old")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[0] == "2 games learnt, 0 known before, 2 left out"
        assert f"1 x its board has 19 rows, not 9 ({folder / 'b.sgf'}, game 1)" in done.stdout
        assert f"1 x no SGF: there is no game in it ({folder / 'c.sgf'})" in done.stdout
        request = libraries_pb2.ListOpeningsRequest(game_id="go-9x9")
        nodes = academy.admin().libraries.ListOpenings(request).nodes
        assert [(node.move, node.visits) for node in nodes] == [("", 2), ("E5", 2), ("C3", 2), ("C7", 2)]
        again = arena("teach", control, folder / "a.SGF", "--elo", "900")
        assert again.stdout == "0 games learnt, 2 known before, 0 left out\n"
        assert arena("teach", control, folder / "b.sgf").returncode == 1


def test_the_same_moves_teach_each_game_that_academy_tells_apart(tmp_path: Path) -> None:
    record = tmp_path / "a.sgf"
    with serving(tmp_path / "data") as academy:
        for size in (5, 7):
            record.write_text(f"(;SZ[{size}]RE[B+R];B[{'ac' if size == 5 else 'ae'}])")
            done = arena("teach", control_file(tmp_path / "cup.toml", academy, size), record)
            assert done.stdout == "1 game learnt, 0 known before, 0 left out\n", done.stderr
        copy = control_file(tmp_path / "copy.toml", academy, 7, 'game = "go-copy"\n')
        for learnt in ("1 game learnt, 0 known before", "0 games learnt, 1 known before"):
            assert arena("teach", copy, record).stdout == f"{learnt}, 0 left out\n"


def test_a_rating_that_academy_does_not_take_is_one_that_is_not_known(tmp_path: Path) -> None:
    record = tmp_path / "a.sgf"
    record.write_text(MAIN_LINE.replace("2d", "9999").format(result="B+R"))
    with serving(tmp_path / "data") as academy:
        done = arena("teach", control_file(tmp_path / "cup.toml", academy), record, "--elo", "1234")
        assert done.stdout == "1 game learnt, 0 known before, 0 left out\n"
        request = contests_pb2.GetRatingsRequest(game_id="go-9x9", players=["Ann", "Bob"])
        ratings = academy.admin().contests.GetRatings(request).ratings
        assert [rating.elo for rating in ratings] == [1234.0, 1850.0]


def test_names_that_academy_does_not_take_are_written_as_it_does_or_leave_games_out(tmp_path: Path) -> None:
    record = tmp_path / "a.sgf"
    games = [MAIN_LINE.replace("Ann", name).format(result="B+R") for name in ("Zoe\u0301", "A\nB", "x" * 129)]
    record.write_text("".join([*games, games[-1].replace("ee", "dd")]))
    with serving(tmp_path / "data") as academy:
        done = arena("teach", control_file(tmp_path / "cup.toml", academy), record)
        summary, *reasons = done.stdout.splitlines()
        assert summary == "2 games learnt, 0 known before, 2 left out"
        assert [
            reason.startswith("  2 x ACADEMY refuses it: players[0].name: 'xxx") for reason in reasons
        ] == [True]
        request = contests_pb2.GetRatingsRequest(game_id="go-9x9", players=["Zo\u00e9", "A B"])
        assert len(academy.admin().contests.GetRatings(request).ratings) == 2


def unread(pipe: FileIO) -> int:
    """How many bytes are in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_interrupts_the_teaching_hears_what_was_learnt(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "a.sgf").write_text(MAIN_LINE.format(result="B+R"))
    endless = tmp_path / "b.sgf"
    os.mkfifo(endless)
    with serving(tmp_path / "data") as academy:
        control = control_file(tmp_path / "cup.toml", academy)
        teaching = subprocess.Popen(
            [*BEHIND, *ARENA, "teach", str(control), str(tmp_path / "a.sgf"), str(endless)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # Opens when the command has come to it.
        with teaching, endless.open("wb", buffering=0) as game:
            game.write(b"(")
            # A signal between two reads is seen after the second one, which here never ends.
            until(lambda: not unread(game) and asleep(teaching.pid))
            teaching.send_signal(number)
            shown, complaint = teaching.communicate()
        assert (teaching.returncode, shown) == (3, "1 game learnt, 0 known before, 0 left out\n")
        assert complaint == "arena: interrupted; the same command goes on\n"


def test_the_embedded_academy_of_a_run_keeps_its_socket(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text(MAIN_LINE.format(result="B+R"))
    control = tmp_path / "cup.toml"
    control.write_text(
        '[competition]\nkind = "all-play-all"\n[game]\nname = "go"\nboard_size = 9\n'
        '[players.a]\ncommand = "a"\n[players.b]\ncommand = "b"\n'
        '[academy]\naddress = "embedded"\ndata = "data"\n'
    )
    with CompetitionFiles(control).locked():
        done = arena("teach", control, tmp_path / "a.sgf")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"arena: the competition cup is already running (process {os.getpid()})\n"
    assert not (tmp_path / "data").exists()


def test_a_rating_that_is_not_a_number_is_refused_before_anything_is_learnt(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;SZ[9]RE[B+R];B[ee])")
    with serving(tmp_path / "data") as academy:
        control = control_file(tmp_path / "cup.toml", academy)
        done = arena("teach", control, tmp_path / "a.sgf", "--elo", "nan")
        assert (done.returncode, done.stdout) == (2, "")
        assert "nan is not a number" in done.stderr


def test_a_folder_without_records_is_named(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as academy:
        control = control_file(tmp_path / "cup.toml", academy)
        done = arena("teach", control, tmp_path / "data")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"arena: no file in {tmp_path / 'data'} has a name that ends in .sgf\n"


@pytest.mark.parametrize(
    ("charset", "raw", "name"),
    [
        ("CA[gb2312]", "柯洁".encode("gb2312"), "柯洁"),
        ("CA[ISO-8859-1]", "Müller".encode("latin-1"), "Müller"),
        ("CA[UTF-8]", "Müller".encode(), "Müller"),
        ("", "Müller".encode(), "Müller"),
        ("", "Müller".encode("latin-1"), "Müller"),
        ("CA[ascii]", "Müller".encode(), "Müller"),
    ],
)
def test_names_are_of_the_character_set_that_a_record_names(charset: str, raw: bytes, name: str) -> None:
    content = f"(;SZ[9]RE[B+R]{charset}PW[Bob]PB[".encode() + raw + b"];B[ee])"
    (game,) = referee("go").from_settings(NINE).read_records(content)
    assert list(game.players) == [name, "Bob"]


def test_damage_in_a_file_leaves_its_sound_games_usable() -> None:
    sound = MAIN_LINE.format(result="B+R").encode()
    games = (
        referee("go")
        .from_settings(NINE)
        .read_records(
            sound + b"(;SZ[9]RE[B+R];B[ee];W[\n" + b"]*;B[aa])" + sound + sound.removesuffix(b")\n")
        )
    )
    assert [game.fault for game in games] == [
        "",
        "unexpected end of SGF data",
        "",
        "unexpected end of SGF data",
    ]


@pytest.mark.parametrize(
    ("name", "settings"),
    [("openspiel", {"game": "connect_four"}), ("warlight", {"map": "double_small"})],
)
def test_a_bad_record_in_a_list_of_json_leaves_its_sound_games_usable(
    name: str, settings: dict[str, Any]
) -> None:
    if name == "openspiel":
        pytest.importorskip("pyspiel")
    rules = referee(name).from_settings(settings)
    outcome = rules.drawn(Termination.AGREEMENT)
    sound = rules.record(GameRecord("1", "cup", "2026-11-22", ("ann", "bob"), (), outcome, seed=5))
    games = rules.read_records(f'[{sound}, 7, {sound.replace("ann", "eve")}, {{"game": "chess"}}]'.encode())
    assert [list(game.players) for game in games] == [["ann", "bob"], [], ["eve", "bob"], []]
    assert [bool(game.fault) for game in games] == [False, True, False, True]


def test_the_game_ends_with_the_second_pass_also_where_a_third_is_written() -> None:
    rules = referee("go").from_settings(NINE)
    (game,) = rules.read_records(b"(;SZ[9]RE[B+3];B[ee];W[tt];B[];W[tt];B[])")
    assert [move.text for move in as_result(rules, game).moves] == ["E5", "pass", "pass"]


def test_an_embedded_academy_that_is_killed_is_started_again(tmp_path: Path) -> None:
    rules = referee("go").from_settings(NINE)
    settings = AcademySettings.model_construct(address="embedded", data=tmp_path / "data")
    others = children(os.getpid())
    session = AcademySession(settings, rules.spec(), tmp_path / "academy.log")
    with contextlib.closing(session):
        teacher = OldGamesTeacher(session, rules, 1500.0)
        assert teacher.teach(RecordedGame("", ["E5"], winners=(1,)))
        (server,) = set(children(os.getpid())).difference(others)
        os.kill(server, signal.SIGKILL)
        os.waitid(os.P_PID, server, os.WEXITED | os.WNOWAIT)
        assert teacher.teach(RecordedGame("", ["E4"], winners=(1,)))
        assert not teacher.teach(RecordedGame("", ["E5"], winners=(1,)))
