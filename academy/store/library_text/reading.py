"""Reads libraries from text, with every rule checked."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import reduce
from typing import Any, Final, TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

from academy.knowledge.boards import GraphGeometry
from academy.knowledge.learnt_weights import Numbers
from academy.knowledge.openings import ROOT
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.text import read_tesuji_cells
from academy.knowledge.text import PatternSyntaxError, read_cells, read_label
from academy.knowledge.votes import ELO_SCALE, VALUE_SCALE, Signature
from academy.store.codec.contests import check_plausible_elo
from academy.store.codec.games import library_to_proto, spec_to_proto
from academy.store.codec.learnt_tables import (
    WEIGHTS_PER_RECORD,
    evaluation_from_records,
    tesuji_records,
    tesujis_from_records,
)
from academy.store.codec.openings import check_figures, node_from_proto
from academy.store.codec.patterns import entry_from_proto, signature_from_proto
from academy.store.errors import InvalidRecordError
from academy.store.library_text.words import (
    END_LINE,
    EVALUATION,
    FIGHT,
    FIRST_LINE,
    INDENT,
    TESUJIS,
    WEAKER,
    LibraryTextError,
    Word,
    words,
)
from academy.v1 import game_pb2, libraries_pb2, pattern_pb2

MAX_LENGTH: Final = 64 << 20

_DESCRIPTION: Final = "% description "
_HISTORY: Final = "% history "
_LINES_TO_DESCRIPTION: Final = 100
_Message = TypeVar("_Message", bound=Message)
_LIBRARIES: Final = {library.value: library for library in Library}
# The figures that a pattern may have more than once.
_VOTES: Final = ("vote", "silent")
_LABEL: Final = ("proposers", "elo", "value", "player")
_VISITS_FIGURES: Final = ("visits", "wins", "draws", "losses", "values", "told", "elos")
# Numbers and levels may be missing.
_NODE_FIGURES: Final = ("id", "level", "mover", *_VISITS_FIGURES)
# What an analyst found, on the lines of nodes that were searched: with `budget` random games, or `plies`.
_ANALYSIS_FIGURES: Final = ("searched", "budget", "plies", "analyst")


@dataclass(slots=True)
class LibraryTexts:
    """The content of a text: patterns by library, opening nodes, parents first, and the contests' history."""

    game_id: str
    patterns: dict[Library, list[pattern_pb2.PatternRecord]] = field(default_factory=dict)
    nodes: list[pattern_pb2.OpeningNodeRecord] = field(default_factory=list)
    history: list[libraries_pb2.GameHistory] = field(default_factory=list)
    tesujis: list[pattern_pb2.TesujiRecord] = field(default_factory=list)
    evaluation: list[pattern_pb2.EvaluationRecord] = field(default_factory=list)


def read_description(text: str) -> game_pb2.Game | None:
    """The description of a text's game, None where it has none. Raises LibraryTextError."""
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n")[:_LINES_TO_DESCRIPTION], 1):
        if line.startswith(_DESCRIPTION):
            return _parse(line.removeprefix(_DESCRIPTION), game_pb2.Game(), number)
    return None


def _parse(json: str, message: _Message, line: int) -> _Message:
    try:
        return json_format.Parse(json, message)
    except json_format.ParseError as error:
        raise LibraryTextError(line, 1, f"cannot be read: {str(error)[:200]}") from error


def _read_figures(
    record: Message, figures: list[Word], readers: dict[str, Callable[[Word], int]], fields: dict[str, str]
) -> None:
    """Read words with a value after each into a record; `fields` are the fields of other names or parts."""
    for figure, value in _pair_figures(figures, [*readers]).items():
        number = readers[figure](value)
        *parts, name = fields.get(figure, figure).split(".")
        try:
            setattr(reduce(getattr, parts, record), name, number)
        except ValueError as error:
            raise value.refuse("is too great") from error


def _read_best_elo(word: Word) -> int:
    hundredths = word.decimal(ELO_SCALE)
    try:
        check_plausible_elo("best", hundredths / ELO_SCALE)
    except InvalidRecordError as error:
        raise LibraryTextError(word.line, word.column, str(error)) from error
    return hundredths


def read_text(text: str, spec: GameSpec) -> LibraryTexts:
    """Read a text about a game. Raises LibraryTextError naming line and column."""
    if len(text) > MAX_LENGTH:
        raise LibraryTextError(1, 1, f"{len(text):,} characters; at most {MAX_LENGTH:,} are read")
    return _Reader(spec).read(text)


def _lines_that_say_something(lines: Sequence[str], first: int) -> Iterator[tuple[int, str]]:
    """Yield the lines between `first` and the last with their numbers. An export must have the last one."""
    exported, ended = False, False
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip() or line.startswith("%%"):
            continue
        if ended:
            raise LibraryTextError(number, 1, f"stands below {END_LINE!r}, which ends a text")
        ended = line.rstrip() == END_LINE
        exported = exported or line.startswith(_DESCRIPTION)
        if not ended:
            yield number, line
    if exported and not ended:
        raise LibraryTextError(
            len(lines),
            1,
            f"this export stops before its last line, {END_LINE!r}, so a part is missing; "
            "if it is whole, write that line below it",
        )


@dataclass(frozen=True, slots=True)
class _Node:
    """A node with the one above it, its line's first word, and the word that numbers it."""

    record: pattern_pb2.OpeningNodeRecord
    parent: pattern_pb2.OpeningNodeRecord | None
    move: Word
    number: Word | None


class _Reader:
    def __init__(self, spec: GameSpec) -> None:
        self.found = LibraryTexts(spec.game_id)
        self._spec = spec
        self._library: Library | str | None = None
        self._begin_pattern()
        self._path: list[pattern_pb2.OpeningNodeRecord] = []
        self._nodes: list[_Node] = []
        # The lines of learnt rows, by their section and code.
        self._lines: dict[tuple[str, int], int] = {}

    def _begin_pattern(self) -> None:
        """Begin the next pattern or tesuji, of which no line is read yet."""
        self._record = pattern_pb2.PatternRecord()
        self._tesuji = pattern_pb2.TesujiRecord()
        self._figures: set[str] = set()
        self._cells: list[str] = []
        self._first_line = self._cells_line = 0

    def read(self, text: str) -> LibraryTexts:
        lines = text.replace("\r\n", "\n").split("\n")
        first = next((number for number, line in enumerate(lines, 1) if line.strip()), 1)
        if lines[first - 1].rstrip() != FIRST_LINE:
            raise LibraryTextError(first, 1, f"the first line must be {FIRST_LINE!r}")
        for number, line in _lines_that_say_something(lines, first):
            if line.startswith(_DESCRIPTION):
                self._check_description(line.removeprefix(_DESCRIPTION), number)
            elif line.startswith(_HISTORY) and self._library is None:
                part = _parse(line.removeprefix(_HISTORY), libraries_pb2.GameHistory(), number)
                self.found.history.append(part)
            elif line.startswith("%"):
                self._directive(words(number, line.replace("%", " ", 1)), number)
            else:
                self._content(number, line)
        if self._cells:
            self._end_pattern(len(lines))
        self._expect_no_pattern(len(lines))
        self._number_nodes()
        return self.found

    def _check_description(self, json: str, line: int) -> None:
        described, own = _parse(json, game_pb2.Game(), line), spec_to_proto(self._spec)
        if described.geometry != own.geometry or described.players != own.players:
            raise LibraryTextError(
                line,
                1,
                f"describes {described.game_id!r}, whose board or players differ from those of "
                f"{own.game_id!r}; if its records are right for them, leave this line out",
            )

    def _content(self, number: int, line: str) -> None:
        if self._library is None:
            raise LibraryTextError(number, 1, "'% library NAME' must come before what is in it")
        if self._library is Library.OPENING:
            self._node(number, line)
        elif self._library == EVALUATION:
            self._weight(words(number, line))
        elif line.lstrip().startswith("<"):
            self._end_pattern(number, line)
        else:
            self._first_line = self._first_line or number
            self._cells_line = self._cells_line or number
            self._cells.append(line)

    def _directive(self, words: list[Word], line: int) -> None:
        if not words:
            raise LibraryTextError(line, 1, "'%' without a word after it")
        name, *rest = words
        if self._cells:
            self._end_pattern(line)
        match name.text:
            case "game":
                (game,) = self._exactly(1, name, rest)
                if game.text != self._spec.game_id:
                    raise game.refuse(
                        f"is not this game, {self._spec.game_id!r}: leave this line out if that game's "
                        "knowledge holds in this one, as in a fork"
                    )
            case "library":
                self._expect_no_pattern(line)
                (library,) = self._exactly(1, name, rest)
                sections: dict[str, Library | str] = {**_LIBRARIES, TESUJIS: TESUJIS, EVALUATION: EVALUATION}
                if library.text not in sections:
                    raise library.refuse(f"is not a library; there are {', '.join(sections)}")
                self._library = sections[library.text]
            case _ if self._library in (None, Library.OPENING):
                self._weaker(name, rest)
            case _ if self._library == EVALUATION:
                self._evaluation_figures([name, *rest])
            case _:
                self._first_line = self._first_line or line
                if self._library == TESUJIS:
                    self._tesuji_figure(name, rest)
                else:
                    self._figure(name, rest)

    def _tesuji_figure(self, name: Word, rest: list[Word]) -> None:
        record = self._tesuji
        figures = [name, *rest]
        readers: dict[str, Callable[[Word], int]] = {
            "player": Word.small,
            "place": Word.small,
            "turned": Word.small,
            **dict.fromkeys(FIGHT, Word.small),
            "offered": Word.whole,
            "chosen": Word.whole,
            "uses": Word.whole,
            "successes": Word.whole,
            "elos": lambda word: word.decimal(ELO_SCALE),
            "weight": lambda word: word.decimal(VALUE_SCALE),
            "gradient": Word.sum_of_shares,
        }
        fields = {
            "elos": "elo_hundredths",
            "weight": "weight_millionths",
            "gradient": "gradient_millionths",
            **{name: f"fight.{name}" for name in FIGHT},
        }
        self._expect_once(figures[::2])
        _read_figures(record, figures, readers, fields)

    def _evaluation_figures(self, figures: list[Word]) -> None:
        readers: dict[str, Callable[[Word], int]] = {
            "contests": Word.whole,
            "best": _read_best_elo,
            "taught": Word.sum_of_shares,
            "elos": lambda word: word.decimal(VALUE_SCALE * ELO_SCALE),
            "uses": Word.whole,
            "successes": Word.whole,
        }
        fields = {"best": "best_elo_hundredths", "taught": "taught_millionths", "elos": "taught_elo"}
        if self.found.evaluation:
            raise figures[0].refuse("stands here for the second time, or below a weight")
        record = pattern_pb2.EvaluationRecord()
        self.found.evaluation.append(record)
        _read_figures(record, figures, readers, fields)
        try:
            evaluation_from_records([record], self._spec)
        except InvalidRecordError as error:
            raise LibraryTextError(figures[0].line, figures[0].column, str(error)) from error

    def _weight(self, words: list[Word]) -> None:
        name, *figures = words
        parts = self.found.evaluation
        if not parts or len(parts[-1].weights) == WEIGHTS_PER_RECORD:
            parts.append(pattern_pb2.EvaluationRecord())
        weight = parts[-1].weights.add(of=name.text)
        readers: dict[str, Callable[[Word], int]] = {
            "seen": Word.whole,
            "weight": lambda word: word.decimal(VALUE_SCALE),
            "gradient": Word.sum_of_shares,
        }
        fields = {"weight": "weight_millionths", "gradient": "gradient_millionths"}
        _read_figures(weight, figures, readers, fields)
        try:
            table = evaluation_from_records([pattern_pb2.EvaluationRecord(weights=[weight])], self._spec)
        except InvalidRecordError as error:
            raise LibraryTextError(name.line, name.column, str(error)) from error
        self._expect_new(EVALUATION, table.codes, name.line)

    def _figure(self, name: Word, rest: list[Word]) -> None:
        record = self._record
        self._expect_once([name])
        match name.text:
            case "id":
                record.pattern_id = self._exactly(1, name, rest)[0].whole()
            case "player":
                record.player = self._exactly(1, name, rest)[0].small()
            case "vote" | "silent":
                player, elo, value, *event = self._exactly(min(max(3, len(rest)), 5), name, rest)
                votes = record.votes if name.text == "vote" else record.silent_votes
                order = 0 if event else len(record.votes) + len(record.silent_votes)
                votes.add(
                    player=player.string(),
                    elo_hundredths=elo.decimal(ELO_SCALE),
                    value_millionths=value.share(),
                    event=event[0].whole() if event else 0,
                    order=event[1].small() if len(event) > 1 else order,
                )
            case "folded":
                if len(rest) < 5:
                    raise name.refuse("needs votes, sum of Elos, weight, weighted value, digests of players")
                record.folded.votes = rest[0].small()
                record.folded.elo_hundredths = rest[1].decimal(ELO_SCALE)
                record.folded.weight = rest[2].whole()
                record.folded.weighted_value = rest[3].whole()
                record.folded.players.extend(word.digest() for word in rest[4:])
            case "changed-by":
                record.changers.extend(word.digest() for word in rest)
            case "uses":
                uses, keyword, successes = self._exactly(3, name, rest)
                if keyword.text != "successes":
                    raise keyword.refuse("stands where 'successes' must")
                record.uses, record.successes = uses.whole(), successes.whole()
            case "last":
                number, contest_id = self._exactly(2, name, rest)
                record.last_contest, record.last_contest_id = number.whole(), contest_id.string()
            case _:
                raise name.refuse(
                    "is not one of id, player, vote, silent, folded, changed-by, uses, last, library, game"
                )

    def _expect_once(self, names: Sequence[Word]) -> None:
        for name in names:
            if name.text in self._figures:
                raise name.refuse("stands here for the second time: a pattern has it once")
            if name.text not in _VOTES:
                self._figures.add(name.text)

    @staticmethod
    def _exactly(count: int, name: Word, rest: list[Word]) -> list[Word]:
        if len(rest) != count:
            raise name.refuse(f"is followed by {len(rest)} words; it needs {count}")
        return rest

    def _end_pattern(self, line: int, label: str = "") -> None:
        if not self._cells:
            raise LibraryTextError(line, 1, "a label with no cells above it")
        cells = "\n".join(self._cells)
        if not isinstance(self._library, Library):
            self._end_tesuji(line, cells, label)
            return
        try:
            read_cells(cells, self._spec.geometry)
        except PatternSyntaxError as error:
            raise LibraryTextError(self._cells_line + error.line - 1, error.column, error.what) from error
        record = self._record
        record.game_id = self._spec.game_id
        record.library = library_to_proto(self._library)
        record.cells = cells
        self._check_written_by_hand(line, label)
        try:
            entry = entry_from_proto(record, self._spec)
        except InvalidRecordError as error:
            raise LibraryTextError(self._first_line, 1, str(error)) from error
        if label:
            _check_label(line, label, entry.signature)
        self.found.patterns.setdefault(self._library, []).append(record)
        self._begin_pattern()

    def _check_written_by_hand(self, line: int, label: str) -> None:
        """Take the player from the label where no line gives it, and name the lines that are missing."""
        record = self._record
        if "player" not in self._figures:
            if not label:
                raise LibraryTextError(
                    self._first_line,
                    1,
                    "the pattern has no player: give '% player P' above it, or a label below it",
                )
            player = _read_label(line, label).player
            if player > self._spec.players:
                raise LibraryTextError(
                    line,
                    1,
                    f"the label is for player {player}: this game has players 1 to {self._spec.players}",
                )
            record.player = player
        if not record.votes and not record.folded.votes:
            raise LibraryTextError(
                self._first_line,
                1,
                "the pattern has no vote: give '% vote \"NAME\" ELO VALUE' above it for each proposer",
            )

    def _end_tesuji(self, line: int, cells: str, label: str) -> None:
        record = self._tesuji
        record.game_id, record.cells = self._spec.game_id, cells
        try:
            if not isinstance(self._spec.geometry, GraphGeometry):
                read_tesuji_cells(cells, record.player, self._spec.geometry)
            table = tesujis_from_records([record], self._spec)
        except PatternSyntaxError as error:
            raise LibraryTextError(self._cells_line + error.line - 1, error.column, error.what) from error
        except InvalidRecordError as error:
            raise LibraryTextError(self._first_line, 1, str(error)) from error
        self._expect_new(TESUJIS, table.codes, self._first_line)
        if label:
            (written,) = tesuji_records(table, self._spec, [0])
            _check_label(line, label, signature_from_proto(written.signature))
        self.found.tesujis.append(record)
        self._begin_pattern()

    def _expect_new(self, section: str, codes: Numbers, line: int) -> None:
        """Refuse what an earlier line had, even in another spelling."""
        (code,) = codes.tolist()
        first = self._lines.setdefault((section, code), line)
        if first != line:
            raise LibraryTextError(line, 1, f"the same as in line {first}: leave one of the two out")

    def _expect_no_pattern(self, line: int) -> None:
        if self._first_line:
            raise LibraryTextError(line, 1, "a pattern has cells below the lines that begin with '%'")

    # Openings

    def _node(self, line: int, text: str) -> None:
        move, *rest = words(line, text)
        depth, odd = divmod(move.column - 1, len(INDENT))
        if odd or depth > len(self._path):
            raise move.refuse(
                f"is indented by {move.column - 1} blanks: a move stands {len(INDENT)} behind the one before"
            )
        if (depth == 0) != (move.text == '""') or (depth == 0 and self._path):
            raise move.refuse('has a wrong indent: the one line without is "", the position at the start')
        figures = _pair_figures(rest, (*_NODE_FIGURES, *_ANALYSIS_FIGURES))
        _check_node_figures(move, figures)
        node = pattern_pb2.OpeningNodeRecord(
            game_id=self._spec.game_id,
            move=move.string() if move.text.startswith('"') else move.text,
            depth=depth,
            mover=figures["mover"].small(),
            level=figures["level"].level() if "level" in figures else None,
            **_read_visits(figures),
        )
        if "searched" in figures:
            node.analysis.value_millionths = figures["searched"].share()
            plies = figures.get("plies")
            node.analysis.budget = (plies or figures["budget"]).small()
            node.analysis.kind = (
                pattern_pb2.SEARCH_KIND_PLIES if plies else pattern_pb2.SEARCH_KIND_RANDOM_GAMES
            )
            node.analysis.analyst = figures["analyst"].string()
        del self._path[depth:]
        parent = self._path[-1] if depth else None
        self._path.append(node)
        self._nodes.append(_Node(node, parent, move, figures.get("id")))

    def _weaker(self, name: Word, rest: list[Word]) -> None:
        """Read what contests of a lower level left in the position of the line before."""
        if name.text != WEAKER or not self._nodes:
            raise name.refuse(
                "has no place here: '% game' and '% library' may stand here, "
                f"and '% {WEAKER}' below a position of the opening"
            )
        if not rest:
            raise name.refuse("is followed by 0 words: it needs a level, and what its contests left")
        figures = _pair_figures(rest[1:], _VISITS_FIGURES)
        _check_figures(name, figures, _VISITS_FIGURES)
        self._nodes[-1].record.weaker.add(level=rest[0].level(), **_read_visits(figures))

    def _number_nodes(self) -> None:
        """Give new nodes free numbers, then every node its parent's."""
        used: set[int] = set()
        for entry in self._nodes:
            if entry.number is not None:
                entry.record.node_id = entry.number.whole()
                if entry.record.node_id in used or (entry.record.node_id == ROOT) != (entry.parent is None):
                    raise entry.number.refuse(
                        "is not a number for this line: 0 is for the first, others for one each"
                    )
                used.add(entry.record.node_id)
        free = itertools.count(max(used, default=ROOT) + 1)
        for entry in self._nodes:
            if entry.number is None and entry.parent is not None:
                entry.record.node_id = next(free)
        for entry in self._nodes:
            entry.record.parent_id = ROOT if entry.parent is None else entry.parent.node_id
            try:
                node_from_proto(entry.record, self._spec)
                check_figures(entry.record)
            except InvalidRecordError as error:
                raise entry.move.refuse(f"cannot be a node: {error}") from error
            self.found.nodes.append(entry.record)


def _read_label(line: int, label: str) -> Signature:
    try:
        return read_label(label, line)
    except PatternSyntaxError as error:
        raise LibraryTextError(error.line, error.column, error.what) from error


def _check_label(line: int, label: str, signature: Signature) -> None:
    """Compare a label with what the votes add up to, as exactly as it is written."""
    _read_label(line, label)
    for name, number in zip(_LABEL, re.finditer(r"[^<;>\s]+", label), strict=True):
        written, voted = Decimal(number[0]), getattr(signature, name)
        last_digit = Decimal(1).scaleb(int(written.as_tuple().exponent))
        if abs(written - Decimal(voted)) > last_digit / 2:
            raise Word(number[0], line, number.start() + 1).refuse(
                f"is not the {name} of the pattern, which the lines above make {voted:.10g}: "
                "change those (the votes count), or leave the label out"
            )


def _pair_figures(words: list[Word], known: Sequence[str]) -> dict[str, Word]:
    """Read a line's figures: names, each followed by its value."""
    figures: dict[str, Word] = {}
    for name, value in itertools.zip_longest(words[::2], words[1::2]):
        if name.text not in known or name.text in figures or value is None:
            raise name.refuse(f"must be one of {', '.join(known)}, once, with a value after it")
        figures[name.text] = value
    return figures


def _check_node_figures(move: Word, figures: dict[str, Word]) -> None:
    searched: tuple[str, ...] = ()
    if figures.keys() & set(_ANALYSIS_FIGURES):
        searched = ("searched", "analyst", "plies" if "plies" in figures else "budget")
    _check_figures(move, figures, ("mover", *_VISITS_FIGURES, *searched))


def _check_figures(first: Word, figures: dict[str, Word], needed: Sequence[str]) -> None:
    for name in needed:
        if name not in figures:
            raise first.refuse(f"has no {name!r} on its line")


def _read_visits(figures: dict[str, Word]) -> dict[str, Any]:
    """Read what contests left: the fields of a node's record, and of a level's."""
    return {
        "visits": figures["visits"].whole(),
        **{name: [part.whole() for part in figures[name].parts()] for name in ("wins", "draws", "losses")},
        "value_millionths": [part.sum_of_shares() for part in figures["values"].parts()],
        "values": figures["told"].whole(),
        "elo_hundredths": figures["elos"].decimal(ELO_SCALE),
    }
