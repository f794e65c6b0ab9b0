"""What people are told of a database's failures."""

from sqlalchemy.exc import SQLAlchemyError, StatementError


def reason(error: SQLAlchemyError) -> str:
    """What is wrong, in one line: below it stand the query, its values and a manual."""
    cause = error.orig if isinstance(error, StatementError) and error.orig is not None else error
    return (str(cause).splitlines() or [type(cause).__name__])[0]
