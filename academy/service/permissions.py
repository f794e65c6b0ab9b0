"""Who calls, and which role may call which method: the whole table."""

from collections.abc import Iterable, Set
from contextvars import ContextVar
from typing import Final

from academy.service.refusals import NotAuthenticatedError, NotPermittedError
from academy.store.errors import ContestOverError
from academy.store.tokens import Caller, Role

_EVERYONE: Final[Set[Role]] = frozenset(Role)
_ARENA: Final[Set[Role]] = frozenset({Role.ARENA, Role.ADMIN})
_ADMIN: Final[Set[Role]] = frozenset({Role.ADMIN})

OPEN_METHODS: Final = frozenset(f"/grpc.health.v1.Health/{name}" for name in ("Check", "List", "Watch"))

ROLES: Final[dict[str, Set[Role]]] = {
    "/academy.v1.ConsultationService/LookUpOpening": _EVERYONE,
    "/academy.v1.ConsultationService/MatchPatterns": _EVERYONE,
    "/academy.v1.ConsultationService/MatchSuccessors": _EVERYONE,
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


# What the ticket of a reported contest is still good for.
_AFTER_CONTEST: Final = frozenset(
    {"/academy.v1.ProposalService/ListProposals", "/academy.v1.ContestService/GetContest"}
)


def check_permission(caller: Caller, method: str) -> None:
    """Let a call pass. Raises NotPermittedError, and ContestOverError for a ticket whose contest was
    reported.

    A method that is not in the table is nobody's.
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


AUTHORIZATION: Final = "authorization"
MAX_TOKEN: Final = 512


_current: ContextVar[Caller] = ContextVar("caller")


def enter(caller: Caller) -> None:
    """Make this the caller of the task that runs."""
    _current.set(caller)


def caller() -> Caller:
    """The caller of the call being answered."""
    return _current.get()


def bearer_token(metadata: Iterable[tuple[str, str | bytes]] | None) -> str:
    """The token of a call's metadata. Raises NotAuthenticatedError."""
    values = [value for key, value in metadata or () if key == AUTHORIZATION]
    if not values:
        raise NotAuthenticatedError(
            "TOKEN_MISSING", "no token: send metadata 'authorization: Bearer TOKEN'; an admin makes tokens"
        )
    if len(values) > 1:
        raise NotAuthenticatedError(
            "TOKEN_MALFORMED", "more than one 'authorization' in the metadata: send one"
        )
    value = values[0]
    scheme, _, token = (value if isinstance(value, str) else "").partition(" ")
    if scheme.lower() != "bearer" or not token or len(token) > MAX_TOKEN:
        raise NotAuthenticatedError("TOKEN_MALFORMED", "'authorization' must read 'Bearer TOKEN'")
    return token
