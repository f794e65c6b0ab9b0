"""SAGA 1.0's tables, as they are exported and imported."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Boolean, Column, DateTime, Float, Integer, MetaData, Table, Text

from arena.results.database import ResultsError
from arena.results.exchange.files import Row, read_table
from arena.results.game_rows import seat_columns
from referees.api import Outcome, Termination

_TABLES: Final = {
    "Dip_Variant": "Id: key, Name: text, Powers: integer, SC: float?, Year0: integer?, Season0: text?",
    "Dip_Power": "Id: key, Variant: integer, Code: text",
    "Dip_Bot": "Id: key, Name: text, Title: text",
    "Dip_Game": "Id: key, Tournament: text, Finished: time, SetupTime: float, PlayTime: float, "
    "TotalTime: float, Years: integer, Survivors: integer?, Leaders: integer?, Winners: integer, "
    "MaxSC: float?, Variant: integer, Level: integer?, Kill: integer?, PTL: integer?, MTL: integer?, "
    "RTL: integer?, BTL: integer?, AOA: truth?, NPR: truth?, NPB: truth?",
    "Dip_Player": "Game: key, Power: key, Bot: integer, SC: float?, Years: integer?, Strength: float?, "
    "Tenacity: float?, Fitness: float?",
}
_TYPES: Final = {
    "key": Integer,
    "integer": Integer,
    "float": Float,
    "text": Text,
    "time": DateTime,
    "truth": Boolean,
}


def _saga1() -> MetaData:
    metadata = MetaData()
    for table, columns in _TABLES.items():
        pairs = (column.split(": ") for column in columns.split(", "))
        Table(
            table,
            metadata,
            *(
                Column(name, _TYPES[kind.rstrip("?")], primary_key=kind == "key", nullable=kind.endswith("?"))
                for name, kind in pairs
            ),
        )
    return metadata


SAGA1: Final = _saga1()
_VARIANT: Final = {
    "VariantId": "Id",
    "Name": "Name",
    "Powers": "Powers",
    "Supplies": "SC",
    "FirstYear": "Year0",
    "FirstSeason": "Season0",
}
_PLAYER: Final = {"GameId": "Game", "PowerId": "Power", "ContestantId": "Bot"}
_POWER: Final = {"PowerId": "Id", "VariantId": "Variant", "Code": "Code", "Name": "Code"}
_SETTING: Final = {
    "VariantId": "Variant",
    "Level": "Level",
    "SL": "Kill",
    **{name: name for name in ("PTL", "MTL", "RTL", "BTL", "AOA", "NPR", "NPB")},
}
_GAME: Final = {
    "GameId": "Id",
    **{name: name for name in ("Finished", "SetupTime", "PlayTime", "TotalTime")},
    **{name: name for name in ("Years", "Survivors", "Leaders", "Winners")},
}


def _renamed(row: Row, names: Mapping[str, str]) -> Row:
    """A row's values by their `names` in SAGA 2.0."""
    return {new: row[old] for new, old in names.items()}


def saga2_rows(source: Path) -> dict[str, list[Row]]:
    """All rows by table. Raises ResultsError where they contradict each other."""
    old = {name: list(read_table(source, table)) for name, table in SAGA1.tables.items()}
    variants = {row["Id"]: row for row in old["Dip_Variant"]}
    played = {row["Id"] for row in old["Dip_Game"]}
    players: defaultdict[int, list[Row]] = defaultdict(list)
    for row in sorted(old["Dip_Player"], key=itemgetter("Game", "Power")):
        if row["Game"] not in played:
            raise ResultsError(
                f"Dip_Player {row['Game']}, {row['Power']}: there is no Dip_Game {row['Game']}; "
                "add the game, or remove the player"
            )
        players[row["Game"]].append(row)
    rows: dict[str, list[Row]] = {
        "SAGA_Variant": [_renamed(row, _VARIANT) for row in old["Dip_Variant"]],
        "SAGA_Power": [_renamed(row, _POWER) for row in old["Dip_Power"]],
        "SAGA_Client": [_client(row) for row in old["Dip_Bot"]],
        "SAGA_Contestant": [{"ContestantId": row["Id"], "ClientId": row["Id"]} for row in old["Dip_Bot"]],
        "SAGA_Game": [],
        "SAGA_Player": [],
    }
    settings: dict[tuple[Any, ...], int] = {}
    series: dict[str, int] = {}
    takes_part: dict[tuple[int, int], None] = {}
    played_in: dict[tuple[int, int], None] = {}
    games, seats = rows["SAGA_Game"], rows["SAGA_Player"]
    for game in sorted(old["Dip_Game"], key=itemgetter("Id")):
        if game["Variant"] not in variants:
            raise ResultsError(f"Dip_Game {game['Id']}: there is no Dip_Variant {game['Variant']}")
        mine = players[game["Id"]]
        outcome = _outcome(game, mine, variants[game["Variant"]]["SC"] is not None)
        setting_id = settings.setdefault(tuple(_renamed(game, _SETTING).values()), len(settings) + 1)
        series_id = series.setdefault(game["Tournament"], len(series) + 1)
        played_in[series_id, setting_id] = None
        takes_part |= dict.fromkeys((series_id, row["Bot"]) for row in mine)
        games.append(
            {
                **_renamed(game, _GAME),
                "SeriesId": series_id,
                "SettingId": setting_id,
                "Termination": _termination(game),
                "MaxSupplies": max(outcome.points, default=None),
            }
        )
        seats += [
            {**_renamed(row, _PLAYER), **columns}
            for row, columns in zip(mine, seat_columns(outcome, len(mine), game["Years"]), strict=True)
        ]
    rows["SAGA_Setting"] = [
        {"SettingId": key, **dict(zip(_SETTING, values, strict=True))} for values, key in settings.items()
    ]
    rows["SAGA_Series"] = [
        {"SeriesId": key, "Name": name, "State": 2, "Pure": False, "Selector": "~"}
        for name, key in series.items()
    ]
    rows["SAGA_SeriesContestant"] = [{"SeriesId": key, "ContestantId": bot} for key, bot in takes_part]
    rows["SAGA_SeriesSetting"] = [{"SeriesId": key, "SettingId": setting} for key, setting in played_in]
    return rows


def _client(row: Row) -> Row:
    name, _, version = row["Title"].rpartition(" ")
    return {
        "ClientId": row["Id"],
        "Family": row["Name"],
        "Name": name or version,
        "Version": version if name else "",
        "Command": "unknown",
        "Notes": "from SAGA 1.0",
    }


def _outcome(game: Row, players: Sequence[Row], counted: bool) -> Outcome:
    """The game's end; `counted` variants have supply centres as points."""
    wanted = game["Winners"]
    seats = list(enumerate(players, start=1))
    winners: list[int] = []
    if wanted == 1:
        leading = max((row["SC"] or 0 for row in players), default=0)
        winners = [seat for seat, row in seats if (row["SC"] or 0) == leading and row["Years"] is None]
    elif wanted > 1:
        winners = [seat for seat, row in seats if row["Years"] is None]
    if len(winners) != wanted:
        raise ResultsError(
            f"Dip_Game {game['Id']} has {wanted} winners, but by centres and years its players "
            f"{', '.join(str(players[seat - 1]['Power']) for seat in winners) or 'none'} won"
        )
    points = tuple(row["SC"] for row in players) if counted else ()
    eliminated = tuple(
        None if not counted and row["Years"] == game["Years"] else row["Years"] for row in players
    )
    if None in points:
        raise ResultsError(f"Dip_Game {game['Id']}: a player has no SC, though its variant has")
    return Outcome(
        tuple(winners),
        Termination.SCORE,
        "",
        points,
        eliminated=() if all(year is None for year in eliminated) else eliminated,
    )


def _termination(game: Row) -> int | None:
    match game["Winners"]:
        case 0:
            return None
        case 1:
            return 1
        case winners if game["Survivors"] is not None and winners < game["Survivors"]:
            return 2
    return 3 if game["Kill"] is None else 4
