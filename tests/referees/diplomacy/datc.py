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

from referees.diplomacy.adjudication import Adjudication, adjudicate
from referees.diplomacy.choices import EDITIONS, Choices
from referees.diplomacy.notation import read_order
from referees.diplomacy.orders import Order
from referees.diplomacy.position import Phase, Position, Season
from referees.diplomacy.provinces import Unit, shipped_map

BESIDE = Path(__file__).parents[4] / "shared" / "data" / "diplomacy" / "datc.json"
FILE = Path(os.environ.get("DATC_JSON") or BESIDE)
BOARD = shipped_map("standard")
# The file holds that the case defines the legality of convoys oddly; we go by the case.
PLAYED_ALL_THE_SAME = frozenset({"t6g19_swapping_with_intent_of_unnecessary_convoy"})
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

    def run(self) -> Adjudication:
        content = self.content
        phase = PHASES[content["phase"]]
        if phase is Phase.RETREATS:
            orders = content["preceding_main_phase"]["orders"]
            before = self._position(Phase.MOVES, units_in(orders))
            after = adjudicate(before, read_all(before, orders), self.choices).after
            return adjudicate(after, read_all(after, content["orders"]), self.choices)
        said = [read_unit(text) for text in content.get("starting_state", ())]
        position = self._position(
            phase, said or ([] if phase is Phase.BUILDS else units_in(content["orders"]))
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


def load() -> tuple[list[Case], dict[str, str]]:
    """The cases, those for all editions under two that differ, and the ignored ones with the reason."""
    if not FILE.exists():
        return [], {}
    cases, ignored = [], {}
    for content in json.loads(FILE.read_text("utf-8"))["cases"]:
        editions = [content["edition"]] if "edition" in content else ["1971", "2023"]
        for edition in editions:
            if "ignore" in content and content["name"] not in PLAYED_ALL_THE_SAME:
                ignored[f"{content['name']}-{edition}"] = content["ignore"]
            else:
                cases.append(Case(content["name"], edition, content))
    return cases, ignored


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
