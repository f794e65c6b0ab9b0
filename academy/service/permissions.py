"""The current caller, and the table of roles that may call each method."""

from collections.abc import Set
from contextvars import ContextVar
from typing import Final

from academy.store.errors import ContestOverError
from academy.store.tokens import Caller, Role
from academy.wire.errors import NotPermittedError

# The caller of the call that the running task answers.
current_caller: ContextVar[Caller] = ContextVar("current_caller")

_EVERYONE: Final[Set[Role]] = frozenset(Role)
_ARENA: Final[Set[Role]] = frozenset({Role.ARENA, Role.ADMIN})
_ADMIN: Final[Set[Role]] = frozenset({Role.ADMIN})

OPEN_METHODS: Final = frozenset(f"/grpc.health.v1.Health/{name}" for name in ("Check", "List", "Watch"))

ROLES: Final[dict[str, Set[Role]]] = {
    "/academy.v1.ConsultationService/LookUpOpening": _EVERYONE,
    "/academy.v1.ConsultationService/MatchPatterns": _EVERYONE,
    "/academy.v1.ConsultationService/MatchSuccessors": _EVERYONE,
    "/academy.v1.ConsultationService/Advise": _EVERYONE,
    "/academy.v1.ConsultationService/Play": _EVERYONE,
    "/academy.v1.ProposalService/SubmitProposals": _EVERYONE,
    "/academy.v1.ProposalService/ListProposals": _EVERYONE,
    "/academy.v1.ContestService/RegisterGame": _ARENA,
    "/academy.v1.ContestService/GetGame": _EVERYONE,
    "/academy.v1.ContestService/ListGames": _EVERYONE,
    "/academy.v1.ContestService/OpenContest": _ARENA,
    "/academy.v1.ContestService/ReportContest": _ARENA,
    "/academy.v1.ContestService/GetContest": _EVERYONE,
    "/academy.v1.ContestService/ListOpenContests": _ADMIN,
    "/academy.v1.ContestService/ListArenas": _ADMIN,
    "/academy.v1.ContestService/LinkArena": _ADMIN,
    "/academy.v1.ContestService/UnlinkArena": _ADMIN,
    "/academy.v1.ContestService/AllowArena": _ADMIN,
    "/academy.v1.ContestService/GetRatings": _ARENA,
    "/academy.v1.LibraryService/ListPatterns": _ADMIN,
    "/academy.v1.LibraryService/GetPattern": _ADMIN,
    "/academy.v1.LibraryService/DeletePattern": _ADMIN,
    "/academy.v1.LibraryService/RestorePattern": _ADMIN,
    "/academy.v1.LibraryService/ListOpenings": _ADMIN,
    "/academy.v1.LibraryService/DeleteOpening": _ADMIN,
    "/academy.v1.LibraryService/ListRemovals": _ADMIN,
    "/academy.v1.LibraryService/RestoreRemoval": _ADMIN,
    "/academy.v1.LibraryService/UpdateSettings": _ADMIN,
    "/academy.v1.LibraryService/PruneLibrary": _ADMIN,
    "/academy.v1.LibraryService/ExportLibrary": _ADMIN,
    "/academy.v1.LibraryService/ImportLibrary": _ADMIN,
    "/academy.v1.LibraryService/ListEvents": _ADMIN,
    "/academy.v1.LibraryService/GetStatistics": _EVERYONE,
    "/academy.v1.LibraryService/GetMeasures": _EVERYONE,
    "/academy.v1.LibraryService/ListPlayerStatistics": _EVERYONE,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": _EVERYONE,
}


# The ticket of a reported contest may still call these.
_AFTER_CONTEST: Final = frozenset(
    {"/academy.v1.ProposalService/ListProposals", "/academy.v1.ContestService/GetContest"}
)


def check_permission(caller: Caller, method: str) -> None:
    """Check that a caller may call a method, which must be in the table.

    Raises NotPermittedError, and ContestOverError for a ticket whose contest was reported.
    """
    allowed = ROLES.get(method, frozenset())
    if caller.role not in allowed:
        needed = ", ".join(sorted(allowed)) or "nobody"
        raise NotPermittedError(
            f"{method} is for {needed}; this token's role is {caller.role}",
            method=method,
            role=caller.role.value,
            needed=needed,
        )
    if caller.over and method not in _AFTER_CONTEST:
        raise ContestOverError(caller.contest_id)
