"""Writes libraries as text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby

from academy.knowledge.openings import ROOT
from academy.knowledge.settings import Library
from academy.knowledge.votes import ELO_SCALE, VALUE_SCALE
from academy.store.codec.games import library_from_proto
from academy.store.codec.patterns import signature_from_proto
from academy.store.library_text.words import (
    END_LINE,
    EVALUATION,
    FIGHT,
    FIRST_LINE,
    INDENT,
    PLAIN_MOVE,
    TESUJIS,
    WEAKER,
    decimal,
    on_one_line,
    quote,
)
from academy.v1 import libraries_pb2, pattern_pb2


def write_text(records: Iterable[libraries_pb2.ExportLibraryResponse]) -> Iterator[str]:
    """Yield the lines of a text, without line ends, of an export's records, in their order.

    `read_text` gives the same records again, except the figures.
    """
    yield FIRST_LINE
    for (kind, library), group in groupby(records, _kind_and_library):
        match kind:
            case "game":
                game = next(group).game
                yield from (f"% game {game.game_id}", f"% description {on_one_line(game)}")
            case "history":
                yield from (f"% history {on_one_line(record.history)}" for record in group)
            case "pattern":
                yield from ("", f"% library {library_from_proto(library).value}")
                for record in group:
                    yield from ("", *_pattern_lines(record.pattern))
            case "tesuji":
                yield from ("", f"% library {TESUJIS}")
                for record in group:
                    yield from ("", *_tesuji_lines(record.tesuji))
            case "evaluation":
                yield from ("", f"% library {EVALUATION}", "")
                yield from _evaluation_lines(record.evaluation for record in group)
            case "node":
                yield from ("", f"% library {Library.OPENING.value}", "")
                yield from _node_lines(record.node for record in group)
    yield from ("", END_LINE)


def _kind_and_library(
    record: libraries_pb2.ExportLibraryResponse,
) -> tuple[str | None, pattern_pb2.Library.ValueType]:
    return record.WhichOneof("record"), record.pattern.library


def _pattern_lines(record: pattern_pb2.PatternRecord) -> Iterator[str]:
    yield f"% id {record.pattern_id}"
    yield f"% player {record.player}"
    votes = [("vote", vote) for vote in record.votes] + [("silent", vote) for vote in record.silent_votes]
    # A player may have one of each: the order of the lines shows the later one.
    for kind, vote in sorted(votes, key=lambda pair: (pair[1].event, pair[1].order)):
        elo, value = decimal(vote.elo_hundredths, ELO_SCALE), decimal(vote.value_millionths, VALUE_SCALE)
        order = f" {vote.order}" if vote.order else ""
        event = f" {vote.event}{order}" if vote.event else ""
        yield f"% {kind} {quote(vote.player)} {elo} {value}{event}"
    folded = record.folded
    if folded.votes:
        players = " ".join(f"{player:016x}" for player in folded.players)
        elo = decimal(folded.elo_hundredths, ELO_SCALE)
        yield f"% folded {folded.votes} {elo} {folded.weight} {folded.weighted_value} {players}"
    if record.changers:
        yield f"% changed-by {' '.join(f'{player:016x}' for player in record.changers)}"
    yield f"% uses {record.uses} successes {record.successes}"
    yield f"% last {record.last_contest} {quote(record.last_contest_id)}"
    yield record.cells
    yield str(signature_from_proto(record.signature))


def _tesuji_lines(record: pattern_pb2.TesujiRecord) -> Iterator[str]:
    yield f"% player {record.player}"
    if record.HasField("place"):
        yield f"% place {record.place}"
    if record.turned:
        yield f"% turned {record.turned}"
    if record.HasField("fight"):
        yield "% " + " ".join(f"{name} {getattr(record.fight, name)}" for name in FIGHT)
    elos = decimal(record.elo_hundredths, ELO_SCALE)
    weight = decimal(record.weight_millionths, VALUE_SCALE)
    gradient = decimal(record.gradient_millionths, VALUE_SCALE)
    yield (
        f"% offered {record.offered} chosen {record.chosen} elos {elos} weight {weight} gradient {gradient}"
    )
    yield f"% uses {record.uses} successes {record.successes}"
    yield record.cells
    yield str(signature_from_proto(record.signature))


def _evaluation_lines(records: Iterable[pattern_pb2.EvaluationRecord]) -> Iterator[str]:
    for place, record in enumerate(records):
        if place == 0:
            best = decimal(record.best_elo_hundredths, ELO_SCALE)
            taught = decimal(record.taught_millionths, VALUE_SCALE)
            yield (
                f"% contests {record.contests} best {best} taught {taught} "
                f"elos {decimal(record.taught_elo, VALUE_SCALE * ELO_SCALE)} "
                f"uses {record.uses} successes {record.successes}"
            )
        for weight in record.weights:
            value = decimal(weight.weight_millionths, VALUE_SCALE)
            gradient = decimal(weight.gradient_millionths, VALUE_SCALE)
            yield f"{weight.of} seen {weight.seen} weight {value} gradient {gradient}"


def _node_lines(nodes: Iterable[pattern_pb2.OpeningNodeRecord]) -> Iterator[str]:
    children: defaultdict[int, list[pattern_pb2.OpeningNodeRecord]] = defaultdict(list)
    waiting: list[pattern_pb2.OpeningNodeRecord] = []
    for node in sorted(nodes, key=lambda node: (node.visits, -node.node_id)):
        (waiting if node.node_id == ROOT else children[node.parent_id]).append(node)
    while waiting:
        node = waiting.pop()
        move = node.move if PLAIN_MOVE.fullmatch(node.move) and node.move.isprintable() else quote(node.move)
        level = f" level {node.level}" if node.HasField("level") else ""
        analysis = ""
        if node.HasField("analysis"):
            search = node.analysis
            value = decimal(search.value_millionths, VALUE_SCALE)
            unit = "plies" if search.kind == pattern_pb2.SEARCH_KIND_PLIES else "budget"
            analysis = f" searched {value} {unit} {search.budget} analyst {quote(search.analyst)}"
        yield (
            f"{INDENT * node.depth}{move} id {node.node_id} mover {node.mover} "
            f"{_visits(node)}{level}{analysis}"
        )
        for part in node.weaker:
            yield f"% {WEAKER} {part.level} {_visits(part)}"
        waiting += children[node.node_id]


def _visits(visited: pattern_pb2.OpeningNodeRecord | pattern_pb2.LevelVisits) -> str:
    """What contests left, in words that `_read_visits` reads."""
    wins, draws, losses = (
        "/".join(map(str, counts)) for counts in (visited.wins, visited.draws, visited.losses)
    )
    values = "/".join(decimal(value, VALUE_SCALE) for value in visited.value_millionths)
    return (
        f"visits {visited.visits} wins {wins} draws {draws} losses {losses} values {values} "
        f"told {visited.values} elos {decimal(visited.elo_hundredths, ELO_SCALE)}"
    )
