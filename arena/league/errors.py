"""Errors of members: claims that fail, invitations that are not good, bans."""

import grpc

from academy.wire.errors import RefusedCallError


class InvalidMembershipError(RefusedCallError):
    """What a member says of itself breaks a rule."""

    code = grpc.StatusCode.INVALID_ARGUMENT
    reason = "INVALID_MEMBER"
    remedy = "Correct the field that the message names."

    def __init__(self, field: str, complaint: str) -> None:
        super().__init__(f"{field}: {complaint}")


class NameClaimedError(RefusedCallError):
    """The name, or one that looks like it, belongs to somebody else."""

    code = grpc.StatusCode.ALREADY_EXISTS
    reason = "NAME_CLAIMED"
    remedy = "Choose another name, or ask an operator for an invitation to this one, if it is yours."


class InvitationError(RefusedCallError):
    """The registration needs an invitation that is good."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "INVITATION_NEEDED"
    remedy = "Ask an operator for an invitation."


class UnknownMemberError(RefusedCallError):
    """There is no member of this name."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_MEMBER"
    remedy = "List the members."


class UnknownInvitationError(RefusedCallError):
    """There is no invitation of this number."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_INVITATION"
    remedy = "List the invitations."


class MemberPlayedError(RefusedCallError):
    """A member that has played keeps its name."""

    reason = "MEMBER_PLAYED"
    remedy = "Ban it instead."


class BannedError(RefusedCallError):
    """The member is banned."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "BANNED"
    remedy = "Wait for the ban's end, or ask an operator."


class InvalidPoolError(InvalidMembershipError):
    """A pool's setting breaks a rule."""

    reason = "INVALID_POOL"


class PoolConflictError(RefusedCallError):
    """The pool is another one, has ended, or has not."""

    reason = "POOL_CONFLICT"
    remedy = "List the pools; choose another name for another one."


class UnknownPoolError(RefusedCallError):
    """There is no pool of this name."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_POOL"
    remedy = "List the pools."


class InvalidSeasonError(InvalidMembershipError):
    """A season's name or time breaks a rule."""

    reason = "INVALID_SEASON"


class SeasonConflictError(RefusedCallError):
    """There is another season of this name."""

    reason = "SEASON_CONFLICT"
    remedy = "List the seasons; choose another name."


class UnknownSeasonError(RefusedCallError):
    """There is no season of this name."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_SEASON"
    remedy = "List the seasons."
