"""Getting a kernel ready, so that the first query need not wait for it."""

import threading

from academy.knowledge.boards import Board, GraphGeometry, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import Pattern, graph_pattern, grid_pattern
from academy.knowledge.spec import GameSpec
from academy.matching.index import PatternIndex


def warm_up(kernel: str | None = None) -> None:
    """Ask a kernel everything once: it loads its machine code, or compiles it where none is kept yet.

    Loading takes tenths of a second, compiling half a minute. Raises kernels.UnknownKernel.
    """
    grid = SquareGeometry(1, 1)
    graph = GraphGeometry(("node",))
    stone = (0, 0, Code.FIRST_PIECE)
    _ask(GameSpec("grid", grid), grid_pattern([stone]), kernel)
    _ask(GameSpec("graph", graph), graph_pattern([(0, Code.EMPTY)]), kernel)


def warm_up_in_background() -> threading.Thread:
    """Warm up in a thread that ends with the process; until then queries wait for what they need."""
    thread = threading.Thread(target=warm_up, name="matching warm-up", daemon=True)
    thread.start()
    return thread


def _ask(spec: GameSpec, pattern: Pattern, kernel: str | None) -> None:
    index = PatternIndex(spec, kernel)
    index.put(1, pattern)
    board = Board(spec.geometry, bytes([State.EMPTY]))
    index.match(board)
    index.snapshot().match_successors(board, [[(0, State.FIRST_SOLDIER)]])
