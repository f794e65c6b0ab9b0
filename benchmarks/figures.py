"""Measures everything and writes the figures into docs/archive/performance.md: `make bench`.

Each part's tables stand between two comments of that file; what is written around them stays.
"""

import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks import arguments

DOCUMENT: Final = Path(__file__).parent.parent / "docs" / "archive" / "performance.md"
PLOT: Final = DOCUMENT.parent / "growth.svg"
PARTS: Final = {
    "matching": ("benchmarks.matching",),
    "store": ("benchmarks.store",),
    "advice": ("benchmarks.advice",),
    "openings": ("benchmarks.openings",),
    "server": ("benchmarks.server",),
    "following": ("benchmarks.following",),
    "arena": ("benchmarks.arena",),
    "warlight": ("benchmarks.warlight",),
    "diplomacy": ("benchmarks.diplomacy",),
    "restart": ("benchmarks.restart",),
    "growth": ("research.growth", "--plot", str(PLOT)),
}


def machine() -> str:
    """Name the machine: what the figures are of."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        match = re.search(r"model name\s*:\s*(.+)", information.read_text())
        model = match[1] if match else model
    busy = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores of {model}, {platform.system()}, Python {platform.python_version()}; "
        f"load {busy:.1f} before it began."
    )


def placed(text: str, name: str, figures: str) -> str:
    """Return a document with a part's figures in their place. Raises ValueError where it has none."""
    begin, end = f"<!-- {name}: measured -->\n", f"<!-- {name}: end -->"
    before, opened, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        raise ValueError(f"{name}: the document has no {begin.strip()} and {end} to write between")
    return f"{before}{begin}{figures.strip()}\n{closed}{after}"


def main() -> None:
    """Measure the parts named on the command line, or all."""
    parser = arguments.parser(__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}; all if none")
    parts = parser.parse_args().parts or [*PARTS]
    if unknown := [name for name in parts if name not in PARTS]:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    all_begun, failed = time.monotonic(), []
    for name in parts:
        first = machine()
        print(f"{name}: {first}", flush=True)
        begun = time.monotonic()
        run = subprocess.run(
            [sys.executable, "-m", *PARTS[name]], stdout=subprocess.PIPE, text=True, check=False
        )
        if run.returncode:
            failed.append(name)
            continue
        taken = f"It took {time.monotonic() - begun:.0f} s."
        DOCUMENT.write_text(placed(DOCUMENT.read_text(), name, f"{first} {taken}\n\n{run.stdout}"))
        print(run.stdout, flush=True)
    print(f"All of it took {(time.monotonic() - all_begun) / 60:.1f} minutes.")
    if failed:
        sys.exit(f"not measured, as they failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
