"""Writing from the event loop: commands for the store's writer thread."""

import asyncio
from typing import TypeVar

from academy.store.library_store import Store
from academy.store.writer import Command

_T = TypeVar("_T")


async def write(store: Store, command: Command[_T]) -> _T:
    """Wait until a command is committed; return its result or raise its error.

    A caller who goes away does not undo it.
    """
    return await asyncio.shield(asyncio.wrap_future(store.submit(command)))
