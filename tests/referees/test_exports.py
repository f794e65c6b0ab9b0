"""The public interface of referees is what `__all__` lists, and all of it is described."""

from types import FunctionType, ModuleType

import pytest

from referees import api, conformance


@pytest.mark.parametrize("module", [api, conformance])
def test_public_names_are_exported_and_described(module: ModuleType) -> None:
    own = {
        name
        for name, value in vars(module).items()
        if isinstance(value, type | FunctionType) and value.__module__ == module.__name__ and name[0] != "_"
    }
    assert own <= set(module.__all__)
    assert all(getattr(module, name).__doc__ for name in own)
