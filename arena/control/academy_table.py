"""The tables [academy] and [ratings] of a control file."""

from pathlib import Path
from typing import Final

from arena.control import values
from arena.control.locations import path_from
from arena.control.settings import EMBEDDED, AcademySettings
from arena.control.table import TomlTable
from arena.ratings.elo import Curve, EloRules
from arena.ratings.skill import RatedBy

ELO: Final = values.number(-10_000, 10_000)


def ratings(
    table: TomlTable | None, fixed: dict[str, float], begin: dict[str, float]
) -> tuple[EloRules, bool]:
    """The rules of the live rating, and whether players begin with ACADEMY's. Raises ControlError."""
    if table is None:
        return EloRules(fixed=fixed, begin=begin), True
    start = table.take("start", ELO, EloRules().start)
    curve = table.take("curve", values.choice(*(curve.value for curve in Curve)), Curve.LOGISTIC.value)
    by = table.take("by", values.choice(*(by.value for by in RatedBy)), RatedBy.WINNERS.value)
    source = table.take("begin", values.choice("academy", "fresh"), "academy")
    table.finish()
    return EloRules(start, Curve(curve), fixed, begin, RatedBy(by)), source == "academy"


def academy(table: TomlTable | None, control: Path) -> AcademySettings | None:
    """How ACADEMY is reached; None without it. Raises ControlError."""
    if table is None:
        return None

    def file(value: object) -> Path:
        return path_from(control.parent, values.text(value))

    settings = AcademySettings(
        address=table.take("address", values.text, EMBEDDED),
        data=table.take("data", file, control.with_suffix(".academy")),
        update=table.take("update", values.flag, True),
        token=table.take("token", values.text, None),
        token_env=table.take("token_env", values.text, None),
        token_file=table.take("token_file", file, None),
        tls_ca=table.take("tls_ca", file, None),
        tls_cert=table.take("tls_cert", file, None),
        tls_key=table.take("tls_key", file, None),
        player_tls_cert=table.take("player_tls_cert", file, None),
        player_tls_key=table.take("player_tls_key", file, None),
    )
    table.finish()
    if settings.address == "none":
        return None
    if sum(given is not None for given in (settings.token, settings.token_env, settings.token_file)) > 1:
        table.fail("token", "give only one of token, token_env and token_file")
    if (settings.tls_cert is None) != (settings.tls_key is None):
        table.fail("tls_cert", "tls_cert and tls_key go together")
    if (settings.player_tls_cert is None) != (settings.player_tls_key is None):
        table.fail("player_tls_cert", "player_tls_cert and player_tls_key go together")
    if not settings.embedded and not settings.address.startswith("unix:") and ":" not in settings.address:
        table.fail(
            "address", f"must be 'host:port', 'unix:PATH', 'embedded' or 'none', not {settings.address!r}"
        )
    return settings
