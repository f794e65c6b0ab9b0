"""What a GTP player's setup may say besides the command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from arena.players.gtp_channel import InvalidWord, check_word
from arena.players.player import InvalidParameters


@dataclass(frozen=True)
class GtpParameters:
    """The parameters of a GTP player.

    `startup_commands` are sent before each game, `aliases` rename commands for this engine. An engine
    that is no `reliable_scorer` is never asked for the score; one that may `allow_claim` can claim the
    game with its move. With `name_from_gtp` records call it what it calls itself, if it does.
    """

    startup_commands: tuple[tuple[str, ...], ...] = ()
    aliases: Mapping[str, str] | None = None
    reliable_scorer: bool = True
    allow_claim: bool = False
    name_from_gtp: bool = True

    @classmethod
    def read(cls, parameters: Mapping[str, Any]) -> Self:
        """Read a setup's parameters; a command is a string or a list of words. Raises InvalidParameters."""
        unknown = set(parameters) - {field.name for field in fields(cls)}
        if unknown:
            raise InvalidParameters(f"{sorted(unknown)[0]!r} is no parameter of a GTP player")
        commands = parameters.get("startup_commands", ())
        aliases = parameters.get("aliases", {})
        if isinstance(commands, str) or not isinstance(commands, Sequence):
            raise InvalidParameters(f"startup_commands: {commands!r} is not a list of commands")
        if not isinstance(aliases, Mapping):
            raise InvalidParameters(f"aliases: {aliases!r} does not map commands to commands")
        split = tuple(tuple(line.split() if isinstance(line, str) else line) for line in commands)
        try:
            for word in (*(word for line in split for word in line), *aliases, *aliases.values()):
                check_word(word)
        except (InvalidWord, AttributeError) as error:
            raise InvalidParameters(f"startup_commands and aliases: {error}") from error
        if not all(split):
            raise InvalidParameters("startup_commands: a command is empty")
        flags = {
            name: _flag(name, parameters[name])
            for name in ("reliable_scorer", "allow_claim", "name_from_gtp")
            if name in parameters
        }
        return cls(split, dict(aliases), **flags)


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidParameters(f"{name}: {value!r} is neither true nor false")
    return value
