"""Every risk of the threat model has tests that show its defence, and every mark names a risk."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODEL = (ROOT / "docs" / "explanation" / "threat-model.md").read_text()
RISKS = set(re.findall(r"^\| `(\w+)`:", MODEL, re.MULTILINE))
# To parse all tests would take a hundred times as long.
MARK = re.compile(r'pytest\.mark\.threat\("(\w+)"\)')


def test_every_risk_has_marked_tests_and_every_mark_a_risk() -> None:
    marked = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in MARK.findall(path.read_text(encoding="utf-8"))
    }
    assert len(RISKS) == 11
    assert marked == RISKS
