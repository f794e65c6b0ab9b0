"""What a service says of faults that are not the caller's."""

import errno
import os

import pytest

from arena.service.errors import RunFailedError, to_refusal


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (None, "the disk: No space left on device"),
        ("cup.toml", "cup.toml: No space left on device"),
    ],
)
def test_a_full_disk_is_named_in_words(file: str | None, words: str) -> None:
    refusal = to_refusal(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file))
    assert isinstance(refusal, RunFailedError) and str(refusal) == words
