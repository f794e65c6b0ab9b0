"""URLs of results databases: which are taken, and that none is shown with its secrets."""

from pathlib import Path

import pytest
from sqlalchemy import make_url

from arena.control.database_urls import InvalidDatabaseUrlError, database_url, shown, within
from arena.results.database import sqlite_url


@pytest.mark.parametrize(
    ("text", "driver"),
    [
        ("postgresql://user@host/name", "postgresql+psycopg"),
        ("postgresql+psycopg://user:secret@host:5433/name?sslmode=require", "postgresql+psycopg"),
        ("sqlite:///games.sqlite", "sqlite"),
        ("sqlite+pysqlite:////srv/games.sqlite", "sqlite"),
    ],
)
def test_postgresql_and_sqlite_files_are_taken(text: str, driver: str) -> None:
    url = database_url(text)
    assert url.drivername == driver
    assert url.set(drivername="x") == make_url(text).set(drivername="x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mysql://me:secret@host/games", "results can't be kept in mysql:// databases: write postgresql://"),
        ("postgresql+psycopg2://me:secret@host/games", "in postgresql+psycopg2:// databases: write"),
        ("postgres://me:secret@host/games", "in postgres:// databases: write postgresql://"),
        ("sqlite://", "sqlite:// names no file, and would be forgotten: write"),
        ("sqlite:///:memory:", "names no file"),
        (
            "sqlite:///cup.sqlite?mode=ro&key=secret",
            "sqlite:///cup.sqlite is followed by parameters, and SQLite",
        ),
        (
            "sqlite://results/cup.sqlite",
            "sqlite://results/cup.sqlite names a host, and SQLite files have none: write postgresql://user@host",
        ),
        ("sqlite://me:secret@/cup.sqlite", "names a host, and SQLite files have none: write"),
        ("postgresql://me:secret@host:99999999/games", "this is not a database's URL: a port is 1 to 65535"),
        ("postgresql://me:secret@host:0/games", "this is not a database's URL: a port is 1 to 65535"),
        ("results.sqlite", "this is not a database's URL: write postgresql://user@host/name or sqlite:///"),
        ("//me:secret@host", "this is not a database's URL"),
        ("postgresql://me:secret@host:port/games", "this is not a database's URL"),
        ("", "this is not a database's URL"),
        (
            "sqlite:///~nosuchuser/cup.sqlite",
            "'~nosuchuser/cup.sqlite': there is no user of this name",
        ),
    ],
)
def test_all_others_are_refused_with_the_remedy_and_without_their_secrets(text: str, message: str) -> None:
    with pytest.raises(InvalidDatabaseUrlError) as caught:
        database_url(text)
    assert message in str(caught.value) and "secret" not in str(caught.value)


def test_a_url_is_shown_without_password_and_parameters() -> None:
    url = make_url("postgresql://me:secret@host/games?password=hidden&sslpassword=hidden")
    assert shown(url) == "postgresql://me:***@host/games"


@pytest.mark.parametrize(
    ("text", "database"),
    [
        ("sqlite:///cup.sqlite", "/srv/a?b/cup.sqlite"),
        ("sqlite:///../cup.sqlite", "/srv/a?b/../cup.sqlite"),
        ("sqlite:////var/cup.sqlite", "/var/cup.sqlite"),
        ("postgresql://host/cup", "cup"),
    ],
)
def test_only_the_relative_path_of_a_file_begins_in_the_folder(text: str, database: str) -> None:
    url = database_url(text)
    assert within(Path("/srv/a?b"), url) == url.set(database=database)


def test_a_tilde_of_a_url_is_the_users_home_and_that_of_a_files_name_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert database_url("sqlite:///~/cup.sqlite").database == "/home/ann/cup.sqlite"
    assert database_url(sqlite_url(Path("~/cup.sqlite"))).database == "~/cup.sqlite"
