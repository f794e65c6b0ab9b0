"""Whether two folders tell the same: their libraries at equal generations, byte for byte."""

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Final

from academy.store import event_log, game_tables, rebuild
from academy.store.environment import Environment, TableName, Transaction
from academy.store.maintenance.check import Finding
from academy.store.page_scan import show_key
from academy.store.shared_log import place

_Records = Mapping[tuple[TableName, bytes], bytes]
_SHOWN: Final = 3


def disagreements(first: Environment, second: Environment) -> Iterator[Finding]:
    """Yield where a folder and a server's differ, as of one moment of each.

    Where one has learnt more of a game, its libraries are made again as of the other's generation. Where both
    follow a shared log to the same message, tokens, contests and the like are compared too; else how far each
    has read is not a fault, and a finding. Raises StoreCorruptError.
    """
    with first.reading() as here, second.reading() as there:
        for game_id in sorted({*_games(here), *_games(there)}):
            yield from _compare_game(here, there, game_id)
        own, other = place.read(here), place.read(there)
        if own is None or other is None:
            return
        if own.created != other.created:
            yield Finding("", "the two follow different logs")
        elif own.followed == other.followed:
            for table in sorted(place.SHARED_TABLES):
                yield from _compare("", _table(here, table), _table(there, table))
        else:
            yield Finding(
                "",
                f"the folder has read {own.followed:,} messages of the log, the server {other.followed:,}: "
                "libraries are compared as of the last event that both have, tokens and contests not at all",
                is_fault=False,
            )


def _games(transaction: Transaction) -> Iterator[str]:
    return (show_key(key) for key, _ in transaction.scan(TableName.GAMES))


def _table(transaction: Transaction, table: TableName) -> _Records:
    return {(table, key): value for key, value in transaction.scan(table)}


def _compare_game(here: Transaction, there: Transaction, game_id: str) -> Iterator[Finding]:
    generations = [_generation(transaction, game_id) for transaction in (here, there)]
    common = min(generations)
    if not common:
        # One has not come to the game yet, or the other not to its end.
        missing, known = (here, there) if not generations[0] else (there, here)
        has_begun = event_log.last_sequence(missing) >= _first_event(known, game_id)
        if has_begun and event_log.find_deletion(missing, game_id) <= event_log.last_sequence(known):
            yield Finding(game_id, "is known in only one of the two")
        return
    records = [_records_at(transaction, game_id, common) for transaction in (here, there)]
    if records[0] is None or records[1] is None:
        what = f"cannot be compared: one has no events any more from which to make generation {common:,}"
        yield Finding(game_id, what, is_fault=False)
        return
    yield from _compare(game_id, records[0], records[1])


def _generation(transaction: Transaction, game_id: str) -> int:
    if transaction.get(TableName.GAMES, game_id.encode()) is None:
        return 0
    return game_tables.game_state(transaction, game_id).generation


def _first_event(transaction: Transaction, game_id: str) -> int:
    first = next(event_log.scan(transaction, game_id), None)
    return rebuild.snapshot_generation(transaction, game_id) if first is None else first.sequence


def _records_at(transaction: Transaction, game_id: str, generation: int) -> _Records | None:
    """Return a game's records as of a generation, None where nothing makes them any more."""
    if _generation(transaction, game_id) == generation:
        stored = rebuild.stored_records(transaction, game_id)
        return {(table, key): value for table, key, value in stored}
    begun = rebuild.find_snapshot(transaction, game_id)
    after = 0 if begun is None else begun[1]
    events = takewhile(
        lambda event: event.sequence <= generation, event_log.scan(transaction, game_id, after=after)
    )
    made = rebuild.advance(begun, events, lambda number: event_log.get(transaction, number))
    if made is None or made[1] != generation:
        return None
    return {(table, key): value for table, key, value in game_tables.records(*made)}


def _compare(game_id: str, here: _Records, there: _Records) -> Iterator[Finding]:
    different = [key for key in {**here, **there} if here.get(key) != there.get(key)]
    for table, key in different[:_SHOWN]:
        yield Finding(game_id, f"record {show_key(key)!r} of table {table.value!r} differs")
    if len(different) > _SHOWN:
        yield Finding(game_id, f"{len(different) - _SHOWN:,} more records differ")
