"""Fuzz the parsers for long.

    python -m tests.fuzz [--seconds 600] [TARGET ...]

The targets take turns. What breaks one is made as small as hypothesis can, kept in `corpus/TARGET/`, and
reported; the others go on. Ends with 1 where something broke.
"""

import hashlib
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from benchmarks import arguments
from tests.fuzz.mutation import mutated
from tests.fuzz.served import SERVED
from tests.fuzz.targets import TARGETS, Target

CORPUS = Path(__file__).parent / "corpus"
EXAMPLES_A_TURN = 300


def turn(target: Target, number: int) -> bytes | None:
    """Try some hundred examples; return the smallest that breaks the target, None where none does."""
    last = b""

    @seed(number)
    @settings(
        max_examples=EXAMPLES_A_TURN,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(mutated(target.samples()))
    def reads(data: bytes) -> None:
        nonlocal last
        last = data
        target.read(data)

    try:
        reads()
    except Exception:
        # Hypothesis tries the smallest one last.
        traceback.print_exc()
        return last
    return None


def main() -> int:
    """Run from the command line."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    every = (*TARGETS, SERVED)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    unknown = set(options.targets) - {target.name for target in every}
    if unknown:
        known = ", ".join(target.name for target in every)
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {known}")
    chosen = [target for target in every if not options.targets or target.name in options.targets]
    end = time.monotonic() + options.seconds
    number = int(time.time())
    tried: Counter[str] = Counter()
    broken: set[str] = set()
    while time.monotonic() < end and len(broken) < len(chosen):
        number += 1
        for target in chosen:
            if target.name in broken:
                continue
            input_found = turn(target, number)
            tried[target.name] += EXAMPLES_A_TURN
            if input_found is not None:
                broken.add(target.name)
                kept = CORPUS / target.name / hashlib.sha256(input_found).hexdigest()[:16]
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(input_found)
                print(f"BROKEN {target.name}: {input_found[:80]!r}, kept as {kept}", flush=True)
    for name, count in tried.items():
        print(f"{'BROKEN' if name in broken else 'sound '} {name:16} {count:9,} examples")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
