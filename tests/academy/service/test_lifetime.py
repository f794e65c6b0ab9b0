"""Files for one pair of eyes."""

import os
from pathlib import Path

from academy.service.workers import write_private


def test_private_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("an old one")
    file.chmod(0o644)
    write_private(file, "secret")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("secret", 0o600)
    assert list(tmp_path.iterdir()) == [file]


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "token"
    os.mkfifo(pipe, 0o600)
    # Open for reading and writing, so that neither side waits for the other.
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        write_private(pipe, "secret")
        assert os.read(reader, 100) == b"secret"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
