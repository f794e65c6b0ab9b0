"""Random knowledge for property tests."""

from dataclasses import replace

from hypothesis import strategies as st

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import Code
from academy.knowledge.node_analysis import MAX_BUDGET, NodeAnalysis, SearchKind
from academy.knowledge.opening_node import LevelVisits, OpeningNode
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.patterns import Pattern, graph_pattern, grid_pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.votes import ELO_SCALE, MAX_ELO, AggregatedVotes, Vote, VoteTally
from academy.store.codec.openings import MOST_VISITS

GRAPH_NODES = ("PAR", "BUR", "GAS", "42", "x-y")
GEOMETRIES: dict[str, Geometry] = {
    "square": SquareGeometry(9, 9),
    "hex": HexGeometry(9, 9),
    "graph": GraphGeometry(GRAPH_NODES, ((0, 1), (1, 2))),
}
SPECS = {name: GameSpec(name, geometry) for name, geometry in GEOMETRIES.items()}

codes = st.sampled_from(list(Code))
names = st.text(min_size=1, max_size=20).filter(
    lambda name: not any(ord(letter) < 32 or ord(letter) == 127 for letter in name)
)
counts = st.integers(0, 2**40)
beginnings_of_moves = st.sampled_from(["D", "player 1", "%", 'a"b', "<", '"', "é", chr(0x2028), chr(0x85)])


@st.composite
def patterns(draw: st.DrawFn, spec: GameSpec) -> Pattern:
    """A pattern that can occur in a game."""
    stone = draw(st.sampled_from([Code.FIRST_SOLDIER, Code.SECOND_KING, Code.EMPTY]))
    if isinstance(spec.geometry, GraphGeometry):
        chosen = draw(st.sets(st.integers(0, len(GRAPH_NODES) - 1), min_size=1))
        coded_nodes = [(node, draw(codes)) for node in sorted(chosen)]
        return graph_pattern([(coded_nodes[0][0], stone), *coded_nodes[1:]])
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    if isinstance(spec.geometry, HexGeometry) and rows > 1 and columns > 1:
        # Without its sharp corners a rhombus is nearer to a hexagon.
        cut = draw(st.sets(st.sampled_from([cells[0], cells[-1]])))
        cells = [cell for cell in cells if cell not in cut]
    found_cells = [(row, column, draw(codes)) for row, column in cells]
    return grid_pattern([(*cells[0], stone), *found_cells[1:]])


@st.composite
def tallies(draw: st.DrawFn) -> VoteTally:
    """One vote or several, at times with silent or folded ones."""
    votes = VoteTally()
    for name in draw(st.sets(names, min_size=1, max_size=5)):
        elo, value = draw(st.floats(-500, 3_000)), draw(st.floats(0, 1))
        # Weaker ones are silent.
        votes = votes.cast(Vote.of(name, elo, value, draw(counts), draw(st.integers(0, 2**32 - 1))))
    if draw(st.booleans()):
        folded = AggregatedVotes()
        for number in range(draw(st.integers(1, 4))):
            folded += Vote.of(f"one of many {number}", draw(st.floats(-500, 3_000)), 0.5, number)
        votes = replace(votes, folded=folded)
    return votes


@st.composite
def entries(draw: st.DrawFn, spec: GameSpec) -> PatternEntry:
    """A pattern of a library."""
    uses = draw(counts)
    return PatternEntry(
        pattern_id=draw(st.integers(1, 2**40)),
        pattern=draw(patterns(spec)),
        player=1,
        votes=draw(tallies()),
        uses=uses,
        successes=draw(st.integers(0, uses)),
        last_contest=draw(counts),
        last_contest_id=draw(st.sampled_from(["", "c1", 'a"b\\c'])),
        changers=frozenset(draw(st.sets(st.integers(0, 2**64 - 1), max_size=3))),
    )


analyses = st.none() | st.builds(
    NodeAnalysis,
    st.integers(0, 1_000_000),
    st.integers(1, MAX_BUDGET),
    st.sampled_from(("ann", 'a "b"')),
    st.sampled_from(SearchKind),
)


@st.composite
def parts_of(draw: st.DrawFn, node: OpeningNode, level: int) -> tuple[LevelVisits, ...]:
    """What contests of lower levels left in a node: shares of its figures that add up to less."""
    levels = sorted(draw(st.sets(st.integers(level - 9, level - 1), max_size=3)))

    def share(whole: int) -> int:
        return draw(st.integers(0, whole // max(1, len(levels))))

    return tuple(
        LevelVisits(
            level=lower,
            visits=share(node.visits),
            wins=tuple(map(share, node.wins)),
            draws=tuple(map(share, node.draws)),
            losses=tuple(map(share, node.losses)),
            value_millionths=tuple(map(share, node.value_millionths)),
            values=share(node.values),
            elo_hundredths=draw(st.integers(-(2**40), 2**40)),
        )
        for lower in levels
    )


@st.composite
def nodes(draw: st.DrawFn) -> list[OpeningNode]:
    """An opening tree of two players, the root first."""
    tree: list[OpeningNode] = []
    for node_id in range(draw(st.integers(1, 6))):
        parent = draw(st.sampled_from(tree)) if tree else None
        visits = draw(st.integers(0, MOST_VISITS))
        # The text language has thirteen digits for a sum.
        most_elo = min(visits * round(MAX_ELO * ELO_SCALE), 10**13 * ELO_SCALE - 1)
        sums = st.integers(0, visits * 1_000_000)
        wins = draw(st.tuples(st.integers(0, visits), st.integers(0, visits)))
        draws = tuple(draw(st.integers(0, visits - won)) for won in wins)
        level = draw(st.none() | st.integers(-51, 60))
        tree.append(
            OpeningNode(
                node_id=node_id,
                parent_id=parent.node_id if parent else 0,
                move=f"{draw(beginnings_of_moves)}{node_id}" if parent else "",
                depth=parent.depth + 1 if parent else 0,
                mover=draw(st.integers(1, 2)) if parent else 0,
                visits=visits,
                wins=wins,
                draws=draws,
                losses=tuple(visits - won - drawn for won, drawn in zip(wins, draws, strict=True)),
                value_millionths=draw(st.tuples(sums, sums)),
                values=draw(st.integers(0, visits)),
                elo_hundredths=draw(st.integers(-most_elo, most_elo)),
                analysis=draw(analyses) if parent else None,
                level=level,
            )
        )
        if level is not None:
            tree[-1] = replace(tree[-1], weaker=draw(parts_of(tree[-1], level)))
    numbers = draw(st.permutations(range(1, len(tree))))
    renumbered = dict(enumerate((0, *numbers)))
    return [
        replace(node, node_id=renumbered[node.node_id], parent_id=renumbered[node.parent_id]) for node in tree
    ]
