"""Players of a league: a name and a version, the version before it, and the family."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, insert, select, update

from arena.league.tables import PLAYER
from arena.results.database import ResultsError, utc_now

_COLUMNS: Final = select(
    PLAYER.c.PlayerId, PLAYER.c.Name, PLAYER.c.Version, PLAYER.c.Family, PLAYER.c.PredecessorId,
    PLAYER.c.Anchor, PLAYER.c.Created,
)  # fmt: skip


@dataclass(frozen=True)
class Entrant:
    """A player as a competition has it.

    Without a family it has that of its name's earlier version, or its name.
    """

    name: str
    version: str = ""
    family: str = ""
    anchor: float | None = None


@dataclass(frozen=True)
class LeaguePlayer:
    """A player of the league; `predecessor` is the key of the version before, `anchor` a fixed Elo."""

    player_id: int
    name: str
    version: str
    family: str
    predecessor: int | None
    anchor: float | None
    created: datetime

    @property
    def label(self) -> str:
        """Name and version."""
        return label(self.name, self.version)


def label(name: str, version: str) -> str:
    """A player's name and version as people read them."""
    return f"{name} {version}" if version else name


def version_before(player: int, rated: Iterable[int]) -> int | None:
    """The version that another begins with: the last one before it that has played the game.

    `player` and `rated`, versions of one name, are keys, which grow in the order in which versions come.
    """
    return max((other for other in rated if other < player), default=None)


def all_players(connection: Connection) -> list[LeaguePlayer]:
    """All players, in the order in which they came."""
    return [LeaguePlayer(*row) for row in connection.execute(_COLUMNS.order_by(PLAYER.c.PlayerId))]


def find_or_enter(
    connection: Connection, wanted: Collection[tuple[str, str]]
) -> dict[tuple[str, str], LeaguePlayer]:
    """Return players by name and version; enter new ones. The caller's transaction is the only writer."""
    names = {name for name, _ in wanted}
    rows = connection.execute(_COLUMNS.where(PLAYER.c.Name.in_(names)))
    known = {(row.Name, row.Version): LeaguePlayer(*row) for row in rows}
    for name, version in wanted:
        if (name, version) not in known:
            known[name, version] = enter(connection, Entrant(name, version))
    return known


def enter(connection: Connection, entrant: Entrant) -> LeaguePlayer:
    """The player of a name and version, entered if it is new. The caller's transaction is the only writer.

    A family that is given takes the place of the stored one, and an anchor of none. Raises ResultsError for
    another anchor than the stored one.
    """
    table = PLAYER.c
    rows = connection.execute(
        select(table.PlayerId, table.Version, table.Family, table.Anchor)
        .where(table.Name == entrant.name)
        .order_by(table.PlayerId)
    ).all()
    known = next((row for row in rows if row.Version == entrant.version), None)
    if known is None:
        last = rows[-1] if rows else None
        row = {
            "Name": entrant.name,
            "Version": entrant.version,
            "Family": entrant.family or (last.Family if last else entrant.name),
            "PredecessorId": last.PlayerId if last else None,
            "Anchor": entrant.anchor,
            "Created": utc_now(),
        }
        connection.execute(insert(PLAYER).values(row))
    else:
        changes = {
            "Family": entrant.family or known.Family,
            "Anchor": _anchor(entrant, known.Anchor),
        }
        if changes != {"Family": known.Family, "Anchor": known.Anchor}:
            connection.execute(update(PLAYER).where(table.PlayerId == known.PlayerId).values(changes))
    this = _COLUMNS.where(table.Name == entrant.name, table.Version == entrant.version)
    return LeaguePlayer(*connection.execute(this).one())


def _anchor(entrant: Entrant, known: float | None) -> float | None:
    if entrant.anchor is None or known is None or entrant.anchor == known:
        return known if entrant.anchor is None else entrant.anchor
    raise ResultsError(
        f"players.{entrant.name}.fixed_elo: the league has {label(entrant.name, entrant.version)} at "
        f"{known:g}, the control file at {entrant.anchor:g}: give the league's, or the player another name"
    )
