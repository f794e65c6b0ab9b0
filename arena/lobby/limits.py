"""How much one player that dials in may ask of the lobby."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LobbyLimits:
    """Every bound on what comes from outside. Times are in seconds, sizes in bytes or items.

    `waiting_messages` is how many a player may leave unread; `hello_seconds` how long a stream may say
    nothing at first; `write_seconds` how long one message, or the status at the end, may wait to be taken;
    `health_watch_seconds` how long a watch of health lasts. Lines of the log are limited by kind of event.
    """

    players: int = 256
    games_at_once: int = 256
    message_bytes: int = 64 * 1024
    metadata_bytes: int = 16 * 1024
    messages_per_second: float = 500.0
    message_burst: float = 2_000.0
    waiting_messages: int = 10_000
    name_characters: int = 64
    description_characters: int = 10_000
    hello_seconds: float = 10.0
    write_seconds: float = 30.0
    log_lines_per_second: float = 10.0
    log_line_burst: float = 100.0
    health_watch_seconds: float = 600.0
