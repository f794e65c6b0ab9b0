"""What clients may say, at which level of press, and where messages go wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referees.diplomacy.daide.grammar import (
    MAX_DEPTH,
    DaideSyntaxError,
    UnbalancedParenthesesError,
    check_message,
    level_of,
)
from tests.referees.diplomacy.daide.words import STANDARD, text, tokens

LEVELS = {
    0: [
        "NME ('HoldBot') ('1.0')",
        "NME () ()",
        "OBS",
        "IAM (ENG) (1234)",
        *["MAP", "MDF", "HLO", "SCO", "NOW", "ORD", "GOF", "MIS", "TME", "DRW"],
        "HST (SPR 1901)",
        "SUB ((ENG AMY LVP) HLD) ((ENG FLT LON) MTO NTH) ((ENG FLT EDI) SUP (ENG FLT LON) MTO NTH)",
        "SUB ((ENG FLT BAR) MTO (STP NCS)) ((ENG FLT NWY) SUP (ENG FLT BAR))",
        "SUB (SPR 1901) ((ITA AMY TUN) CTO SYR VIA (ION EAS)) ((ITA FLT ION) CVY (ITA AMY TUN) CTO SYR)",
        "SUB ((ITA FLT NAP) BLD) ((RUS FLT (STP SCS)) REM) (RUS WVE)",
        "SUB ((ENG FLT NTH) RTO YOR) ((ENG FLT NTH) DSB)",
        "NOT (SUB)",
        "NOT (SUB ((ENG AMY LVP) HLD))",
        "NOT (GOF)",
        "TME (30)",
        "NOT (TME)",
        "NOT (TME (30))",
        "NOT (DRW)",
        "DRW (ENG FRA)",
        "YES (MAP ('standard'))",
        "REJ (MAP ('standard'))",
        "ADM ('me') ('I must leave')",
        "HUH (SUB ERR (ENG))",
        "SVE ('game')",
    ],
    10: [
        "SND (ENG) (PRP (PCE (ENG FRA)))",
        "SND (SPR 1901) (ENG GER) (PRP (NOT (ALY (ENG FRA) VSS (GER))))",
        "SND (ENG) (YES (PRP (DRW)))",
        "SND (ENG) (CCL (PRP (SLO (ENG))))",
        "SND (ENG) (HUH (ERR PRP (PCE (ENG))))",
        "SND (ENG) (TRY (PRP XDO))",
        "SND (ENG) (TRY ())",
    ],
    20: ["SND (ENG) (PRP (XDO ((ENG FLT LON) MTO NTH)))", "SND (ENG) (PRP (DMZ (ENG FRA) (ECH)))"],
    30: ["SND (ENG) (PRP (AND (XDO ((ENG FLT LON) HLD)) (PCE (ENG FRA))))"],
    40: ["SND (ENG) (PRP (SCD (ENG NWY) (FRA BEL)))", "SND (ENG) (PRP (OCC (ENG UNT BEL)))"],
    50: [
        "SND (ENG) (PRP (ORR (PCE (ENG FRA)) (AND (PCE (ENG GER)) (PCE (ENG ITA)))))",
        "SND (ENG) (PRP (AND (PCE (ENG FRA)) (PCE (ENG GER)) (ORR (PCE (ENG ITA)) (PCE (ENG RUS)))))",
        "SND (ENG) (PRP (ORR (PCE (ENG FRA)) (DRW) (NOT (AND (PCE (ENG ITA)) (PCE (ENG RUS))))))",
        "SND (ENG) (PRP (CHO (1 2) (PCE (ENG FRA)) (PCE (ENG GER))))",
    ],
    60: ["SND (ENG) (INS (PCE (ENG FRA)))", "SND (ENG) (THK (NOT (QRY (PCE (ENG FRA)))))"],
    70: ["SND (ENG) (HOW (BEL))", "SND (ENG) (WHT (ENG FLT LON))"],
    80: ["SND (ENG) (EXP (SPR 1901) (PRP (PCE (ENG FRA))))"],
    90: ["SND (ENG) (PRP (FOR ((SPR 1901) (FAL 1902)) (PCE (ENG FRA))))"],
    100: ["SND (ENG) (IFF (PCE (ENG FRA)) THN (PRP (DRW)) ELS (FCT (SLO (ENG))))"],
    110: ["SND (ENG) (PRP (XOY (ENG) (FRA)))", "SND (ENG) (PRP (YDO (ENG) (FRA FLT BRE)))"],
    120: ["SND (ENG) (FRM (FRA) (ENG) (PRP (DRW)))", "SND (ENG) (PRP (FWD (ENG FRA) (GER) (ITA)))"],
    130: ["SND (ENG) (WHY (FCT (PCE (ENG FRA))))"],
    8000: ["SND (ENG) ('Shall we take Belgium?')"],
}


@pytest.mark.parametrize(
    ("level", "message"), [(level, message) for level in LEVELS for message in LEVELS[level]]
)
def test_a_message_is_understood_from_its_level_on(level: int, message: str) -> None:
    for allowed in (allowed for allowed in LEVELS if allowed >= level):
        check_message(STANDARD, tokens(message), allowed)
    for lower in (lower for lower in LEVELS if lower < level):
        with pytest.raises(DaideSyntaxError):
            check_message(STANDARD, tokens(message), lower)


@pytest.mark.parametrize(
    ("level", "message"),
    [
        (0, "ERR SND (ENG) (PRP (PCE (ENG FRA)))"),
        (0, "ERR CCD (ENG)"),
        (0, "MDF ERR MDF"),
        (0, "NME ('me') ERR"),
        (0, "NME ('me') (ERR 1)"),
        (0, "SUB ((ENG FLT LON) MTO ERR)"),
        (0, "SUB ((ENG FLT LON) ERR AUS NTH)"),
        (0, "SUB ((ENG FLT NWY) SUP (ENG FLT BAR) MTO ERR (STP NCS))"),
        (0, "SUB ((ENG FLT LON) CTO NWY ERR)"),
        (0, "SUB ((ERR FLT LON) HLD)"),
        (0, "SUB ((ENG FLT LON) HLD) ERR GOF"),
        (0, "HST (ERR 1901)"),
        (0, "DRW (ENG ERR)"),
        (10, "SND (ENG) (PRP (ERR XDO ((ENG FLT LON) HLD)))"),
        (10, "SND (ENG) (PRP (PCE (RUS ERR)))"),
        (30, "SND (ENG) (PRP (AND (PCE (ENG FRA)) (ERR AND (PCE (ENG GER)) (PCE (ENG ITA)))))"),
        (30, "SND (ENG) (PRP (AND (PCE (ENG FRA)) ERR))"),
    ],
)
def test_the_first_token_that_does_not_fit_is_found(level: int, message: str) -> None:
    marked = tokens(message)
    place = marked.index(STANDARD.numbers["ERR"])
    with pytest.raises(DaideSyntaxError) as wrong:
        check_message(STANDARD, marked[:place] + marked[place + 1 :], level)
    assert wrong.value.place == place


@pytest.mark.parametrize("message", ["NME ('me'", "MAP )", ") MAP (", "SUB ((ENG FLT LON) HLD"])
def test_parentheses_that_do_not_match_are_another_matter(message: str) -> None:
    with pytest.raises(UnbalancedParenthesesError):
        check_message(STANDARD, tokens(message), 8000)


def test_parentheses_deeper_than_anybody_needs_are_refused() -> None:
    deep = tokens("SND (ENG) " + "(NOT " * MAX_DEPTH * 20 + ")" * MAX_DEPTH * 20)
    with pytest.raises(DaideSyntaxError):
        check_message(STANDARD, deep, 130)


def test_long_press_of_parts_in_parts_is_checked_without_trying_all_ways() -> None:
    proposal = "(PCE (ENG FRA))"
    for _ in range(25):
        proposal = f"(AND (NOT {proposal}) (PCE (ENG GER)))"
    check_message(STANDARD, tokens(f"SND (ENG) (PRP {proposal})"), 50)
    with pytest.raises(DaideSyntaxError):
        check_message(STANDARD, tokens(f"SND (ENG) (PRP {proposal.replace('FRA', '1901')})"), 50)


@given(st.lists(st.sampled_from([*STANDARD.names, 3, 0x4B41]), min_size=1, max_size=30))
def test_any_tokens_are_a_message_or_are_refused(numbers: list[int]) -> None:
    try:
        check_message(STANDARD, numbers, 130)
    except DaideSyntaxError as wrong:
        assert 0 <= wrong.place <= len(numbers), text(tuple(numbers))
    except UnbalancedParenthesesError:
        pass


@pytest.mark.parametrize(
    ("name", "level"),
    [("PRP", 10), ("PCE", 10), ("XDO", 20), ("AND", 30), ("SCD", 40), ("QRY", 60), ("FWD", 120)],
)
def test_tokens_of_press_have_a_level(name: str, level: int) -> None:
    assert max(10, level_of(name)) == level
