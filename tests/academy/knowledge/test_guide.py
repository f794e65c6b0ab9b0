"""how-learning-works.md says what is so: its samples are read, its examples run, its tables hold."""

import doctest
import re
from itertools import product
from pathlib import Path

import pytest

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import CODE_LETTERS, LETTER_CODES, Code, State
from academy.knowledge.contests import Result
from academy.knowledge.game import RULES_VERSION
from academy.knowledge.measures import Measures
from academy.knowledge.merging import generalised_cell, specialised_cell
from academy.knowledge.postmortem import endgame_value
from academy.knowledge.settings import LibrarySettings
from academy.knowledge.text import read_cells, read_label, write_cells

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("reference/patterns.md", "explanation/how-learning-works.md")
GUIDE = "\n".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES)
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
GEOMETRIES: dict[str, Geometry] = {
    "square": SquareGeometry(8, 8),
    "hex": HexGeometry(8, 8),
    "graph": GraphGeometry(("PAR", "BUR", "MAR")),
}
SAMPLES = [(kind, text) for kind, text in BLOCKS if kind != "python"]


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that begins with this heading row."""
    table = GUIDE.split(f"\n{heading}\n")[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table]


def letters(cell: str) -> list[str]:
    return re.findall(r"`(.)`", cell)


def test_every_block_is_a_sample_or_an_example() -> None:
    assert {kind for kind, _ in BLOCKS} == {"python", *GEOMETRIES}


@pytest.mark.parametrize(("kind", "text"), SAMPLES)
def test_samples_are_read_and_written_again(kind: str, text: str) -> None:
    cells, label = text.split("<")
    pattern, signature = read_cells(cells, GEOMETRIES[kind]), read_label(f"<{label}")
    assert read_cells(write_cells(pattern, GEOMETRIES[kind]), GEOMETRIES[kind]) == pattern
    assert read_label(str(signature)) == signature


def test_both_ways_to_write_the_hexagonal_sample_are_the_same_pattern() -> None:
    first, second = (
        read_cells(text.split("<")[0], GEOMETRIES[kind]) for kind, text in SAMPLES if kind == "hex"
    )
    assert first == second


def test_the_last_of_the_versions_of_the_rules_is_the_one_that_runs() -> None:
    versions = [int(version) for version, _ in rows("| rules | differences |")]
    assert versions == list(range(1, RULES_VERSION + 1))


def test_examples_do_what_they_show() -> None:
    examples = "\n".join(text for kind, text in BLOCKS if kind == "python")
    test = doctest.DocTestParser().get_doctest(examples, {}, "knowledge.md", "how-learning-works.md", 0)
    output: list[str] = []
    results = doctest.DocTestRunner().run(test, out=output.append)
    assert results.attempted > 10
    assert not results.failed, "".join(output)


def test_the_table_of_letters() -> None:
    listed = [letter for row in rows("| letter | accepts |") for letter in letters(row[0])]
    assert sorted(listed) == sorted(LETTER_CODES)


def test_the_table_of_generalisation_is_complete() -> None:
    *plain, decisive = rows("| pair | becomes |")
    listed = {frozenset(letters(pair)): letters(result)[0] for pair, result in plain}
    first, second = (letters(side) for side in decisive[0].split("with"))
    listed |= {frozenset(pair): letters(decisive[1])[0] for pair in product(first, second)}
    swapped = str.maketrans("xbB1owW2", "owW2xbB1")
    listed |= {
        frozenset("".join(pair).translate(swapped)): result.translate(swapped)
        for pair, result in listed.items()
    }
    for a, b in product(Code, repeat=2):
        result = generalised_cell(a, b, True)
        if a != b:
            pair = frozenset((CODE_LETTERS[a], CODE_LETTERS[b]))
            assert (result and CODE_LETTERS[result]) == listed.get(pair), pair


def test_the_table_of_specialisation_is_complete() -> None:
    listed = {}
    swapped = str.maketrans("xbB1owW2", "owW2xbB1")
    for row in rows("| new | known | becomes | if not decisive |"):
        new, known, decisive, otherwise = (letters(cell)[0] for cell in row)
        for table in (str.maketrans({}), swapped):
            pair = new.translate(table), known.translate(table)
            listed[pair] = decisive.translate(table), otherwise.translate(table)
    for a, b in product(Code, repeat=2):
        if a != b:
            results = [specialised_cell(a, b, is_decisive) for is_decisive in (True, False)]
            shown = tuple(result and CODE_LETTERS[result] for result in results)
            assert shown == listed.get((CODE_LETTERS[a], CODE_LETTERS[b]), (None, None))


def test_the_table_of_results() -> None:
    for result, _, value in rows("| result | value becomes | of 0.81 |"):
        assert endgame_value(0.81, Result(result)) == pytest.approx(float(value))


def test_the_table_of_libraries() -> None:
    capacities = [
        int(row[2].split()[0].replace(",", ""))
        for row in rows("| library | holds | capacity | when full, leaves first what has the least |")
    ]
    defaults = LibrarySettings()
    assert capacities == [
        defaults.opening_capacity,
        defaults.middle_game_capacity,
        defaults.endgame_capacity,
    ]


def test_the_table_of_measures() -> None:
    listed = [name for row in rows("| measure | what it is |") for name in re.findall(r"`(\w+)`", row[0])]
    assert sorted(listed) == sorted(Measures().measures())


def test_boards_are_written_with_the_letters_the_guide_names() -> None:
    (sentence,) = re.findall(r"Boards are written with (.*?) alone", GUIDE)
    assert len(letters(sentence)) == len(State)
