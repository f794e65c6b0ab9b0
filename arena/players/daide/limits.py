"""How much one DAIDE client may ask for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DaideLimits:
    """Every bound on what comes from outside. Times are in seconds, sizes in bytes or items.

    `clients` are those at the door at a time, `clients_of_name` those of them who say the same name;
    `observers` are those of the door, and of each game.
    `greeting_seconds` is how long a client may take to say who it is and that it plays the map, and how long
    half a message may lie about; `write_seconds` how long it may take nothing of what is sent to it, and
    `unsent_bytes` how much of that may wait. Messages above `messages_per_second` are for
    `message_burst` of them in advance. After `wrong_passcodes` for one power of a game nobody comes back to
    it: there are no more than 8,191 passcodes, which a program could try.
    """

    clients: int = 256
    clients_of_name: int = 64
    observers: int = 32
    message_bytes: int = 16 * 1024
    messages_per_second: float = 200.0
    message_burst: float = 2_000.0
    unsent_bytes: int = 4 * 1024 * 1024
    name_characters: int = 64
    wrong_passcodes: int = 8
    greeting_seconds: float = 30.0
    write_seconds: float = 30.0
