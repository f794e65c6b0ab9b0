"""What all tests need before the first begins."""

import os

from hypothesis import HealthCheck, settings

from academy.matching.warming import warm_up

# Where Debian has its games, such as GNU Go; the superuser's path lacks it.
os.environ["PATH"] += ":/usr/games"

# A busy machine is slow, and not wrong.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_sessionstart() -> None:
    """Have the kernel compiled, as servers that start in tests would else compile it beside them, slowly.

    Here, and not in a fixture, no test's limit of time counts for it; and where several processes share the
    tests, the one that starts them does it once.
    """
    warm_up()
