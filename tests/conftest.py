"""What all tests need before the first begins."""

import pytest
from hypothesis import HealthCheck, settings

from academy.matching.warming import warm_up

# A busy machine is slow, and not wrong.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(scope="session", autouse=True)
def matching_kernel() -> None:
    """Have the kernel compiled, as servers that start in tests would else compile it beside them, slowly."""
    warm_up()
