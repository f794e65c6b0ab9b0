"""Maps in files of one's own: found, named by their content, and refused with file, entry and rule."""

import re
from pathlib import Path

import pytest

from referees.api import GameRecord, InvalidSettingError, PlayedMove
from referees.diplomacy import Diplomacy, InvalidMapError, shipped_map
from referees.diplomacy.settings import load_map, map_id
from tests.referees.reading import names_and_moves

STRAITS = shipped_map("straits").text
OWN = STRAITS.replace('name = "straits"', 'name = "narrows"', 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my.toml"
    path.write_text(OWN)
    return path


def test_a_map_of_ones_own_is_a_game_of_its_own_named_by_its_content(file: Path) -> None:
    judge = Diplomacy.from_settings({"map": str(file)})
    assert judge.map.name == "narrows"
    assert judge.spec().game_id == f"diplomacy-{map_id(judge.map)}"
    before = judge.spec().game_id
    file.write_text(OWN.replace("centres_to_win = 5", "centres_to_win = 6"))
    assert Diplomacy.from_settings({"map": str(file)}).spec().game_id != before


def test_a_copy_of_a_shipped_map_is_that_map(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + STRAITS.replace("\n", "\r\n").encode())
    assert load_map(str(file)) is shipped_map("straits")
    assert Diplomacy.from_settings({"map": str(file)}).spec().game_id == "diplomacy-straits"


def test_a_province_with_coasts_may_have_a_name_of_mila(file: Path) -> None:
    file.write_text(OWN.replace('coasts = ["EC", "WC"]', 'coasts = ["EC", "WC"], mila = "MDL"'))
    board = load_map(str(file))
    assert board.mila_codes[board.location("MDL") :][:3] == ("MDL", "MDL/EC", "MDL/WC")


def test_a_path_leads_from_the_control_files_folder(file: Path) -> None:
    assert Diplomacy.located({"map": "my.toml", "sl": 3}, file.parent) == {"map": str(file), "sl": 3}
    assert Diplomacy.located({"map": str(file)}, Path("/elsewhere")) == {"map": str(file)}
    for settings in ({"map": "straits"}, {}, {"map": 3}):
        assert Diplomacy.located(settings, file.parent) == settings
    with pytest.raises(InvalidSettingError, match=r"'~nosuchuser/my\.toml': there is no user of this name"):
        Diplomacy.located({"map": "~nosuchuser/my.toml"}, file.parent)


def test_a_record_has_the_map_within_it_and_is_taken_up_without_the_file(file: Path) -> None:
    judge = Diplomacy.from_settings({"map": str(file)})
    start = judge.start(0)
    moves = [
        PlayedMove(seat, move := judge.read_move(start, seat, "NONE"), judge.move_text(move))
        for seat in (1, 2)
    ]
    record = judge.record(GameRecord("one", "", "", ("a", "b"), moves, None, 0)).encode()
    file.unlink()
    assert names_and_moves(judge, record) == [("one", ["NONE", "NONE"])]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('name = "narrows"', 'name = "standard"', "the name 'standard' is another map's"),
        ('name = "narrows"', 'name = "a b"', "name 'a b': 1 to 40 letters, digits"),
        ('name = "narrows"', "name = 3", "a map: name is 3, and must be a text"),
        ("first_year = 1", 'first_year = "1901"', "first_year is '1901', and must be a whole number"),
        ("first_year = 1", "first_year = true", "must be a whole number"),
        ("first_year = 1", "", "a map needs 'first_year'"),
        ("first_year = 1", "fist_year = 1", "a map: it has no 'fist_year'; there are name, first_year"),
        ("centres_to_win = 5", "centres_to_win = 7", "centres_to_win 7: from 1 to 6"),
        (
            'neutral_centres = "ISL MID"',
            'neutral_centres = "ISL MIX"',
            "neutral_centres: 'MIX' is not a province",
        ),
        ('code = "SOU"', 'code = "NOR"', "powers: two are called 'NOR'"),
        ('code = "SOU"', 'code = "South"', "powers, number 2: the code 'South' must be 2 to 10 capital"),
        ('centres = "SCA SPO"', "centres = 4", "powers, number 2: centres is 4, and must be a text"),
        ('units = "A SCA, F SPO"', 'units = "A SCA, F SCA"', "powers, SOU: 'F SCA': a fleet can't be there"),
        ('units = "A SCA, F SPO"', 'units = "A SCA, A SCA"', "two units in SCA"),
        ("STR = {", "SUP = {", "provinces.SUP: the code 'SUP' is a word of orders"),
        (
            "STR = {",
            'STR = { colour = "red", ',
            "provinces.STR: it has no 'colour'; there are kind, name, mila",
        ),
        ('coasts = ["EC", "WC"]', 'coasts = ["EC", "W"]', "provinces.MID.coasts: 'W' is not one of NC"),
        ('coasts = ["EC", "WC"]', "coasts = [1]", "provinces.MID.coasts: 1 must be a text"),
        ('name = "Strait"', 'name = "-"', "provinces.STR: name: '-' must be a text with a letter"),
        ('"NCA NPO NMO"', '"NCA NPO XXX"', "borders.army, 'NCA NPO XXX': 'XXX' is not a province"),
        ('"NCA NPO NMO"', "7", "borders.army: 7 must be a text"),
        ('name = "narrows"', "name =", "a map is a TOML file.*line"),
    ],
)
def test_a_file_that_is_not_a_map_says_which_entry_breaks_which_rule(
    file: Path, old: str, new: str, why: str
) -> None:
    assert old in OWN
    file.write_text(OWN.replace(old, new, 1))
    with pytest.raises(InvalidSettingError, match=why) as refused:
        Diplomacy.from_settings({"map": str(file)})
    assert str(file) in str(refused.value)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing.toml", "missing.toml' cannot be read: .*No such file"),
        ("straights", "'straights' is not one of 'standard', 'straits', and no file that ends in .toml"),
        (3, "3 is not text"),
    ],
)
def test_a_missing_map_is_reported(name: object, why: str) -> None:
    with pytest.raises(InvalidSettingError, match=why):
        Diplomacy.from_settings({"map": name})


def test_a_file_that_is_not_text_says_so(file: Path) -> None:
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidSettingError, match=r"cannot be read: .*utf-8"):
        Diplomacy.from_settings({"map": str(file)})


@pytest.mark.parametrize("drawing", ["scale = 3", "size = [90, 90]\npoints = 3"])
def test_a_wrong_drawing_is_refused_when_the_map_is_read(file: Path, drawing: str) -> None:
    file.write_text(f"{OWN}\n[drawing]\n{drawing}\n")
    with pytest.raises(InvalidMapError, match=f"{re.escape(str(file))}': drawing"):
        load_map(str(file))
