"""Libraries to text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from academy.knowledge.openings import ROOT
from academy.knowledge.settings import Library
from academy.knowledge.signatures import ELO_SCALE, VALUE_SCALE, Signature
from academy.store.codec import library_to_proto
from academy.store.textfile.words import FIRST_LINE, INDENT, PLAIN_MOVE, decimal, on_one_line, quoted
from academy.v1 import game_pb2, libraries_pb2, pattern_pb2


def write_text(
    game_id: str,
    patterns: Iterable[pattern_pb2.PatternRecord] = (),
    nodes: Sequence[pattern_pb2.OpeningNodeRecord] = (),
    description: game_pb2.Game | None = None,
    history: Iterable[libraries_pb2.GameHistory] = (),
) -> Iterator[str]:
    """Yield the lines of a text, without line ends, of records as an export has them, with figures.

    `read_text` gives the same records again, but for the figures.
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
    if nodes:
        yield from ("", f"% library {Library.OPENING.value}", "")
        yield from _node_lines(nodes)


def _name_of(value: pattern_pb2.Library.ValueType) -> str:
    return next(library.value for library in Library if library_to_proto(library) == value)


def _pattern_lines(record: pattern_pb2.PatternRecord) -> Iterator[str]:
    yield f"% id {record.pattern_id}"
    yield f"% player {record.player}"
    votes = [("vote", vote) for vote in record.votes] + [("silent", vote) for vote in record.silent_votes]
    # A player may have one of each: which is the later one the lines tell.
    for kind, vote in sorted(votes, key=lambda each: (each[1].event, each[1].order)):
        elo, value = decimal(vote.elo_hundredths, ELO_SCALE), decimal(vote.value_millionths, VALUE_SCALE)
        order = f" {vote.order}" if vote.order else ""
        event = f" {vote.event}{order}" if vote.event else ""
        yield f"% {kind} {quoted(vote.player)} {elo} {value}{event}"
    folded = record.folded
    if folded.votes:
        players = " ".join(f"{player:016x}" for player in folded.players)
        elo = decimal(folded.elo_hundredths, ELO_SCALE)
        yield f"% folded {folded.votes} {elo} {folded.weight} {folded.weighted_value} {players}"
    if record.changers:
        yield f"% changed-by {' '.join(f'{player:016x}' for player in record.changers)}"
    yield f"% uses {record.uses} successes {record.successes}"
    yield f"% last {record.last_contest} {quoted(record.last_contest_id)}"
    yield record.cells
    label = record.signature
    yield str(Signature(label.proposers, label.elo, label.value, label.player))


def _node_lines(nodes: Sequence[pattern_pb2.OpeningNodeRecord]) -> Iterator[str]:
    children: defaultdict[int, list[pattern_pb2.OpeningNodeRecord]] = defaultdict(list)
    waiting: list[pattern_pb2.OpeningNodeRecord] = []
    for node in sorted(nodes, key=lambda node: (node.visits, -node.node_id)):
        (waiting if node.node_id == ROOT else children[node.parent_id]).append(node)
    while waiting:
        node = waiting.pop()
        move = node.move if PLAIN_MOVE.fullmatch(node.move) and node.move.isprintable() else quoted(node.move)
        values = "/".join(decimal(value, VALUE_SCALE) for value in node.value_millionths)
        wins, draws, losses = ("/".join(map(str, each)) for each in (node.wins, node.draws, node.losses))
        yield (
            f"{INDENT * node.depth}{move} id {node.node_id} mover {node.mover} visits {node.visits} "
            f"wins {wins} draws {draws} losses {losses} values {values} told {node.values} "
            f"elos {decimal(node.elo_hundredths, ELO_SCALE)}"
        )
        waiting += children[node.node_id]
