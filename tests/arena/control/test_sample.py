"""The control files that beginners are given can be read back and give out games."""

import re
from pathlib import Path

import pytest

from arena.control.control_file import read_control
from arena.control.sample import sample
from arena.control.schema import KINDS
from arena.selection.kinds import players_to_check, selector_for
from tests.arena.cli.command import arena
from tests.arena.engines import needs_gnugo


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_reads_back_and_gives_out_games(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(sample(kind), encoding="utf-8")
    control = read_control(path)
    assert control.kind == kind
    selector = selector_for(control)
    assert selector.next_game() is not None and not selector.finished
    assert selector.description.startswith(kind)
    assert {setup.name for setup, _ in players_to_check(control)} >= set(control.competitors)


@needs_gnugo
@pytest.mark.usefixtures("games_here")
def test_the_games_of_a_sample_are_the_same_with_its_seed(tmp_path: Path) -> None:
    records = []
    for name in ("first", "second"):
        path = tmp_path / name / "cup.toml"
        path.parent.mkdir()
        short = sample("playoff").replace("move_limit = 500", "move_limit = 16").replace("# seed", "seed")
        path.write_text(short.replace("level 10", "level 1"), encoding="utf-8")
        assert arena("run", path, "--quiet", "--max-games", "2").returncode == 0
        records.append([moves(path.parent / f"cup.games/{game}.sgf") for game in ("0_00", "handicap_00")])
    assert records[0] == records[1]


def moves(record: Path) -> list[str]:
    coordinates = re.findall(r"\b[BW]\[([a-i]{2})\]", record.read_text(encoding="utf-8"))
    assert len(coordinates) == 16
    return coordinates


@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_of_a_sample_that_is_commented_out_can_be_switched_on(tmp_path: Path, kind: str) -> None:
    (tmp_path / "openings.sgf").write_text("(;FF[4]GM[1]SZ[9];B[ee])", encoding="utf-8")
    path = tmp_path / "cup.toml"
    lines = sample(kind).splitlines()
    switched = [line.removeprefix("# ") if "=" in line or "[" in line else line for line in lines]
    path.write_text("\n".join(line for line in switched if not line.startswith("protocol")), encoding="utf-8")
    control = read_control(path)
    assert control.openings is not None and control.adjudication is not None and control.academy is not None
    assert control.players["weak"].time_control is not None and not control.players["weak"].restart


def test_the_command_writes_it_once(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    assert arena("init", "swiss").stdout == sample("swiss")
    assert arena("init", "swiss", path).returncode == 0
    assert path.read_text(encoding="utf-8") == sample("swiss")
    again = arena("init", "sprt", path)
    assert again.returncode == 2 and "exists already; give another name" in " ".join(again.stderr.split())
    assert path.read_text(encoding="utf-8") == sample("swiss")
    refused = arena("init", "swis")
    assert refused.returncode == 2 and "did you mean 'swiss'?" in " ".join(refused.stderr.split())


@pytest.mark.parametrize("word", ["round-robin", "allplayall"])
def test_a_kind_is_known_by_the_words_of_control_files_and_of_the_ringmaster(word: str) -> None:
    assert arena("init", word).stdout == sample("all-play-all")
