"""The page of a competition of generations draws its families' descent."""

import re
import sys
from pathlib import Path

from tests.arena.control_files import FAMILIES, PROGRAM
from tests.web.conftest import page_of_run


def test_the_page_draws_each_member_with_its_score_and_values_and_lines_from_parents(tmp_path: Path) -> None:
    control = tmp_path / "families.toml"
    control.write_text(
        FAMILIES.replace("PYTHON", sys.executable).replace(
            "generations = 3\nrounds = 3", "generations = 2\nrounds = 1"
        )
    )
    (tmp_path / "child.py").write_text(PROGRAM)
    answer = page_of_run(control)
    # Five that play in each generation, of which two stay, and the panel's one.
    assert "Generations of 9 players in " in answer.text
    (drawing,) = re.findall(r'<svg class="descent".*?</svg>', answer.text, re.DOTALL)
    named = re.findall(r"<title>((?:evolving|learning)-g\d-\d): ([\d.]+) in (\d+) games; (\w+):", drawing)
    # Two families of 3 and 2, of which one each stays.
    assert len(named) == len({name for name, *_ in named}) == 8
    # Five of them play a round of two games in each generation.
    assert sum(int(games) for _, _, games, _ in named) == 5 * 2 * 2
    assert drawing.count('class="parent"') >= 3 + 1
