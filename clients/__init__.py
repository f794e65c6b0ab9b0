"""The library for bots: consult ACADEMY and propose to it, and play at an arena.

`Academy` answers blocking calls, `AsyncAcademy` asyncio; a `Seat` keeps to fair use. `dial_in` and, for
programs, `run_bot` play at an arena from elsewhere, `register` makes a player a member of a league.
`clients.bots` has bots that use them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from clients.academy import Academy, PlayStream
    from clients.academy_async import AsyncAcademy, AsyncPlayStream
    from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection
    from clients.local_weights import LocalWeights
    from clients.membership import (
        Membership,
        change_membership,
        membership,
        register,
        revoke_token,
        rotate_token,
    )
    from clients.remote_play import (
        Answer,
        Engine,
        Game,
        GameDeclinedError,
        GameEnd,
        GameTurn,
        TimeControl,
        dial_in,
        dial_in_async,
        run_bot,
    )
    from clients.responses import (
        Advice,
        BookMove,
        OpeningMove,
        PatternMatch,
        ProposalStatus,
        SuccessorMatches,
    )
    from clients.seat import FairUseError, MatchOptions, Seat

__all__ = [
    "Academy",
    "AcademyRefusedError",
    "AcademyUnavailableError",
    "Advice",
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

# Those first that load least: without gRPC and NumPy a bot that plays alone begins in half the time.
_MODULES: Final = (
    *("seat", "responses", "connection", "remote_play", "membership", "academy", "academy_async"),
    "local_weights",
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            if hasattr(loaded := import_module(f"clients.{module}"), name):
                return getattr(loaded, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
