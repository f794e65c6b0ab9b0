"""The words of which orders consist, each with what is written for it; empty for what says nothing."""

from typing import Final

SPELLINGS: Final = {
    word: told
    for told, words in {
        "A": "A ARMY AMY",
        "F": "F FLEET FLT",
        "H": "H HOLD HOLDS HLD STAND STANDS",
        "-": "- M MOVE MOVES MTO CTO TO",
        "S": "S SH SUPPORT SUPPORTS SUP",
        "C": "C CONVOY CONVOYS CVY",
        "R": "R RETREAT RETREATS RTO",
        "D": "D DISBAND DISBANDS DSB DESTROY REMOVE REMOVES REM",
        "B": "B BUILD BUILDS BLD",
        "WAIVE": "W WAIVE WAIVES WVE",
        "VIA": "VIA VC BY",
        "FROM": "FROM",
        "": "THE AN AT IN UNIT",
    }.items()
    for word in words.split()
}
