"""Who may call what: the roles that each method is for."""

from collections.abc import Set
from typing import Final

from academy.store.errors import ContestOverError
from academy.store.tokens import Caller, Role
from academy.wire.errors import NotPermittedError

_EVERYONE: Final[Set[Role]] = frozenset(Role)
# Analysts are bots that know more of the libraries, and of contests no more than bots.
BOTS: Final[Set[Role]] = frozenset({Role.BOT, Role.ANALYST})
_ARENA: Final[Set[Role]] = frozenset({Role.ARENA, Role.ADMIN})
_ANALYST: Final[Set[Role]] = frozenset({Role.ANALYST, Role.ADMIN})
_ADMIN: Final[Set[Role]] = frozenset({Role.ADMIN})

OPEN_METHODS: Final = frozenset(f"/grpc.health.v1.Health/{name}" for name in ("Check", "List", "Watch"))

_METHODS: Final[tuple[tuple[str, Set[Role], str], ...]] = (
    (
        "ConsultationService",
        _EVERYONE,
        "LookUpOpening MatchPatterns MatchSuccessors Advise DownloadWeights Play",
    ),
    ("ProposalService", _EVERYONE, "SubmitProposals ListProposals"),
    ("ContestService", _EVERYONE, "GetGame ListGames GetContest"),
    ("ContestService", _ARENA, "RegisterGame OpenContest ReportContest GetRatings"),
    ("ContestService", _ARENA, "GetConsultations"),
    ("ContestService", _ADMIN, "ListOpenContests ListArenas LinkArena UnlinkArena AllowArena"),
    ("LibraryService", _EVERYONE, "GetStatistics GetMeasures ListPlayerStatistics"),
    ("LibraryService", _ADMIN, "ListPatterns GetPattern DeletePattern RestorePattern"),
    ("LibraryService", _ADMIN, "ListTesujis DeleteTesuji"),
    ("LibraryService", _ADMIN, "ListOpenings DeleteOpening ListRemovals RestoreRemoval ListEvents"),
    ("LibraryService", _ADMIN, "UpdateSettings PruneLibrary ExportLibrary ImportLibrary ForkGame"),
    ("LibraryService", _ADMIN, "DeleteGame"),
    ("LibraryService", _ANALYST, "AnalyseOpenings"),
    ("LibraryService", _ADMIN, "ForgetAnalyses MutePlayer UnmutePlayer ListMutedPlayers CreateBackup"),
    ("LibraryService", _ADMIN, "DownloadBackup"),
    ("TokenService", _EVERYONE, "GetCaller"),
    ("TokenService", _ADMIN, "CreateToken ListTokens RevokeToken"),
    ("HistoryService", _EVERYONE, "ExploreOpening GetGrowth"),
    ("HistoryService", _ADMIN, "GetPatternHistory WatchLibrary"),
)
# Each method with the roles that may call it.
ROLES: Final[dict[str, Set[Role]]] = {
    f"/academy.v1.{service}/{method}": roles
    for service, roles, methods in _METHODS
    for method in methods.split()
} | {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": _EVERYONE}


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
