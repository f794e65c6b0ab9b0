"""What the specs say of symmetry and reversal is true: images of games are games."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest

from academy.knowledge.boards import GraphGeometry, HexGeometry
from academy.knowledge.cells import State
from academy.knowledge.symmetries import HEXAGON, SQUARE, board_permutation
from referees.api import UnreadableMoveError
from referees.openspiel import OpenSpiel, SpielPosition
from referees.openspiel.boards import BOARDS
from tests.referees.openspiel.games import judge_of

GAMES = (
    "amazons(board_size=6)",
    "breakthrough(rows=5,columns=4)",
    "checkers",
    "clobber(rows=3,columns=4)",
    "clobber(rows=3,columns=3)",
    "connect_four(rows=4,columns=5)",
    "go(board_size=5)",
    "gomoku(size=6,connect=4)",
    "havannah(board_size=3)",
    "hex(board_size=4)",
    "hex(num_rows=3,num_cols=4)",
    "lines_of_action",
    "mnk(m=5,n=4,k=3)",
    "othello",
    "pentago",
    "tic_tac_toe",
    "y(board_size=5)",
)
DROPPING = [game for game in GAMES if re.match("connect|gomoku|hav|hex.b|mnk|tic|y", game)]
EXCHANGED = str.maketrans("xoXOBW", "oxOXWB")


class Image:
    """Where a symmetry of a game takes its cells, and what the moves are called there."""

    def __init__(self, judge: OpenSpiel, name: str) -> None:
        geometry = judge.spec().geometry
        assert not isinstance(geometry, GraphGeometry)
        known = HEXAGON if isinstance(geometry, HexGeometry) else SQUARE
        first = judge.board(judge.start(0), 1).states
        cells = [cell for cell, state in enumerate(first) if state != State.OFF_BOARD]
        target = board_permutation(known[name], [geometry.cells[cell] for cell in cells])
        assert target is not None
        self._target = {cell: cells[goes_to] for cell, goes_to in zip(cells, target, strict=True)}
        names = judge.spec().cell_names
        self._names = {names[cell]: names[goes_to] for cell, goes_to in self._target.items() if names}
        longest_first = sorted(map(re.escape, self._names), key=len, reverse=True)
        self._in_text = re.compile(f"(?:{'|'.join(longest_first)})(?![0-9])") if names else None

    def board(self, letters: str) -> str:
        turned = list(letters)
        for cell, goes_to in self._target.items():
            turned[goes_to] = letters[cell]
        return "".join(turned)

    def text(self, text: str) -> str:
        return self._in_text.sub(lambda cell: self._names[cell[0]], text) if self._in_text else text


def random_game(judge: OpenSpiel, seed: int, plies: int = 80) -> Iterator[tuple[SpielPosition, str | None]]:
    """Positions, each with the text of the move that is made in it."""
    chance, position = random.Random(seed), judge.start(0)
    for _ in range(plies):
        if not position.moves:
            break
        move = chance.choice(position.moves)
        yield position, move.text
        position = position.after(move)
    yield position, None


def letters(judge: OpenSpiel, position: SpielPosition) -> str:
    return judge.board(position, 1).letters


def test_all_boards_are_tried() -> None:
    assert {game.partition("(")[0] for game in GAMES} == set(BOARDS)


@pytest.mark.parametrize("game", GAMES)
def test_images_of_games_are_games(game: str) -> None:
    judge = judge_of(game)
    # A board that is not a rhombus has more symmetries than lists of moves have images.
    for name in judge.spec().symmetries:
        image = Image(judge, name)
        for seed in range(3):
            position = judge.start(0)
            for original, text in random_game(judge, seed):
                assert letters(judge, position) == image.board(letters(judge, original))
                assert judge.outcome(position) == judge.outcome(original)
                legal = {image.text(move.text) for move in original.moves}
                assert {move.text for move in position.moves} == legal
                if text is not None:
                    seat = judge.to_move(position)[0]
                    position = position.after(judge.read_move(position, seat, image.text(text)))


def exchanged(text: str) -> str:
    """The move of the other player: OpenSpiel's texts may begin with whose it is."""
    return re.sub(r"^[xo](?=[(0-9])|^[XOBW](?= )", lambda who: who[0].translate(EXCHANGED), text)


@pytest.mark.parametrize("game", DROPPING)
def test_reversed_games_have_reversed_results(game: str) -> None:
    """The first player makes an idle move and then plays the second player's moves, and the other way."""
    judge = judge_of(game)
    image = Image(judge, judge.spec().reversal)
    confirmed = {1: 0, 2: 0}
    for seed in range(200):
        if min(confirmed.values()) == 8:
            break
        played = list(random_game(judge, seed, 200))
        last = played[-1][0]
        outcome = judge.outcome(last)
        assert outcome is not None
        if len(outcome.winners) == 2 or not played[0][0].moves:
            continue
        texts = [text for _, text in played if text is not None]
        places = {exchanged(text) for text in texts} | set(texts)
        idle = [move for move in judge.start(0).moves if _untouched(image.text(move.text), places)]
        if not idle:
            continue
        position = judge.start(0).after(idle[0])
        for text in texts:
            if not position.moves:
                break  # The idle move has won the game for the first player.
            move = judge.read_move(position, judge.to_move(position)[0], image.text(exchanged(text)))
            position = position.after(move)
        else:
            reversed_outcome = judge.outcome(position)
            assert reversed_outcome is not None
            assert reversed_outcome.winners == (3 - outcome.winners[0],)
            confirmed[outcome.winners[0]] += 1
    assert min(confirmed.values()) >= 3


def _untouched(text: str, places: set[str]) -> bool:
    return text not in places and exchanged(text) not in places


@pytest.mark.parametrize(
    ("game", "plies", "games"),
    [
        ("breakthrough(rows=5,columns=2)", 30, 200),
        ("checkers(rows=8,columns=8)", 9, 500),
        ("lines_of_action", 3, 2600),
        ("go(board_size=2)", 5, 100),
    ],
)
def test_the_players_move_alike_where_both_come_to_the_same_board(game: str, plies: int, games: int) -> None:
    judge = judge_of(game)
    image = Image(judge, judge.spec().reversal)
    met: defaultdict[tuple[str, int], set[frozenset[str]]] = defaultdict(set)
    for seed in range(games):
        for position, _ in random_game(judge, seed, plies):
            for seat in judge.to_move(position):
                met[letters(judge, position), seat].add(frozenset(move.text for move in position.moves))
    swap = str.maketrans("xbow", "owxb")
    pairs = 0
    for (board, seat), legal in met.items():
        others = met.get((image.board(board.translate(swap)), 3 - seat))
        if seat == 1 and others:
            pairs += 1
            assert {frozenset(image.text(exchanged(text)) for text in texts) for texts in legal} == others
    assert pairs >= 5


Line = tuple[int, int]
AROUND = [(rows, columns) for rows in (-1, 0, 1) for columns in (-1, 0, 1) if rows or columns]


def clobbers(cells: dict[Line, str], own: str, other: str) -> set[frozenset[Line]]:
    beside = ((0, 1), (1, 0), (0, -1), (-1, 0))
    return {
        frozenset((cell, (cell[0] + down, cell[1] + across)))
        for cell, state in cells.items()
        for down, across in beside
        if state == own and cells.get((cell[0] + down, cell[1] + across)) == other
    }


def othello_moves(cells: dict[Line, str], own: str, other: str) -> set[frozenset[Line]]:
    moves = set()
    for (row, column), state in cells.items():
        for down, across in AROUND if state == "-" else ():
            length = 1
            while cells.get((row + down * length, column + across * length)) == other:
                length += 1
            if length > 1 and cells.get((row + down * length, column + across * length)) == own:
                moves.add(frozenset(((row, column),)))
    return moves


def amazons_that_can_move(cells: dict[Line, str], own: str, other: str) -> set[frozenset[Line]]:
    return {
        frozenset(((row, column),))
        for (row, column), state in cells.items()
        if state == own and any(cells.get((row + down, column + across)) == "-" for down, across in AROUND)
    }


@pytest.mark.parametrize(
    ("game", "rule", "only"),
    [
        ("clobber(rows=4,columns=5)", clobbers, ""),
        ("othello", othello_moves, ""),
        ("amazons(board_size=6)", amazons_that_can_move, "From"),
    ],
)
def test_the_moves_are_those_of_a_rule_that_knows_no_colours(
    game: str, rule: Callable[[dict[Line, str], str, str], set[frozenset[Line]]], only: str
) -> None:
    judge = judge_of(game)
    geometry, names = judge.spec().geometry, judge.spec().cell_names
    assert not isinstance(geometry, GraphGeometry)
    places = dict(zip(names, geometry.cells, strict=True))
    checked = {1: 0, 2: 0}
    for seed in range(20):
        for position, _ in random_game(judge, seed):
            for seat in judge.to_move(position):
                texts = [move.text for move in position.moves]
                if "pass" in texts or only not in texts[0]:
                    continue
                cells = dict(zip(geometry.cells, letters(judge, position), strict=True))
                legal = {frozenset(places[name] for name in names if name in text) for text in texts}
                assert legal == rule(cells, "-xo"[seat], "-ox"[seat])
                checked[seat] += 1
    assert min(checked.values()) >= 50


def test_an_unknown_cell_is_not_an_image() -> None:
    judge = judge_of("tic_tac_toe")
    with pytest.raises(UnreadableMoveError, match=r"legal are x\(0,0\)"):
        judge.read_move(judge.start(0), 1, "x(3,3)")
