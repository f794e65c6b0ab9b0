"""The library for bots: consult ACADEMY and propose to it, and play at an arena.

`Academy` answers blocking calls, `AsyncAcademy` asyncio; a `Seat` keeps to fair use. `dial_in` and, for
programs, `run_bot` play at an arena from elsewhere, `register` makes a player a member of a league.
`clients.bots` has bots that use them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from clients.academy import Academy, PlayStream
from clients.academy_async import AsyncAcademy, AsyncPlayStream
from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection
from clients.membership import (
    Membership,
    change_membership,
    membership,
    register,
    revoke_token,
    rotate_token,
)
from clients.remote_game import Answer, Engine, Game, GameDeclinedError, GameEnd, GameTurn, TimeControl
from clients.remote_play import dial_in, dial_in_async, run_bot
from clients.responses import (
    Advice,
    Analysis,
    BookMove,
    OpeningMove,
    PatternMatch,
    ProposalStatus,
    SuccessorMatches,
)
from clients.seat import FairUseError, MatchOptions, Seat

if TYPE_CHECKING:
    from clients.local_weights import LocalWeights
    from clients.memory import Memory

__all__ = [
    "Academy",
    "AcademyRefusedError",
    "AcademyUnavailableError",
    "Advice",
    "Analysis",
    "Answer",
    "AsyncAcademy",
    "AsyncPlayStream",
    "BookMove",
    "Connection",
    "Engine",
    "FairUseError",
    "Game",
    "GameDeclinedError",
    "GameEnd",
    "GameTurn",
    "LocalWeights",
    "MatchOptions",
    "Membership",
    "Memory",
    "OpeningMove",
    "PatternMatch",
    "PlayStream",
    "ProposalStatus",
    "Seat",
    "SuccessorMatches",
    "TimeControl",
    "change_membership",
    "dial_in",
    "dial_in_async",
    "membership",
    "register",
    "revoke_token",
    "rotate_token",
    "run_bot",
]

# They need NumPy, which takes longer to load than the rest of the library.
_COMPUTING: Final = {"LocalWeights": "clients.local_weights", "Memory": "clients.memory"}


def __getattr__(name: str) -> Any:
    if name in _COMPUTING:
        return getattr(import_module(_COMPUTING[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
