"""Programs run in processes of their own."""

import subprocess
import sys
import textwrap


def start_python(program: str, *arguments: str) -> "subprocess.Popen[str]":
    """Start a Python program; its output can be read line by line."""
    return subprocess.Popen(
        [sys.executable, "-u", "-c", textwrap.dedent(program), *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )


def run_python(program: str, *arguments: str) -> str:
    """Run a Python program to its end and return what it printed; it must succeed."""
    process = start_python(program, *arguments)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    return output
