"""Monte Carlo tree search over any referee: UCT, with rapid action value estimates where the game has them.

L. Kocsis and C. Szepesvari, "Bandit based Monte-Carlo Planning" (2006); S. Gelly and D. Silver, "Monte-Carlo
tree search and rapid action value estimation in computer Go" (2011). What ACADEMY knows of the moves enters
as a bias, which a move's own games soon outweigh (G. Chaslot et al., "Progressive strategies for Monte-Carlo
tree search", 2008); what is the same for all moves changes nothing.
"""

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from clients.bots.search_game import SearchGame, make_search_game
from clients.bots.thinking import Advice, Candidate, Experience, Thought, no_advice, usual_value
from referees.api import Referee

Position = TypeVar("Position")
Move = TypeVar("Move")

# How much a move's rarity counts, without and with estimates from other moves' games.
CURIOSITY: Final = 0.7
RAPID_CURIOSITY: Final = 0.3
# A move's own games after which they count as much as the estimates.
RAPID_GAMES: Final = 60.0
# A move's value leans towards the position's as if the move had this number of games with that result.
LEANING: Final = 4.0
# Advice is asked for after this share of the search and at least these playouts: what is known early saves
# tries, but what is expected by then decides whether one may ask.
ASK_AFTER: Final = 0.1
LEAST_BEFORE_ASKING: Final = 8
# A search by time alone ends here too.
MOST_PLAYOUTS: Final = 1_000_000


class _Node(Generic[Position, Move]):
    """A position of the tree and what became of its moves, for the seat that is to move in it."""

    __slots__ = (
        "bias",
        "children",
        "games",
        "index",
        "moves",
        "points",
        "position",
        "rapid",
        "seat",
        "total",
    )

    def __init__(self, game: SearchGame[Position, Move], position: Position, shuffled: random.Random) -> None:
        self.position = position
        self.seat = game.mover(position)
        moves = list(game.moves(position)) if self.seat else []
        # The search tries the first of equally good moves.
        shuffled.shuffle(moves)
        self.moves: Sequence[Move] = moves
        self.index = {move: number for number, move in enumerate(moves)}
        self.children: list[_Node[Position, Move] | None] = [None] * len(moves)
        self.games = [0.0] * len(moves)
        self.points = [0.0] * len(moves)
        # Others' games, and how many points more than usual they made.
        self.bias = [(0.0, 0.0)] * len(moves)
        # Games and points of playouts in which the move came later.
        self.rapid = [[0.0, 0.0] for _ in moves]
        self.total = 0.0

    def worth(self, number: int) -> float:
        """What a move is worth by all that is known of it."""
        games = self.games[number]
        own = (self.points[number] + 0.5) / (games + 1.0)
        rapid_games, rapid_points = self.rapid[number]
        if rapid_games:
            weight = math.sqrt(RAPID_GAMES / (3.0 * games + RAPID_GAMES)) * rapid_games / (rapid_games + 1.0)
            own = (1.0 - weight) * own + weight * (rapid_points + 0.5) / (rapid_games + 1.0)
        biased_games, biased_points = self.bias[number]
        return own + biased_points / (games + biased_games + 1.0)

    def most_urgent(self) -> int:
        """The move to try next."""
        curiosity = RAPID_CURIOSITY if any(games for games, _ in self.rapid) else CURIOSITY
        spread = curiosity * curiosity * math.log(self.total + 1.0)
        best, best_urgency = 0, -1.0
        for number, games in enumerate(self.games):
            urgency = self.worth(number) + math.sqrt(spread / (games + 1.0))
            if urgency > best_urgency:
                best, best_urgency = number, urgency
        return best

    def heed(self, known: Mapping[Move, Experience]) -> None:
        """Take in what others know of the moves: how much better or worse than usual each is."""
        usual = usual_value(known)
        for move, experience in known.items():
            if (number := self.index.get(move)) is not None:
                games = experience.games
                self.bias[number] = (games, games * (experience.value - usual))

    def ranked(self) -> list[int]:
        """The moves by what is known of them, best first."""
        return sorted(range(len(self.moves)), key=self.worth, reverse=True)

    def value(self) -> float:
        """What the seat to move has had on the average."""
        return (sum(self.points) + 1.0) / (sum(self.games) + 2.0)


@dataclass
class TreeSearchThinker:
    """Searches by `playouts` random games a move; where `seconds` are given, by all that fit into them.

    Seconds are those of `clock`, and waiting for advice is one's own time.
    """

    playouts: int
    chance: random.Random
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic

    def think(
        self, referee: Referee[Any, Any], position: Any, advice: Advice[Any] = no_advice
    ) -> Thought[Any]:
        """All moves, those with the best prospects first. Raises UnsuitableGameError."""
        began = self.clock()
        game = make_search_game(referee, self.chance)
        root = _Node(game, position, self.chance)
        if len(root.moves) == 1:
            # There is nothing to decide, only to expect.
            self._search(game, root, began, 0.25)
            return Thought(root.value(), (Candidate(root.moves[0], root.value()),))
        self._search(game, root, began, ASK_AFTER, LEAST_BEFORE_ASKING)
        root.heed(advice(root.value(), [root.moves[number] for number in root.ranked()]))
        self._search(game, root, began, 1.0)
        value = root.value()
        return Thought(
            value,
            tuple(
                Candidate(
                    root.moves[number],
                    (root.points[number] + LEANING * value) / (root.games[number] + LEANING),
                )
                for number in root.ranked()
            ),
        )

    def _search(
        self, game: SearchGame[Any, Any], root: _Node[Any, Any], began: float, end: float, least: int = 1
    ) -> None:
        """Search up to a share of the move's playouts, or of the time since it `began`.

        At least `least` playouts are made, without which nothing is expected of any move.
        """
        if self.seconds is None:
            while root.total < max(min(least, self.playouts), math.ceil(end * self.playouts)):
                self._play(game, root)
            return
        deadline = began + end * self.seconds
        while root.total < MOST_PLAYOUTS and (root.total < least or self.clock() < deadline):
            self._play(game, root)

    def _play(self, game: SearchGame[Any, Any], root: _Node[Any, Any]) -> None:
        path: list[tuple[_Node[Any, Any], int]] = []
        node = root
        while True:
            number = node.most_urgent()
            path.append((node, number))
            child = node.children[number]
            if child is None:
                child = _Node(game, game.after(node.position, node.moves[number]), self.chance)
                node.children[number] = child
                break
            node = child
            if not node.seat:
                break
        node = child
        if node.seat:
            result = game.playout(node.position)
            scores, played = result.scores, result.played
        else:
            scores, played = game.scores(node.position), ()
        for node, number in path:
            score = scores[node.seat - 1]
            node.games[number] += 1.0
            node.points[number] += score
            node.total += 1.0
            if played:
                index, rapid = node.index, node.rapid
                for move in played[node.seat - 1]:
                    if move in index:
                        estimate = rapid[index[move]]
                        estimate[0] += 1.0
                        estimate[1] += score
