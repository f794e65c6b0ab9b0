"""A game of hidden hands and dice for every protocol: all that a seat must not learn comes of its seed."""

import base64
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from academy.knowledge.boards import Board, GraphGeometry
from academy.knowledge.spec import GameSpec
from referees.api import GameRecord, IllegalMoveError, Outcome, Referee, Termination, UnreadableMoveError
from referees.dialogues import BotTime, GtpGame, Prompt, Reading
from referees.diplomacy.deepmind.policy_game import DeepMindDialogue

HAND, PLIES = 10, 4


@dataclass(frozen=True)
class Cards:
    """The hands (None where they may not be seen), the dice so far, the next ones' seed, and the plies."""

    hands: tuple[tuple[int, ...] | None, ...]
    dice: tuple[int, ...]
    seed: int | None
    plies: int = 0


class CardGame(Referee[Cards, int]):
    """Each seat plays cards of its hidden hand, and dice roll after each. Who moves last wins."""

    name = "cards"

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> "CardGame":
        return cls()

    def spec(self) -> GameSpec:
        return GameSpec("cards", GraphGeometry(("table",)), 2, symmetric=False)

    def start(self, seed: int) -> Cards:
        deck = random.Random(seed).sample(range(52), 52)
        return Cards((tuple(deck[:HAND]), tuple(deck[HAND : 2 * HAND])), (), seed)

    def to_move(self, position: Cards) -> tuple[int, ...]:
        return (position.plies % 2 + 1,) if position.plies < PLIES else ()

    def legal_moves(self, position: Cards, seat: int) -> Sequence[int]:
        return position.hands[seat - 1] or ()

    def check(self, position: Cards, seat: int, move: int) -> None:
        if move not in self.legal_moves(position, seat):
            raise IllegalMoveError(f"card {move} is not in the hand")

    def play(self, position: Cards, moves: Mapping[int, int]) -> Cards:
        ((seat, card),) = moves.items()
        hands = tuple(
            tuple(held for held in hand or () if held != card) if other == seat else hand
            for other, hand in enumerate(position.hands, start=1)
        )
        roll = random.Random(f"{position.seed} {position.plies}").randint(1, 6)
        return Cards(hands, (*position.dice, roll), position.seed, position.plies + 1)

    def outcome(self, position: Cards) -> Outcome | None:
        return None if self.to_move(position) else Outcome((2,), Termination.SCORE, "2 wins")

    def view(self, position: Cards, seat: int) -> Cards:
        hands = tuple(hand if other == seat else None for other, hand in enumerate(position.hands, start=1))
        return replace(position, hands=hands, seed=None)

    def board(self, position: Cards, seat: int) -> Board:
        return Board.from_letters(self.spec().geometry, "x" if position.plies else "-")

    def move_text(self, move: int) -> str:
        return f"card {move}"

    def read_move(self, position: Cards, seat: int, text: str) -> int:
        word, _, number = text.partition(" ")
        if word != "card" or not number.isdecimal():
            raise UnreadableMoveError(f"{text!r} names no card")
        return int(number)

    def record(self, game: GameRecord) -> str:
        return json.dumps({"seed": game.seed})

    def dialogue(self, protocol: str) -> object | None:
        return {"gtp": CardsOverGtp(), "lines": CardsInLines(), "policy": CardsForPolicies(self)}.get(
            protocol
        )


class CardsOverGtp(GtpGame[Cards, int]):
    def setup(self) -> Sequence[str]:
        return ["clear_board"]

    def colour(self, seat: int) -> str:
        return "bw"[seat - 1]

    def vertex(self, move: int) -> str:
        return f"card {move}"


class CardsInLines:
    """A bot receives its hand and answers with a move."""

    def greeting(self, seat: int, time: BotTime) -> Sequence[str]:
        return [f"seat {seat}"]

    def preparation(self, view: Cards, seat: int) -> Sequence[Prompt]:
        return ()

    def turn(self, view: Cards, seat: int) -> Sequence[Prompt]:
        return [Prompt(lambda milliseconds: [repr(view), f"card {(view.hands[seat - 1] or (0,))[0]}"])]

    def kind_of(self, line: str) -> str | None:
        return ""

    def read(self, answers: Sequence[Sequence[str]], seat: int) -> Reading:
        return Reading(answers[0][0])

    def passing(self) -> str:
        return "card 99"

    def refusals(self, view: Cards, seat: int) -> Sequence[str]:
        return ()

    def farewell(self) -> Sequence[str]:
        return ()


class CardsForPolicies:
    host = DeepMindDialogue.host

    def __init__(self, rules: CardGame) -> None:
        self.rules = rules

    def begin(self, view: Cards) -> "CardsForPolicy":
        return CardsForPolicy(view)

    def slot(self, seat: int) -> int:
        return seat - 1

    def passing(self) -> str:
        return "card 99"


class CardsForPolicy:
    """One game as a policy sees it: what its seats saw of the first position is its frame."""

    def __init__(self, view: Cards) -> None:
        self._view = view
        self._plies = view.plies

    def is_at(self, view: Cards) -> bool:
        return view.plies == self._plies

    def to_move(self) -> tuple[int, ...]:
        return (self._plies % 2 + 1,)

    def follow(self, moves: Mapping[int, int]) -> None:
        self._plies += 1

    def follow_texts(self, moves: Mapping[int, str]) -> None:
        self._plies += 1

    def frame(self) -> Mapping[str, object]:
        return {
            "season": 0,
            "shape": [1, 1],
            "board": base64.b64encode(b"\0").decode(),
            "build_numbers": [0],
            "last_actions": [0],
            "legal_actions": [[0], [0]],
            "view": repr(self._view),
        }

    def read(self, seat: int, actions: Sequence[int]) -> Reading:
        hand = self._view.hands[seat - 1] or (99,)
        return Reading(f"card {hand[self._plies // 2]}")
