"""What the ringmaster's documentation shows is played, which checks it; `documented/README.md` lists it.

GNU Go is real; `fuego` and `goplayer` are an engine that plays some stones at random.
"""

import re
from pathlib import Path

import pytest

from tests.arena.cli.command import arena
from tests.arena.control.ringmaster import engines
from tests.arena.engines import GNUGO, needs_gnugo

DOCUMENTED = Path(__file__).with_name("documented")

# The file, the games that are played of it, and what its report says then.
RUNS = [
    ("first_match", 2, ["one v two (2/2 games)", "board size: 5   komi: 5.5", "player two: GNU Go:3.8"]),
    (
        "three_matchups",
        6,
        [
            "What most settings of a playoff look like.",
            "weak v fuego-50 (2/2 games)",
            "board size: 9   handicap: 3 (free)   komi: 0.0",
            "strong v fuego-50 (2 games)",
            "weak v strong (2 games)",
        ],
    ),
    (
        "shortcuts",
        5,
        [
            "gnugo-1 v gnugo-2 (1/1 games)",
            "gnugo-1 v rave (1/1 games)",
            "gnugo-1 v pachi (1/1 games)",
            "zen v loud (1/1 games)\nunknown results: 1 100.00%\nboard size: 5   komi: 7.5",
        ],
    ),
    ("three_levels", 1, ["1/60 games played", "C level3", "level1 v level2 (1/20 games)"]),
    ("rave_weights", 1, ["I: ", "F: ", "Best parameters: "]),
    ("scales", 1, ["p3: ", "p4:", "p9:0.11", "most visited at depth 1"]),
    ("rave_distribution", 4, ["generation 1 of 2: 1/3 games", "rave_weight_final:", "plain:"]),
    ("player_arguments", 15, ["gnugo v here (1/1 games)", "gnugo v odd.!$%&*+-:;<=>?^_~ (1/1 games)"]),
    (
        "matchup_arguments",
        10,
        [
            "No handicap (2/2 games)",
            "handicap: 2 (fixed)   komi: -0.5",
            "board size: 13   handicap: 3 (fixed)",
            "a v a#2 (1/1 games)",
            "a#2 ",
            "b v b#2 (2 games)",
        ],
    ),
    ("found_engines", 2, ["gnugo v goplayer (2/2 games)"]),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the control file, with engines everywhere that the files look for them."""
    programs = tmp_path / "programs"
    for folder in (programs, tmp_path / "engines", tmp_path):
        engines.install(folder, ("fuego", "goplayer"), "3")
    assert GNUGO is not None
    (programs / "gnugo").symlink_to(GNUGO)
    engines.first_on_path(programs, monkeypatch)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@needs_gnugo
@pytest.mark.usefixtures("games_here")
@pytest.mark.parametrize(("name", "games", "lines"), RUNS, ids=[name for name, _, _ in RUNS])
def test_a_documented_control_file_is_played(here: Path, name: str, games: int, lines: list[str]) -> None:
    path = here / f"{name}.ctl"
    path.write_bytes((DOCUMENTED / path.name).read_bytes())
    done = arena("run", path, "--quiet", "--max-games", str(games))
    assert (done.returncode, done.stderr) == (0, "")
    report = arena("show", path).stdout
    assert [text for text in lines if text not in report] == []
    history = (here / f"{name}.hist").read_text(encoding="utf-8")
    played = re.findall(r"^ *\S+ \S+ (?:beat|drew|vs) .*$", history, re.MULTILINE)
    assert len(played) == games, history
    assert list((here / f"{name}.void").glob("*")) == []


def test_every_documented_file_is_run_and_listed() -> None:
    names = {path.stem for path in DOCUMENTED.glob("*.ctl")}
    assert names == {name for name, _, _ in RUNS}
    table = (DOCUMENTED / "README.md").read_text(encoding="utf-8")
    assert [name for name in names if f"`{name}.ctl`" not in table] == []
