"""Each parser against its corpus of what once broke it or might, and a little more."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.mutation import mutated
from tests.fuzz.served import SERVED
from tests.fuzz.targets import TARGETS, Target

CORPUS = Path(__file__).parent / "corpus"
ALL = (*TARGETS, SERVED)
KEPT = [(target, path) for target in ALL for path in sorted((CORPUS / target.name).glob("*"))]


@pytest.mark.parametrize("target", ALL, ids=lambda target: target.name)
def test_what_is_well_written_is_read(target: Target) -> None:
    samples = target.samples()
    assert samples
    assert [sample for sample in samples if not target.read(sample)] == []


@pytest.mark.parametrize(("target", "path"), KEPT, ids=lambda value: getattr(value, "name", str(value)))
def test_what_is_kept_is_read_or_refused(target: Target, path: Path) -> None:
    target.read(path.read_bytes())


@pytest.mark.parametrize("target", ALL, ids=lambda target: target.name)
@pytest.mark.threat("bad_input")
def test_whatever_else_comes_is_read_or_refused(target: Target) -> None:
    @settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.deferred(lambda: mutated(target.samples())))
    def reads(data: bytes) -> None:
        target.read(data)

    reads()
