"""The programs as a user has them: those beside this Python come first on the PATH.

Servers match with the kernel that needs no second to load, as `tests/conftest.py` has it.
"""

import os
import sys
from pathlib import Path

BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "ACADEMY_MATCHING_KERNEL": "numpy"}
