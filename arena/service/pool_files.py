"""A pool's settings as the control file of a standing competition, and the files that a run of it reads."""

import json
import math
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from google.protobuf.duration_pb2 import Duration

from academy.wire.files import write_whole
from arena.control.control_file import read_control
from arena.control.settings import Control
from arena.control.toml_file import MAX_BYTES
from arena.league.errors import InvalidPoolError, PoolConflictError
from arena.league.names import RANDOM_PLAYER
from arena.league.players import Entrant
from arena.league.pools import Schedule
from arena.match.openings import InvalidOpeningsError, read_openings
from arena.players.protocols import added_protocols
from arena.runner.files import CompetitionFiles
from arena.v1 import pools_pb2
from referees.toml_text import read_toml

HEADING: Final = "# Written by the service from the data of its pool: `arena pool change` changes it.\n"
LONGEST_OPENINGS: Final = 1 << 20
DEFAULT_GAMES_AT_ONCE: Final = 2
MOST_GAMES_AT_ONCE: Final = 256
# The most players of a game in a pool.
MOST_SEATS: Final = 32
NANOSECONDS: Final = 10**9
_DRAFTS: Final = threading.Lock()
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def schedule_of(settings: pools_pb2.PoolSettings) -> Schedule | None:
    """When the pool is open; None for always. Raises InvalidPoolError."""
    open_for = None
    if settings.HasField("open_for"):
        try:
            open_for = timedelta(seconds=settings.open_for.seconds)
        except OverflowError:
            open_for = timedelta.max
    return Schedule.of(settings.schedule, open_for)


def game_of(settings: pools_pb2.PoolSettings) -> tuple[str, dict[str, Any]]:
    """The game's name and settings. Raises InvalidPoolError."""
    try:
        values = json.loads(settings.settings_json or "{}", object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        # The other errors speak of Python.
        what = (
            f": {error}" if isinstance(error, json.JSONDecodeError) else ", or too deep, or a number too long"
        )
        raise InvalidPoolError("settings_json", f"it is not JSON{what}") from None
    if not isinstance(values, dict):
        raise InvalidPoolError("settings_json", 'write an object, such as {"board_size": 9}')
    if "name" in values:
        raise InvalidPoolError("settings_json", "`name` is not a setting: the game stands in `game`")
    return settings.game, values


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
        raise InvalidPoolError("settings_json", f"{twice[:80]!r} is given twice")
    return values


def own_tables(settings: pools_pb2.PoolSettings, folder: Path) -> dict[str, dict[str, Any]]:
    """What the pool's base adds, and its anchor, by their tables' names. Raises InvalidPoolError."""
    own: dict[str, dict[str, Any]] = {}
    if settings.random_player:
        own[f"players.{RANDOM_PLAYER}"] = {
            "protocol": "python",
            "command": "arena.players.random_moves:random_moves",
            "fixed_elo": 0,
        }
    if settings.base:
        own |= _tables_of(settings.base, folder)
    return own


def _tables_of(base: str, folder: Path) -> dict[str, dict[str, Any]]:
    # A file of the folder, as players' commands are programs: who may change pools may not send any.
    if not _BARE.fullmatch(base):
        raise InvalidPoolError("base", f"{base[:80]!r}: write letters of ASCII, digits, '-' and '_'")
    file = folder / f"{base}.pool"
    try:
        tables = read_toml(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidPoolError("base", f"there is no {file.name} in the service's folder") from None
    except (OSError, ValueError) as error:
        raise InvalidPoolError("base", f"{file.name}: {error}") from None
    players = tables.pop("players", {})
    if not isinstance(players, dict):
        players = {"": players}
    named = {f"players.{_key(name)}": player for name, player in players.items()}
    allowed = {"academy", "workers", *added_protocols()}
    if tables.keys() - allowed or not all(
        isinstance(table, dict) for table in [*tables.values(), *named.values()]
    ):
        listed = ", ".join(f"[{name}]" for name in sorted(allowed))
        raise InvalidPoolError("base", f"{file.name}: only {listed} and [players.NAME] may stand there")
    return tables | named


def is_own(name: str, tables: Mapping[str, object]) -> bool:
    """Whether a player of this name is one of `own_tables`: a member of the name does not take its place."""
    return f"players.{_key(name)}" in tables


def own_players(tables: Mapping[str, object]) -> int:
    """How many players `own_tables` has."""
    return sum(name.startswith("players.") for name in tables)


def control_text(
    settings: pools_pb2.PoolSettings,
    league: str,
    openings: Path,
    members: Sequence[Entrant],
    own: Mapping[str, Mapping[str, Any]],
) -> str:
    """The control file of a pool with its own tables and these members; the first, if not all have room.

    Raises InvalidPoolError.
    """
    game, values = game_of(settings)
    if settings.games_at_once > MOST_GAMES_AT_ONCE:
        raise InvalidPoolError("games_at_once", f"at most {MOST_GAMES_AT_ONCE} games are played at a time")
    competition: dict[str, Any] = {
        "kind": "standing",
        "parallel": settings.games_at_once or DEFAULT_GAMES_AT_ONCE,
        "check_players": False,
    }
    if settings.rounds:
        competition["rounds"] = settings.rounds
    tables: dict[str, dict[str, Any]] = {
        "competition": competition,
        "game": {
            "name": game,
            **values,
            **({"move_limit": settings.move_limit} if settings.move_limit else {}),
        },
        "league": {"url": league},
    }
    more: dict[str, Any] = {}
    if settings.HasField("clock"):
        clock = settings.clock
        tables["time_control"] = {
            "main_seconds": _seconds("clock.main", clock.main),
            "increment_seconds": _seconds("clock.increment", clock.increment),
            "byo_yomi_seconds": _seconds("clock.byo_yomi", clock.byo_yomi),
            "byo_yomi_stones": clock.byo_yomi_stones or 1,
        }
    elif settings.HasField("move_time"):
        more["move_seconds"] = _seconds("move_time", settings.move_time)
    if settings.openings:
        tables["openings"] = {"file": str(openings)}
    before = HEADING + "\n".join(_table_text(name, table) for name, table in tables.items())
    after = "".join(
        "\n" + _table_text(name, {**more, **table} if name.startswith("players.") else table)
        for name, table in own.items()
    )
    others = (member for member in members if not is_own(member.name, own))
    return before + _members_text(others, more, MAX_BYTES - len((before + after).encode())) + after


def _members_text(members: Iterable[Entrant], more: Mapping[str, Any], room: int) -> str:
    """The tables of the first members that there is room for, in bytes."""
    texts = []
    for member in members:
        named = {"version": member.version, "family": member.family}
        table = {"protocol": "grpc", **{key: value for key, value in named.items() if value}, **more}
        text = "\n" + _table_text(f"players.{_key(member.name)}", table)
        room -= len(text.encode())
        if room < 0:
            break
        texts.append(text)
    # By name, so that the file stays as it is while the same members play.
    return "".join(sorted(texts))


def _table_text(name: str, table: Mapping[str, Any]) -> str:
    return f"[{name}]\n" + "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def check(name: str, settings: pools_pb2.PoolSettings, folder: Path) -> Control:
    """Read a pool's control file as a run would, with players that stand for members.

    Raises InvalidPoolError and ControlError.
    """
    if len(settings.openings) > LONGEST_OPENINGS:
        raise InvalidPoolError("openings", f"at most {LONGEST_OPENINGS} characters are taken")
    if len(settings.SerializeToString()) > 2 * LONGEST_OPENINGS:
        raise InvalidPoolError("settings", f"more than {2 * LONGEST_OPENINGS} bytes")
    schedule_of(settings)
    openings = openings_file(folder, name, settings)
    own = own_tables(settings, folder)
    # Two checks of a pool at once have the same drafts.
    with _DRAFTS:
        return _check_draft(folder / f".{name}.check.toml", settings, openings, own)


def _check_draft(
    draft: Path, settings: pools_pb2.PoolSettings, openings: Path, own: Mapping[str, Mapping[str, Any]]
) -> Control:
    stand_ins = [Entrant(f"member{number}") for number in range(1, MOST_SEATS + 1)]
    draft_openings = openings.with_name(f".{openings.name}")
    try:
        text = control_text(settings, "sqlite:///league.db", openings, stand_ins, own)
        if settings.openings:
            draft_openings.write_text(settings.openings, encoding="utf-8")
            text = text.replace(_value(str(openings)), _value(str(draft_openings)))
        draft.write_text(text, encoding="utf-8")
        control = read_control(draft)
        control.game.rules()
        if control.openings is not None:
            read_openings(control.openings.file, control.game.rules())
        return control
    except RecursionError:
        raise InvalidPoolError("settings_json", "it is too deep: settings are plain values") from None
    except InvalidOpeningsError as error:
        complaint = re.sub(f"{re.escape(str(draft_openings))}[,:] ", "", str(error))
        raise InvalidPoolError("openings", complaint) from None
    finally:
        draft.unlink(missing_ok=True)
        draft_openings.unlink(missing_ok=True)


def openings_file(folder: Path, name: str, settings: pools_pb2.PoolSettings) -> Path:
    """Where the openings of a pool stand."""
    suffix = "openings.sgf" if settings.openings.lstrip().startswith("(") else "openings"
    return folder / f"{name}.{suffix}"


def check_own(control: Path) -> None:
    """Raises PoolConflictError where a control file of the name is not a pool's."""
    if control.exists() and not control.read_text(encoding="utf-8", errors="replace").startswith(HEADING):
        raise PoolConflictError(
            f"there is a competition {control.stem!r}, which is not a pool", name=control.stem
        )


def remove(control: Path, settings: pools_pb2.PoolSettings) -> None:
    """Delete a pool's files. Raises PoolConflictError where it has run: its results have its name."""
    if CompetitionFiles(control).log.exists():
        raise PoolConflictError(f"{control.stem!r} has run, and its results keep its name", name=control.stem)
    check_own(control)
    openings_file(control.parent, control.stem, settings).unlink(missing_ok=True)
    control.unlink(missing_ok=True)


def write(path: Path, text: str) -> None:
    """Write a file whole, unless it is the same already."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    # The league's address may hold a password.
    write_whole(path, [text.encode()], private=True)


def _seconds(field: str, duration: Duration) -> float:
    if duration.seconds < 0 or not 0 <= duration.nanos < NANOSECONDS:
        raise InvalidPoolError(field, "write seconds from 0 and nanoseconds from 0 to 999,999,999")
    return duration.seconds + duration.nanos / NANOSECONDS


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    """A JSON value as TOML writes it. Raises InvalidPoolError and RecursionError."""
    match value:
        case None:
            raise InvalidPoolError("settings_json", "null is not a value of a setting: leave the setting out")
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
        case str():
            # TOML knows JSON's escapes, but not its pairs of surrogates, and wants DEL escaped.
            text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
            return text.encode("utf-8", "replace").decode()
        case float() if not math.isfinite(value):
            raise InvalidPoolError("settings_json", f"{value} is not a value of a setting: write a number")
        case _:
            return json.dumps(value)
