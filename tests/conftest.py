"""What all tests need before the first begins."""

import pytest

from academy.matching.warming import warm_up


@pytest.fixture(scope="session", autouse=True)
def matching_kernel() -> None:
    """Have the kernel compiled, as servers that start in tests would else compile it beside them, slowly."""
    warm_up()
