"""SAGA 1.0's tables, as they are exported and imported."""

from typing import Final

from sqlalchemy import Boolean, Column, DateTime, Float, Integer, MetaData, Table, Text

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
