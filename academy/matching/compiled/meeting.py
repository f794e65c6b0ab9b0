"""Rows met with the tables of banks: the innermost loops of a query.

Every row is met first with eight tests at once; only rows for which a candidate is left are met with the next
four, by lists that are written without a branch.
"""

from typing import Final

from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.table import Numbers, U, Words
from academy.matching.compiled.vectors import keep, meet, meet_two
from academy.matching.rows import STAGE, Rows

_DENSE_STAGES: Final = 3


@compiled
def met_rows(
    table: Words,
    mended: Words | None,
    members: Numbers,
    rows: Rows,
    unit_rows: Numbers,
    bits: Words,
    nearly: Words,
    first: int,
) -> int:
    """Write, from unit `first` on, the rows that some candidate of a bank passes; return the end."""
    starts, stages, tests = rows.starts, rows.stages, rows.tests
    end = first
    for place in range(U(len(members))):
        row = U(members[place])
        unit_rows[end] = row
        start = U(starts[row])
        # The first stage of all holds always.
        second = start + U(STAGE) if stages[row] > 1 else U(0)
        end += meet(table, mended, tests, start, second, bits, nearly, end)
    return _kept(table, mended, rows, unit_rows, bits, nearly, first, first, end)


@compiled
def met_by_two(
    table: Words,
    next_table: Words,
    members: Numbers,
    rows: Rows,
    unit_rows: Numbers,
    bits: Words,
    first: int,
) -> tuple[int, int]:
    """As `met_rows` for two banks, one behind the other, in less time; return the end of each."""
    starts, stages, tests = rows.starts, rows.stages, rows.tests
    next_first = first + U(len(members))
    end, next_end = first, next_first
    for place in range(U(len(members))):
        row = U(members[place])
        unit_rows[end], unit_rows[next_end] = row, row
        start = U(starts[row])
        second = start + U(STAGE) if stages[row] > 1 else U(0)
        some = meet_two(table, next_table, tests, start, second, bits, end, next_end)
        end += some & U(1)
        next_end += some >> U(1)
    middle = _kept(table, None, rows, unit_rows, bits, bits, first, first, end)
    return middle, _kept(next_table, None, rows, unit_rows, bits, bits, middle, next_first, next_end)


@compiled
def _kept(
    table: Words,
    mended: Words | None,
    rows: Rows,
    unit_rows: Numbers,
    bits: Words,
    nearly: Words,
    target: int,
    first: int,
    end: int,
) -> int:
    """Write, from unit `target` on, the units from `first` on that pass the other tests; return the end."""
    starts, stages, tests = rows.starts, rows.stages, rows.tests
    for stage in range(U(2), U(_DENSE_STAGES)):
        kept = target
        for unit in range(first, end):
            row = U(unit_rows[unit])
            unit_rows[kept] = row
            start = U(starts[row]) + U(STAGE) * stage if stage < U(stages[row]) else U(0)
            kept += keep(table, mended, tests, start, bits, nearly, kept, unit)
        first, end = target, kept
    kept = target
    for unit in range(first, end):
        row = U(unit_rows[unit])
        unit_rows[kept] = row
        start, last = U(starts[row]), U(stages[row])
        following = start + U(STAGE * _DENSE_STAGES) if last > U(_DENSE_STAGES) else U(0)
        holds = keep(table, mended, tests, following, bits, nearly, kept, unit)
        for stage in range(U(_DENSE_STAGES + 1), last):
            if holds == 0:
                break
            holds = keep(table, mended, tests, start + U(STAGE) * stage, bits, nearly, kept, kept)
        kept += holds
    return kept
