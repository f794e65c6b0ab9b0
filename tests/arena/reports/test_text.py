"""Whole reports as text: what the ringmaster tells, in its layout, and what follows."""

from dataclasses import replace
from pathlib import Path

from arena.control.toml_file import read
from arena.reports.assembly import assemble
from arena.reports.contents import CompetitionReport
from arena.reports.tally import MatchupTally, PlayerTally, SeatTally
from arena.reports.text import matchup_lines, text_report
from arena.results.series import PlannedGame
from arena.results.series_reader import SeriesReader
from tests.arena.reports.examples import ALL_PLAY_ALL, ALL_PLAYED, PLAYOFF, played, report_of

OLD = [("old_0", "alpha", "beta", "B"), ("old_1", "beta", "alpha", "B")]


def test_an_all_play_all_has_a_grid_and_a_block_for_each_pair(tmp_path: Path) -> None:
    text = text_report(report_of(tmp_path, ALL_PLAY_ALL, ALL_PLAYED))
    assert text.splitlines()[:17] == [
        "allplayall: cup",
        "Three <of> them",
        "",
        "7/9 games played",
        "",
        "           A     B     C",
        "A alpha         2-1 1.5-0.5",
        "B beta  1-2         0-1",
        "C gamma 0.5-1.5 1-0",
        "",
        "alpha v beta (3/3 games)",
        "board size: 9   komi: 7.5",
        "        wins              black         white     avg cpu",
        "alpha      2 66.67%       2 100.00%     0 0.00%      1.25",
        "beta       1 33.33%       1 100.00%     0 0.00%      1.25",
        "                          3 100.00%     0 0.00%",
        "",
    ]
    assert "\nplayer alpha: alpha & <co>\nplayer beta: beta & <co>\nplayer gamma: gamma & <co>\n" in text


def test_after_the_ringmasters_part_come_ratings_with_errors_and_superiority(tmp_path: Path) -> None:
    text = text_report(report_of(tmp_path, ALL_PLAY_ALL, ALL_PLAYED))
    assert [
        line.split() for line in text.splitlines() if line.startswith(("alpha   ", "gamma   ", "beta   "))
    ][-5:-2] == [
        ["alpha", "5", "3", "1", "1", "0", "0", "0", "0", "3.5", "1025", "1092", "206"],
        ["gamma", "4", "1", "1", "1", "1", "0", "0", "0", "1.5", "1001", "1024", "179"],
        ["beta", "5", "1", "0", "3", "1", "0", "0", "0", "1", "974", "883", "263"],
    ]
    assert "losses  unknown  forfeits  time losses  faults  points   Elo  likeliest" in text
    assert (
        "\ntime losses are among the forfeits; Elo: live, after the last game; "
        "likeliest: for all games together, ± its 95 % interval.\n"
    ) in text
    assert "LOS %  gamma  beta\nalpha   68.1  82.6\ngamma         75.6\n" in text
    assert text.endswith("\n\ngames took 0:00:24 in all, within 0:00:04\n")


def test_a_playoff_shows_what_was_played_and_what_has_gone(tmp_path: Path) -> None:
    games = [*OLD, ("gone_0", "alpha", "gamma", "W"), ("handy_0", "beta", "gamma", "?")]
    text = text_report(report_of(tmp_path, PLAYOFF, games))
    assert text.startswith("playoff: cup\n\nalpha v beta (2/4 games)\nboard size: 9   komi: 7.5\n")
    assert (
        "\n\nthe big one (1/2 games)\nunknown results: 1 100.00%\nboard size: 13   komi: 7.5\n"
        "        wins                 avg cpu\n"
        "beta       0 0.00%   (black)    1.25\n"
    ) in text
    assert "\n\nalpha v gamma (1 games)\n?? (missing from control file)\n" in text
    assert "one imaginary draw of each pair keeps their Elo finite" in text


def test_where_more_play_than_a_game_has_seats_each_has_the_share_of_its_own_games() -> None:
    block = MatchupTally("0", "series", ("ann", "bob", "cid"), None, None, total=6)
    for name, games, wins in (("ann", 4, 4.0), ("bob", 4, 2.0), ("cid", 4, 0.0)):
        block.tallies[name] = PlayerTally(name, wins, seats={1: SeatTally(games, wins)})
    assert [line.split() for line in matchup_lines(block, ["B", "W"])[-3:]] == [
        ["ann", "4", "100.00%"],
        ["bob", "2", "50.00%"],
        ["cid", "0", "0.00%"],
    ]


def test_matchups_without_games_are_left_out(tmp_path: Path) -> None:
    text = text_report(report_of(tmp_path, PLAYOFF, OLD))
    assert "the big one" not in text


def test_a_players_description_of_itself_is_not_a_line_of_the_report(tmp_path: Path) -> None:
    report = report_of(tmp_path, ALL_PLAY_ALL, ALL_PLAYED)
    facts = replace(
        report.players["alpha"], description="the best\n\nplayer  games  Elo\nalpha     100  2900\n"
    )
    text = text_report(replace(report, players={**report.players, "alpha": facts}))
    assert "\nplayer alpha: the best\n    player  games  Elo\n    alpha     100  2900\nplayer beta" in text


def test_a_competition_without_games_has_a_report(tmp_path: Path) -> None:
    text = text_report(report_of(tmp_path, ALL_PLAY_ALL, []))
    assert "0/9 games played" in text
    line = next(line for line in text.splitlines() if line.startswith("alpha "))
    assert line.split() == ["alpha", *"00000", "0", "0", "0", "0", "1000", "-", "-"]


def test_void_games_and_refused_reports_are_reported(tmp_path: Path) -> None:
    with played(tmp_path, ALL_PLAY_ALL, ALL_PLAYED) as series:
        attempt = series.next_attempt("AvC_2")
        series.begin(attempt, None, PlannedGame("AvC", []))
        series.give_up(attempt, "void", "it crashed", 3600.0, b"report")
        (waiting,) = series.outbox.waiting()
        series.outbox.mark_refused(waiting, "no such game")
        control = tmp_path / "cup.toml"
        control.write_text(control.read_text() + '\n[academy]\naddress = "embedded"\n')
        text = text_report(_assembled(tmp_path, series))
    assert "\n1 void game; see log file.\nreports to ACADEMY: 1 refused\n" in text
    assert f"report of {attempt.contest_id} refused: no such game\n" in text
    assert "games took 1:00:24 in all" in text


def test_games_of_other_players_than_the_control_files_are_shown_with_a_warning(tmp_path: Path) -> None:
    with played(tmp_path, PLAYOFF, [("old_0", "alpha", "gamma", "B")]) as series:
        text = text_report(_assembled(tmp_path, series))
    assert "matchups[old].players: the games so far were played with alpha and gamma, the control" in text
    assert "alpha v gamma (1 games)" in text


def _assembled(folder: Path, series: SeriesReader) -> CompetitionReport:
    return assemble(read(folder / "cup.toml"), "cup", series)
