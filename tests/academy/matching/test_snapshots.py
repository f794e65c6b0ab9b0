"""Queries in many threads, while patterns come and go, see the patterns of one moment."""

import random
import threading
from collections.abc import Callable
from functools import cache

import pytest

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import SQUARE
from academy.matching.index import PatternIndex, Snapshot
from academy.matching.kernels import NAMES
from academy.matching.matches import MatchQuery
from tests.academy.matching.both_kernels import as_tuples
from tests.academy.matching.reference import Match, all_matches
from tests.academy.matching.test_index import loose_pattern

SPEC = GameSpec("go", SquareGeometry(13, 13), symmetries=tuple(SQUARE))
CHANCE = random.Random(12)
BOARD = Board(SPEC.geometry, bytes(CHANCE.choices((1, 1, 2, 8), k=169)))
PATTERNS = [loose_pattern(CHANCE, BOARD, 3 + number % 9, 4, 3 + number % 8) for number in range(60)]
Place = tuple[int, int, int]


# Not as this module is imported: each process that shares the tests imports all modules.
@cache
def matches() -> list[list[Place]]:
    """Where each of `PATTERNS` lies."""
    return [[match[1:] for match in all_matches(SPEC, {0: pattern}, BOARD)] for pattern in PATTERNS]


def expected(library: dict[int, int]) -> list[Match]:
    """The matches of a library of numbers and, for each, which of `PATTERNS` it is."""
    return [(number, *place) for number, which in sorted(library.items()) for place in matches()[which]]


@pytest.mark.parametrize("kernel", NAMES)
def test_a_snapshot_stays_as_it_was(kernel: str) -> None:
    index = PatternIndex(SPEC, kernel)
    library: dict[int, int] = {}
    chance = random.Random(7)
    kept: list[tuple[Snapshot, dict[int, int]]] = []
    for step in range(400):
        number, which = chance.randrange(40), chance.randrange(len(PATTERNS))
        if number in library and chance.random() < 0.5:
            index.remove(number)
            del library[number]
        else:
            index.put(number, PATTERNS[which])
            library[number] = which
        if step % 20 == 0:
            kept.append((index.snapshot(), dict(library)))
    for snapshot, then in kept:
        assert len(snapshot) == len(then)
        assert as_tuples(snapshot.match(MatchQuery(BOARD))) == expected(then)


def test_a_snapshot_is_the_same_until_a_change() -> None:
    index = PatternIndex(SPEC)
    first = index.snapshot()
    assert index.snapshot() is first
    index.put(1, PATTERNS[0])
    assert index.snapshot() is not first


def run_all(*work: Callable[[], None]) -> None:
    """Run all at once; raise what any of them raises."""
    failures: list[BaseException] = []

    def guarded(task: Callable[[], None]) -> None:
        try:
            task()
        except AssertionError as failure:
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("kernel", NAMES)
def test_queries_while_patterns_change(kernel: str) -> None:
    """The writer keeps all odd numbers equal to the even ones before them, but for one step in between."""
    index = PatternIndex(SPEC, kernel)
    library: dict[int, int] = {}
    known = matches()
    done = threading.Event()
    answers = 0

    def write() -> None:
        chance = random.Random(3)
        for _ in range(300):
            pair, which = 2 * chance.randrange(30), chance.randrange(len(PATTERNS))
            for number in (pair, pair + 1):
                if library.get(pair) == which and number in library:
                    index.remove(number)
                else:
                    index.put(number, PATTERNS[which])
            if library.get(pair) == which:
                del library[pair], library[pair + 1]
            else:
                library[pair] = library[pair + 1] = which
        done.set()

    def ask() -> None:
        nonlocal answers
        while not done.is_set():
            by_number: dict[int, list[Place]] = {}
            for number, *place in as_tuples(index.match(BOARD)):
                by_number.setdefault(number, []).append((place[0], place[1], place[2]))
            pairs = {number // 2 for number in by_number}
            unequal = [pair for pair in pairs if by_number.get(2 * pair) != by_number.get(2 * pair + 1)]
            assert len(unequal) <= 1
            for places in by_number.values():
                assert places in known
            answers += 1

    run_all(write, ask, ask, ask)
    assert answers > 10
    assert as_tuples(index.match(BOARD)) == expected(library)


def test_the_compiled_kernel_lets_other_threads_run() -> None:
    spec = GameSpec("large", SquareGeometry(40, 40), symmetries=tuple(SQUARE))
    chance = random.Random(1)
    board = Board(spec.geometry, bytes(chance.choices((1, 2, 8), k=1600)))
    index = PatternIndex(spec, "numba")
    for number in range(1000):
        index.put(number, loose_pattern(chance, board, 5, 5, 12))
    snapshot = index.snapshot()
    # Moves of several changes are as many queries, all in one call.
    moves = [[(cell, 2), (cell + 1, 8), (cell + 2, 1)] for cell in range(400)]

    def wakes() -> int:
        """How often this thread comes to run while another one searches."""
        ended = threading.Event()

        def search() -> None:
            snapshot.match_successors(MatchQuery(board, None, 1), moves)
            ended.set()

        thread = threading.Thread(target=search)
        thread.start()
        woken = 0
        while not ended.wait(0.002):
            woken += 1
        thread.join()
        return woken

    # Where the interpreter is kept, it is once before and once after. A busy machine may need some tries.
    assert any(wakes() > 5 for _ in range(50))
