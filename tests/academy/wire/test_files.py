"""Files are written whole or stay as they were."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from academy.wire.files import write_whole
from tests.waiting import until


def test_private_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("an old one")
    file.chmod(0o644)
    write_whole(file, [b"sec", b"ret"], private=True)
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("secret", 0o600)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("private", [False, True])
def test_a_pipe_is_not_replaced(tmp_path: Path, private: bool) -> None:
    pipe = tmp_path / "token"
    os.mkfifo(pipe, 0o600)
    # Open for reading and writing, so that neither side waits for the other.
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        write_whole(pipe, [b"secret"], private=private)
        assert os.read(reader, 100) == b"secret"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize("private", [False, True])
def test_a_secret_is_not_written_where_a_link_leads(tmp_path: Path, private: bool) -> None:
    file, link = tmp_path / "elsewhere", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    write_whole(link, [b"new"], private=private)
    assert (link.read_text(), file.read_text()) == ("new", "old" if private else "new")
    assert link.is_symlink() is not private
    assert set(tmp_path.iterdir()) == {file, link}


@pytest.mark.parametrize("private", [False, True])
def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path, private: bool) -> None:
    file = tmp_path / "export"
    file.write_text("old")

    def break_off() -> Iterator[bytes]:
        yield b"new"
        raise OSError("no answer")

    with pytest.raises(OSError, match="no answer"):
        write_whole(file, break_off(), private=private)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_of_two_writers_at_once_each_puts_its_whole_file_in_place(tmp_path: Path) -> None:
    file = tmp_path / "export"
    half_written, first_ended = Event(), Event()

    def second() -> Iterator[bytes]:
        yield b"sec"
        half_written.set()
        assert first_ended.wait(20)
        yield b"ond"

    with ThreadPoolExecutor() as pool:

        def first() -> Iterator[bytes]:
            yield b"fir"
            other.append(pool.submit(write_whole, file, second()))
            assert half_written.wait(20)
            yield b"st"

        other: list[Future[None]] = []
        try:
            write_whole(file, first())
            assert file.read_bytes() == b"first"
        finally:
            first_ended.set()
        other[0].result()
    assert file.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("private", [False, True])
def test_a_file_of_the_users_beside_it_stays(tmp_path: Path, private: bool) -> None:
    file, other = tmp_path / "secret", tmp_path / "secret.new"
    other.write_text("the user's")
    other.chmod(0o644)
    write_whole(file, [b"new"], private=private)
    assert (file.read_text(), other.read_text()) == ("new", "the user's")
    assert set(tmp_path.iterdir()) == {file, other}


def test_what_a_killed_writer_left_goes_after_a_day(tmp_path: Path) -> None:
    file, long = tmp_path / "export", tmp_path / ("ü" * 120)
    write = "import sys, time\nfrom pathlib import Path\nfrom academy.wire.files import write_whole\n"
    write += "write_whole(Path(sys.argv[1]), (time.sleep(9) or b'' if at else b'half' for at in range(2)))"
    with subprocess.Popen([sys.executable, "-c", write, file]) as killed:
        until(lambda: [*tmp_path.iterdir()], killed)
        killed.kill()
    left = [*tmp_path.iterdir()]
    write_whole(file, [b"new"])
    assert {*tmp_path.iterdir()} == {file, *left}
    os.utime(left[0], (0, 0))
    write_whole(long, [b"another file"])
    assert {*tmp_path.iterdir()} == {file, long, *left}
    write_whole(file, [b"new"])
    assert {*tmp_path.iterdir()} == {file, long}


def test_a_file_that_cannot_be_written_is_named_and_not_its_draft(tmp_path: Path) -> None:
    file = tmp_path / "missing" / "export"
    with pytest.raises(FileNotFoundError) as refused:
        write_whole(file, [b"new"])
    assert (refused.value.filename, refused.value.filename2) == (str(file), None)
