"""What the user of a control file is warned of before the games."""

from pathlib import Path

import pytest

from arena.control.sample import sample
from arena.control.toml_file import read
from arena.match.game_seeds import SAFE_SEED
from arena.runner.control_notes import notes_on
from tests.arena.cli.command import arena
from tests.arena.control_files import RANDOM, random_players, write_control

WAR = f"""
[competition]
kind = "all-play-all"
rounds = 1
{{seed}}
[game]
name = "warlight"
map = "double_small"
turn_limit = 2
{random_players("ann", "bob")}"""


def test_a_small_seed_is_warned_of_where_something_is_hidden(tmp_path: Path) -> None:
    control = tmp_path / "war.toml"
    for seed, warned in (("", False), ("seed = 5", True), (f"seed = {SAFE_SEED}", False)):
        control.write_text(WAR.format(seed=seed))
        assert bool(notes_on(read(control))) is warned
    control.write_text(WAR.format(seed="seed = 5"))
    assert "note: competition.seed = 5: players can guess so small a seed" in arena("check", control).stdout
    assert not notes_on(
        read(write_control(tmp_path, {"one": RANDOM, "two": RANDOM}, competition="rounds = 2\nseed = 7"))
    )


@pytest.mark.parametrize(
    ("kind", "place"), [("mc_tuner", "candidate"), ("generations", "families.evolving.player")]
)
@pytest.mark.parametrize(
    ("word", "warned"), [("{q}", True), ("{levels}", True), ("${HOME}", False), ("{seed}{level}{}{3}", False)]
)
def test_a_word_in_braces_that_names_no_parameter_is_warned_of(
    kind: str, place: str, word: str, warned: bool, tmp_path: Path
) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(sample(kind).replace("--level {level}", f"--level {{level}} {word}"))
    note = f"{place}: {word} stays as it is: parameters are {{level}}; {{seed}} is the seat's seed"
    assert notes_on(read(control)) == [note] * warned
