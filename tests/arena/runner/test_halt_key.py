"""Ctrl-X: noticed at a terminal, in the foreground, without leaving the terminal changed."""

import subprocess
import sys

from tests.terminals import Terminal

WATCH = """
import sys, time
from arena.runner.halt_key import HaltKey
with HaltKey() as key:
    print("available:", key.available, flush=True)
    while not key.pressed():
        time.sleep(0.01)
    print("noticed, and again:", key.pressed(), flush=True)
"""
BACKGROUND = """
import os, sys
from arena.runner.halt_key import HaltKey
if os.fork() == 0:
    os.setpgid(0, 0)
    with HaltKey() as key:
        print("in the background:", key.available, key.pressed(), flush=True)
    os._exit(0)
os.wait()
"""
NO_TERMINAL = """
from arena.runner.halt_key import HaltKey
with HaltKey() as key:
    print(key.available, key.pressed())
"""


def test_ctrl_x_is_noticed_once_and_other_keys_are_not() -> None:
    with Terminal([sys.executable, "-c", WATCH]) as terminal:
        terminal.until(lambda shown: "available: True" in shown)
        terminal.press(b"x\r\nX^")
        terminal.press(b"ab\x18c")
        assert terminal.wait() == 0
        assert "noticed, and again: False" in terminal.shown()
        assert terminal.modes == terminal.modes_at_first


def test_the_terminal_belongs_to_the_foreground() -> None:
    with Terminal([sys.executable, "-c", BACKGROUND]) as terminal:
        assert terminal.wait() == 0
        assert "in the background: False False" in terminal.shown()


def test_without_a_terminal_nothing_is_noticed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_TERMINAL],
        start_new_session=True,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert (done.stdout, done.stderr) == ("False False\n", "")
