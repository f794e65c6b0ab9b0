"""Pools of a league that two operators change at a time."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import update

from arena.league.database import open_league
from arena.league.errors import PoolConflictError, UnknownPoolError
from arena.league.pools import ENDED, OPEN, PAUSED, Pools
from arena.league.tables import POOL


@pytest.mark.parametrize(
    ("before", "meanwhile", "state"), [(OPEN, ENDED, PAUSED), (OPEN, ENDED, OPEN), (ENDED, OPEN, None)]
)
def test_a_pool_that_changes_while_a_change_waits_is_looked_at_again(
    tmp_path: Path, before: str, meanwhile: str, state: str | None
) -> None:
    with (
        closing(open_league(str(tmp_path / "league.db"), create=True)) as league,
        ThreadPoolExecutor() as pool,
    ):
        pools = Pools(league)
        pools.add("cup", b"")
        pools.set_state("cup", before)
        begun = threading.Event()

        def change() -> None:
            begun.set()
            if state is None:
                pools.remove("cup")
            else:
                pools.set_state("cup", state)

        with league.sole_transaction() as connection:
            waiting = pool.submit(change)
            begun.wait()
            # Until it waits for this transaction.
            time.sleep(0.2)
            connection.execute(update(POOL).values(State=meanwhile))
        with pytest.raises(PoolConflictError):
            waiting.result()
        assert pools.named("cup").state == meanwhile


def test_a_pool_that_is_gone_is_named(tmp_path: Path) -> None:
    with closing(open_league(str(tmp_path / "league.db"), create=True)) as league:
        pools = Pools(league)
        for act in (lambda: pools.set_state("cup", PAUSED), lambda: pools.remove("cup")):
            with pytest.raises(UnknownPoolError, match="there is no pool 'cup'"):
                act()
