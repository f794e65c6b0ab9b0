"""What the walk of a call counts."""

import sys

from academy.store.codec.field_rules import naming
from benchmarks.walks import Walk


def test_a_generator_that_goes_on_is_not_counted_as_a_call() -> None:
    walk = Walk()
    sys.setprofile(walk)
    try:
        with naming("field"):
            pass
    finally:
        sys.setprofile(None)
    assert [function for _, function in walk.calls] == ["naming"]
