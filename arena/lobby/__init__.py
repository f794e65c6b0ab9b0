"""Where players dial in: the lobby, its gRPC server, and the socket where games ask for players."""

from typing import Final

DEFAULT_ADDRESS: Final = "127.0.0.1:50561"
