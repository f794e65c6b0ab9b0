"""The example of docs/how-to/diplomacy-agents.md runs and prints what the page says."""

import re
from pathlib import Path

import pytest

GUIDE = (Path(__file__).parents[4] / "docs" / "how-to" / "diplomacy-agents.md").read_text("utf-8")


def test_the_example_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"<!-- The tests run this code. -->\n```python\n(.*?)```", GUIDE, re.DOTALL)
    exec(compile(example, "docs/how-to/diplomacy-agents.md", "exec"), {})
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert f"It begins with `{first}` and `{second}`." in GUIDE
