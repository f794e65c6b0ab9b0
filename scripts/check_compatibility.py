"""Compare the protos and the public Python API with the last tag; exit 1 where a program of then would break.

`python -m scripts.check_compatibility [--against TAG]`; `make check` runs it. Without a tag nothing is
released, and nothing can break.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import griffe
from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FileDescriptorSet

from scripts.protos import compile_protos

ROOT: Final = Path(__file__).parents[1]
PUBLIC_MODULES: Final = ("clients", "referees.api", "referees.conformance", "academy.knowledge")
# Modules of which only these names are public; `docs/reference/python.md` lists them.
PUBLIC_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "arena.players.player": ("Choice",),
    "clients.bots.diplomacy.bot": ("Bot",),
    "clients.bots.diplomacy.daide": ("DaideClient", "ServerDisconnectedError"),
    "clients.bots.diplomacy.in_process": ("seat_bot",),
    "clients.bots.gtp": ("ContestAccess", "GtpError", "GtpProgram"),
    "clients.bots.search_game": ("SearchGame", "make_search_game"),
    "referees.dialogues": ("GtpGame", "LineDialogue", "PolicyDialogue"),
    "referees.diplomacy": (
        *("Diplomacy", "Map", "Order", "Phase", "Position", "adjudicate", "adjustment", "all_legal_orders"),
        *("legal_orders", "order_text", "read_order", "shipped_map"),
    ),
    "referees.diplomacy.daide.tokens": ("vocabulary",),
    "referees.diplomacy.deepmind": ("DiplomacyState", "mila_action", "parts", "short_string"),
    "referees.draughts": ("Draughts",),
    "referees.go": ("Go",),
    "referees.hex": ("Hex",),
    "referees.openspiel": ("OpenSpiel",),
    "referees.warlight": ("WarLight",),
}


def main() -> int:
    """Print what breaks, a line each, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", metavar="TAG", help="compare with this tag (default: the last one)")
    tag = parser.parse_args().against or last_tag()
    if tag is None:
        print("compatibility: there is no tag to compare with")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", tag, "protos"], cwd=ROOT, stdout=subprocess.PIPE, check=False
        )
        if archive.returncode:
            sys.exit(f"{tag}: no tag with protos/; `git tag` lists the tags")
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        old = compile_protos(Path(folder) / "protos")
    breakages = [*proto_breakages(old, compile_protos(ROOT / "protos")), *python_breakages(tag)]
    for breakage in breakages:
        print(breakage)
    print(f"compatibility: {len(breakages)} changes break programs of {tag}")
    return 1 if breakages else 0


def last_tag() -> str | None:
    """Return the last tag before the current commit, None without one."""
    command = ["git", "describe", "--tags", "--abbrev=0"]
    described = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return described.stdout.strip() or None


def proto_breakages(old: FileDescriptorSet, new: FileDescriptorSet) -> Iterator[str]:
    """Yield what clients of the old protos could not do with the new ones."""
    yield from _message_breakages(_messages(old), _messages(new))
    new_enums = _enums(new)
    for name, enum in _enums(old).items():
        values = {(value.name, value.number) for value in new_enums.get(name, EnumDescriptorProto()).value}
        for value in enum.value:
            if (value.name, value.number) not in values:
                yield f"{name}.{value.name}: the value is gone, or has another number"
    new_methods = _methods(new)
    for name, signature in _methods(old).items():
        if name not in new_methods:
            yield f"{name}: the method is gone"
        elif new_methods[name] != signature:
            yield f"{name}: the method takes or returns something else"


def _message_breakages(
    old_messages: Mapping[str, DescriptorProto], new_messages: Mapping[str, DescriptorProto]
) -> Iterator[str]:
    for name, message in old_messages.items():
        if name not in new_messages:
            yield f"{name}: the message is gone"
            continue
        fields = {field.number: field for field in new_messages[name].field}
        for field in message.field:
            now = fields.get(field.number)
            if now is None:
                yield f"{name}.{field.name}: the field is gone"
            elif (now.name, now.type, now.label, now.type_name) != (
                field.name,
                field.type,
                field.label,
                field.type_name,
            ):
                yield f"{name}.{field.name}: field {field.number} has another name, type or label"


def _messages(files: FileDescriptorSet) -> Mapping[str, DescriptorProto]:
    def walk(prefix: str, message: DescriptorProto) -> Iterator[tuple[str, DescriptorProto]]:
        name = f"{prefix}.{message.name}"
        yield name, message
        for inner in message.nested_type:
            yield from walk(name, inner)

    return dict(
        pair for file in files.file for message in file.message_type for pair in walk(file.package, message)
    )


def _enums(files: FileDescriptorSet) -> Mapping[str, EnumDescriptorProto]:
    enums = {f"{file.package}.{enum.name}": enum for file in files.file for enum in file.enum_type}
    return enums | {
        f"{name}.{enum.name}": enum
        for name, message in _messages(files).items()
        for enum in message.enum_type
    }


def _methods(files: FileDescriptorSet) -> Mapping[str, tuple[str, str, bool, bool]]:
    return {
        f"{file.package}.{service.name}.{method.name}": (
            method.input_type,
            method.output_type,
            method.client_streaming,
            method.server_streaming,
        )
        for file in files.file
        for service in file.service
        for method in service.method
    }


def python_breakages(tag: str) -> Iterator[str]:
    """Yield what programs that import the public modules and names of a tag could not do with today's."""
    for package in sorted({module.partition(".")[0] for module in (*PUBLIC_MODULES, *PUBLIC_NAMES)}):
        before = griffe.load_git(package, ref=tag, repo=str(ROOT), search_paths=[str(ROOT)])
        today = griffe.load(package, search_paths=[str(ROOT)], try_relative_path=False)
        yield from package_breakages(before, today)


def package_breakages(
    before: griffe.Object | griffe.Alias, today: griffe.Object | griffe.Alias
) -> Iterator[str]:
    """Yield what changed in the public modules and names of a package. Both are its root."""
    for module in (*PUBLIC_MODULES, *PUBLIC_NAMES):
        package, _, inner = module.partition(".")
        if package != before.name:
            continue
        old, new = (_member(tree, inner) for tree in (before, today))
        if old is None:
            continue
        if new is None:
            yield f"{module}: the module is gone"
            continue
        names = PUBLIC_NAMES.get(module) or tuple(map(str, old.exports or ()))
        if names:
            old, new = (_with_names(tree, names) for tree in (old, new))
        for breakage in griffe.find_breaking_changes(old, new):
            yield f"{breakage.obj.path}: {breakage.kind.value}"


def _member(tree: griffe.Object | griffe.Alias, path: str) -> griffe.Object | griffe.Alias | None:
    """Return what stands at a dotted path, None where nothing does."""
    try:
        return tree[path] if path else tree
    except KeyError:
        return None


def _with_names(module: griffe.Object | griffe.Alias, names: tuple[str, ...]) -> griffe.Module:
    """Return a module that has only these names of another."""
    shown = griffe.Module(module.name)
    shown.exports = list(names)
    for name in names:
        value = module.members.get(name)
        if value is not None:
            target = value.final_target if isinstance(value, griffe.Alias) else value
            shown.members[name] = griffe.Alias(name, target, parent=shown)
    return shown


if __name__ == "__main__":
    sys.exit(main())
