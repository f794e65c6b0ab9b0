"""What is fuzzed: each parser, well-written samples of what it reads, and the only errors it may raise."""

import io
import random
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from google.protobuf import proto

from academy.cli import transfer
from academy.cli.commands import CommandError
from academy.knowledge.boards import (
    Board,
    Geometry,
    GraphGeometry,
    HexGeometry,
    InvalidBoardError,
    SquareGeometry,
)
from academy.knowledge.patterns import InvalidPatternError
from academy.knowledge.settings import Library
from academy.knowledge.text import read_cells, read_label, write_cells
from academy.service import paging
from academy.service.errors import StalePageTokenError
from academy.store import event_effects, event_log, game_tables, rebuild
from academy.store.codec.contests import report_from_proto
from academy.store.codec.openings import node_to_proto
from academy.store.codec.packing import unpack_message
from academy.store.codec.patterns import entry_from_proto, entry_to_proto, signature_to_proto
from academy.store.contest_commands import OpenContest
from academy.store.environment import TableName
from academy.store.errors import InvalidRecordError, StoreCorruptError
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import DeletePattern, RestorePattern
from academy.store.library_store import Store
from academy.store.library_text.reading import read_text
from academy.store.library_text.writing import write_text
from academy.store.maintenance.compaction import compact
from academy.store.tokens import CreateToken, Role, TokenRefusedError, authenticate
from academy.v1 import events_pb2, game_pb2, libraries_pb2, pattern_pb2
from academy.wire.addresses import InvalidAddressError, ServerAddress
from academy.wire.errors import NotAuthenticatedError
from academy.wire.tokens import bearer_token
from arena.control import toml_file
from arena.control.settings import ControlError
from arena.players.gtp_channel import GtpChannel
from arena.players.player import PlayerError
from clients.bots.any_game import AnyGameEngine
from clients.bots.strength import Strength
from referees.api import Referee, UnreadableMoveError, UnreadableRecordError
from referees.draughts import Draughts
from referees.go import Go, board
from referees.go.gtp import GoDialogue
from referees.go.settings import GoSettings
from referees.hex import Hex
from referees.warlight import WarLight
from tests.academy.store.examples import contest, export, go, go_game, learn

GRAPH: Final = GraphGeometry(("PAR", "BUR", "GAS", "MAR", "SPA"), ((0, 1), (1, 2), (2, 3), (3, 4)))
GEOMETRIES: Final[dict[str, Geometry]] = {
    "square": SquareGeometry(9, 9),
    "hex": HexGeometry(9, 9),
    "graph": GRAPH,
}
RULES_BROKEN: Final = (InvalidRecordError, InvalidPatternError, InvalidBoardError)


@dataclass(frozen=True)
class Target:
    """A parser: `read` returns whether it read, and lets nothing but a mistake of the parser's escape."""

    name: str
    read: Callable[[bytes], bool]
    samples: Callable[[], Sequence[bytes]]


@cache
def lived_in() -> dict[TableName, list[bytes]]:
    """The records of a small store in which everything has happened once."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=6)
        number = next(iter(store.follow().refresh("go-9x9").libraries[Library.ENDGAME]))
        store.run(DeletePattern("go-9x9", Library.ENDGAME, number, "admin"))
        store.run(RestorePattern("go-9x9", Library.ENDGAME, number, "admin"))
        with store.environment.reading() as transaction:
            kept = {table: [value for _, value in transaction.scan(table)] for table in TableName}
        compact(store, keep=1)
        with store.environment.reading() as transaction:
            kept[TableName.SNAPSHOTS] = [value for _, value in transaction.scan(TableName.SNAPSHOTS)]
    return {table: sorted(values, key=len)[:20] for table, values in kept.items()}


# Texts


def _pattern_text(data: bytes) -> bool:
    text = data.decode(errors="surrogateescape")
    was_read = False
    for geometry in GEOMETRIES.values():
        with suppress(InvalidPatternError):
            pattern = read_cells(text, geometry)
            assert read_cells(write_cells(pattern, geometry), geometry) == pattern
            was_read = True
    with suppress(InvalidPatternError):
        read_label(text)
        was_read = True
    return was_read


def _pattern_samples() -> list[bytes]:
    square = "# - x b\n# - o -\n- x - w\n"
    hexagonal = "  - x -\n - o 1 -\n# + B 2 W\n - x -\n  # # #\n"
    graph = "x PAR\n- BUR\no GAS\n"
    label = "< 3; 165; 0.78; 2 >\n"
    return [text.encode() for text in (square, hexagonal, graph, label)]


def _with_label(record: pattern_pb2.PatternRecord) -> pattern_pb2.PatternRecord:
    """A pattern with the figures that an export writes below its cells; texts need not have them."""
    labelled = pattern_pb2.PatternRecord.FromString(record.SerializeToString())
    labelled.signature.CopyFrom(signature_to_proto(entry_from_proto(record, go()).signature))
    return labelled


def _library_text(data: bytes) -> bool:
    try:
        libraries = read_text(data.decode(), go())
    except (UnicodeDecodeError, InvalidRecordError):
        return False
    patterns = [_with_label(pattern) for library in libraries.patterns.values() for pattern in library]
    again = read_text("\n".join(write_text(export(go_game(), patterns, libraries.nodes))), go())
    assert (again.patterns, again.nodes) == (libraries.patterns, libraries.nodes)
    return True


@cache
def _exported() -> tuple[list[pattern_pb2.PatternRecord], list[pattern_pb2.OpeningNodeRecord]]:
    records = lived_in()
    patterns = [
        _with_label(pattern_pb2.PatternRecord.FromString(value)) for value in records[TableName.PATTERNS]
    ]
    nodes = [pattern_pb2.OpeningNodeRecord.FromString(value) for value in records[TableName.OPENINGS]]
    known = {0}
    kept = []
    for node in sorted(nodes, key=lambda node: node.depth):
        if node.depth == 0 or node.parent_id in known:
            known.add(node.node_id)
            kept.append(node)
    return patterns, kept


def _library_text_samples() -> list[bytes]:
    patterns, nodes = _exported()
    return [
        "\n".join(write_text(export(go_game(), *chosen))).encode()
        for chosen in ((patterns[:3], nodes[:6]), (patterns[:1], []), ([], nodes[:4]))
    ]


def _binary_export(data: bytes) -> bool:
    with suppress(CommandError):
        for _ in transfer._records_of_binary(data, Path("export.bin"), go_game()):
            pass
        return True
    return False


def _binary_export_samples() -> list[bytes]:
    patterns, nodes = _exported()
    response = libraries_pb2.ExportLibraryResponse
    written = io.BytesIO()
    for record in (
        response(game=go_game()),
        *(response(pattern=pattern) for pattern in patterns[:3]),
        *(response(node=node) for node in nodes[:3]),
        response(),
    ):
        proto.serialize_length_prefixed(record, written)
    return [written.getvalue()]


def _control_file(data: bytes) -> bool:
    with tempfile.NamedTemporaryFile(suffix=".toml") as file, suppress(ControlError):
        file.write(data)
        file.flush()
        toml_file.read(Path(file.name))
        return True
    return False


def _control_samples() -> list[bytes]:
    return [
        b"""[competition]
kind = "all-play-all"
rounds = 2
parallel = 2
seed = 7
description = "a cup"
competitors = ["one", "two"]
[game]
name = "go"
board_size = 5
komi = 0.5
move_limit = 60
[players.one]
protocol = "python"
command = "arena.players.random_moves:random_moves"
elo = 1500
[players.two]
command = "python3 -m engine --mode gtp"
memory = "1 GiB"
move_seconds = 2.5
startup_commands = ["level 1"]
aliases = {genmove = "my_genmove"}
environment = {HOME = "/nowhere"}
[ratings]
start = 1500
[academy]
address = "127.0.0.1:50551"
token = "acd_0"
"""
    ]


def _short_texts(data: bytes) -> bool:
    """Addresses, tokens in metadata, and page tokens."""
    text = data.decode(errors="replace")
    was_read = False
    with suppress(InvalidAddressError):
        address = ServerAddress.parse(text)
        assert ServerAddress.parse(str(address)) == address
        was_read = True
    with suppress(NotAuthenticatedError):
        bearer_token((("authorization", text),))
        was_read = True
    with suppress(TokenRefusedError):
        store = _token_store()
        store.read(authenticate, text, store.clock())
        was_read = True
    with suppress(StalePageTokenError):
        request = libraries_pb2.ListEventsRequest(game_id="go", page_token=text)
        paging.page_key(request, (int,))
        was_read = True
    return was_read


@cache
def _token_store() -> Store:
    return Store(Path(tempfile.mkdtemp(prefix="academy-fuzz-")))


def _short_samples() -> list[bytes]:
    request = libraries_pb2.ListEventsRequest(game_id="go")
    _, token = _token_store().run(CreateToken("ann", Role.BOT))
    _token_store().run(RegisterGame(go_game(), "arena"))
    _, (ticket, _) = _token_store().run(OpenContest(contest("c")))
    return [
        *(b"127.0.0.1:50551", b"[::1]:0", b"unix:/tmp/academy.sock", b"localhost:1"),
        *(f"Bearer {token}".encode(), token.encode(), ticket.encode()),
        paging.page_token(request, [7]).encode(),
    ]


# Records as stored


def _stored(data: bytes) -> bool:
    """One byte says of which kind the rest is."""
    kind, stored = data[:1], data[1:]
    with suppress(StoreCorruptError):
        match kind:
            case b"g":
                game_tables.spec_and_settings(unpack_message(game_pb2.Game, stored))
            case b"p":
                entry = game_tables.EntryReader(go()).read(stored)
                entry_to_proto(entry, Library.ENDGAME, go())
            case b"o":
                node_to_proto(game_tables.read_node(stored, go()), "go-9x9")
            case b"m":
                game_tables.read_measures(stored)
            case b"r":
                game_tables.read_rating(stored)
            case b"s":
                rebuild.unpack_snapshot(stored)
            case b"e":
                event_log.unpack(stored)
            case _:
                return False
        return True
    return False


_STORED: Final = {
    b"g": TableName.GAMES,
    b"p": TableName.PATTERNS,
    b"o": TableName.OPENINGS,
    b"m": TableName.MEASURES,
    b"r": TableName.RATINGS,
    b"s": TableName.SNAPSHOTS,
    b"e": TableName.EVENTS,
}


def _stored_samples() -> list[bytes]:
    return [kind + value for kind, table in _STORED.items() for value in lived_in()[table]]


def _event(data: bytes) -> bool:
    """An event taken into a game's knowledge, as a replay does."""
    try:
        event = event_log.unpack(b"\x00" + data)
    except StoreCorruptError:
        return False
    event.game_id = "go-9x9"
    knowledge = event_effects.begin(events_pb2.Event(game_id="go-9x9", game_registered=go_game()))

    def earlier(number: int) -> events_pb2.Event:
        raise StoreCorruptError(f"event {number} is missing")

    try:
        event_effects.apply(knowledge, event, earlier)
        for _ in game_tables.records(knowledge, 1):
            pass
    except (StoreCorruptError, ValueError, LookupError) as fault:
        # The rules' own refusals; Python's would be mistakes of the reader.
        if not type(fault).__module__.startswith("academy."):
            raise
        # In a game of which nothing else is known there is nothing for these to change.
        return event.WhichOneof("kind") in ("game_registered", "pattern_deleted")
    return True


def _event_samples() -> list[bytes]:
    return [event_log.unpack(value).SerializeToString() for value in lived_in()[TableName.EVENTS]]


def _report(data: bytes) -> bool:
    with suppress(StoreCorruptError, *RULES_BROKEN):
        reported = unpack_message(events_pb2.ContestReported, data)
        report_from_proto(reported, go())
        return True
    return False


def _report_samples() -> list[bytes]:
    events = [event_log.unpack(value) for value in lived_in()[TableName.EVENTS]]
    return [
        event.contest_reported.SerializeToString() for event in events if event.HasField("contest_reported")
    ]


def _board(data: bytes) -> bool:
    was_read = False
    for geometry in GEOMETRIES.values():
        with suppress(InvalidBoardError):
            Board.from_letters(geometry, data.decode(errors="surrogateescape"))
            was_read = True
    return was_read


# The Go Text Protocol


class _Saying:
    """Stands for an engine's process: its whole output is known beforehand."""

    def __init__(self, output: bytes) -> None:
        self._output = io.BytesIO(output)

    unread = b""

    def write_line(self, line: bytes, deadline: float) -> None:
        """Take a command."""

    def first_byte(self, deadline: float) -> int | None:
        """Look at the first byte."""
        place = self._output.tell()
        first = self._output.read(1)
        self._output.seek(place)
        return first[0] if first else None

    def exchange(self, line: bytes, seconds: float) -> bytes:
        """Take a command, and read two lines."""
        return self._output.readline() + self._output.readline()

    def put_back(self, output: bytes) -> None:
        """Read the same again."""
        self._output.seek(-len(output), io.SEEK_CUR)

    def read_line(self, deadline: float) -> bytes | None:
        """Read a line."""
        line = self._output.readline()
        return line.removesuffix(b"\n") if line else None

    def obituary(self) -> str:
        """Say why there is nothing else."""
        return "ended"


def _gtp_answer(data: bytes) -> bool:
    saying: Any = _Saying(data)
    channel = GtpChannel(saying, "x")
    words = GoDialogue(GoSettings.read({"board_size": 9, "handicap": 2}))
    was_read = False
    for _ in range(8):
        try:
            answer = channel.ask("genmove", "b", seconds=1.0)
        except PlayerError:
            if channel.broken:
                return was_read
            continue
        with suppress(UnreadableMoveError):
            board.read(answer, 9)
            was_read = True
        with suppress(UnreadableMoveError):
            words.check_handicap(answer)
            was_read = True
        was_read |= words.read_score(answer) is not None
    return was_read


def _gtp_answer_samples() -> list[bytes]:
    return [
        b"= D4\n\n= pass\n\n= B+3.5\n\n? illegal move\n\n=\n\n= true\n\n",
        b"=1 c3\r\n\r\n= W+Resign\n\n= 0\n\n= G3 C7\n\n",
        b"= A1\nmore\n\n?\n\n= W+1e5\n\n",
    ]


def _gtp_command(data: bytes) -> bool:
    text = data.decode(errors="replace")[:2_000]
    answers = io.StringIO()
    for rules in (
        Go.from_settings({"board_size": 5, "komi": 0.5}),
        Hex.from_settings({"board_size": 5, "swap": True}),
    ):
        thinker = Strength("random").thinker(rules, random.Random(0))
        AnyGameEngine("fuzzed", rules, thinker).run(io.StringIO(text), answers)
    return "\n=" in f"\n{answers.getvalue()}"


def _gtp_command_samples() -> list[bytes]:
    return [
        b"1 boardsize 5\nclear_board\nkomi 0.5\nplay b c3\ngenmove w\nundo\nfinal_score\nlist_commands\n",
        b"protocol_version\nname\nversion\nfixed_handicap 2\nknown_command play\nquit\n",
        b"param_game allow_swap 1\nboardsize 5\nplay b c3\nplay w swap-pieces\nshowboard\nboardsize 4 3\n",
    ]


def _game_records(data: bytes) -> bool:
    games: tuple[Referee[Any, Any], ...] = (
        Go.from_settings({"board_size": 5}),
        Hex.from_settings({"board_size": 5, "swap": True}),
    )
    was_read = False
    for game in games:
        with suppress(UnreadableRecordError):
            for _, moves, *_ in game.read_records(data):
                was_read = True
                assert all(game.move_text(game.read_move(game.start(0), 1, move)) == move for move in moves)
    return was_read


def _game_record_samples() -> list[bytes]:
    return [
        b"(;FF[4]GM[1]SZ[5]KM[7.5];B[cc];W[];B[aa]C[hi])(;SZ[5](;B[aa];W[bb])(;B[ee]))",
        b"(;FF[4]AP[HexGui:0.9]GM[11]SZ[5]GN[a\\]];B[a3];W[swap-pieces];B[C3];W[resign])",
        b"(;GM[11]SZ[5:5](;B[a1];W[b1])(;B[e5]))(;SZ[5];B[a2];W[forfeit])",
    ]


def _other_game_records(data: bytes) -> bool:
    """PDN, and JSON of WarLight."""
    was_read = False
    with suppress(UnreadableRecordError):
        was_read |= bool([*Draughts.from_settings({"variant": "english"}).read_records(data)])
    with suppress(UnreadableRecordError):
        was_read |= bool([*WarLight.from_settings({"map": "double_small"}).read_records(data)])
    return was_read


def _other_game_record_samples() -> list[bytes]:
    return [
        b'[Event "cup"]\n[GameType "21"]\n[Result "*"]\n\n1. 11-15 23-19 2. 8-11 {hm} 22-17 *\n',
        b'[Result "1-0"]\n\n1. 11x15 1-0\n\n[Result "1/2-1/2"]\n\n1. 9-13 22-18 1/2-1/2\n',
    ]


TARGETS: Final = (
    Target("pattern_text", _pattern_text, _pattern_samples),
    Target("library_text", _library_text, _library_text_samples),
    Target("binary_export", _binary_export, _binary_export_samples),
    Target("stored_record", _stored, _stored_samples),
    Target("event", _event, _event_samples),
    Target("report", _report, _report_samples),
    Target("board", _board, lambda: [b"-" * 81, b"x" * 81, b"-xbow+" * 13 + b"-xb"]),
    Target("control_file", _control_file, _control_samples),
    Target("short_text", _short_texts, _short_samples),
    Target("gtp_answer", _gtp_answer, _gtp_answer_samples),
    Target("gtp_command", _gtp_command, _gtp_command_samples),
    Target("game_record", _game_records, _game_record_samples),
    Target("other_game_record", _other_game_records, _other_game_record_samples),
)
