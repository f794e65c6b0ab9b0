"""Every risk of the threat model has tests that show its defence, and every mark names a risk."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODEL = (ROOT / "docs" / "explanation" / "threat-model.md").read_text()
RISKS = set(re.findall(r"^\| `(\w+)`:", MODEL, re.MULTILINE))


def marks(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names in a test's marks `pytest.mark.threat("name")`."""
    return {
        ast.literal_eval(call.args[0])
        for call in node.decorator_list
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "threat"
    }


def test_every_risk_has_marked_tests_and_every_mark_a_risk() -> None:
    marked = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        if ".threat(" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for name in marks(node)
    }
    assert len(RISKS) == 11
    assert marked == RISKS
