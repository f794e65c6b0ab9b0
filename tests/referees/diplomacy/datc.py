"""The Diplomacy Adjudicator Test Cases (L. Kruijswijk, DATC 3.0), from a file outside of this project.

The file is `datc.json` of the Rust crate `diplomacy` (T. Driggs, MIT licence). It is looked for where the
environment variable DATC_JSON says, else in a folder `shared` beside this repository.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referees.diplomacy.adjudication import PhaseAdjudication, adjudicate
from referees.diplomacy.map import Unit, shipped_map
from referees.diplomacy.notation import read_order
from referees.diplomacy.orders import Order
from referees.diplomacy.position import Phase, Position, Season
from referees.diplomacy.settings import EDITIONS, Choices

BESIDE = Path(__file__).parents[4] / "shared" / "data" / "diplomacy" / "datc.json"
FILE = Path(os.environ.get("DATC_JSON") or BESIDE)
BOARD = shipped_map("standard")
# Cases that the file marks to be ignored are run all the same, by the text of the case: what of them the file
# leaves out or has otherwise. It holds that 6.G.19 defines the legality of convoys oddly, that coasts missing
# in supports are not its business, and that orders of moves cannot be written in retreats.
BY_THE_TEXT: Mapping[str, Mapping[str, Any]] = {
    "t6g19_swapping_with_intent_of_unnecessary_convoy": {},
    "t6b07_supporting_with_unspecified_coast": {},
    "t6b08_supporting_with_unspecified_coast_when_only_one_coast_is_possible": {},
    "t6b15_supporting_foreign_unit_with_unspecified_coast": {
        "orders": {"ENG: F mao -> spa(nc)": "Fails"},
    },
    "t6h01_no_supports_during_retreat": {
        "orders": {"AUS: A ser supports F tri -> alb": "Fails", "TUR: F gre -> alb": "Fails"},
    },
    "t6h02_no_supports_from_retreating_unit": {
        "before": {
            "ENG: F yor supports A lvp -> edi": None,
            "GER: A kie supports A ruh -> hol": None,
            "GER: A ruh -> hol": "Succeeds",
            "RUS: F edi hold": "Fails",
            "RUS: A swe supports A fin -> nwy": None,
            "RUS: A fin -> nwy": "Succeeds",
            "RUS: F hol hold": "Fails",
        },
        "orders": {"RUS: F edi -> nth": "Fails", "RUS: F hol supports F edi -> nth": "Fails"},
    },
    "t6h03_no_convoy_during_retreat": {
        "before": {"GER: F kie supports A ruh -> hol": None, "GER: A ruh -> hol": "Succeeds"},
        "orders": {"ENG: F nth convoys hol -> yor": "Fails"},
    },
}
PHASES = {"Main": Phase.MOVES, "Retreat": Phase.RETREATS, "Build": Phase.BUILDS}


@dataclass(frozen=True)
class Case:
    """One case under one edition."""

    name: str
    edition: str
    content: Mapping[str, Any]

    @property
    def choices(self) -> Choices:
        # The file's cases want orders with wrong or missing coasts to fail; DATC lets an edition choose.
        return replace(EDITIONS[self.edition], lenient_coasts=False)

    def run(self) -> PhaseAdjudication:
        content = self.content
        phase = PHASES[content["phase"]]
        if phase is Phase.RETREATS:
            orders = content["preceding_main_phase"]["orders"]
            before = self._position(Phase.MOVES, units_in(orders))
            after = adjudicate(before, read_all(before, orders), self.choices).after
            return adjudicate(after, read_all(after, content["orders"]), self.choices)
        units = [read_unit(text) for text in content.get("starting_state", ())]
        position = self._position(
            phase, units or ([] if phase is Phase.BUILDS else units_in(content["orders"]))
        )
        return adjudicate(position, read_all(position, content["orders"]), self.choices)

    def _position(self, phase: Phase, units: list[Unit]) -> Position:
        owners = dict(zip(BOARD.centres, BOARD.first_owners, strict=True))
        for unit in units:
            owners |= {BOARD.province_of[unit.location]: unit.power}
        for centre, power in self.content.get("occupiers", {}).items():
            owners[BOARD.province(centre)] = BOARD.power(power)
        return Position(
            BOARD,
            1901,
            Season.AUTUMN if phase is Phase.BUILDS else Season.SPRING,
            phase,
            tuple(sorted(units, key=lambda unit: unit.location)),
            (),
            tuple(owners[centre] for centre in BOARD.centres),
        ).checked()

    def expected(self) -> dict[str, bool]:
        return {
            text: outcome == "Succeeds"
            for text, outcome in self.content["orders"].items()
            if outcome is not None
        }


def load() -> list[Case]:
    """The cases, those for all editions under two that differ."""
    if not FILE.exists():
        return []
    cases = []
    for content in json.loads(FILE.read_text("utf-8"))["cases"]:
        if "ignore" in content:
            _complete(content, BY_THE_TEXT[content["name"]])
        editions = [content["edition"]] if "edition" in content else ["1971", "2023"]
        cases += [Case(content["name"], edition, content) for edition in editions]
    return cases


def _complete(content: dict[str, Any], by_the_text: Mapping[str, Any]) -> None:
    content["orders"] |= by_the_text.get("orders", {})
    if "before" in by_the_text:
        content["preceding_main_phase"]["orders"] |= by_the_text["before"]


def split(text: str) -> tuple[int, str]:
    power, _, order = text.partition(": ")
    return BOARD.power(power), order


def read_unit(text: str) -> Unit:
    power, unit = split(text)
    return BOARD.unit(power, unit)


def units_in(orders: Mapping[str, Any]) -> list[Unit]:
    return [BOARD.unit(power, " ".join(order.split()[:2])) for power, order in map(split, orders)]


def read_all(position: Position, orders: Mapping[str, Any]) -> dict[int, list[Order]]:
    read: dict[int, list[Order]] = {}
    for power, text in map(split, orders):
        read.setdefault(power, []).append(read_order(position, text, lenient_coasts=False))
    return read
