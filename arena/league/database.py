"""The league's database: one for all competitions that belong to it, SQLite or PostgreSQL."""

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, insert, inspect, select

from arena.control.database_urls import shown
from arena.league.tables import GAME, META, METADATA, PAIR, SCHEMA_VERSION
from arena.results.database import Database, NoResultsYetError, ResultsError, lock_out_others, sqlite_url
from arena.results.own_tables import META as RESULTS_META

_VERSION: Final = "schema_version"


class LeagueDatabase(Database):
    """A league: its players, games and ratings."""

    what = "league"
    # It has what members write of themselves, and the digests of their tokens.
    is_private = True

    @classmethod
    def check_or_create(cls, connection: Connection, create: bool) -> None:
        """Check that the tables are ours, or make them. Raises ResultsError."""
        if not inspect(connection).has_table(META.name):
            if not create:
                raise NoResultsYetError(
                    f"there is no league in {shown(connection.engine.url)}: `arena league import` makes one"
                )
            # A database of PostgreSQL may hold both.
            if connection.dialect.name == "sqlite" and inspect(connection).has_table(RESULTS_META.name):
                raise ResultsError(
                    f"{shown(connection.engine.url)} has the results of competitions, and a league is a file "
                    "of its own: name another one"
                )
            lock_out_others(connection)
            if not inspect(connection).has_table(META.name):
                METADATA.create_all(connection)
                connection.execute(insert(META).values(Key=_VERSION, Value=str(SCHEMA_VERSION)))
        version = connection.execute(select(META.c.Value).where(META.c.Key == _VERSION)).scalar()
        if version != str(SCHEMA_VERSION):
            raise ResultsError(
                f"the league {shown(connection.engine.url)} has schema version {version}, this program reads "
                f"version {SCHEMA_VERSION}: use the release that wrote it"
            )
        present = set(inspect(connection).get_table_names())
        if create and not present >= METADATA.tables.keys():
            # They came without a new version of the schema.
            lock_out_others(connection)
            METADATA.create_all(connection)
        for table in (GAME, PAIR) if create else ():
            known = {index["name"] for index in inspect(connection).get_indexes(table.name)}
            if not known >= {index.name for index in table.indexes}:
                lock_out_others(connection)
                for index in table.indexes:
                    index.create(connection, checkfirst=True)


def open_league(text: str, create: bool = False) -> LeagueDatabase:
    """Open the league that a user means by a URL or the path of a SQLite file. Raises ResultsError."""
    if "://" in text:
        return LeagueDatabase.open(text, create)
    file = Path(text)
    if not text or file.is_dir():
        raise ResultsError(
            f"{text!r} is not a league's database: give a SQLite file, or a URL such as postgresql://host/name"
        )
    # SQLite would make an empty file.
    if not create and not file.exists():
        raise NoResultsYetError(f"there is no league {file}: `arena league import` makes one")
    return LeagueDatabase.open(sqlite_url(file), create)
