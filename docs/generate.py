"""Fills the generated parts of the reference from the code, when MkDocs builds the site.

A page says where with a line `<!-- generated: NAME -->`; the names are the functions in GENERATORS.
"""

import argparse
import ast
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"(?:https?:)?//(?!localhost)[^>]*>")
MARKER = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Fill the generated parts of a page; MkDocs calls this for each page."""
    return MARKER.sub(lambda marker: GENERATORS[marker[1]](), markdown)


def on_post_page(output: str, page: Any, **_: object) -> str:
    """Refuse a page that loads something from elsewhere: the site is read without a network."""
    if loaded := LOADED.search(output):
        raise ValueError(f"{page.file.src_uri} loads from elsewhere: {loaded[0]}")
    return output


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Write a Markdown table."""
    heads = list(head)
    lines = [heads, ["---"] * len(heads), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _sentence(documentation: str | None) -> str:
    return " ".join((documentation or "").strip().split("\n\n")[0].split())


# The command line


def commands() -> str:
    """Describe every command of all programs, with its arguments and options."""
    from typer.main import get_command

    import clients.analyst
    import clients.bots.any_game
    import clients.bots.diplomacy.daide
    import clients.bots.gtp_connector
    import clients.bots.lines_connector
    from academy.cli.app import application as academy
    from arena.cli.app import make_application as make_arena
    from web.cli.app import application as web

    parts: list[str] = []
    for name, application in (("academy", academy), ("arena", make_arena()), ("academy-web", web)):
        parts += _command(get_command(application), name, 2)
    bots = clients.bots
    for program in (
        bots.any_game,
        clients.analyst,
        bots.gtp_connector,
        bots.lines_connector,
        bots.diplomacy.daide,
    ):
        parts += _program(program.argument_parser())
    return "\n\n".join(parts)


def _program(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## `{parser.prog}`\n\n{parser.description}"
    yield table(("argument or option", "meaning (default)"), map(_argument, parser._actions))


def _argument(action: argparse.Action) -> tuple[str, str]:
    value = "" if action.nargs == 0 else action.metavar or action.dest.upper()
    if action.choices:
        value = "{" + ",".join(action.choices) + "}"
    names = [f"{option} {value}".rstrip() for option in action.option_strings] or [str(value)]
    needed = "; required" if action.required and action.option_strings else ""
    return ", ".join(f"`{name}`" for name in names), (action.help or "") % vars(action) + needed


def _command(command: Any, path: str, level: int) -> Iterator[str]:
    yield f"{'#' * level} `{path}`"
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    yield "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    parameters = [
        given
        for given in command.params
        if not getattr(given, "hidden", False)
        and given.name not in ("help", "install_completion", "show_completion")
    ]
    if parameters:
        yield table(("argument or option", "meaning", "default"), map(_parameter, parameters))
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        if not inner.hidden:
            yield from _command(inner, f"{path} {name}", min(level + 1, 4))


def _parameter(parameter: Any) -> tuple[str, str, str]:
    if parameter.param_type_name == "argument":
        name = f"`{(parameter.metavar or parameter.name).upper()}`"
    else:
        name = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
    meaning = _sentence(parameter.help)
    if variables := parameter.envvar:
        listed = [variables] if isinstance(variables, str) else variables
        meaning += f" Environment: {', '.join(f'`{variable}`' for variable in listed)}."
    default = parameter.default
    if parameter.required:
        shown = "required"
    elif (
        default is None or default is False or default in ((), [], "") or callable(default) or default is ...
    ):
        shown = ""
    else:
        shown = f"`{getattr(default, 'value', default)}`"
    return name, meaning, shown


# The gRPC API


def grpc() -> str:
    """Describe every service and message of the API from the comments of the protos."""
    from scripts.protos import compile_protos

    described = ("academy/v1/", "arena/v1/")
    files = compile_protos(ROOT / "protos", "--include_source_info").file
    return "\n\n".join(part for file in files if file.name.startswith(described) for part in _proto(file))


def _proto(file: Any) -> Iterator[str]:
    comments = {tuple(place.path): place for place in file.source_code_info.location}

    def comment(*path: int) -> str:
        place = comments.get(path)
        if place is None:
            return ""
        text = place.leading_comments or place.trailing_comments
        return " ".join(text.split())

    package_comments = comment(2) or comment(12)
    yield f"## `{file.name}`\n\n{package_comments}"
    for number, service in enumerate(file.service):
        yield f"### service `{service.name}`\n\n{comment(6, number)}"
        rows = []
        for index, method in enumerate(service.method):
            request, response = (
                f"{'stream ' if streams else ''}{kind.rpartition('.')[2]}"
                for kind, streams in (
                    (method.input_type, method.client_streaming),
                    (method.output_type, method.server_streaming),
                )
            )
            rows.append((f"`{method.name}`", f"`{request}`", f"`{response}`", comment(6, number, 2, index)))
        yield table(("method", "request", "response", "meaning"), rows)
    for number, message in enumerate(file.message_type):
        yield from _message(message, message.name, comment, (4, number))
    for number, kinds in enumerate(file.enum_type):
        yield from _enumeration(kinds, kinds.name, comment, (5, number))


def _message(message: Any, name: str, comment: Callable[..., str], path: tuple[int, ...]) -> Iterator[str]:
    yield f"### `{name}`"
    if comment(*path):
        yield comment(*path)
    entries = {inner.name: inner for inner in message.nested_type if inner.options.map_entry}
    rows = []
    for index, field in enumerate(message.field):
        kind = _kind(field)
        if kind in entries:
            kind = f"map of {' to '.join(_kind(part) for part in entries[kind].field)}"
        elif field.label == field.LABEL_REPEATED:
            kind = f"repeated {kind}"
        elif field.proto3_optional:
            kind = f"optional {kind}"
        rows.append((f"`{field.name}`", str(field.number), kind, comment(*path, 2, index)))
    if rows:
        yield table(("field", "number", "type", "meaning"), rows)
    for index, inner in enumerate(message.nested_type):
        if inner.name not in entries:
            yield from _message(inner, f"{name}.{inner.name}", comment, (*path, 3, index))
    for index, kinds in enumerate(message.enum_type):
        yield from _enumeration(kinds, f"{name}.{kinds.name}", comment, (*path, 4, index))


def _kind(field: Any) -> str:
    if field.type_name:
        return str(field.type_name).rpartition(".")[2]
    return str(field.Type.Name(field.type)).removeprefix("TYPE_").lower()


def _enumeration(kinds: Any, name: str, comment: Callable[..., str], path: tuple[int, ...]) -> Iterator[str]:
    yield f"### enum `{name}`"
    if comment(*path):
        yield comment(*path)
    values = enumerate(kinds.value)
    yield table(
        ("value", "number", "meaning"),
        ((f"`{value.name}`", str(value.number), comment(*path, 2, index)) for index, value in values),
    )


# Error codes, limits, metrics


def academy_errors() -> str:
    """List what ACADEMY refuses."""
    from academy.service.errors import described_errors

    return _errors((error.reason, error.status, error.meaning, error.remedy) for error in described_errors())


def arena_errors() -> str:
    """List what the arena's lobby and service refuse."""
    from academy.wire.errors import RefusedCallError

    for module in ("arena.lobby.errors", "arena.league.errors", "arena.service.errors"):
        import_module(module)
    kinds, rows = RefusedCallError.__subclasses__(), []
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if not kind.__module__.startswith("academy.service."):
            rows.append((kind.reason, kind.code.name, _sentence(kind.__doc__), kind.remedy))
    return _errors(sorted(rows))


def _errors(rows: Iterable[tuple[str, str, str, str]]) -> str:
    shown = ((f"`{reason}`", f"`{status}`", meaning, remedy) for reason, status, meaning, remedy in rows)
    return table(("reason", "gRPC status", "meaning", "remedy"), shown)


def academy_limits() -> str:
    """List the limits of ACADEMY's service."""
    from academy.service.limits import Limits

    return _limits(Limits)


def lobby_limits() -> str:
    """List the limits for players who dial in."""
    from arena.lobby.lobby import LobbyLimits

    return _limits(LobbyLimits)


def _limits(kind: Any) -> str:
    rows = []
    for field in dataclasses.fields(kind):
        value = getattr(kind, field.name)
        shown = f"{value:,g}" if isinstance(value, float) else f"{value:,}"
        rows.append((f"`{field.name}`", field.metadata["meaning"], _bytes(field.name, value) or shown))
    return table(("limit", "meaning", "default"), rows)


def _bytes(name: str, value: float) -> str:
    if "bytes" not in name:
        return ""
    mebibytes = value / 2**20
    return f"{mebibytes:g} MiB" if mebibytes >= 1 else f"{value / 2**10:g} KiB"


def metrics() -> str:
    """List the metrics of both services, from the calls that make them."""
    rows = {}
    for path in sorted((*(ROOT / "academy").rglob("*.py"), *(ROOT / "arena").rglob("*.py"))):
        text = path.read_text(encoding="utf-8")
        if "MetricFamily(" not in text:
            continue
        for call in ast.walk(ast.parse(text)):
            if not isinstance(call, ast.Call) or not getattr(call.func, "id", "").endswith("MetricFamily"):
                continue
            kind = call.func.id.removesuffix("MetricFamily").lower()  # type: ignore[attr-defined]
            name, meaning = (ast.literal_eval(argument) for argument in call.args[:2])
            labels: list[str] = next(
                (ast.literal_eval(word.value) for word in call.keywords if word.arg == "labels"), []
            )
            name += "_total" if kind == "counter" else ""
            rows[name] = f"`{name}`", kind, ", ".join(f"`{label}`" for label in labels), meaning
    return table(("metric", "kind", "labels", "meaning"), (rows[name] for name in sorted(rows)))


def control_file() -> str:
    """List the tables and settings of a control file, from its schema."""
    from arena.control.reference import to_markdown

    return re.sub(r"^## ", "### ", to_markdown(), flags=re.MULTILINE)


def games() -> str:
    """List the games whose referees are installed with the package."""
    points = sorted(entry_points(group="arena.referees"), key=lambda point: point.name)
    ours = [point for point in points if point.value.startswith("referees.")]
    return ", ".join(f"`{point.name}`" for point in ours)


GENERATORS: dict[str, Callable[[], str]] = {
    made.__name__: made
    for made in (
        commands,
        control_file,
        grpc,
        academy_errors,
        arena_errors,
        academy_limits,
        lobby_limits,
        metrics,
        games,
    )
}
