"""What the command says of errors."""

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError, StatementError

from arena.cli.failures import ExitStatus, describe_failure


def test_a_database_error_is_shown_in_one_line_without_the_query() -> None:
    engine = create_engine("sqlite://")
    with pytest.raises(DBAPIError) as caught, engine.connect() as connection:
        connection.execute(text("SELECT 1 FROM missing"))
    engine.dispose()
    assert describe_failure(caught.value) == (
        "the database: no such table: missing",
        ExitStatus.ERROR,
    )


def test_an_error_in_a_statement_is_shown_without_its_values() -> None:
    engine = create_engine("sqlite://")
    with pytest.raises(StatementError) as caught, engine.connect() as connection:
        connection.execute(text("SELECT :kept"), {"secret": 1})
    engine.dispose()
    message, _ = describe_failure(caught.value)
    assert "A value is required for bind parameter 'kept'" in message and len(message.splitlines()) == 1
