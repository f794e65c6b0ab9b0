"""The seeds of a competition's games: a secret's, or the control file's."""

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest
from sqlalchemy import text

from arena.control.toml_file import read
from arena.jobs import GameJob
from arena.results.database import ResultsDatabase
from arena.runner.files import CompetitionFiles, SecretFileError
from arena.runner.game_jobs import JobMaker
from arena.runner.options import RunOptions
from arena.runner.run import run
from arena.selection.kinds import selector_for
from tests.arena.cli.command import arena
from tests.arena.control_files import PASSING, RANDOM, write_control

ORDERS: tuple[Literal["big", "little"], ...] = ("big", "little")
TWO = {"one": RANDOM, "two": RANDOM}


def jobs(control: Path, attempt: int = 1) -> list[GameJob]:
    """The games of a control file, as they would be played."""
    settings = read(control)
    maker, selector = JobMaker(settings, CompetitionFiles(control)), selector_for(settings)
    listed = []
    while (fixture := selector.next_game()) is not None:
        listed.append(maker.job(fixture, attempt))
    return listed


def seeds(games: list[GameJob]) -> list[tuple[int, ...]]:
    return [(job.seed, *job.seat_seeds) for job in games]


def folder(path: Path, name: str) -> Path:
    (path / name).mkdir()
    return path / name


def test_without_a_seed_no_two_competitions_have_the_same_games(tmp_path: Path) -> None:
    here, there = (write_control(folder(tmp_path, name), TWO, seed="") for name in ("here", "there"))
    assert [job.game_id for job in jobs(here)] == [job.game_id for job in jobs(there)]
    numbers = [number for control in (here, there) for game in seeds(jobs(control)) for number in game]
    assert len(set(numbers)) == len(numbers) == 12


def test_a_competition_that_goes_on_has_the_seeds_it_had(tmp_path: Path) -> None:
    control = write_control(tmp_path, TWO, seed="")
    assert seeds(jobs(control)) == seeds(jobs(control))
    assert not {job.seed for job in jobs(control)} & {job.seed for job in jobs(control, attempt=2)}


def test_a_seed_in_the_control_file_gives_the_same_games_anywhere(tmp_path: Path) -> None:
    here, there = (
        write_control(folder(tmp_path, name), TWO, competition="rounds = 2\nseed = 7") for name in ("a", "b")
    )
    assert seeds(jobs(here)) == seeds(jobs(there))
    assert CompetitionFiles(here).seed_key() != CompetitionFiles(there).seed_key()


def test_the_same_control_file_plays_the_same_moves(tmp_path: Path) -> None:
    # In workers: the hashes of texts differ between processes, and so does the order of a set of them.
    played = []
    for name in ("a", "b"):
        control = write_control(folder(tmp_path, name), TWO, competition="rounds = 2\nseed = 7")
        files = CompetitionFiles(control)
        run(read(control), files, RunOptions(quiet=True))
        with closing(ResultsDatabase.open(files.results)) as database, database.transaction() as connection:
            played.append(connection.execute(text('SELECT "Name", "Seed", "Moves" FROM "ARENA_Game"')).all())
    games = [
        [(name, seed, [move[:2] for move in json.loads(moves)]) for name, seed, moves in rows]
        for rows in played
    ]
    assert sorted(games[0]) == sorted(games[1])


@pytest.mark.threat("leaks")
@pytest.mark.usefixtures("games_here")
def test_only_the_owner_may_read_the_secret_and_reset_deletes_it(tmp_path: Path) -> None:
    control = write_control(tmp_path, TWO, seed="")
    assert arena("run", control, "--quiet").returncode == 0
    secret = tmp_path / "contest.secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert bytes.fromhex(secret.read_text()) == CompetitionFiles(control).seed_key()
    assert arena("reset", control, "--really").returncode == 0
    assert not secret.exists()


@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [
        ("00" * 32, 0o644, "others may read it"),
        ("00" * 31, 0o600, "not the secret of a competition"),
        ("", 0o600, "not the secret of a competition"),
        ("\xff" * 64, 0o600, "not the secret of a competition"),
    ],
)
@pytest.mark.usefixtures("games_here")
def test_a_secret_that_is_none_any_more_is_refused(
    content: str, mode: int, says: str, tmp_path: Path
) -> None:
    control = write_control(tmp_path, TWO, seed="")
    secret = tmp_path / "contest.secret"
    secret.write_text(content, encoding="latin-1")
    secret.chmod(mode)
    with pytest.raises(SecretFileError, match=says):
        CompetitionFiles(control).seed_key()
    done = arena("run", control)
    assert done.returncode == 1 and says in done.stderr and "delete it" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.threat("leaks")
def test_while_a_game_goes_on_no_file_beside_it_tells_its_seed_or_the_secret(tmp_path: Path) -> None:
    spy = tmp_path / "spy.py"
    spy.write_text(
        "import os, pathlib, sys\n"
        "found = [' '.join(sys.argv), repr(dict(os.environ))]\n"
        "for path in sorted(pathlib.Path.cwd().iterdir()):\n"
        "    if path.is_file() and path.suffix not in ('.secret', '.py', '.found'):\n"
        "        found.append(path.read_bytes().decode('latin-1'))\n"
        "for process in pathlib.Path('/proc').iterdir():\n"
        "    if process.name.isdigit():\n"
        "        try:\n"
        "            found.append((process / 'cmdline').read_text())\n"
        "        except OSError:\n"
        "            pass\n"
        "with open(f'{os.environ[\"GOMILL_GAME_ID\"]}.found', 'w', encoding='utf-8') as file:\n"
        "    file.write('\\n'.join(found))\n"
        "for line in sys.stdin:\n"
        "    print('= resign\\n' if line.startswith('genmove') else '=\\n', flush=True)\n"
    )
    control = write_control(
        tmp_path,
        {"spy": f'command = ["{sys.executable}", "-S", "{spy}", "{{seed}}"]', "two": PASSING},
        seed="",
    )
    games = jobs(control)
    assert arena("run", control, "--log-protocol").returncode == 0
    log = (tmp_path / "contest.log").read_text()
    key = CompetitionFiles(control).seed_key().hex()
    for job in games:
        contents = (tmp_path / f"{job.game_id}.found").read_text(encoding="utf-8")
        assert str(job.seed) not in contents and key not in contents
        assert not any(job.seed.to_bytes(8, order).decode("latin-1") in contents for order in ORDERS)
        # The operator finds it when the game is over.
        assert str(job.seed) in log and key not in log
