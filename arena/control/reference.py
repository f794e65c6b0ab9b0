"""The reference of the control file as Markdown, from its schema: `python -m arena.control.reference`."""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from arena.control.competition_tables import (
    AllPlayAllTable,
    CompetitionTable,
    CrossEntropyTable,
    DrawnParameter,
    FamilyTable,
    GameTable,
    GauntletTable,
    GenerationsTable,
    ListedParameter,
    ListedValues,
    MatchupTable,
    MonteCarloTable,
    PlayoffTable,
    RangeParameter,
    ScaledRange,
    SeriesSetting,
    SeriesTable,
    SprtTestTable,
    StandingTable,
    SwissTable,
)
from arena.control.player_tables import (
    GtpTable,
    LinesTable,
    PlayerTable,
    PolicyTable,
    ProgramTable,
    RemotePlayerTable,
    ResourcesTable,
    StartedTable,
)
from arena.control.schema import (
    AcademyTable,
    ClockTable,
    EarlyEndTable,
    FairUseTable,
    LeagueTable,
    OpeningsFile,
    RatingsTable,
    RemoteTable,
    WorkersTable,
)
from arena.control.validation import describe
from arena.players.protocols import added_protocols, dial_in_protocol

_KIND: Final = "`[competition]` of kind "
# The heading of each table, its model, and the model whose settings an earlier table has listed.
SECTIONS: Final[tuple[tuple[str, type[BaseModel], type[BaseModel] | None], ...]] = (
    ("`[competition]`", CompetitionTable, None),
    (f'{_KIND}`"all-play-all"` (or `"round-robin"`)', AllPlayAllTable, CompetitionTable),
    (f'{_KIND}`"playoff"`', PlayoffTable, CompetitionTable),
    ("`[[matchups]]` of a playoff", MatchupTable, None),
    (f'{_KIND}`"gauntlet"`', GauntletTable, CompetitionTable),
    (f'{_KIND}`"swiss"`', SwissTable, CompetitionTable),
    (f'{_KIND}`"standing"`', StandingTable, CompetitionTable),
    (f'{_KIND}`"sprt"`', SprtTestTable, CompetitionTable),
    ('`[[series]]` of kind `"mars"`', SeriesTable, None),
    ('`[[series.settings]]` of kind `"mars"`', SeriesSetting, None),
    (f'{_KIND}`"generations"`', GenerationsTable, CompetitionTable),
    ('`[families.NAME]` of kind `"generations"`', FamilyTable, None),
    (
        '`[families.NAME.parameters.NAME]` of kind `"generations"`, with `scale = "linear"` or `"log"`',
        ScaledRange,
        None,
    ),
    (
        '`[families.NAME.parameters.NAME]` of kind `"generations"`, with `scale = "explicit"`',
        ListedValues,
        None,
    ),
    (f'{_KIND}`"mc_tuner"`', MonteCarloTable, CompetitionTable),
    ('`[parameters.NAME]` of kind `"mc_tuner"`, with `scale = "linear"` or `"log"`', RangeParameter, None),
    ('`[parameters.NAME]` of kind `"mc_tuner"`, with `scale = "explicit"`', ListedParameter, None),
    (f'{_KIND}`"ce_tuner"`', CrossEntropyTable, CompetitionTable),
    ('`[parameters.NAME]` of kind `"ce_tuner"`', DrawnParameter, None),
    ("`[game]`", GameTable, None),
    ("`[players.NAME]`", PlayerTable, None),
    ("`[players.NAME]` that the arena starts, and `[candidate]` of a tuner", StartedTable, PlayerTable),
    ("`[players.NAME]` of programs", ProgramTable, StartedTable),
    ('`[players.NAME]` of protocol `"gtp"`', GtpTable, ProgramTable),
    ('`[players.NAME]` of protocol `"lines"`', LinesTable, ProgramTable),
    ('`[players.NAME]` of protocol `"policy"`', PolicyTable, ProgramTable),
    ('`[players.NAME]` of protocol `"grpc"`', RemotePlayerTable, PlayerTable),
    ("`[time_control]`", ClockTable, None),
    ("`[openings]`", OpeningsFile, None),
    ("`[adjudication]`", EarlyEndTable, None),
    ("`[ratings]`", RatingsTable, None),
    ("`[academy]`", AcademyTable, None),
    ("`[fair_use]`", FairUseTable, None),
    ("`[remote]`", RemoteTable, None),
    ("`[workers]`", WorkersTable, None),
    ("`[players.NAME.resources]`", ResourcesTable, None),
    ("`[league]`", LeagueTable, None),
)


def to_markdown() -> str:
    """All tables of a control file, each with its settings: what they may be, their defaults and meanings."""
    return "\n".join(line for section in [*SECTIONS, *added_sections()] for line in _section(*section))


def added_sections() -> Iterator[tuple[str, type[BaseModel], type[BaseModel] | None]]:
    """The tables of protocols that packages add."""
    for name in added_protocols():
        protocol = dial_in_protocol(name)
        yield f'`[players.NAME]` of protocol `"{name}"`', protocol.player_settings(), PlayerTable
        yield f"`[{name}]`", protocol.listener_settings(), None


def meaning(model: type[BaseModel], setting: str) -> str:
    """What a setting of a table means: the text below its field. Empty without one."""
    texts = (_meanings(base.__module__).get(base.__name__, {}).get(setting) for base in model.__mro__[:-2])
    return next((text for text in texts if text), "")


@cache
def _meanings(module: str) -> Mapping[str, Mapping[str, str]]:
    """The texts below the fields, by class and field. Python itself does not keep them."""
    source = inspect.getsource(sys.modules[module])
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    return {
        node.name: {
            field.target.id: " ".join(text.value.value.split())
            for field, text in zip(node.body, node.body[1:], strict=False)
            if isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        }
        for node in classes
    }


def _section(heading: str, model: type[BaseModel], listed: type[BaseModel] | None) -> Iterator[str]:
    yield f"## {heading}\n\n{inspect.cleandoc(model.__doc__ or '')}\n"
    own = [
        (name, field)
        for name, field in model.model_fields.items()
        if listed is None or name not in listed.model_fields or name in model.__annotations__
    ]
    if own:
        yield "| setting | may be | default | meaning |\n|---|---|---|---|"
    for name, field in own:
        # The words of a choice as they are written in TOML.
        value = describe(Annotated[field.annotation, *field.metadata, None]).replace("'", '"')
        yield f"| `{name}` | {value} | {_default(field)} | {meaning(model, name)} |"
    yield ""


def _default(field: FieldInfo) -> str:
    default: Any = field.default
    if default is PydanticUndefined:
        return "required"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, tuple):
        return f"`{list(default)}`" if default else "none"
    if default is None or default in ("", {}) or isinstance(default, BaseModel):
        return "none"
    return f'`"{default}"`' if isinstance(default, str) else f"`{default:g}`"


if __name__ == "__main__":
    print(to_markdown())
