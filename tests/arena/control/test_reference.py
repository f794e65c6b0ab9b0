"""The generated reference lists each setting of the control file with its meaning."""

import pytest
from pydantic import BaseModel

from arena.control import competition_tables, player_tables, schema
from arena.control.competition_tables import ChangedGameTable, OneMatchupTable, TunerTable
from arena.control.reference import SECTIONS, added_sections, meaning, to_markdown
from arena.control.schema import FILES, ControlFile
from arena.control.table import Table

MODELS = [model for _, model, _ in [*SECTIONS, *added_sections()]]


@pytest.mark.parametrize("model", [*MODELS, *FILES.values()], ids=lambda model: model.__name__)
def test_each_setting_has_a_meaning(model: type[BaseModel]) -> None:
    missing = [name for name in model.model_fields if not meaning(model, name).endswith(".")]
    assert missing == []


def test_each_table_is_in_the_reference() -> None:
    inner = {
        ControlFile,
        OneMatchupTable,
        TunerTable,
        ChangedGameTable,
    }
    modules = (competition_tables, player_tables, schema)
    tables = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    tables = [value for value in tables if issubclass(value, Table) and value is not Table]
    missing = {table for table in tables if not issubclass(table, ControlFile)} - set(MODELS) - inner
    assert missing == set()


def test_settings_have_their_limits_and_defaults() -> None:
    lines = to_markdown().splitlines()
    assert (
        "| `parallel` | a whole number from 1 to 1023 | `1` | Games at a time; `arena run --parallel` "
        "overrides it. |"
    ) in lines
    assert any(
        line.startswith('| `on_void` | one of "halt", "skip-matchup", "forfeit" | `"halt"`') for line in lines
    )
    assert any(line.startswith("| `name` | text in quotes | required |") for line in lines)
