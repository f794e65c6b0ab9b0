"""What the command says of errors."""

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from arena.cli.failures import ExitStatus, told


def test_of_a_databases_error_one_line_is_told_without_the_query() -> None:
    engine = create_engine("sqlite://")
    with pytest.raises(DBAPIError) as caught, engine.connect() as connection:
        connection.execute(text("SELECT 1 FROM missing"))
    engine.dispose()
    assert told(caught.value) == (
        "the database: (sqlite3.OperationalError) no such table: missing",
        ExitStatus.ERROR,
    )
