"""Tables of tesujis and of an evaluation's weights as protobuf messages, and back."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

import numpy as np

from academy.knowledge.anchored_patterns import AnchoredPatterns, anchored_patterns
from academy.knowledge.evaluation import EvaluationTable
from academy.knowledge.evaluation_features import FIRST_PATTERN, Feature
from academy.knowledge.learnt_weights import Numbers, WrongRowError
from academy.knowledge.patterns import InvalidPatternError
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.shapes import InvalidTesujiError, Tesuji
from academy.knowledge.tesujis.surroundings import surroundings
from academy.knowledge.tesujis.table import TesujiTable
from academy.knowledge.tesujis.text import read_tesuji_cells, write_tesuji_cells
from academy.store.columns import pack_columns
from academy.store.errors import InvalidRecordError
from academy.store.v1 import records_pb2
from academy.v1 import pattern_pb2
from academy.wire.tesujis import read_fight

_OF_TESUJIS: Final = [column.name for column in fields(TesujiTable) if column.name != "codes"]
# A code is kept as two numbers of this many bits.
_HALF_A_CODE: Final = 32


def tesujis_to_proto(table: TesujiTable) -> records_pb2.Tesujis:
    """Write a game's tesujis."""
    record = records_pb2.Tesujis()
    shapes, codes = np.divmod(table.codes, 2**_HALF_A_CODE)
    columns = {name: getattr(table, name) for name in _OF_TESUJIS} | {"codes": codes}
    if shapes.any():
        columns["shapes"] = shapes
    _pack(record, columns)
    return record


def tesujis_from_proto(record: records_pb2.Tesujis) -> TesujiTable:
    """Read a game's tesujis. Raises ValueError."""
    shapes = record.shapes or [0] * len(record.codes)
    codes = [(shape << _HALF_A_CODE) + code for shape, code in zip(shapes, record.codes, strict=True)]
    return TesujiTable.of(codes, *(getattr(record, name) for name in _OF_TESUJIS))


def evaluation_to_proto(table: EvaluationTable) -> records_pb2.Evaluation:
    """Write a game's evaluation."""
    record = records_pb2.Evaluation()
    _pack(record, dict(zip(table.COLUMNS, table.columns(), strict=True)))
    for name, figure in table.figures().items():
        setattr(record, name, figure)
    return record


def evaluation_from_proto(record: records_pb2.Evaluation) -> EvaluationTable:
    """Read a game's evaluation. Raises ValueError."""
    figures = {name: getattr(record, name) for name in EvaluationTable().figures()}
    return EvaluationTable.of([getattr(record, name) for name in EvaluationTable.COLUMNS], figures)


# These columns take 32 bits a number, the others 64.
_SHORT: Final = {"codes": "<u4", "shapes": "<u4", "weight_millionths": "<i4"}


def _pack(record: records_pb2.Tesujis | records_pb2.Evaluation, columns: Mapping[str, Numbers]) -> None:
    short = _SHORT if isinstance(record, records_pb2.Tesujis) else _SHORT | {"codes": "<i8"}
    pack_columns(record, **{name: column.astype(short.get(name, "<i8")) for name, column in columns.items()})


# How many weights a part of an exported evaluation has.
WEIGHTS_PER_RECORD: Final = 1_000
_PIECES: Final = "-xo"


def evaluation_records(table: EvaluationTable, spec: GameSpec) -> Iterator[pattern_pb2.EvaluationRecord]:
    """Write an evaluation for people, in parts, of which the first has the figures; none of an empty one."""
    patterns = anchored_patterns(spec)
    rows = list(zip(*(column.tolist() for column in table.columns()), strict=True))
    for first in range(0, len(rows), WEIGHTS_PER_RECORD):
        figures = table.figures() if first == 0 else {}
        record = pattern_pb2.EvaluationRecord(**dict[str, Any](figures))
        for code, seen, weight, gradient in rows[first : first + WEIGHTS_PER_RECORD]:
            record.weights.add(
                of=_weight_name(code, patterns),
                seen=seen,
                weight_millionths=weight,
                gradient_millionths=gradient,
            )
        yield record


def _weight_name(code: int, patterns: AnchoredPatterns | None) -> str:
    if code < FIRST_PATTERN or patterns is None:
        return Feature(code).name.lower()
    contents = patterns.contents(code - FIRST_PATTERN)
    return "/".join(f"{cell}{_PIECES[player]}" for cell, player in contents)


def evaluation_from_records(
    records: Sequence[pattern_pb2.EvaluationRecord], spec: GameSpec
) -> EvaluationTable:
    """Read an evaluation that people may have written. Raises InvalidRecordError naming the field."""
    patterns = anchored_patterns(spec)
    columns: list[list[int]] = [[], [], [], []]
    figures = dict.fromkeys(EvaluationTable().figures(), 0)
    names: list[str] = []
    for place, record in enumerate(records):
        for name in figures:
            figures[name] += getattr(record, name)
        for number, weight in enumerate(record.weights):
            names.append(f"evaluation[{place}].weights[{number}]")
            try:
                code, sign = _weight_code(weight.of, patterns)
            except ValueError as error:
                raise InvalidRecordError(f"{names[-1]}.of", f"{weight.of[:80]!r}: {error}") from error
            row = (code, weight.seen, sign * weight.weight_millionths, weight.gradient_millionths)
            for column, value in zip(columns, row, strict=True):
                column.append(value)
    try:
        return EvaluationTable.of(columns, figures)
    except WrongRowError as error:
        raise InvalidRecordError(names[error.row], str(error)) from error
    except ValueError as error:
        raise InvalidRecordError("evaluation", str(error)) from error


_CELL_AND_PIECE: Final = re.compile(r"([0-9]{1,6})([-xo])")


def _weight_code(name: str, patterns: AnchoredPatterns | None) -> tuple[int, int]:
    """Return a weight's code, and -1 where it counts for the other player. Raises ValueError."""
    if name.upper() in Feature.__members__:
        return Feature[name.upper()], 1
    parts = [_CELL_AND_PIECE.fullmatch(part) for part in name.split("/")]
    if patterns is None or None in parts:
        features = ", ".join(feature.name.lower() for feature in Feature)
        raise ValueError(f"is none of {features}, and not cells such as 0x/1-/8o")
    contents = [(int(part[1]), _PIECES.index(part[2])) for part in parts if part is not None]
    if len(dict(contents)) != len(contents):
        raise ValueError("a cell is there twice")
    code, sign = patterns.code(contents)
    if sign == 0:
        raise ValueError("is the same with the colours exchanged, so it says nothing")
    return code + FIRST_PATTERN, sign


def tesuji_records(
    table: TesujiTable, spec: GameSpec, rows: Iterable[int]
) -> Iterator[pattern_pb2.TesujiRecord]:
    """Write tesujis for people, by their rows. Those of other shapes than the game's are left out."""
    around = surroundings(spec)
    strengths = table.strengths
    for row in rows:
        try:
            tesuji = around.read(int(table.codes[row])) if around is not None else None
        except InvalidTesujiError:
            continue
        if tesuji is None:
            continue
        figures: dict[str, Any] = {name: int(getattr(table, name)[row]) for name in _OF_TESUJIS}
        record = pattern_pb2.TesujiRecord(
            game_id=spec.game_id,
            cells=write_tesuji_cells(tesuji, spec),
            player=tesuji.player,
            place=tesuji.place,
            turned=tesuji.turned,
            strength=strengths[row],
            code=int(table.codes[row]),
            fight=None if tesuji.fight is None else pattern_pb2.Fight(**asdict(tesuji.fight)),
            **figures,
        )
        label = record.signature
        label.proposers, label.player = record.offered, record.player
        label.elo, label.value = table.elos[row], table.values[row]
        yield record


def tesujis_from_records(records: Sequence[pattern_pb2.TesujiRecord], spec: GameSpec) -> TesujiTable:
    """Read tesujis that people may have written. Raises InvalidRecordError naming the field."""
    around = surroundings(spec)
    columns: dict[str, list[int]] = {"codes": [], **{name: [] for name in _OF_TESUJIS}}
    for number, record in enumerate(records):
        field = f"tesujis[{number}]"
        place = record.place if record.HasField("place") else None
        if around is None:
            raise InvalidRecordError(
                field,
                f"{spec.game_id} has none: it needs two players in turn, a square or hexagonal board "
                "and moves that put a piece on an empty cell",
            )
        try:
            cells = read_tesuji_cells(record.cells, record.player, spec.geometry)
            code = around.code(Tesuji(record.player, cells, place, record.turned, read_fight(record)))
        except (InvalidPatternError, InvalidTesujiError) as error:
            raise InvalidRecordError(f"{field}.cells", str(error)) from error
        columns["codes"].append(code)
        for name in _OF_TESUJIS:
            columns[name].append(getattr(record, name))
    try:
        return TesujiTable.of(*columns.values())
    except WrongRowError as error:
        raise InvalidRecordError(f"tesujis[{error.row}]", str(error)) from error
    except ValueError as error:
        raise InvalidRecordError("tesujis", str(error)) from error
