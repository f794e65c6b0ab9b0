"""What a visitor sees instead of a page: a status, why, and what to do."""

from typing import Final

from clients.connection import AcademyRefusedError, AcademyUnavailableError

__all__ = ["PageError", "to_page_error"]


class PageError(Exception):
    """A page that cannot be shown.

    Attributes:
        status: The HTTP status.
        title: What is wrong, in a few words.
        why: The value and the rule, in a sentence.
        remedy: What to do about it.
        retry_after: The seconds after which it may work; None where waiting does not help.
        field: The field of the form or the parameter of the address that is wrong; "" where none is.
    """

    def __init__(
        self,
        status: int,
        title: str,
        why: str,
        remedy: str = "",
        retry_after: int | None = None,
        field: str = "",
    ) -> None:
        super().__init__(f"{status} {title}: {why}")
        self.status = status
        self.title = title
        self.why = why
        self.remedy = remedy
        self.retry_after = retry_after
        self.field = field


_WAIT: Final = 5
# By gRPC status: ours, a title and what to do.
_REFUSALS: Final = {
    "NOT_FOUND": (404, "{service} does not know this", "Look for it from the lists."),
    "INVALID_ARGUMENT": (400, "{service} cannot read this question", "Correct the address or the form."),
    "FAILED_PRECONDITION": (400, "{service} cannot answer this now", "Begin again from the lists."),
    "OUT_OF_RANGE": (400, "This is out of range", "Correct the address or the form."),
    "PERMISSION_DENIED": (
        403,
        "This page needs another token",
        "Start academy-web with the token of an admin of ACADEMY, and of a watcher of the arena.",
    ),
    "UNAUTHENTICATED": (
        502,
        "{service} does not accept the token of these pages",
        "Start academy-web with a token that `academy tokens create` or `arena token` made.",
    ),
    "RESOURCE_EXHAUSTED": (
        503,
        "{service} has been asked too much",
        "Wait a moment, then load the page again.",
    ),
}
# The same where the visitor's own token was used.
_OWN_REFUSALS: Final = {
    "PERMISSION_DENIED": (403, "Your token is not for this", "Sign in with a token of another role."),
    "UNAUTHENTICATED": (
        403,
        "{service} no longer accepts your token",
        "It has expired or was revoked: sign in with another.",
    ),
    "ALREADY_EXISTS": (409, "This is there already", "Choose another name."),
}
_OTHERWISE: Final = (502, "The answer of {service} was an error", "Its log says more; try again later.")


def to_page_error(
    error: AcademyUnavailableError | AcademyRefusedError, service: str, *, of_visitor: bool = False
) -> PageError:
    """Return the page for a call that failed.

    `service` is who was asked, for people; `of_visitor` is whether with the visitor's own token.
    """
    who = service[0].upper() + service[1:]
    if isinstance(error, AcademyUnavailableError):
        if error.code == "DEADLINE_EXCEEDED":
            why = f"{who} did not answer in time."
            return PageError(504, f"{who} is slow", why, "Load the page again.", _WAIT)
        why = f"At the address that these pages were started with, {service} does not answer."
        return PageError(503, f"{who} is away", why, "Start it, or load the page again later.", _WAIT)
    refusals = {**_REFUSALS, **_OWN_REFUSALS} if of_visitor else _REFUSALS
    status, title, remedy = refusals.get(error.code, _OTHERWISE)
    why = str(error)
    if {"role", "needed"} <= error.metadata.keys():
        # The service names its method, which visitors do not know.
        whose = "your token" if of_visitor else "the token of these pages"
        why = f"It is for the role {error.metadata['needed']}; {whose} has the role {error.metadata['role']}."
    wait = None
    if status == 503:
        wait = _WAIT if error.retry_after is None else max(1, round(error.retry_after))
    return PageError(status, title.format(service=who), why, remedy, wait)
