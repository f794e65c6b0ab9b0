"""Time that is counted in work of processors."""

import subprocess
import sys
import time

import pytest

from research.learning.classroom import ProcessorClock

WORKING = """
import time
print(flush=True)
input()
end = time.process_time() + 0.2
while time.process_time() < end:
    pass
print(flush=True)
input()
"""


def test_the_processor_clock_counts_the_work_of_both_processes() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as answering:
        assert answering.stdin is not None and answering.stdout is not None
        answering.stdout.readline()
        clock = ProcessorClock(answering.pid)
        own, before = time.process_time(), clock()
        answering.stdin.write("\n")
        answering.stdin.flush()
        answering.stdout.readline()
        worked = clock() - before - (time.process_time() - own)
        assert worked > 0.19
        while time.process_time() - own < 0.1:
            pass
        assert clock() - before >= 0.09 + worked
        answering.stdin.write("\n")
        answering.stdin.close()


def test_a_process_that_is_gone_has_no_clock() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
        with pytest.raises(OSError, match=f"process {gone.pid}"):
            ProcessorClock(gone.pid)
