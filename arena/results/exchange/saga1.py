"""SAGA 1.0's tables, as they are exported and imported."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Boolean, Column, DateTime, Float, Integer, MetaData, Table, Text

from arena.results.database import ResultsError
from arena.results.exchange.files import Row, read_table
from arena.results.game_rows import grades, ranks
from referees.api import Outcome, Termination

SAGA1: Final = MetaData()

Table(
    "Dip_Variant",
    SAGA1,
    Column("Id", Integer, primary_key=True),
    Column("Name", Text, nullable=False),
    Column("Powers", Integer, nullable=False),
    Column("SC", Float),
    Column("Year0", Integer),
    Column("Season0", Text),
)
Table(
    "Dip_Power",
    SAGA1,
    Column("Id", Integer, primary_key=True),
    Column("Variant", Integer, nullable=False),
    Column("Code", Text, nullable=False),
)
Table(
    "Dip_Bot",
    SAGA1,
    Column("Id", Integer, primary_key=True),
    Column("Name", Text, nullable=False),
    Column("Title", Text, nullable=False),
)
Table(
    "Dip_Game",
    SAGA1,
    Column("Id", Integer, primary_key=True),
    Column("Tournament", Text, nullable=False),
    Column("Finished", DateTime, nullable=False),
    Column("SetupTime", Float, nullable=False),
    Column("PlayTime", Float, nullable=False),
    Column("TotalTime", Float, nullable=False),
    Column("Years", Integer, nullable=False),
    Column("Survivors", Integer),
    Column("Leaders", Integer),
    Column("Winners", Integer, nullable=False),
    Column("MaxSC", Float),
    Column("Variant", Integer, nullable=False),
    Column("Level", Integer),
    Column("Kill", Integer),
    Column("PTL", Integer),
    Column("MTL", Integer),
    Column("RTL", Integer),
    Column("BTL", Integer),
    Column("AOA", Boolean),
    Column("NPR", Boolean),
    Column("NPB", Boolean),
)
Table(
    "Dip_Player",
    SAGA1,
    Column("Game", Integer, primary_key=True),
    Column("Power", Integer, primary_key=True),
    Column("Bot", Integer, nullable=False),
    Column("SC", Float),
    Column("Years", Integer),
    Column("Strength", Float),
    Column("Tenacity", Float),
    Column("Fitness", Float),
)


_SETTING_COLUMNS = {
    "Variant": "VariantId",
    "Level": "Level",
    "Kill": "SL",
    **{name: name for name in ("PTL", "MTL", "RTL", "BTL", "AOA", "NPR", "NPB")},
}


def saga2_rows(source: Path) -> dict[str, list[Row]]:
    """All rows by table. Raises ResultsError where they contradict each other."""
    old = {name: list(read_table(source, table)) for name, table in SAGA1.tables.items()}
    variants = {row["Id"]: row for row in old["Dip_Variant"]}
    players: defaultdict[int, list[Row]] = defaultdict(list)
    for row in sorted(old["Dip_Player"], key=lambda row: (row["Game"], row["Power"])):
        players[row["Game"]].append(row)
    rows: dict[str, list[Row]] = {
        "SAGA_Variant": [_variant(row) for row in old["Dip_Variant"]],
        "SAGA_Power": [
            {"PowerId": row["Id"], "VariantId": row["Variant"], "Code": row["Code"], "Name": row["Code"]}
            for row in old["Dip_Power"]
        ],
        "SAGA_Client": [_client(row) for row in old["Dip_Bot"]],
        "SAGA_Contestant": [{"ContestantId": row["Id"], "ClientId": row["Id"]} for row in old["Dip_Bot"]],
    }
    settings: dict[tuple[Any, ...], int] = {}
    series: dict[str, int] = {}
    new_games: list[Row] = []
    new_players: list[Row] = []
    takes_part: dict[tuple[int, int], None] = {}
    for game in sorted(old["Dip_Game"], key=lambda row: row["Id"]):
        if game["Variant"] not in variants:
            raise ResultsError(f"Dip_Game {game['Id']}: there is no Dip_Variant {game['Variant']}")
        counted = variants[game["Variant"]]["SC"] is not None
        outcome = _outcome(game, players[game["Id"]], counted)
        setting = settings.setdefault(tuple(game[name] for name in _SETTING_COLUMNS), len(settings) + 1)
        tournament = series.setdefault(game["Tournament"], len(series) + 1)
        new_games.append(_game(game, tournament, setting, outcome))
        new_players += _players(game, players[game["Id"]], outcome)
        takes_part.update(dict.fromkeys((tournament, row["Bot"]) for row in players[game["Id"]]))
    rows["SAGA_Setting"] = [
        {"SettingId": key, **dict(zip(_SETTING_COLUMNS.values(), values, strict=True))}
        for values, key in settings.items()
    ]
    rows["SAGA_Series"] = [
        {"SeriesId": key, "Name": name, "State": 2, "Pure": False, "Selector": "~"}
        for name, key in series.items()
    ]
    rows["SAGA_SeriesContestant"] = [
        {"SeriesId": tournament, "ContestantId": bot} for tournament, bot in takes_part
    ]
    used = {(game["SeriesId"], game["SettingId"]) for game in new_games}
    rows["SAGA_SeriesSetting"] = [
        {"SeriesId": series_id, "SettingId": setting_id} for series_id, setting_id in sorted(used)
    ]
    return {**rows, "SAGA_Game": new_games, "SAGA_Player": new_players}


def _variant(row: Row) -> Row:
    return {
        "VariantId": row["Id"],
        "Name": row["Name"],
        "Powers": row["Powers"],
        "Supplies": row["SC"],
        "FirstYear": row["Year0"],
        "FirstSeason": row["Season0"],
    }


def _client(row: Row) -> Row:
    name, _, version = row["Title"].rpartition(" ")
    if not name:
        name, version = version, ""
    return {
        "ClientId": row["Id"],
        "Family": row["Name"],
        "Name": name,
        "Version": version,
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


def _game(game: Row, series_id: int, setting_id: int, outcome: Outcome) -> Row:
    copied = ("Finished", "SetupTime", "PlayTime", "TotalTime", "Years", "Survivors", "Leaders", "Winners")
    return {
        "GameId": game["Id"],
        "SeriesId": series_id,
        "SettingId": setting_id,
        **{name: game[name] for name in copied},
        "Termination": _termination(game),
        "MaxSupplies": max(outcome.points, default=None),
    }


def _termination(game: Row) -> int | None:
    match game["Winners"]:
        case 0:
            return None
        case 1:
            return 1
        case winners if game["Survivors"] is not None and winners < game["Survivors"]:
            return 2
    return 3 if game["Kill"] is None else 4


def _players(game: Row, players: Sequence[Row], outcome: Outcome) -> list[Row]:
    grade = grades(outcome, game["Years"]) or (None,) * len(players)
    rank = ranks(outcome, len(players), game["Years"])
    return [
        {
            "GameId": row["Game"],
            "PowerId": row["Power"],
            "ContestantId": row["Bot"],
            "Supplies": outcome.points[seat - 1] if outcome.points else None,
            "Elimination": outcome.eliminated[seat - 1] if outcome.eliminated else None,
            "Winner": int(seat in outcome.winners),
            "Grade": grade[seat - 1],
            "Rank": rank[seat - 1],
        }
        for seat, row in enumerate(players, start=1)
    ]
