"""Contestants that get no more games of a variant, since they do not get ready to play in time.

SAGA notes that of a client (`AutoInhibit`), which may play in many competitions; what counts for one is
what it has found itself.
"""

from sqlalchemy import Connection, delete, exists, select, update

from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.rows import find_or_add


def inhibit(connection: Connection, contestant_id: int, variant: str) -> None:
    """Note that a contestant gets no more games of a variant, which is known from its games."""
    variant_id = connection.execute(select(saga.VARIANT.c.VariantId).filter_by(Name=variant)).scalar_one()
    find_or_add(connection, own.INHIBITION, {"ContestantId": contestant_id, "VariantId": variant_id})
    client = select(saga.CONTESTANT.c.ClientId).filter_by(ContestantId=contestant_id)
    pair = {"ClientId": connection.execute(client).scalar_one(), "VariantId": variant_id}
    find_or_add(connection, saga.CLIENT_VARIANT, pair)
    connection.execute(update(saga.CLIENT_VARIANT).filter_by(**pair).values(AutoInhibit=True))


def readmit(connection: Connection, series_id: int) -> None:
    """Forget the inhibitions of a competition; those that others have found of the same clients stay."""
    table, competitor, contestant = own.INHIBITION, own.COMPETITOR.c, saga.CONTESTANT.c
    mine = select(competitor.ContestantId).where(competitor.SeriesId == series_id)
    clients = select(contestant.ClientId).where(contestant.ContestantId.in_(mine))
    connection.execute(delete(table).where(table.c.ContestantId.in_(mine)))
    client = saga.CLIENT_VARIANT.c
    left = exists().where(
        table.c.ContestantId == contestant.ContestantId,
        table.c.VariantId == client.VariantId,
        contestant.ClientId == client.ClientId,
    )
    connection.execute(
        update(saga.CLIENT_VARIANT).where(client.ClientId.in_(clients), ~left).values(AutoInhibit=False)
    )


def inhibited(connection: Connection, series_id: int) -> set[tuple[str, str]]:
    """The competitors that are inhibited, each with the variant."""
    competitor = own.COMPETITOR.c
    query = (
        select(competitor.Name, saga.VARIANT.c.Name)
        .join_from(own.COMPETITOR, own.INHIBITION, own.INHIBITION.c.ContestantId == competitor.ContestantId)
        .join(saga.VARIANT, saga.VARIANT.c.VariantId == own.INHIBITION.c.VariantId)
        .where(competitor.SeriesId == series_id, competitor.Current)
    )
    return {(player, variant) for player, variant in connection.execute(query)}
