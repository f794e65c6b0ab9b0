"""Reads tables by their models, and says what is wrong with one: where, the rule, the value, the remedy."""

import difflib
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

Model = TypeVar("Model", bound=BaseModel)
Key = str | int
Place = Callable[[Sequence[Key]], str]
"""Gives the path of a setting, as people look for it in the file, from its keys."""
_MOST_SHOWN: Final = 200


class ControlError(ValueError):
    """A control file that can't be used; the message starts with the path of the faulty setting."""


class SettingError(ValueError):
    """A setting that does not fit the others of its table; `setting` is its name."""

    def __init__(self, setting: str, why: str) -> None:
        super().__init__(why)
        self.setting = setting


@dataclass(frozen=True)
class Form:
    """How a value is written, where its type does not say."""

    text: str


def toml_place(*heading: Key) -> Place:
    """The place of the settings under a heading of a TOML file: `series[0].settings[1].name`."""

    def join(keys: Sequence[Key]) -> str:
        parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in (*heading, *keys))
        return "".join(parts).removeprefix(".")

    return join


def read(model: type[Model], table: object, place: Place, folder: Path) -> Model:
    """The settings of a table; relative paths begin in `folder`. Raises ControlError for the first fault."""
    try:
        return model.model_validate(table, context=folder)
    except ValidationError as invalid:
        (error, *_) = invalid.errors(include_url=False)
        keys = [key for key in error["loc"] if key != "[key]"]
        cause = error.get("ctx", {}).get("error")
        if isinstance(cause, SettingError):
            keys.append(cause.setting)
        path, item, kind = _locate(model, keys)
        why = _explain(error["type"], error, kind, (model, table, path, place))
        raise ControlError(f"{place(path)}: {item}{why}") from None


def choose(words: Collection[str], setting: str, default: str | None, table: Any, place: Place) -> str:
    """The word of a setting that says which model describes its table. Raises ControlError."""
    word = table.get(setting, default)
    if setting not in table and default is None:
        raise ControlError(f"{place([setting])}: is missing{suggest_misspelt(setting, set(table))}")
    if not isinstance(word, str) or word not in words:
        raise ControlError(f"{place([setting])}: {_explain_choice(word, words)}")
    return word


def _explain_choice(value: object, choices: Collection[str]) -> str:
    why = f"must be one of {', '.join(map(repr, choices))}, not {_show(value)}"
    near = difflib.get_close_matches(value, choices, n=1) if isinstance(value, str) else ()
    return f"{why}; did you mean {near[0]!r}?" if near else why


def describe(kind: Any, rules: Sequence[Any] = ()) -> str:
    """What a setting of this type may be: `a whole number from 1 to 9`."""
    kind, rules = _without_rules(kind, rules)
    if forms := [rule.text for rule in rules if isinstance(rule, Form)]:
        return str(forms[0])
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(repr, get_args(kind)))}"
    if kind in (int, float):
        limits = {name: limit for rule in rules for name, limit in _limits(rule)}
        noun = "a whole number" if kind is int else "a number"
        spell = str if kind is int else "{:g}".format
        return f"{noun} from {spell(limits['ge'])} to {spell(limits['le'])}"
    if _is_table(kind):
        return "a table"
    if get_origin(kind) is dict:
        return "a table of names and values"
    if get_origin(kind) is tuple:
        return "a list of tables" if _is_table(get_args(kind)[0]) else "a list"
    return {bool: "true or false", str: "text in quotes"}[kind]


def _limits(rule: Any) -> Iterator[tuple[str, float]]:
    for metadata in rule.metadata if isinstance(rule, FieldInfo) else [rule]:
        for name in ("ge", "le"):
            if hasattr(metadata, name):
                yield name, getattr(metadata, name)


def _without_rules(kind: Any, rules: Sequence[Any] = ()) -> tuple[Any, list[Any]]:
    """A type without `Annotated` and `| None`, and the rules that stood there."""
    rules = list(rules)
    while True:
        if get_origin(kind) is Annotated:
            kind, *more = get_args(kind)
            rules += more
        elif get_origin(kind) in (Union, types.UnionType):
            kind = next(part for part in get_args(kind) if part is not type(None))
        else:
            return kind, rules


def _is_table(kind: Any) -> bool:
    kind, rules = _without_rules(kind)
    if any(isinstance(rule, Form) for rule in rules):
        return False
    if get_origin(kind) is dict:
        return get_args(kind)[1] is Any or _is_table(get_args(kind)[1])
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _locate(model: Any, keys: Sequence[Key]) -> tuple[list[Key], str, Any]:
    """The keys of a setting, the words for an item of its value, and the type of the setting or item."""
    path: list[Key] = []
    item = ""
    kind: Any = model
    for key in keys:
        kind, _ = _without_rules(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            field = kind.model_fields.get(str(key))
            kind = None if field is None else Annotated[field.annotation, *field.metadata, None]
            path.append(key)
        elif kind is not None and get_args(kind):
            listed = get_origin(kind) is tuple
            kind = get_args(kind)[0 if listed else 1]
            if _is_table(kind):
                path.append(key)
            else:
                item += f"item {int(key) + 1} " if listed else f"{key!r} "
    return path, item, kind


def _explain(rule: str, error: Any, kind: Any, where: tuple[Any, Any, list[Key], Place]) -> str:
    model, table, path, place = where
    value = _show(error["input"])
    match rule:
        case "value_error":
            return cut(str(error["ctx"]["error"]), error["input"])
        case "missing":
            *parents, name = path
            heading = ""
            if _is_table(kind):
                listed = get_origin(_without_rules(kind)[0]) is tuple
                heading = f": the file needs a table {_heading(place(path), listed)}"
            names = set(_walk(table, parents)) - set(_model_at(model, parents).model_fields)
            return f"is missing{heading}{suggest_misspelt(str(name), names)}"
        case "extra_forbidden":
            *parents, name = path
            return explain_unknown(str(name), _model_at(model, parents).model_fields)
        case "too_long":
            return "has {actual_length} items; at most {max_length} are allowed".format(**error["ctx"])
        case "too_short":
            return "has {actual_length} items; it needs at least {min_length}".format(**error["ctx"])
        case "dict_type" | "model_type" if _is_table(kind):
            return f"must be a table headed {_heading(place(path), listed=False)}"
        case "tuple_type" if _is_table(get_args(_without_rules(kind)[0])[0]):
            return f"must be tables, each headed {_heading(place(path), listed=True)}"
        case "literal_error":
            return _explain_choice(error["input"], get_args(_without_rules(kind)[0]))
    return f"must be {describe(kind)}, not {value}"


def explain_unknown(name: str, known: Collection[str]) -> str:
    """Why a setting that is none of the known ones is refused, and what may be meant."""
    near = difflib.get_close_matches(name, known, n=2)
    if near:
        return f"unknown setting; did you mean {' or '.join(map(repr, near))}?"
    return f"unknown setting; known here are: {', '.join(sorted(known))}"


def _heading(path: str, listed: bool) -> str:
    return f"[[{path}]]" if listed else f"[{path}]"


def _walk(table: Any, keys: Sequence[Key]) -> Any:
    for key in keys:
        table = table[key]
    return table


def _model_at(model: type[BaseModel], keys: Sequence[Key]) -> type[BaseModel]:
    kind, _ = _without_rules(_locate(model, keys)[2])
    table: type[BaseModel] = kind
    return table


def suggest_misspelt(name: str, unknown: set[str]) -> str:
    """The remedy where a setting is missing and one of the unknown ones looks like it; else nothing."""
    near = difflib.get_close_matches(name, unknown, n=1)
    return f"; is {near[0]!r} a misspelling of it?" if near else ""


def cut(why: str, value: object) -> str:
    """A message with the value that it shows, cut where it is long."""
    shown = _show(value)
    return why.replace(repr(value), shown) if shown.endswith("...") else why


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
