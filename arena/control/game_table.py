"""The game in a control file, how games begin, and when the arena ends them."""

import difflib
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from arena.control import values
from arena.control.game import GameSettings
from arena.control.locations import path_from
from arena.control.settings import Openings
from arena.control.table import TomlTable
from arena.jobs import Adjudication
from referees.api import InvalidSettingError, UnknownRefereeError

_MOVES: Final = values.whole(1, 1_000_000)
_VALUE: Final = values.number(0, 0.5)


def game(table: TomlTable, folder: Path, default: GameSettings | None = None) -> GameSettings:
    """The game, of a control file in that folder; what is left out is as in the default.

    Without a move limit every game may come to its end, as far as the referee tells. Raises ControlError.
    """
    if default is None:
        name, plain = table.need("name", values.text), GameSettings("")
    else:
        name, plain = table.take("name", values.choice(default.name), default.name), default
    move_limit = table.take("move_limit", _MOVES, None)
    scorer = table.take("scorer", values.choice("internal", "players"), plain.scorer)
    settings: dict[str, Any] = {**plain.settings, **table.rest()}
    found = GameSettings(name, settings, scorer=scorer, folder=folder)
    try:
        longest = found.rules().longest_game()
    except UnknownRefereeError as error:
        table.fail("name", str(error))
    except InvalidSettingError as error:
        # The referee does not know the settings that all games have.
        near = difflib.get_close_matches(error.setting, ("name", "move_limit", "scorer"), n=1)
        hint = f"; all games have a setting {near[0]!r}" if near else ""
        table.fail(error.setting, str(error).removeprefix(f"{error.setting!r}: ") + hint)
    given = move_limit is not None or plain.move_limit_given
    if move_limit is None:
        move_limit = plain.move_limit if given else max(plain.move_limit, longest or 0)
    return replace(found, move_limit=move_limit, move_limit_given=given)


def openings(table: TomlTable | None, folder: Path) -> Openings | None:
    """The file of openings; None without one. Raises ControlError."""
    if table is None:
        return None
    found = Openings(
        path_from(folder, table.need("file", values.text)),
        table.take("order", values.choice("random", "file"), "random"),
        table.take("plies", _MOVES, None),
    )
    table.finish()
    if not found.path.is_file():
        table.fail("file", f"there is no file {found.path}")
    return found


def adjudication(table: TomlTable | None) -> Adjudication | None:
    """When games are decided early; None without rules. Raises ControlError."""
    if table is None:
        return None
    plain = Adjudication()
    rules = Adjudication(
        resign_value=table.take("resign_value", _VALUE, None),
        resign_moves=table.take("resign_moves", _MOVES, plain.resign_moves),
        two_sided=table.take("two_sided", values.flag, plain.two_sided),
        draw_margin=table.take("draw_margin", _VALUE, None),
        draw_moves=table.take("draw_moves", _MOVES, plain.draw_moves),
        draw_after=table.take("draw_after", values.whole(0, 1_000_000), plain.draw_after),
        count_after=table.take("count_after", _MOVES, None),
    )
    table.finish()
    if rules.resign_value is None and rules.draw_margin is None and rules.count_after is None:
        table.fail("resign_value", "is missing, and so are draw_margin and count_after: no rule is given")
    return rules
