"""The candidates of tuners: players that are made of parameters' values."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.jobs import PlayerSetup

CandidateMaker = Callable[[str, Sequence[Any]], PlayerSetup]
"""Makes the player of a name from the values of the parameters, in their order."""


@dataclass(frozen=True)
class CandidateTemplate:
    """A candidate's definition with `{parameter}` where values go: in its command, startup commands and
    environment. Other braces are left alone.
    """

    setup: PlayerSetup
    codes: tuple[str, ...]

    def __call__(self, name: str, values: Sequence[Any]) -> PlayerSetup:
        """The candidate with these values."""
        named = dict(zip(self.codes, map(_plain, values), strict=True))

        places = re.compile(rf"\{{({'|'.join(map(re.escape, self.codes))})\}}")

        def fill(text: str) -> str:
            return places.sub(lambda match: named[match[1]], text)

        setup = self.setup
        parameters: Mapping[str, Any] = setup.parameters
        if "startup_commands" in parameters:
            commands = tuple(map(fill, parameters["startup_commands"]))
            parameters = {**parameters, "startup_commands": commands}
        return replace(
            setup,
            name=name,
            command=tuple(map(fill, setup.command)),
            environment={key: fill(value) for key, value in setup.environment.items()},
            parameters=parameters,
        )

    def unused(self) -> list[str]:
        """The parameters that stand nowhere in the definition."""
        return [code for code in self.codes if f"{{{code}}}" not in self._text]

    def unknown(self) -> list[str]:
        """The words in braces that name neither a parameter nor the seed; a shell's `${WORD}` is none."""
        words = dict.fromkeys(re.findall(r"(?<!\$)\{([A-Za-z_][\w-]*)\}", self._text))
        return [word for word in words if word not in (*self.codes, "seed")]

    @property
    def _text(self) -> str:
        """All that values may stand in."""
        commands = self.setup.parameters.get("startup_commands", ())
        return "\0".join((*self.setup.command, *self.setup.environment.values(), *commands))


def _plain(value: Any) -> str:
    # The shortest text that reads back as the same number.
    return repr(value) if isinstance(value, float) else str(value)
