"""How fast Go is refereed: our board against sgfmill's, and what the arena asks at each ply.

Run with `python -m benchmarks.go_rules`. Times are microseconds a ply, the best of five passes over
the same random games (every empty point but the ko is as likely as any other).
"""

import random
from collections.abc import Callable
from time import perf_counter

from sgfmill.boards import Board as SgfmillBoard

from referees.go import BLACK, Board, Go, GoPosition

Game = list[tuple[int, int]]


def random_game(size: int, chance: random.Random) -> Game:
    board, colour, moves = Board(size), BLACK, []
    for _ in range(size * size):
        free = [point for point, state in enumerate(board.stones) if not state and point != board.ko]
        moves.append((colour, chance.choice(free)))
        board.play(*moves[-1])
        colour = 3 - colour
    return moves


def on_our_board(size: int, moves: Game) -> None:
    board = Board(size)
    for colour, point in moves:
        board.play(colour, point)


def on_sgfmills_board(size: int, moves: Game) -> None:
    board = SgfmillBoard(size)
    for colour, point in moves:
        board.play(*divmod(point, size), " bw"[colour])


def on_copies_of_sgfmills_board(size: int, moves: Game) -> None:
    board = SgfmillBoard(size)
    for colour, point in moves:
        board = board.copy()
        board.play(*divmod(point, size), " bw"[colour])


def asking(question: Callable[[Go, GoPosition], object], **settings: object) -> Callable[[int, Game], None]:
    def ask(size: int, moves: Game) -> None:
        game = Go.from_settings({"board_size": size, **settings})
        position = game.start(0)
        for colour, point in moves:
            question(game, position)
            position = game.play(position, {colour: point})

    return ask


def microseconds(way: Callable[[int, Game], None], size: int, games: list[Game]) -> float:
    def once() -> float:
        began = perf_counter()
        for moves in games:
            way(size, moves)
        return perf_counter() - began

    return min(once() for _ in range(5)) / sum(map(len, games)) * 1e6


def main() -> None:
    ways: dict[str, Callable[[int, Game], None]] = {
        "our board, in place": on_our_board,
        "sgfmill's board, in place": on_sgfmills_board,
        "sgfmill's board, copied": on_copies_of_sgfmills_board,
        "Go.play": asking(lambda game, position: None),
        "Go.play and legal_moves": asking(lambda game, position: game.legal_moves(position, position.mover)),
        "Go.play and interaction": asking(lambda game, position: game.interaction(position)),
    }
    for size in (9, 19):
        games = [random_game(size, random.Random(seed)) for seed in range(1800 // size**2 + 1)]
        for name, way in ways.items():
            print(f"{size:>2}x{size:<2}  {name:<28} {microseconds(way, size, games):8.2f}")


if __name__ == "__main__":
    main()
