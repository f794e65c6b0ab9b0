"""What the public modules export is documented: arguments, results and errors."""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import academy.knowledge
import clients
import referees.api
import referees.conformance

KNOWLEDGE = tuple(
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(academy.knowledge.__path__, "academy.knowledge.")
    if not module.ispkg
)
MODULES = (clients, referees.api, referees.conformance, *KNOWLEDGE)
# The library makes these itself.
MADE_BY_THE_LIBRARY = ("PlayStream", "AsyncPlayStream")


def public_names(module: ModuleType) -> list[str]:
    """The exported classes and functions; of a module without `__all__` its own."""
    if hasattr(module, "__all__"):
        names = list(module.__all__)
    else:
        names = [
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", "") == module.__name__
        ]
    return [name for name in names if name[0] != "_" and callable(getattr(module, name))]


def public_callables(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The exported functions and classes, and the classes' public methods, of base classes of ours too."""
    for name in public_names(module):
        value = getattr(module, name)
        if not inspect.isclass(value):
            if inspect.isfunction(value):
                yield name, value
            continue
        yield name, value
        for attribute, raw in inspect.getmembers_static(value):
            method = raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw
            ours = (getattr(method, "__module__", "") or "").split(".")[0] in (
                "academy",
                "clients",
                "referees",
            )
            if attribute[0] != "_" and inspect.isfunction(method) and ours:
                yield f"{name}.{attribute}", method


def lists_arguments(value: type) -> bool:
    """Whether a class's docstring names the arguments; values of the rules have comments at their fields."""
    if issubclass(value, Exception | tuple) or value.__name__ in MADE_BY_THE_LIBRARY:
        return False
    if dataclasses.is_dataclass(value):
        return not value.__module__.startswith("academy.knowledge")
    return "__init__" in vars(value)


def parameters_of(value: Any) -> list[str]:
    names = inspect.signature(value).parameters
    return [name for name in names if name not in ("self", "cls", "args", "kwargs") and name[0] != "_"]


def returns_something(function: Callable[..., Any]) -> bool:
    return inspect.signature(function).return_annotation not in (None, "None", inspect.Signature.empty)


def raised_by(function: Callable[..., Any]) -> set[str]:
    """The errors that a function raises itself."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    raised = (node.exc for node in ast.walk(definition) if isinstance(node, ast.Raise) and node.exc)
    names = (error.func if isinstance(error, ast.Call) else error for error in raised)
    return {name.id for name in names if isinstance(name, ast.Name) and name.id.endswith("Error")}


def missing_in(value: Any) -> list[str]:
    """What the docstring of an exported function or class should name and does not."""
    text = inspect.getdoc(value) or ""
    if not text:
        return ["a docstring"]
    missing = []
    if inspect.isclass(value):
        if not lists_arguments(value):
            return []
        text += "\n" + (inspect.getdoc(value.__init__) or "")
    else:
        says_what_comes = (
            text.startswith(("Return ", "Yield ")) or "\nReturns:\n" in text or "\nYields:\n" in text
        )
        if returns_something(value) and not says_what_comes:
            missing.append("what it returns")
        missing += sorted(error for error in raised_by(value) if error not in text)
    return missing + [name for name in parameters_of(value) if f"\n    {name}: " not in text]


@pytest.mark.parametrize("module", [module for module in MODULES if hasattr(module, "__all__")])
def test_a_modules_own_names_are_exported_once(module: ModuleType) -> None:
    own = {
        name
        for name, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
        and name[0] != "_"
    }
    assert len(module.__all__) == len(set(module.__all__))
    assert own <= set(module.__all__)


# A test for each module, which costs as much as one for a name: there are five hundred names.
each_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)


@each_module
def test_docstrings_name_arguments_results_and_errors(module: ModuleType) -> None:
    exported = dict(public_callables(module))
    assert exported
    missing = {name: missing_in(value) for name, value in exported.items()}
    assert {name: gaps for name, gaps in missing.items() if gaps} == {}


@each_module
def test_no_function_has_more_than_six_parameters(module: ModuleType) -> None:
    counts = {
        name: len(parameters_of(value))
        for name, value in public_callables(module)
        if not inspect.isclass(value)
    }
    assert {name: count for name, count in counts.items() if count > 6} == {}
