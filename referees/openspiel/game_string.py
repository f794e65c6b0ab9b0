"""OpenSpiel's game strings (`breakthrough(rows=6,columns=6)`): which are played here, and loading them.

Parameters reach the library's C++ unchecked, and some values end the process (`connect_four(rows=0)`)
or take all memory. So sizes have limits, and all else that is strange must show in the first position.
"""

import hashlib
import re
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final

from academy.knowledge.spec import GAME_ID
from referees.api import InvalidSettingError

MAX_STRING: Final = 1000
MAX_SIZE: Final = 26
MAX_NUMBER: Final = 1_000_000
MAX_ACTIONS: Final = 100_000

_BOARDS: Final = ("board_size", "rows", "columns", "num_rows", "num_cols", "m", "n", "size")
_PIECES: Final = ("num_houses_per_player", "num_seeds_per_house", "insanity")
_ROWS: Final = ("connect", "k", "x_in_row")
_LIMITS: Final = dict.fromkeys((*_BOARDS, *_PIECES, *_ROWS), (1, MAX_SIZE)) | {
    "dims": (1, 3),
    "handicap": (0, 9),
    "players": (1, 10),
}
_ANY_NUMBER: Final = (0, MAX_NUMBER)
_WHOLE_NUMBER: Final = re.compile(r"(\w+)=([-+]?\d+)(?=[,);]|$)")
_NAMES: Final = re.compile(r"(?:^|(?<=game=))\w*")
_MADE_OF_OTHERS: Final = frozenset(("misere", "start_at"))
# They change what is printed or shown to neural networks, and nothing in the game.
_PRESENTATION: Final = frozenset(
    ("ansi_color_output", "egocentric", "egocentric_obs_tensor", "plain_obs_tensor", "string_rep")
)
# Nor do these change much of what is good play.
_NOT_IN_ID: Final = _PRESENTATION | {"komi", "max_game_length", "max_moves"}

_ID: Final = re.compile(r"openspiel-(\w+)((?:-\w+\.(?:[A-Za-z_]{1,16}|[0-9]{1,2}))*)")
_PARAMETER: Final = re.compile(r"-(\w+)\.(\w+)")


@lru_cache(maxsize=64)
def load(text: str) -> Any:
    """Load a game.

    Raises InvalidSettingError for text that is not a game, and for games that are not of two players, of
    perfect information, without chance and turn by turn.
    """
    try:
        import pyspiel
    except ImportError:
        raise InvalidSettingError(
            "game", "OpenSpiel is not installed; `pip install 'academy-arena[openspiel]'` does that"
        ) from None
    _check_text(text)
    text = re.sub(r" *([(),=]) *", r"\1", text.strip())  # The library would take a blank for part of a name.
    _check_names(text, pyspiel)
    try:
        game = pyspiel.load_game(text)
        _refuse(text, _kind_breaches(game.get_type(), pyspiel.GameType))
        if game.num_players() != 2:
            _refuse(text, [f"it has {game.num_players()} players"])
        _check_first_position(text, game)
    except InvalidSettingError:
        raise
    except (pyspiel.SpielError, MemoryError, ValueError, TypeError) as error:
        # The library's errors come in quotes.
        why = (str(error).strip("'\" \n") or repr(error)).splitlines()[0][:300]
        raise InvalidSettingError("game", f"{text!r}: OpenSpiel says: {why}") from None
    return game


def _check_text(text: str) -> None:
    if not text.isprintable() or len(text) > MAX_STRING:
        raise InvalidSettingError("game", f"a game string is one line of at most {MAX_STRING} characters")
    for name in _PRESENTATION.intersection(re.findall(r"(\w+)=", text.replace(" ", ""))):
        raise InvalidSettingError("game", f"{name!r} changes nothing in the game; leave it out")
    for name, digits in _WHOLE_NUMBER.findall(text.replace(" ", "")):
        low, high = _LIMITS.get(name, _ANY_NUMBER)
        if len(digits) > 9 or not low <= int(digits) <= high:
            raise InvalidSettingError(
                "game", f"{name}={digits[:20]}: a number from {low} to {high} is needed"
            )


def _kind_breaches(kind: Any, types: Any) -> list[str]:
    return [
        breach
        for breach, value in (
            ("players move at once", kind.dynamics != types.Dynamics.SEQUENTIAL),
            ("there is chance in it", kind.chance_mode != types.ChanceMode.DETERMINISTIC),
            ("things are hidden", kind.information != types.Information.PERFECT_INFORMATION),
        )
        if value
    ]


def _refuse(text: str, breaches: list[str]) -> None:
    if breaches:
        raise InvalidSettingError(
            "game",
            f"{text!r}: {', '.join(breaches)}; games are of two players, of perfect information, "
            "without chance and turn by turn",
        )


def _check_names(text: str, pyspiel: Any) -> None:
    """Look at the game, and the game in it, before anything is loaded: some read files or take all memory."""
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    for name in _NAMES.findall(text):
        if name in _MADE_OF_OTHERS:
            continue
        if name not in kinds:
            names = playable()
            near = get_close_matches(name, names, n=1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise InvalidSettingError("game", f"OpenSpiel has no game {name!r}; {meant}")
        if not kinds[name].default_loadable:
            made = ", ".join(sorted(_MADE_OF_OTHERS))
            raise InvalidSettingError(
                "game", f"{name!r} reads a file or is made of another game; of those only {made} are played"
            )
        _refuse(text, _kind_breaches(kinds[name], pyspiel.GameType))


def _check_first_position(text: str, game: Any) -> None:
    if not 0 < game.num_distinct_actions() <= MAX_ACTIONS:
        raise InvalidSettingError(
            "game", f"{text!r}: its moves are too many to be numbered up to {MAX_ACTIONS}"
        )
    parameters = game.get_parameters()
    if game.get_type().short_name == "hex" and min(parameters["num_rows"], parameters["num_cols"]) < 2:
        # OpenSpiel's games on one row come to positions without an end and without moves.
        raise InvalidSettingError("game", f"{text!r}: Hex needs at least 2 rows and 2 columns")
    state = game.new_initial_state()
    if state.is_chance_node():
        raise InvalidSettingError("game", f"{text!r}: its first position is chosen by chance")
    actions = [] if state.is_terminal() else state.legal_actions()
    if not actions:
        raise InvalidSettingError("game", f"{text!r}: there is no move in its first position")
    for action in actions:
        words = state.action_to_string(state.current_player(), action)
        if not words.isprintable() or not words.strip():
            raise InvalidSettingError(
                "game", f"{text!r}: its move number {action} has no name that can be printed"
            )


def playable() -> list[str]:
    """The names of the games that are played here without any parameters."""
    import pyspiel

    return [
        kind.short_name
        for kind in pyspiel.registered_games()
        if kind.default_loadable
        and not _kind_breaches(kind, pyspiel.GameType)
        and kind.min_num_players <= 2 <= kind.max_num_players
    ]


def game_string_of(known_id: str) -> str | None:
    """The game string that `game_id` made an id of; None for other games' ids, and for those that are hashed.

    Ids come from elsewhere: numbers of more than two digits would make boards that nobody plays on.
    """
    read = _ID.fullmatch(known_id)
    if read is None:
        return None
    parameters = ",".join(f"{name}={value}" for name, value in _PARAMETER.findall(read[2]))
    return f"{read[1]}({parameters})" if parameters else read[1]


def game_id(game: Any) -> str:
    """The game's id for ACADEMY: its name and the parameters that change what is good play.

    Where they are too long for an id or have other signs in them, they are hashed.
    """
    kind = game.get_type()
    parameters = game.get_parameters()
    if "num_cols" in parameters:
        parameters.pop("board_size", None)  # It is short for rows and columns.
    unusual = {
        name: value
        for name, value in sorted(parameters.items())
        if name not in _NOT_IN_ID and value != kind.parameter_specification.get(name)
    }
    name_in_full = "-".join(
        (f"openspiel-{kind.short_name}", *(f"{key}.{value}" for key, value in unusual.items()))
    )
    if GAME_ID.fullmatch(name_in_full):
        return name_in_full
    digest = hashlib.blake2b(repr(unusual).encode(), digest_size=8).hexdigest()
    return f"openspiel-{kind.short_name}"[:40] + f"-{digest}"
