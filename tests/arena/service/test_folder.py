import resource
from functools import partial
from pathlib import Path

import pytest

from arena.control.settings import ControlError
from arena.lobby.errors import InvalidRequestError
from arena.service.errors import CompetitionConflictError, InvalidControlFileError, UnknownCompetitionError
from arena.service.folder import CompetitionFolder
from tests.arena.control_files import RANDOM, write_control


@pytest.fixture
def text(tmp_path: Path) -> str:
    other = tmp_path / "other"
    other.mkdir()
    return write_control(other, {"one": RANDOM, "two": RANDOM}).read_text()


def test_names_are_paths_without_suffix(tmp_path: Path) -> None:
    for name in ("cup.toml", "autumn/cup.toml", "old.ctl", ".hidden.toml", "cup.results.sqlite", "a b.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    folder = CompetitionFolder(tmp_path)
    assert folder.names() == ["autumn/cup", "cup"]
    assert folder.left_out() == ["a b.toml"]


def test_a_ringmasters_file_is_a_program_that_is_not_executed(tmp_path: Path) -> None:
    program = "competition_type = 'playoff'\nopen('touched', 'w').close()\n"
    (tmp_path / "old.ctl").write_text(program)
    folder = CompetitionFolder(tmp_path)
    for attempt in (partial(folder.control_file, "old"), partial(folder.add, "new", program)):
        with pytest.raises(
            InvalidControlFileError,
            match=r"a program in Python that a service does not execute; run it with",
        ):
            attempt()
    assert [path.name for path in tmp_path.iterdir()] == ["old.ctl"]


@pytest.mark.parametrize("name", ["../cup", "/etc/passwd", "cup.toml", "", "a//b", "x" * 65, "a\nb", "-rf"])
def test_names_cannot_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "cup.toml").touch()
    with pytest.raises(InvalidRequestError):
        CompetitionFolder(inner).control_file(name)


def test_a_link_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "cup.toml").touch()
    (inner / "cup.toml").symlink_to(tmp_path / "cup.toml")
    with pytest.raises(UnknownCompetitionError):
        CompetitionFolder(inner).control_file("cup")


def test_a_new_control_file_is_kept_and_may_be_sent_again(tmp_path: Path, text: str) -> None:
    folder = CompetitionFolder(tmp_path)
    path = folder.add("spring/cup", text)
    assert path == folder.control_file("spring/cup") == folder.add("spring/cup", text)
    with pytest.raises(CompetitionConflictError):
        folder.add("spring/cup", text + "\n")
    assert path.read_text() == text


def test_an_invalid_control_file_leaves_nothing_behind(tmp_path: Path, text: str) -> None:
    with pytest.raises(ControlError, match="board_size"):
        CompetitionFolder(tmp_path).add("cup", text.replace("board_size = 5", "board_size = 5000"))
    assert CompetitionFolder(tmp_path).names() == ["other/contest"]


def test_a_control_file_for_which_the_disk_has_no_room_may_be_sent_again(tmp_path: Path, text: str) -> None:
    folder, (soft, hard) = CompetitionFolder(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            folder.add("cup", text)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert folder.names() == ["other/contest"]
    assert folder.add("cup", text).read_text() == text


def test_beside_the_one_control_file_that_is_served_no_other_is_written(tmp_path: Path, text: str) -> None:
    (tmp_path / "only.toml").write_text(text)
    folder = CompetitionFolder(tmp_path / "only.toml")
    assert folder.add("only", text) == folder.control_file("only")
    for attempt in (folder.control_file, partial(folder.add, text=text)):
        with pytest.raises(UnknownCompetitionError, match="there is no competition 'sub/other'"):
            attempt("sub/other")
    assert not (tmp_path / "sub").exists()


@pytest.mark.parametrize("name", ["cup.2026", "my cup", "-cup<b>%2F"])
def test_the_one_control_file_that_is_served_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.toml"
    path.touch()
    folder = CompetitionFolder(path)
    assert folder.names() == [name]
    assert folder.control_file(name) == path
