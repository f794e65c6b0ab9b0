"""LUDAE's two tables, row by row, and which of them a pair of patterns comes under."""

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.knowledge.cells import CODE_LETTERS, LETTER_CODES
from academy.knowledge.merging import cell_rule, decisive, generalised_cell, merge_cells, specialised_cell
from academy.knowledge.votes import Vote

from .games import cells, tally_of

# New or known, the other, what they become; `None` blocks the merge. First the rows as printed in
# LUDAE, then the same with the colours exchanged.
GENERALISATION = [
    ("x", "b", "B"), ("x", "B", "B"),
    ("b", "B", "B"),
    ("-", "x", "1"), ("-", "b", "1"), ("-", "B", "1"),
    ("o", "w", "W"), ("o", "W", "W"),
    ("w", "W", "W"),
    ("-", "o", "2"), ("-", "w", "2"), ("-", "W", "2"),
]  # fmt: skip
GENERALISATION_IF_DECISIVE = [
    ("x", "o", "#"), ("x", "w", "#"), ("x", "W", "#"),
    ("b", "o", "#"), ("b", "w", "#"), ("b", "W", "#"),
    ("B", "o", "#"), ("B", "w", "#"), ("B", "W", "#"),
]  # fmt: skip
SPECIALISATION = [
    ("x", "B", "x"),
    ("b", "B", "b"),
    ("x", "1", "B"), ("b", "1", "B"), ("B", "1", "B"),
    ("o", "W", "o"),
    ("w", "W", "w"),
    ("o", "2", "W"), ("w", "2", "W"), ("W", "2", "W"),
]  # fmt: skip
SPECIALISATION_IF_DECISIVE = [
    ("x", "#", "#"), ("b", "#", "#"), ("B", "#", "#"),
    ("o", "#", "#"), ("w", "#", "#"), ("W", "#", "#"),
]  # fmt: skip
SPECIALISATION_OTHERWISE = [
    ("x", "#", "B"), ("b", "#", "B"),
    ("B", "#", "1"),
    ("o", "#", "W"), ("w", "#", "W"),
    ("W", "#", "2"),
]  # fmt: skip

CellRule = Callable[[int, int, bool], int | None]
EVERY_PAIR = [(a, b) for a, b in product(LETTER_CODES, repeat=2) if a != b]


def letter(code: int | None) -> str | None:
    return None if code is None else CODE_LETTERS[code]


def table(*rows: list[tuple[str, str, str]]) -> dict[tuple[str, str], str]:
    return {(a, b): result for row in rows for a, b, result in row}


def unordered(rows: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    return rows | {(b, a): result for (a, b), result in rows.items()}


def of_every_pair(rule: CellRule, is_decisive: bool) -> dict[tuple[str, str], str]:
    """What a rule makes of each two letters that it does not keep apart."""
    made = {(a, b): letter(rule(LETTER_CODES[a], LETTER_CODES[b], is_decisive)) for a, b in EVERY_PAIR}
    return {pair: result for pair, result in made.items() if result is not None}


@pytest.mark.parametrize("is_decisive", [True, False])
def test_generalisation_cell_by_cell(is_decisive: bool) -> None:
    rows = table(GENERALISATION, GENERALISATION_IF_DECISIVE if is_decisive else [])
    assert of_every_pair(generalised_cell, is_decisive) == unordered(rows)


@pytest.mark.parametrize("is_decisive", [True, False])
def test_specialisation_cell_by_cell(is_decisive: bool) -> None:
    rows = table(SPECIALISATION, SPECIALISATION_IF_DECISIVE if is_decisive else SPECIALISATION_OTHERWISE)
    assert of_every_pair(specialised_cell, is_decisive) == rows


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (0.67, 0.661, True),
        (0.67, 0.66, False),
        (0.66, 0.66, False),
        (0.32, 0.1, True),
        (0.33, 0.1, False),
        (0.9, 0.1, False),
        (0.5, 0.5, False),
        (1.0, 1.0, True),
        (0.0, 0.0, True),
    ],
)
def test_decisive_is_both_above_066_or_both_below_033(first: float, second: float, expected: bool) -> None:
    assert decisive(first, second) is expected
    assert decisive(second, first) is expected


@pytest.mark.parametrize("known", [165.0, 165.13, 0.0, -350.5, 2000.07])
@pytest.mark.parametrize(
    ("above", "rule"),
    [
        (200.01, specialised_cell),
        (200.0, None),
        (199.99, generalised_cell),
        (0.0, generalised_cell),
        (-199.99, generalised_cell),
        (-200.0, None),
        (-200.01, None),
        (-1000.0, None),
    ],
)
def test_the_elo_bands_are_strict_on_both_sides(known: float, above: float, rule: object) -> None:
    assert cell_rule(Vote.of("new", known + above, 0.5, 2), tally_of((known, 0.5))) is rule


@given(st.integers(-10_000_000, 9_980_000))
def test_difference_of_exactly_200_never_merges_despite_floats(elo_hundredths: int) -> None:
    higher, lower = (elo_hundredths + 20_000) / 100, elo_hundredths / 100
    assert cell_rule(Vote.of("new", higher, 0.5, 2), tally_of((lower, 0.5))) is None
    assert cell_rule(Vote.of("new", lower, 0.5, 2), tally_of((higher, 0.5))) is None


def test_the_known_elo_is_the_mean_of_its_votes_unrounded() -> None:
    known = tally_of((100.0, 0.5), (100.0, 0.5), (100.01, 0.5))  # mean 100.00333...
    assert cell_rule(Vote.of("new", 300.0, 0.5, 9), known) is generalised_cell
    assert cell_rule(Vote.of("new", 300.01, 0.5, 9), known) is specialised_cell


@pytest.mark.parametrize(
    ("new", "known", "rule", "expected"),
    [
        ("x - o", "b - o", generalised_cell, "B - o"),
        ("x - o", "b o o", generalised_cell, "B 2 o"),
        ("x - 1", "x - x", generalised_cell, None),
        ("x - o", "B - o", specialised_cell, "x - o"),
        ("- o", "x o", generalised_cell, "1 o"),
        # Nothing would be left but what is almost everywhere.
        ("- 1", "x 1", generalised_cell, None),
        ("- # / + 2", "o # / + 2", generalised_cell, None),
        ("- # / + -", "o # / + -", generalised_cell, "2 # / + -"),
    ],
)
def test_whole_patterns(new: str, known: str, rule: CellRule, expected: str | None) -> None:
    fresh, old = cells(new), cells(known)
    differing = [place for place in range(len(fresh.codes)) if fresh.codes[place] != old.codes[place]]
    result = merge_cells(fresh, old.codes, differing, rule, is_decisive=False)
    assert result == (None if expected is None else cells(expected))
