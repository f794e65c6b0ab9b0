"""Arguments and options that several commands have."""

from typing import Annotated, Final, Literal

import typer

from academy.v1 import pattern_pb2

# What a message can hold of a count, and of the number of a record or an event.
MOST: Final = 2**31 - 1
LARGEST_NUMBER: Final = 2**63 - 1

LibraryName = Literal["opening", "middle-game", "endgame"]
Game = Annotated[str, typer.Argument(metavar="GAME", help="The game's id.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
FairUse = Annotated[bool, typer.Option("--fair-use", help="Show the rules of fair use instead.")]
WhichPatterns = Annotated[Literal["middle-game", "endgame"], typer.Option("--library", help="Which library.")]
LibraryOfPattern = Annotated[
    Literal["middle-game", "endgame"] | None,
    typer.Option("--library", help="Which library; without it, the one that has the pattern."),
]
Limit = Annotated[int, typer.Option(min=1, max=MOST, help="How many to print at most.")]
PatternId = Annotated[
    int, typer.Argument(min=1, max=LARGEST_NUMBER, metavar="PATTERN", help="The pattern's number.")
]


def number_of(library: LibraryName) -> pattern_pb2.Library.ValueType:
    """The enum value of a library's name."""
    return pattern_pb2.Library.Value(f"LIBRARY_{library.upper().replace('-', '_')}")
