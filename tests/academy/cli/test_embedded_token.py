"""The token of a server that a program started for itself: it ends with the server, however that ends."""

from pathlib import Path

from academy.cli.server_process import embedded_token
from academy.store import tokens
from academy.store.library_store import Store
from academy.store.maintenance import clean_shutdown
from academy.store.tokens import CreateToken, Role
from tests.academy.store.processes import start_python

KILLED = """
import os, signal, sys
from pathlib import Path
from academy.cli.server_process import embedded_token
from academy.store.library_store import Store
from academy.store.maintenance import clean_shutdown
data = Path(sys.argv[1])
with (
    clean_shutdown.serving(data) as marker, Store(data) as store,
    embedded_token(store, marker, data.parent / "token"),
):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_embedded_token_ends_with_the_server(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with clean_shutdown.serving(data) as marker, Store(data) as store:
        with embedded_token(store, marker, tmp_path / "token"):
            assert (
                store.read(tokens.authenticate, (tmp_path / "token").read_text().strip(), store.clock()).role
                is Role.ADMIN
            )
        assert [token.revoked is None for token in store.read(tokens.tokens)] == [False]


def test_that_of_a_killed_server_ends_when_the_next_one_starts(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Store(data) as store:
        store.run(CreateToken("arena", Role.ARENA))
    for _ in range(2):
        assert start_python(KILLED, str(data)).wait(180) == -9
    with Store(data) as store:
        assert [token.revoked is None for token in store.read(tokens.tokens)].count(True) == 2
    with clean_shutdown.serving(data) as marker, Store(data) as store, embedded_token(store, marker, None):
        (left,) = (token for token in store.read(tokens.tokens) if token.revoked is None)
        assert left.role is Role.ARENA, "only what the servers made for themselves ends"
