"""Libraries to files and back."""

import os
from pathlib import Path
from typing import Any

import pytest

from academy.store.tokens import Role
from academy.v1 import contests_pb2
from tests.academy.cli.conftest import Academy, run
from tests.academy.service import examples
from tests.academy.service.running import serving


@pytest.fixture
def elsewhere(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Another server that knows the game and nothing of it, and the command line pointed at it."""
    with serving(tmp_path / "elsewhere") as server:
        server.arena().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go("go")))
        server.arena().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.hexagons("hex")))
        token = server.token("admin", Role.ADMIN)
        yield lambda *arguments: run(*arguments, ACADEMY_ADDRESS=str(server.address), ACADEMY_TOKEN=token)


def known(academy: Any) -> tuple[Any, ...]:
    """What a server knows of the game, without the numbers it gives itself."""
    patterns = academy("patterns", "go", "--library", "endgame", "--json").json()["patterns"]
    nodes = academy("openings", "go", "--depth", "0", "--json").json()
    return (
        [(each["cells"], each["signature"], each["strength"], each["uses"]) for each in patterns],
        sorted(
            (node["depth"], node["move"], node["visits"], *node["wins"], *node["draws"]) for node in nodes
        ),
    )


@pytest.mark.parametrize("form", ["text", "binary"])
def test_an_export_can_be_imported_elsewhere(
    academy: Academy, elsewhere: Any, tmp_path: Path, form: str
) -> None:
    file = tmp_path / "go.library"

    assert f"{file}: " in academy("export", "go", "--to", file, "--format", form).out
    done = elsewhere("import", "go", file)

    assert done.exit_code == 0, done.err
    assert "4 patterns and" in done.out and "0 had no room" in done.out
    assert known(elsewhere) == known(academy)


def test_text_is_written_to_standard_output_and_can_be_edited(
    academy: Academy, elsewhere: Any, tmp_path: Path
) -> None:
    text = academy("export", "go", "--library", "endgame").out
    assert text.startswith("% academy text 1\n% game go\n")
    file = tmp_path / "edited.txt"
    file.write_text(text.replace('"ann lee"', '"Ann Lee"'))

    assert elsewhere("import", "go", file, "--replace", "--json").json()["patterns"] == 4
    players = {
        vote["player"]
        for each in elsewhere("patterns", "go", "--library", "endgame", "--json").json()["patterns"]
        for vote in each["votes"]
    }
    assert players == {"ann", "bob", "carl", "Ann Lee"}


def test_a_binary_file_that_is_not_whole_is_refused_wherever_it_was_cut(
    academy: Academy, elsewhere: Any, tmp_path: Path
) -> None:
    file = tmp_path / "go.bin"
    academy("export", "go", "--to", file, "--format", "binary")
    whole = file.read_bytes()
    for length in (0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        said = elsewhere("import", "go", file)
        assert said.exit_code == 1
        assert said.err.startswith(f"academy: {file}: is no export, or not whole")
    assert elsewhere("statistics", "go", "--json").json()["endgame_patterns"] == 0


def test_text_that_cannot_be_read_is_named_by_line_and_column(elsewhere: Any, tmp_path: Path) -> None:
    file = tmp_path / "bad.txt"
    file.write_text(
        "% academy text 1\n% game go\n% library endgame\n% player 1\n% vote ann 1500 2 1\nx\n< 1; 1; 1; 1 >\n"
    )
    said = elsewhere("import", "go", file)
    assert said.exit_code == 1
    assert said.err.startswith("academy: line 5, column ")


def test_text_without_its_first_line_is_told_so(academy: Academy, elsewhere: Any, tmp_path: Path) -> None:
    file = tmp_path / "go.txt"
    file.write_text(academy("export", "go").out.split("\n", 1)[1])
    said = elsewhere("import", "go", file)
    assert said.exit_code == 1
    assert "first line is not '% academy text 1'" in said.err


@pytest.mark.parametrize(
    "content", [b"", b"garbage", b"\xff" * 100, b"\xff" * 9 + b"\x01", b"% academy text 1\n\xff\n"]
)
def test_what_is_no_export_is_refused(elsewhere: Any, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "strange"
    file.write_bytes(content)
    said = elsewhere("import", "go", file)
    assert said.exit_code == 1
    assert str(file) in said.err and len(said.err.splitlines()) == 1


def test_another_games_export_is_refused(academy: Academy, elsewhere: Any, tmp_path: Path) -> None:
    file = tmp_path / "go.bin"
    academy("export", "go", "--to", file, "--format", "binary")
    said = elsewhere("import", "hex", file)
    assert (said.exit_code, "whose board or players differ" in said.err) == (1, True)


def test_files_that_cannot_be_read_or_written(academy: Academy, tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "file"
    assert "cannot be written" in academy("export", "go", "--to", missing).err
    assert "cannot be read" in academy("import", "go", missing).err


def test_an_export_goes_straight_into_what_is_no_regular_file(academy: Academy, tmp_path: Path) -> None:
    text = academy("export", "go").out
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Open for reading and writing, so that neither side waits for the other.
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        said = academy("export", "go", "--to", pipe)
        assert (said.exit_code, said.out) == (0, "")
        assert os.read(reader, 1 << 20).decode() == text
    finally:
        os.close(reader)
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]
    assert academy("export", "go", "--to", "/dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()


def test_an_export_through_a_link_keeps_the_link(academy: Academy, tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    assert academy("export", "go", "--to", link, "--force").exit_code == 0
    assert link.is_symlink() and file.read_text().startswith("% academy text")
    assert set(tmp_path.iterdir()) == {file, link}


def test_an_export_to_a_folder_is_refused(academy: Academy, tmp_path: Path) -> None:
    assert "Is a directory" in academy("export", "go", "--to", tmp_path).err
    assert list(tmp_path.iterdir()) == []


def test_a_failed_export_leaves_the_file_there_was(academy: Academy, tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_text("precious")
    assert academy("export", "chess", "--to", file, "--force").exit_code == 1
    assert file.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [file]


def test_an_export_overwrites_nothing_unless_it_is_asked_to(academy: Academy, tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_text("precious")
    said = academy("export", "go", "--to", file)
    assert (said.exit_code, said.err) == (
        1, f"academy: {file}: is there already; --force overwrites it, another name keeps it\n",
    )  # fmt: skip
    assert file.read_text() == "precious"
    assert academy("export", "go", "--to", file, "--force").exit_code == 0
    assert file.read_text().startswith("% academy text")


@pytest.mark.parametrize("content", [b"\x00", bytes(10), b"\x00rest"], ids=["an end", "zeros", "more"])
def test_a_file_of_ends_alone_is_no_export(elsewhere: Any, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "zeros"
    file.write_bytes(content)
    said = elsewhere("import", "go", file)
    assert said.exit_code == 1 and str(file) in said.err and "export" in said.err


def test_what_follows_the_end_of_an_export_is_refused(
    academy: Academy, elsewhere: Any, tmp_path: Path
) -> None:
    file = tmp_path / "go.bin"
    academy("export", "go", "--to", file, "--format", "binary")
    whole = file.read_bytes()
    file.write_bytes(whole + whole)
    said = elsewhere("import", "go", file)
    assert said.exit_code == 1 and f"more follows its end at byte {len(whole)}" in said.err
