"""The URLs of results databases: which are accepted, and how they are shown."""

from pathlib import Path
from typing import Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from referees.paths import path_from

_REMEDY: Final = "write postgresql://user@host/name or sqlite:///path/to/file"
_DRIVERS: Final = {
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
}


class InvalidDatabaseUrlError(ValueError):
    """A URL of no database that results can be kept in; the message says what to write."""


def database_url(text: URL | str) -> URL:
    """The URL of a results database, with its driver; in a text, `~` is the user's home.

    Raises InvalidDatabaseUrlError, whose text has no secrets.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        # The error could repeat the URL, and with it a password.
        raise InvalidDatabaseUrlError(f"this is not a database's URL: {_REMEDY}") from None
    driver = _DRIVERS.get(url.drivername)
    if driver is None:
        raise InvalidDatabaseUrlError(f"results can't be kept in {url.drivername}:// databases: {_REMEDY}")
    if driver == "sqlite" and url.database in (None, "", ":memory:"):
        raise InvalidDatabaseUrlError(f"{shown(url)} names no file, and would be forgotten: {_REMEDY}")
    if driver == "sqlite" and url.query:
        raise InvalidDatabaseUrlError(
            f"{shown(url)} is followed by parameters, and SQLite files take none: {_REMEDY}"
        )
    if driver == "sqlite" and any((url.host, url.username, url.password, url.port)):
        raise InvalidDatabaseUrlError(f"{shown(url)} names a host, and SQLite files have none: {_REMEDY}")
    if url.port is not None and not 1 <= url.port <= 65535:
        raise InvalidDatabaseUrlError(f"this is not a database's URL: a port is 1 to 65535, not {url.port}")
    # What is a URL already was made of a path.
    if driver == "sqlite" and isinstance(text, str):
        url = _in_home(url)
    return url.set(drivername=driver)


def _in_home(url: URL) -> URL:
    try:
        return url.set(database=str(path_from(Path(), url.database or "")))
    except ValueError as error:
        raise InvalidDatabaseUrlError(str(error)) from None


def within(folder: Path, url: URL) -> URL:
    """The same URL, where a SQLite file's path that is relative is taken to begin in `folder`."""
    if url.get_backend_name() != "sqlite" or url.database is None:
        return url
    return url.set(database=str(folder.absolute() / url.database))


def shown(url: URL) -> str:
    """A database's URL for people: without its password, and without parameters, which may hold others."""
    return url.set(query={}).render_as_string(hide_password=True)
