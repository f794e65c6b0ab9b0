"""A writer that does not go on before a test lets it: what comes meanwhile waits."""

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field

from academy.store.library_store import Store
from academy.store.writer import WriteContext


@dataclass
class Hold:
    """A command that keeps the writer until it may end."""

    begun: threading.Event = field(default_factory=threading.Event)
    may_end: threading.Event = field(default_factory=threading.Event)

    def execute(self, work: WriteContext) -> None:
        self.begun.set()
        assert self.may_end.wait(60)


def held(store: Store) -> tuple[Hold, "Future[None]"]:
    """Hold a store's writer; the future is the command's that holds it."""
    hold = Hold()
    future = store.submit(hold)
    assert hold.begun.wait(60)
    return hold, future
