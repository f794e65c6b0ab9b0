"""Libraries from text."""

import itertools
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

from academy.knowledge.openings import ROOT
from academy.knowledge.settings import Library
from academy.knowledge.signatures import ELO_SCALE, Signature
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import PatternSyntaxError, read_cells, read_label
from academy.store.codec import check_results, entry_from_proto, library_to_proto, node_from_proto
from academy.store.errors import InvalidRecordError
from academy.store.textfile.words import FIRST_LINE, INDENT, LibraryTextError, Word, words
from academy.v1 import game_pb2, libraries_pb2, pattern_pb2

MAX_LENGTH: Final = 64 << 20

_DESCRIPTION: Final = "% description "
_HISTORY: Final = "% history "
_LINES_TO_DESCRIPTION: Final = 100
_Message = TypeVar("_Message", bound=Message)
_LIBRARIES: Final = {library.value: library for library in Library}
_LABEL: Final = ("proposers", "elo", "value", "player")
_NODE_FIGURES: Final = ("id", "mover", "visits", "wins", "draws", "losses", "values", "told", "elos")


@dataclass(slots=True)
class LibraryTexts:
    """What a text holds: patterns by library, opening nodes, parents first, and what contests add up to."""

    game_id: str
    patterns: dict[Library, list[pattern_pb2.PatternRecord]] = field(default_factory=dict)
    nodes: list[pattern_pb2.OpeningNodeRecord] = field(default_factory=list)
    history: list[libraries_pb2.GameHistory] = field(default_factory=list)


def described_game(text: str) -> game_pb2.Game | None:
    """The description of a text's game, None where it has none. Raises LibraryTextError."""
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n")[:_LINES_TO_DESCRIPTION], 1):
        if line.startswith(_DESCRIPTION):
            return _parsed(line.removeprefix(_DESCRIPTION), game_pb2.Game(), number)
    return None


def _parsed(json: str, message: _Message, line: int) -> _Message:
    try:
        return json_format.Parse(json, message)
    except json_format.ParseError as fault:
        raise LibraryTextError(line, 1, f"cannot be read: {str(fault)[:200]}") from fault


def read_text(text: str, spec: GameSpec) -> LibraryTexts:
    """Read a text about a game. Raises LibraryTextError naming line and column."""
    if len(text) > MAX_LENGTH:
        raise LibraryTextError(1, 1, f"{len(text):,} characters; at most {MAX_LENGTH:,} are read")
    return _Reader(spec).read(text)


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
        self._library: Library | None = None
        self._record = pattern_pb2.PatternRecord()
        self._first_line = 0
        self._cells: list[str] = []
        self._cells_line = 0
        self._path: list[pattern_pb2.OpeningNodeRecord] = []
        self._nodes: list[_Node] = []

    def read(self, text: str) -> LibraryTexts:
        lines = text.replace("\r\n", "\n").split("\n")
        if lines[0].rstrip() != FIRST_LINE:
            raise LibraryTextError(1, 1, f"the first line must be {FIRST_LINE!r}")
        for number, line in enumerate(lines[1:], 2):
            if not line.strip() or line.startswith(("%%", _DESCRIPTION)):
                continue
            if line.startswith(_HISTORY) and self._library is None:
                part = _parsed(line.removeprefix(_HISTORY), libraries_pb2.GameHistory(), number)
                self.found.history.append(part)
                continue
            if line.startswith("%"):
                self._directive(words(number, line.replace("%", " ", 1)), number)
            elif self._library is None:
                raise LibraryTextError(number, 1, "'% library NAME' must come before what is in it")
            elif self._library is Library.OPENING:
                self._node(number, line)
            elif line.lstrip().startswith("<"):
                self._end_pattern(number, line)
            else:
                self._cells_line = self._cells_line or number
                self._cells.append(line)
        if self._cells:
            self._end_pattern(len(lines))
        self._expect_no_pattern(len(lines))
        self._number_nodes()
        return self.found

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
                    raise game.refuse(f"is another game than {self._spec.game_id!r}")
            case "library":
                self._expect_no_pattern(line)
                (library,) = self._exactly(1, name, rest)
                if library.text not in _LIBRARIES:
                    raise library.refuse(f"is no library; there are {', '.join(_LIBRARIES)}")
                self._library = _LIBRARIES[library.text]
            case _ if self._library in (None, Library.OPENING):
                raise name.refuse("has no place here: '% game' and '% library' may stand here")
            case _:
                self._first_line = self._first_line or line
                self._figure(name, rest)

    def _figure(self, name: Word, rest: list[Word]) -> None:
        record = self._record
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
                    "is none of id, player, vote, silent, folded, changed-by, uses, last, library, game"
                )

    @staticmethod
    def _exactly(count: int, name: Word, rest: list[Word]) -> list[Word]:
        if len(rest) != count:
            raise name.refuse(f"is followed by {len(rest)} words; it needs {count}")
        return rest

    def _end_pattern(self, line: int, label: str = "") -> None:
        if not self._cells:
            raise LibraryTextError(line, 1, "a label with no cells above it")
        assert self._library is not None
        cells = "\n".join(self._cells)
        try:
            read_cells(cells, self._spec.geometry)
        except PatternSyntaxError as fault:
            raise LibraryTextError(self._cells_line + fault.line - 1, fault.column, fault.what) from fault
        record = self._record
        record.game_id = self._spec.game_id
        record.library = library_to_proto(self._library)
        record.cells = cells
        try:
            entry = entry_from_proto(record, self._spec)
        except InvalidRecordError as fault:
            raise LibraryTextError(self._first_line or self._cells_line, 1, str(fault)) from fault
        if label:
            _check_label(line, label, entry.signature)
        self.found.patterns.setdefault(self._library, []).append(record)
        self._record, self._cells = pattern_pb2.PatternRecord(), []
        self._first_line = self._cells_line = 0

    def _expect_no_pattern(self, line: int) -> None:
        if self._cells or self._first_line:
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
        figures = _paired(move, rest)
        node = pattern_pb2.OpeningNodeRecord(
            game_id=self._spec.game_id,
            move=move.string() if move.text.startswith('"') else move.text,
            depth=depth,
            mover=figures["mover"].small(),
            visits=figures["visits"].whole(),
            wins=[part.whole() for part in figures["wins"].parts()],
            draws=[part.whole() for part in figures["draws"].parts()],
            losses=[part.whole() for part in figures["losses"].parts()],
            value_millionths=[part.sum_of_shares() for part in figures["values"].parts()],
            values=figures["told"].whole(),
            elo_hundredths=figures["elos"].decimal(ELO_SCALE),
        )
        del self._path[depth:]
        parent = self._path[-1] if depth else None
        self._path.append(node)
        self._nodes.append(_Node(node, parent, move, figures.get("id")))

    def _number_nodes(self) -> None:
        """Give new nodes free numbers, then every node its parent's."""
        used: set[int] = set()
        for each in self._nodes:
            if each.number is not None:
                each.record.node_id = each.number.whole()
                if each.record.node_id in used or (each.record.node_id == ROOT) != (each.parent is None):
                    raise each.number.refuse(
                        "is no number for this line: 0 is for the first, others for one each"
                    )
                used.add(each.record.node_id)
        free = itertools.count(max(used, default=ROOT) + 1)
        for each in self._nodes:
            if each.number is None and each.parent is not None:
                each.record.node_id = next(free)
        for each in self._nodes:
            each.record.parent_id = ROOT if each.parent is None else each.parent.node_id
            try:
                node_from_proto(each.record, self._spec)
                check_results(each.record)
            except InvalidRecordError as fault:
                raise each.move.refuse(f"cannot be a node: {fault}") from fault
            self.found.nodes.append(each.record)


def _check_label(line: int, label: str, signature: Signature) -> None:
    """Compare a label with what the votes add up to, as exactly as it is written."""
    try:
        read_label(label, line)
    except PatternSyntaxError as fault:
        raise LibraryTextError(fault.line, fault.column, fault.what) from fault
    for name, number in zip(_LABEL, re.finditer(r"[^<;>\s]+", label), strict=True):
        written, voted = Decimal(number[0]), getattr(signature, name)
        last_digit = Decimal(1).scaleb(int(written.as_tuple().exponent))
        if abs(written - Decimal(voted)) > last_digit / 2:
            raise Word(number[0], line, number.start() + 1).refuse(
                f"is not the {name} of the pattern, which the lines above make {voted:.10g}: "
                "change those (the votes count), or leave the label out"
            )


def _paired(move: Word, rest: list[Word]) -> dict[str, Word]:
    """Read a line's figures: names, each followed by its value."""
    figures: dict[str, Word] = {}
    for name, value in itertools.zip_longest(rest[::2], rest[1::2]):
        if name.text not in _NODE_FIGURES or name.text in figures or value is None:
            raise name.refuse(f"must be one of {', '.join(_NODE_FIGURES)}, once, with a value after it")
        figures[name.text] = value
    for needed in _NODE_FIGURES[1:]:
        if needed not in figures:
            raise move.refuse(f"has no {needed!r} on its line")
    return figures
