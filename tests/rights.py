"""Commands that obey the permissions of files, also where root runs the tests."""

import os
import shutil

import pytest


def obeying(*command: str) -> list[str]:
    """The command, without root's right to read and write everything; skips the test where it cannot be."""
    if os.geteuid() != 0:
        return [*command]
    if shutil.which("setpriv") is None:
        pytest.skip("as root this needs the setpriv command")
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *command]
