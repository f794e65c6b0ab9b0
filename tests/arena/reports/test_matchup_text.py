"""A matchup's block: the layout of Gomill's ringmaster, column by column."""

from textwrap import dedent

import pytest

from arena.control.plans import GameSettings
from arena.jobs import Fault
from arena.reports.tally import MatchupTally
from arena.reports.text import matchup_lines, percent, settings_line
from arena.results.games import FinishedGame
from referees.api import Outcome, Termination

SEATS = ("Black", "White")
GO = GameSettings("go", {"board_size": 9, "komi": 7.5, "self_capture": True})
NO_FAULTS = (Fault.NONE,) * 3
HANDICAP = GameSettings("go", {"komi": 6.5, "board_size": 9, "handicap": 2, "handicap_style": "fixed"})


def game(
    black: str,
    white: str,
    result: str,
    cpu: tuple[float | None, float | None] = (None, None),
) -> FinishedGame:
    """A game by its result: B, W, 0 or ?, with an F for a forfeit."""
    winners = {"B": (1,), "W": (2,), "0": (1, 2), "?": ()}[result[0]]
    termination = Termination.FORFEIT if result.endswith("F") else Termination.SCORE
    outcome = Outcome(winners, termination, result)
    return FinishedGame("0_0", "0", (black, white), outcome, cpu, (0.0, 0.0), (0.0, 0.0), NO_FAULTS[:2])


def block(matchup: MatchupTally, *games: FinishedGame) -> str:
    for played in games:
        matchup.add(played)
    return "\n".join(matchup_lines(matchup, SEATS)) + "\n"


def test_the_ringmasters_own_example() -> None:
    first, second = "gnugo-l1", "gnugo-l2"
    text = block(
        MatchupTally("0", f"{first} v {second}", (first, second), 5, GO),
        game(first, second, "W", (1.0, 1.3)),
        game(second, first, "B", (1.48, 1.46)),
        game(first, second, "W", (1.23, 1.39)),
        game(second, first, "W", (1.39, 1.23)),
        game(first, second, "B", (1.23, 1.39)),
    )
    assert text == dedent("""\
        gnugo-l1 v gnugo-l2 (5/5 games)
        board size: 9   komi: 7.5
                   wins              black        white      avg cpu
        gnugo-l1      2 40.00%       1 33.33%     1 50.00%      1.23
        gnugo-l2      3 60.00%       1 50.00%     2 66.67%      1.39
                                     2 40.00%     3 60.00%
        """)


def test_gomills_example_in_progress_is_reported_as_gomill_does() -> None:
    first, second = "gnugo-l1", "gnugo-l2"
    text = block(
        MatchupTally("0", f"{first} v {second}", (first, second), 5, GO),
        game(first, second, "B", (1.13, 1.32)),
        game(second, first, "B", (1.32, 1.13)),
        game(second, first, "W", (1.32, 1.13)),
    )
    assert text == dedent("""\
        gnugo-l1 v gnugo-l2 (3/5 games)
        board size: 9   komi: 7.5
                   wins              black         white      avg cpu
        gnugo-l1      2 66.67%       1 100.00%     1 50.00%      1.13
        gnugo-l2      1 33.33%       1  50.00%     0  0.00%      1.32
                                     2  66.67%     1 33.33%
        """)


def test_gomills_example_without_alternating_colours_is_reported_as_gomill_does() -> None:
    first, second = "gnugo-l1", "gnugo-l2"
    text = block(
        MatchupTally("0", f"{first} v {second}", (first, second), 5, GO),
        *[game(first, second, "W", (0.49, 0.48))] * 5,
    )
    assert text == dedent("""\
        gnugo-l1 v gnugo-l2 (5/5 games)
        board size: 9   komi: 7.5
                   wins                   avg cpu
        gnugo-l1      0   0.00%   (black)    0.49
        gnugo-l2      5 100.00%   (white)    0.48
        """)


def test_handicap_and_forfeits() -> None:
    text = block(
        MatchupTally("hc", "alpha v beta", ("alpha", "beta"), 4, HANDICAP),
        game("alpha", "beta", "W+F", (0.02, 0.02)),
        game("beta", "alpha", "W", (0.02, 0.02)),
        game("alpha", "beta", "W+F", (0.02, 0.02)),
        game("beta", "alpha", "W", (0.02, 0.02)),
    )
    assert text == dedent("""\
        alpha v beta (4/4 games)
        board size: 9   handicap: 2 (fixed)   komi: 6.5
                wins              black       white       forfeits avg cpu
        alpha      2 50.00%       0 0.00%     2 100.00%          2    0.02
        beta       2 50.00%       0 0.00%     2 100.00%          0    0.02
                                  0 0.00%     4 100.00%
        """)


def test_unknown_results() -> None:
    text = block(
        MatchupTally("1", "the disagreeing pair", ("beta", "gamma"), 3, HANDICAP),
        game("beta", "gamma", "?", (0.01, 0.02)),
        game("gamma", "beta", "?", (0.02, 0.01)),
        game("beta", "gamma", "?", (0.01, 0.02)),
    )
    assert text == dedent("""\
        the disagreeing pair (3/3 games)
        unknown results: 3 100.00%
        board size: 9   handicap: 2 (fixed)   komi: 6.5
                wins             black       white     avg cpu
        beta       0 0.00%       0 0.00%     0 0.00%      0.01
        gamma      0 0.00%       0 0.00%     0 0.00%      0.02
                                 0 0.00%     0 0.00%
        """)


def test_a_draw_is_half_a_win_in_every_column() -> None:
    """The ringmaster counts draws twice in the colours' columns: four in four games as 100 % everywhere."""
    text = block(
        MatchupTally("0", "a v b", ("a", "b"), None, GO),
        game("a", "b", "0"), game("b", "a", "0"), game("a", "b", "0"), game("b", "a", "B"),
    )  # fmt: skip
    assert text == dedent("""\
        a v b (4 games)
        board size: 9   komi: 7.5
            wins              black          white
        a    1.5 37.50%       1   50.00%     0.5 25.00%
        b    2.5 62.50%       1.5 75.00%     1   50.00%
                              2.5 62.50%     1.5 37.50%
        """)


def test_unknown_cpu_time_and_a_removed_matchup_are_shown() -> None:
    text = block(MatchupTally("0", "a v b", ("a", "b"), None, None), game("a", "b", "B", (None, 1234.5)))
    assert text == dedent("""\
        a v b (1 games)
        ?? (missing from control file)
            wins                   avg cpu
        a      1 100.00%   (black)    ----
        b      0   0.00%   (white) 1234.50
        """)


def test_games_of_more_than_two_have_no_columns_for_seats() -> None:
    matchup = MatchupTally("0", "a v b v c", ("a", "b", "c"), None, GameSettings("sums", {"cards": 3}))
    outcome = Outcome((1, 3), Termination.SCORE, "shared")
    matchup.add(
        FinishedGame("0", "0", ("a", "b", "c"), outcome, (None,) * 3, (0.0,) * 3, (0.0,) * 3, NO_FAULTS)
    )
    assert matchup_lines(matchup, ("one", "two", "three")) == [
        "a v b v c (1 games)",
        "cards: 3",
        "    wins",
        "a    0.5 50.00%",
        "b      0  0.00%",
        "c    0.5 50.00%",
    ]


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(1, 3, "33.33%"), (0, 3, "0.00%"), (3, 3, "100.00%"), (0, 0, "--"), (1, 0, "??")],
)
def test_percentages(part: float, whole: float, text: str) -> None:
    assert percent(part, whole) == text


def test_other_games_show_all_their_settings() -> None:
    game = GameSettings("checkers", {"huff": False, "board_size": 10})
    assert settings_line(game) == "huff: False   board size: 10"
