"""Writes libraries as text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from academy.knowledge.openings import ROOT
from academy.knowledge.settings import Library
from academy.knowledge.votes import ELO_SCALE, VALUE_SCALE
from academy.store.codec.games import library_to_proto
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
from academy.v1 import game_pb2, libraries_pb2, pattern_pb2


@dataclass(frozen=True, slots=True)
class Learnt:
    """What ACADEMY learnt from contests, which nobody proposed."""

    tesujis: Sequence[pattern_pb2.TesujiRecord] = ()
    evaluation: Sequence[pattern_pb2.EvaluationRecord] = ()


def write_text(
    game_id: str,
    patterns: Iterable[pattern_pb2.PatternRecord] = (),
    nodes: Sequence[pattern_pb2.OpeningNodeRecord] = (),
    description: game_pb2.Game | None = None,
    history: Iterable[libraries_pb2.GameHistory] = (),
    learnt: Learnt | None = None,
) -> Iterator[str]:
    """Yield the lines of a text, without line ends, of records as an export has them, with figures.

    `read_text` gives the same records again, except the figures.
    """
    yield FIRST_LINE
    yield f"% game {game_id}"
    if description is not None:
        yield f"% description {on_one_line(description)}"
    for part in history:
        yield f"% history {on_one_line(part)}"
    library = None
    for record in patterns:
        if record.library != library:
            library = record.library
            yield from ("", f"% library {_name_of(library)}")
        yield ""
        yield from _pattern_lines(record)
    learnt = learnt or Learnt()
    if learnt.tesujis:
        yield from ("", f"% library {TESUJIS}")
    for tesuji in learnt.tesujis:
        yield ""
        yield from _tesuji_lines(tesuji)
    if learnt.evaluation:
        yield from ("", f"% library {EVALUATION}", "")
    for number, weights in enumerate(learnt.evaluation):
        yield from _evaluation_lines(weights, with_figures=number == 0)
    if nodes:
        yield from ("", f"% library {Library.OPENING.value}", "")
        yield from _node_lines(nodes)
    yield from ("", END_LINE)


def _name_of(value: pattern_pb2.Library.ValueType) -> str:
    return next(library.value for library in Library if library_to_proto(library) == value)


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
    weight, gradient = (
        decimal(value, VALUE_SCALE) for value in (record.weight_millionths, record.gradient_millionths)
    )
    yield (
        f"% offered {record.offered} chosen {record.chosen} elos {elos} weight {weight} gradient {gradient}"
    )
    yield f"% uses {record.uses} successes {record.successes}"
    yield record.cells
    yield str(signature_from_proto(record.signature))


def _evaluation_lines(record: pattern_pb2.EvaluationRecord, with_figures: bool) -> Iterator[str]:
    if with_figures:
        best, taught = (
            decimal(record.best_elo_hundredths, ELO_SCALE),
            decimal(record.taught_millionths, VALUE_SCALE),
        )
        yield (
            f"% contests {record.contests} best {best} taught {taught} "
            f"elos {decimal(record.taught_elo, VALUE_SCALE * ELO_SCALE)} "
            f"uses {record.uses} successes {record.successes}"
        )
    for weight in record.weights:
        value, gradient = (
            decimal(number, VALUE_SCALE) for number in (weight.weight_millionths, weight.gradient_millionths)
        )
        yield f"{weight.of} seen {weight.seen} weight {value} gradient {gradient}"


def _node_lines(nodes: Sequence[pattern_pb2.OpeningNodeRecord]) -> Iterator[str]:
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
