"""Private parts of NATS' client that have no public counterpart.

nats-py 2.16.0: `_process_info` takes in what a server says of itself, before the client sends its password.
The client encrypts where the server asks for it; of an address with `tls://` it only takes the name.
`tests/academy/store/shared_log/test_connection.py` fails where that changes.
"""

from typing import Any

from nats.aio.client import Client

from academy.store.errors import LogRefusedError


class EncryptingClient(Client):
    """A client that sends nothing to a server that does not encrypt."""

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        if initial_connection and not info.get("tls_required"):
            raise LogRefusedError(
                "it does not encrypt, as tls:// demands: give it certificates, or write nats://"
            )
        await super()._process_info(info, initial_connection)
