"""Our rules of Go, English draughts and Hex against OpenSpiel's, in random games.

`python -m research.against_openspiel` plays 10,000 games of each.
"""


class DisagreementError(AssertionError):
    """Our rules and OpenSpiel's say different things of a position."""


def agree(what: str, ours: object, theirs: object, position: object) -> None:
    """Raises DisagreementError where the two are not equal."""
    if ours != theirs:
        raise DisagreementError(f"{what}: ours {ours}, OpenSpiel's {theirs}, in the position\n{position}")
