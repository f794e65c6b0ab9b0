"""The tables whose records servers share as they are, because no event makes them."""

from typing import Final

from academy.store.environment import TableName

# `ANALYSES` is each server's own, and events make the other tables.
SHARED: Final = frozenset(
    {
        TableName.DELETED_PATTERNS,
        TableName.REMOVALS,
        TableName.MUTED_PLAYERS,
        TableName.CONTESTS,
        TableName.OPEN_CONTESTS,
        TableName.OPEN_CONTESTS_BY_AGE,
        TableName.USES,
        TableName.CLAIMS,
        TableName.PROPOSALS,
        TableName.PROPOSALS_BY_CONTEST,
        TableName.PROPOSALS_BY_PLAYER,
        TableName.HELD_PROPOSALS,
        TableName.PLAYER_STATISTICS,
        TableName.TOKENS,
        TableName.ARENAS,
    }
)
