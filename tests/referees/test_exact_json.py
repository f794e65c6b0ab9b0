"""Numbers in records and pages are read exactly by readers whose only numbers are doubles."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referees.api import GameRecord, Outcome, Termination, UnreadableRecordError, referee
from referees.exact_json import MOST_EXACT, exact
from tests.referees.reading import names_and_moves

SEED = 2**62 + 1
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def as_doubles(value: Any) -> Any:
    """JSON as a browser reads it."""
    return json.loads(json.dumps(value), parse_int=lambda digits: int(float(digits)))


@given(_VALUES)
def test_no_integer_is_rounded(value: Any) -> None:
    assert as_doubles(exact(value)) == exact(value)


@given(st.integers())
def test_an_integer_is_a_number_as_far_as_doubles_go_and_its_digits_beyond(value: int) -> None:
    assert exact(value) == (value if abs(value) <= MOST_EXACT else str(value))


@pytest.mark.parametrize(
    ("game", "settings"),
    [("warlight", {"map": "double_small"}), ("diplomacy", {}), ("openspiel", {"game": "tic_tac_toe"})],
)
def test_the_seed_of_a_record_is_the_games(game: str, settings: dict[str, Any]) -> None:
    rules = referee(game).from_settings(settings)
    names = tuple(f"player {seat}" for seat in range(rules.seats))
    outcome = Outcome((), Termination.UNKNOWN, "?")
    text = rules.record(GameRecord("1", "cup", "2026-11-22", names, (), outcome, SEED))
    assert as_doubles(json.loads(text))["seed"] == str(SEED)
    endless = text.replace(f'"{SEED}"', "1e999")
    assert endless != text
    with pytest.raises(UnreadableRecordError, match="infinity"):
        names_and_moves(rules, endless.encode())
