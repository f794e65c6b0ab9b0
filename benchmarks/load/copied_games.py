"""Many games made of one: what is stored of it, under other names."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from academy.service.pattern_cache import PatternCacheFiles
from academy.store import keys
from academy.store.environment import TableName, Transaction
from academy.store.library_store import Store

_ONE_OF_A_GAME: Final = (
    *(TableName.GAMES, TableName.GAME_STATE, TableName.MEASURES),
    *(TableName.TESUJIS, TableName.EVALUATIONS),
)
_OF_A_GAME: Final = (TableName.PATTERNS, TableName.OPENINGS, TableName.CHANGES)


def copied(folder: Path, original: str, names: Sequence[str]) -> None:
    """Store one game under further names, as long as its own, and its pattern cache where it has one."""
    saved = PatternCacheFiles(folder).path(original)
    with Store(folder) as store:
        store.environment.write(lambda transaction: _copy(transaction, original, names))
    if saved.exists():
        for name in names:
            shutil.copy(saved, PatternCacheFiles(folder).path(name))


def _copy(transaction: Transaction, original: str, names: Sequence[str]) -> None:
    single = [
        (table, stored)
        for table in _ONE_OF_A_GAME
        if (stored := transaction.get(table, keys.game(original))) is not None
    ]
    prefix = keys.in_game(original)
    many = [(table, list(transaction.scan(table, prefix))) for table in _OF_A_GAME]
    for name in names:
        # The same length, so that records keep their layout.
        assert len(name) == len(original)
        for table, stored in single:
            transaction.put(table, keys.game(name), stored.replace(original.encode(), name.encode()))
        for table, entries in many:
            for key, stored in entries:
                transaction.put(table, keys.in_game(name) + key[len(prefix) :], stored)
