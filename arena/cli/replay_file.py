"""A file of HTML that plays a game again: the pages make it, in a process of their own."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from referees.api import UnreadableRecordError

if TYPE_CHECKING:
    from arena.cli.service import Service
    from arena.reports.kept_texts import KeptTexts
    from arena.v1 import competitions_pb2

_NEEDED: Final = ("jinja2", "starlette")
_GAMES: Final = ".games"
_SUFFIXES: Final = (".toml", ".ctl")
_MAKING_SECONDS: Final = 300.0
_LAST_WORDS: Final = 2_000


class ReplayNotMadeError(RuntimeError):
    """A game cannot be made a file of; the message says why."""


def find_game(file: Path, game_id: str | None) -> tuple[Path, str]:
    """The control file and the id of a game that is named by both, or by its record in NAME.games.

    Raises UnreadableRecordError, which says how to name a game.
    """
    if game_id is not None:
        return file, game_id
    folder = file.absolute().parent
    if folder.suffix != _GAMES:
        raise UnreadableRecordError(
            f"{file}: name a game by its record in the folder NAME{_GAMES} of its competition, or give "
            "the control file and the game's id, which `arena games` lists"
        )
    beside = [folder.with_suffix(suffix) for suffix in _SUFFIXES if folder.with_suffix(suffix).is_file()]
    if not beside:
        raise UnreadableRecordError(
            f"{file}: there is no {folder.with_suffix(_SUFFIXES[0]).name} beside {folder.name}, "
            "whose results have the game's moves"
        )
    return beside[0], file.stem


def replay_of(file: Path, game_id: str, results: str | None) -> str:
    """The file of a competition's finished game.

    Raises ReplayNotMadeError, ControlError and ResultsError.
    """
    from arena.cli.arguments import look_at_competition
    from arena.reports.kept_texts import read_texts

    view = look_at_competition(file, results)
    view.files.check_results()
    game = view.game(game_id)
    if game is None or game.in_progress:
        raise ReplayNotMadeError(_no_game(file.as_posix(), game_id))
    players = [player.name for player in game.game.players]
    texts = read_texts(view.files.protocol, view.files.log, game_id, players)
    return _make(view.competition(False, None), game, texts)


def replay_from(service: "Service", name: str, game_id: str) -> str:
    """The file of a finished game at a service. Raises ReplayNotMadeError."""
    from arena.reports.kept_texts import KeptTexts
    from arena.v1 import competitions_pb2
    from clients.connection import AcademyRefusedError

    doing = f"reading the game {game_id} of {name}"
    request = competitions_pb2.GetCompetitionRequest(name=name)
    competition = service.call("GetCompetition", request, doing).competition
    game = service.call("GetGame", competitions_pb2.GetGameRequest(name=name, game_id=game_id), doing)
    if game.in_progress:
        raise ReplayNotMadeError(_no_game(name, game_id))
    texts: list[KeptTexts] = []
    # What the players wrote is for operators; the game is for watchers, too.
    with suppress(AcademyRefusedError):
        wanted = competitions_pb2.GetGameTextsRequest(name=name, game_id=game_id)
        for kept in service.call("GetGameTexts", wanted, doing).players:
            protocol = kept.protocol if kept.HasField("protocol") else None
            errors = kept.errors if kept.HasField("errors") else None
            texts.append(KeptTexts(kept.seat, kept.player, protocol, errors))
    return _make(competition, game, texts)


def _no_game(name: str, game_id: str) -> str:
    return f"{name} has no finished game {game_id[:80]!r}; `arena games` lists them"


def _make(
    competition: "competitions_pb2.Competition",
    game: "competitions_pb2.GetGameResponse",
    texts: "Sequence[KeptTexts]",
) -> str:
    from google.protobuf.json_format import MessageToDict

    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ReplayNotMadeError(f"replays need {', '.join(missing)}: pip install 'academy-arena[web]'")
    described = {
        "competition": MessageToDict(competition),
        "game": MessageToDict(game),
        "texts": [titled for kept in texts for titled in _titled(kept)],
    }
    try:
        made = subprocess.run(
            [sys.executable, "-P", "-m", "web.replay_file"],
            input=json.dumps(described).encode(),
            capture_output=True,
            timeout=_MAKING_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ReplayNotMadeError(f"the boards are not drawn after {_MAKING_SECONDS:g} seconds") from None
    if made.returncode:
        raise ReplayNotMadeError(made.stderr.decode(errors="replace")[-_LAST_WORDS:].strip())
    return made.stdout.decode()


def _titled(kept: "KeptTexts") -> list[tuple[str, str]]:
    """A player's texts with titles; where nothing was kept, with the remedy."""
    protocol, errors = kept.protocol, kept.errors
    if protocol is None:
        protocol = "Not kept: arena run --log-protocol keeps it."
    if errors is None:
        errors = "Not kept: there is no log beside the control file."
    return [
        (
            f"{kept.label}: what it received (>>) and answered (<<)",
            protocol or "It received nothing in lines of text.",
        ),
        (f"{kept.label}: standard error", errors or "Nothing, or it was discarded."),
    ]
