"""Positions and moves of OpenSpiel's games, as values."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True, slots=True)
class SpielMove:
    """A move: OpenSpiel's number for it, and its text in the position it is played in."""

    action: int
    text: str


@dataclass(frozen=True)
class SpielPosition:
    """A position of a game: the numbers of the moves that led to it.

    `state` is the library's own state after them. It is not to be changed: whoever wants to play on
    clones it.
    """

    game: str
    history: tuple[int, ...]
    state: Any = field(compare=False, repr=False)

    @cached_property
    def moves(self) -> tuple[SpielMove, ...]:
        """All legal moves, in OpenSpiel's order; none when the game is over.

        A text that names two of them is followed by OpenSpiel's number: `a1 [17]`.
        """
        if self.state.is_terminal():
            return ()
        player = self.state.current_player()
        texts = {
            action: self.state.action_to_string(player, action).strip()
            for action in self.state.legal_actions()
        }
        uses = Counter(texts.values())
        return tuple(
            SpielMove(action, text if uses[text] == 1 else f"{text} [{action}]")
            for action, text in texts.items()
        )

    def after(self, move: SpielMove) -> "SpielPosition":
        """The position after a legal move."""
        state = self.state.clone()
        state.apply_action(move.action)
        return SpielPosition(self.game, (*self.history, move.action), state)
