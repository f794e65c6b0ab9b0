"""The text language: LUDAE's samples as printed there, and everything else in and out again."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import CODE_LETTERS
from academy.knowledge.patterns import MAX_PATTERN_CELLS, InvalidPatternError
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import PatternSyntaxError, read_cells, read_label, write_cells
from academy.knowledge.votes import Signature

from . import strategies
from .games import MAP

SQUARE, HEX = SquareGeometry(8, 8), HexGeometry(8, 8)
SEED_SQUARE = "\n# - x b\n# - o -\n- x - w\n\n\n"
SEED_HEXAGONAL = "\n- w\n# - o\n# - x #\n- o -\n- -\n\n"


def letters(text: str, geometry: Geometry) -> dict[tuple[int, int], str]:
    pattern = read_cells(text, geometry)
    return {cell: CODE_LETTERS[code] for cell, code in zip(pattern.cells, pattern.codes, strict=True)}


# LUDAE's two samples


def test_the_seeds_square_sample() -> None:
    pattern = read_cells(SEED_SQUARE, SQUARE)
    assert (pattern.rows, pattern.columns) == (3, 4)
    assert "".join(CODE_LETTERS[code] for code in pattern.codes) == "#-xb#-o--x-w"
    assert write_cells(pattern, SQUARE) == "# - x b\n# - o -\n- x - w"


def test_the_seeds_hexagonal_sample() -> None:
    pattern = read_cells(SEED_HEXAGONAL, HEX)
    assert write_cells(pattern, HEX) == "  - w\n # - o\n# - x #\n - o -\n  - -"


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        ("< 3; 165; 0.78; 2 >\N{NO-BREAK SPACE}\n", Signature(3, 165, 0.78, 2)),
        ("< 1; 700; 0.12; 1 >\N{NO-BREAK SPACE}\n", Signature(1, 700, 0.12, 1)),
    ],
)
def test_the_seeds_labels(text: str, signature: Signature) -> None:
    assert read_label(text) == signature
    assert str(signature) == text.strip()


def test_what_touches_what_in_the_seeds_hexagonal_sample() -> None:
    sample = letters("- w\n# - o\n# - x #\n- o -\n- -", HEX)
    (row, column) = next(cell for cell, letter in sample.items() if letter == "x")
    around = [(0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0)]
    # Left, right; above left, above right; below left, below right of the middle row's `x`.
    assert [sample[row + down, column + right] for down, right in around] == ["-", "#", "-", "o", "o", "-"]


# Both ways


@given(st.data(), strategies.games)
def test_what_is_written_is_read_as_the_same(data: st.DataObject, spec: GameSpec) -> None:
    pattern = data.draw(strategies.patterns(spec.geometry))
    for image in spec.images(pattern):
        assert read_cells(write_cells(image, spec.geometry), spec.geometry) == image


@given(
    proposers=st.integers(1, 10**6),
    elo=st.integers(-10_000_000, 10_000_000),
    value=st.integers(0, 1_000_000),
    player=st.integers(1, 64),
)
# ACADEMY writes this value as 1e-06.
@example(proposers=1, elo=1, value=1, player=1)
def test_a_label_is_read_as_it_was_written(proposers: int, elo: int, value: int, player: int) -> None:
    signature = Signature(proposers, elo / 100, value / 1_000_000, player)
    assert read_label(str(signature)) == signature


def test_blanks_in_a_label_do_not_matter() -> None:
    assert read_label("<2;-3.5;1;2>") == read_label("  < 2 ; -3.5 ;1; 2 >\n") == Signature(2, -3.5, 1, 2)


def test_blanks_in_a_square_pattern_do_not_matter() -> None:
    assert read_cells("x-o\n\n w b # ", SQUARE) == read_cells(" x - o\n\tw\tb\t#", SQUARE)


def test_nodes_of_a_graph_in_any_order() -> None:
    assert isinstance(MAP.geometry, GraphGeometry)
    pattern = read_cells("# iles-d'or\n  x   PAR ", MAP.geometry)
    assert pattern == read_cells("x PAR\n# iles-d'or", MAP.geometry)
    assert write_cells(pattern, MAP.geometry) == "x PAR\n# iles-d'or"


# Hexagonal rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Each row half a cell further to the right: (0,0) touches (1,0) and not (1,1).
        ("x o\n - b", {(0, 0): "x", (0, 1): "o", (1, 0): "-", (1, 1): "b"}),
        # To the left instead.
        (" x o\n- b", {(0, 1): "x", (0, 2): "o", (1, 0): "-", (1, 1): "b"}),
        # Centred by indents or without.
        (" x\n- o", {(0, 1): "x", (1, 0): "-", (1, 1): "o"}),
        ("x\n- o", {(0, 1): "x", (1, 0): "-", (1, 1): "o"}),
        ("   x\n   - o", {(0, 1): "x", (1, 0): "-", (1, 1): "o"}),
        # A ring around nothing.
        (" x o\n-   -\n o x", {(0, 1): "x", (0, 2): "o", (1, 0): "-", (1, 2): "-", (2, 0): "o", (2, 1): "x"}),
        ("x", {(0, 0): "x"}),
        ("x o -", {(0, 0): "x", (0, 1): "o", (0, 2): "-"}),
    ],
)
def test_rows_of_hexagons(text: str, expected: dict[tuple[int, int], str]) -> None:
    assert letters(text, HEX) == expected


def test_one_row_is_not_centred_below_another_by_chance() -> None:
    """Two rows as long, indented: which way they lean is in the indent, never guessed."""
    assert read_cells("- x\n - o", HEX) != read_cells(" - x\n- o", HEX)
    with pytest.raises(PatternSyntaxError, match="indent the rows"):
        read_cells("- x\n- o", HEX)


# Errors


@pytest.mark.parametrize(
    ("geometry", "text", "line", "column", "message"),
    [
        (SQUARE, "x -\nx ?", 2, 3, "letter '?' is none of - x b B 1 o w W 2 + #"),
        (SQUARE, "\n\n x X", 3, 4, "letter 'X'"),
        (SQUARE, "- -\n- - x", 2, 5, "a row of 3 cells below rows of 2"),
        (SQUARE, "- -\nx", 2, 1, "a row of 1 cells below rows of 2"),
        (SQUARE, "", 1, 1, "no cells"),
        (SQUARE, "\n# +\n+ +", 2, 1, "other than '#' and '+'"),
        (SQUARE, "\n" + "x" * (MAX_PATTERN_CELLS + 1), 2, 1, "at most 441 cells"),
        (HEX, "x -\n ! -", 2, 2, "letter '!'"),
        (HEX, "x -\n\t- -", 2, 1, "letter '\\t'"),
        (HEX, "x-", 1, 2, "a blank between them"),
        (HEX, "x -\n  -", 2, 3, "this cell is not half a cell beside the row above"),
        (HEX, "- -\n- -", 2, 1, "2 cells centred below 2"),
        (HEX, "x   o", 1, 1, "in all three directions"),
        # Its 1st and 2nd row are there, but not the diagonal between its cells.
        (HEX, "x\n   o", 1, 1, "in all three directions"),
        (MAP.geometry, "x PAR\nx LON", 2, 3, "no node 'LON' on this board"),
        (MAP.geometry, "x PAR\n  ? BUR", 2, 3, "letter '?'"),
        (MAP.geometry, "x", 1, 1, "not a letter and the name of a node"),
        (MAP.geometry, "x PAR BUR", 1, 1, "not a letter and the name of a node"),
        (MAP.geometry, "xx PAR", 1, 1, "not a letter and the name of a node"),
        (MAP.geometry, "x PAR\no PAR", 1, 1, "same cell twice"),
    ],
)
def test_errors_name_line_column_and_what_is_wrong(
    geometry: Geometry, text: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(PatternSyntaxError, match=re.escape(message)) as refused:
        read_cells(text, geometry)
    assert (refused.value.line, refused.value.column) == (line, column)
    assert str(refused.value).startswith(f"line {line}, column {column}: ")
    assert isinstance(refused.value, InvalidPatternError)


@pytest.mark.parametrize(
    ("label", "column", "message"),
    [
        ("< 1; 2; 0.5 >", 1, "is not a label"),
        ("< 1; 2; 0.5; 1", 1, "is not a label"),
        ("< 1; 2; 0.5; 1; 1 >", 1, "is not a label"),
        ("< one; 2; 0.5; 1 >", 3, "proposers 'one' is not a number"),
        ("< 1.5; 2; 0.5; 1 >", 3, "proposers '1.5'"),
        ("< 1; nan; 0.5; 1 >", 6, "elo 'nan'"),
        (" < 1; 2; inf; 1 >", 10, "value 'inf'"),
        ("< 1; 2; 0.5; >", 14, "player ''"),
        ("< 0; 2; 0.5; 1 >", 1, "at least 1"),
        ("< 1; 2; 0.5; 0 >", 1, "at least 1"),
        ("< 1; 2; 1.01; 1 >", 1, "value in [0, 1]"),
        ("< 1; 2; -0.01; 1 >", 1, "value in [0, 1]"),
        ("< 1; 100001; 0.5; 1 >", 1, "Elo is from -100000 to 100000"),
        (f"< {'9' * 400}; 2; 0.5; 1 >", 3, "is not a number"),
        (f"< 1; 2; 0.5; {'9' * 5000} >", 14, "is not a number"),
        ("< 1_0; 2; 0.5; 1 >", 3, "proposers '1_0'"),
        (f"< 1; 2; 0.5; {'9' * 20} >", 14, "player '99999999999999999999'"),
        ("< 1; 1e-99999999; 0.5; 1 >", 6, "elo '1e-99999999'"),
        ("< 1; 2; 1_0.5; 1 >", 9, "value '1_0.5'"),
        (f"<{' ' * 20_000}x", 1, "is not a label"),
    ],
)
def test_errors_in_a_label(label: str, column: int, message: str) -> None:
    with pytest.raises(PatternSyntaxError, match=re.escape(message)) as refused:
        read_label(label, 3)
    assert (refused.value.line, refused.value.column) == (3, column)
