"""Memory that was used once is not mapped anew by whoever uses as much of it next."""

import subprocess
import sys

import pytest

ROUNDS = 20
ARRAYS = 3
ARRAY_BYTES = 3_000_000
PAGE_BYTES = 4_096
USE = f"""
import resource
import numpy as np
from academy.matching.freed_memory import keep_freed_memory

def use():
    for array in [np.empty({ARRAY_BYTES}, dtype=np.uint8) for _ in range({ARRAYS})]:
        array[:] = 1

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

keep_freed_memory()
use()
before = faults()
for _ in range({ROUNDS}):
    use()
print(faults() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what is set is glibc's, on Linux")
def test_used_memory_is_mapped_once() -> None:
    run = subprocess.run([sys.executable, "-c", USE], check=True, capture_output=True, text=True)
    once = ARRAYS * ARRAY_BYTES // PAGE_BYTES
    assert int(run.stdout) < once
