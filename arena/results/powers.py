"""The powers of a variant: its seats, each with its token name and its name."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, select, update

from arena.results import schema as saga
from arena.results.rows import add, lock_for_changes

# The ids of Diplomacy's variants begin so.
_DIPLOMACY: Final = "diplomacy-"


def enter_powers(
    connection: Connection, variant_id: int, names: Sequence[str], codes: Sequence[str] = ()
) -> tuple[int, ...]:
    """The keys of a variant's powers by seat, entered where there are none; without codes names are codes.

    A power that is there under the seat's number or another code, as earlier releases and imports may have
    called it, is the one of this name, and gets its code.
    """
    table = saga.POWER
    query = select(table).filter_by(VariantId=variant_id)
    known = connection.execute(query).all()
    if not {*(codes or names)} <= {row.Code for row in known}:
        # Another competition of the same database may be about to enter the same.
        lock_for_changes(connection)
        known = connection.execute(query).all()
    keys = []
    for code, name in zip(codes or names, names, strict=True):
        same = [row for row in known if row.Code == code] or [row for row in known if row.Name == name]
        if not same:
            keys.append(add(connection, table, {"VariantId": variant_id, "Code": code, "Name": name}))
            continue
        keys.append(same[0].PowerId)
        if same[0].Code != code:
            connection.execute(update(table).filter_by(PowerId=same[0].PowerId).values(Code=code))
    return tuple(keys)


def name_numbered_powers(connection: Connection) -> None:
    """Give the powers that an earlier release called by their seat's number the token names they have now."""
    query = select(saga.POWER, saga.VARIANT.c.Name.label("Variant")).join(saga.VARIANT)
    by_variant: dict[int, list[Any]] = {}
    for row in connection.execute(query):
        by_variant.setdefault(row.VariantId, []).append(row)
    for powers in by_variant.values():
        codes = {row.PowerId: _code(row) for row in powers}
        if len({*codes.values()}) == len(powers):
            for key, code in codes.items():
                connection.execute(update(saga.POWER).filter_by(PowerId=key).values(Code=code))


def _code(row: Any) -> str:
    if not is_numbered(row.Code) or not row.Name:
        return str(row.Code)
    return row.Name[:3].upper() if row.Variant.startswith(_DIPLOMACY) else str(row.Name)


def is_numbered(code: str) -> bool:
    """Whether a power's code is a seat's number, as earlier releases wrote it."""
    return code.isdecimal()
