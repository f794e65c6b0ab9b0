"""Reports as JSON: keys that other programs rely on."""

import json
from pathlib import Path

from arena.reports.as_json import json_report
from tests.arena.reports.examples import ALL_PLAY_ALL, ALL_PLAYED, report_of


def test_a_report_is_the_same_after_json(tmp_path: Path) -> None:
    report = json_report(report_of(tmp_path, ALL_PLAY_ALL, ALL_PLAYED))
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert list(report) == [
        "name", "warning", "kind", "description", "game", "settings", "seats", "games", "total", "letters",
        "players", "cross_table", "superiority", "matchups", "lines", "sprt", "descent", "tuner",
        "candidates", "voids", "left_out", "reports", "refusals", "proposals", "duration",
    ]  # fmt: skip
    assert (report["games"], report["total"], report["seats"]) == (7, 9, ["Black", "White"])


def test_a_player_has_its_results_ratings_and_use_of_the_machine(tmp_path: Path) -> None:
    alpha, *_ = json_report(report_of(tmp_path, ALL_PLAY_ALL, ALL_PLAYED))["players"]
    assert alpha == {
        "name": "alpha",
        "description": "alpha & <co>",
        "games": 5, "wins": 3, "draws": 1, "losses": 1, "unknown": 0, "points": 3.5, "forfeits": 0,
        "time_losses": 0,
        "elo": 1025.31,
        "elo_at_first": None, "elo_at_first_from": None, "elo_at_first_game": None,
        "likeliest_elo": 1092.27,
        "elo_error": 205.7,
        "elo_imagined": False,
        "daide_score": 2.0,
        "skill": None,
        "mean_cpu_seconds": 1.25,
        "mean_wall_seconds": 2.5,
        "peak_memory_bytes": 12500000,
        "faults": 0,
        "faults_by_kind": {},
        "last_fault": None,
    }  # fmt: skip


def test_pairs_and_matchups_have_their_results(tmp_path: Path) -> None:
    report = json_report(report_of(tmp_path, ALL_PLAY_ALL, ALL_PLAYED))
    pair = {"player": "gamma", "opponent": "alpha", "wins": 0, "draws": 1, "losses": 1, "unknown": 0}
    assert pair in report["cross_table"] and len(report["cross_table"]) == 6
    assert report["superiority"][0]["player"] == "alpha"
    assert 0.5 < report["superiority"][0]["likelihood"] < 1.0
    matchup = next(matchup for matchup in report["matchups"] if matchup["id"] == "BvC")
    assert (matchup["games"], matchup["wanted"], matchup["unknown"]) == (2, 3, 1)
    assert matchup["players"][1]["seats"] == {"1": {"games": 1, "wins": 0.0}, "2": {"games": 1, "wins": 1.0}}
    assert report["duration"]["first_started"] == "2001-09-09T01:46:40Z"
    assert report["duration"]["total_seconds"] == 7 * 3.5


def test_a_report_before_the_first_game_has_no_results(tmp_path: Path) -> None:
    report = json_report(report_of(tmp_path, ALL_PLAY_ALL, []))
    assert report["duration"] is None and report["cross_table"] == [] and report["superiority"] == []
    assert [player["likeliest_elo"] for player in report["players"]] == [None, None, None]
