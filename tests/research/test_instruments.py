"""The instruments about change, votes, generations and games measure what they say."""

import json
import random
import shutil
import sys
from contextlib import closing
from pathlib import Path

import pytest

from academy.knowledge.votes import ELO_SCALE, VALUE_SCALE
from academy.v1 import contests_pb2, libraries_pb2, libraries_pb2_grpc, pattern_pb2
from arena.academy.client import AcademyClient
from arena.academy.embedded import EmbeddedAcademy
from referees.api import referee
from research import change, evolution, game_table, growth, votes


def test_generations_are_scored_by_their_members_games_alone() -> None:
    history = """\
   g0_0 weights-g0-1 beat one-ply 1-0 (x)
   g0_1 two-plies beat weights-g0-0 0-1 (x)
generation 0, family weights:
  weights-g0-1  1.000 in 1 games  soldier:1
  g1_10 one-ply vs weights-g1-0 ? (hit the move limit of 120 plies)
  g1_11 one-ply vs weights-g1-0 ? (result unknown)
"""
    assert evolution.scores(history) == {0: [1.0, 0.0], 1: [0.5, 0.5]}


def test_a_vote_weighs_by_the_proposers_elo_of_its_day_and_of_today(tmp_path: Path) -> None:
    with closing(EmbeddedAcademy(tmp_path / "data", tmp_path / "log")) as server:
        connection = server.start()
        with connection.channel() as channel:
            libraries = libraries_pb2_grpc.LibraryServiceStub(channel)
            known = change.rules(changed=False)
            link = AcademyClient(connection)
            link.register_game(spec := known.spec())
            link.close()
            cast = [
                pattern_pb2.Vote(
                    player=name, elo_hundredths=1000 * ELO_SCALE, value_millionths=round(value * VALUE_SCALE)
                )
                for name, value in (("risen", 0.9), ("fallen", 0.1))
            ]
            ratings = [
                contests_pb2.PlayerRating(player=name, elo=elo)
                for name, elo in (("risen", 1500), ("fallen", 500))
            ]
            pattern = pattern_pb2.PatternRecord(
                library=pattern_pb2.LIBRARY_ENDGAME, pattern_id=1, cells="x x", player=1, votes=cast
            )
            header = libraries_pb2.ImportHeader(game_id=spec.game_id)
            history = libraries_pb2.GameHistory(measures="{}", ratings=ratings)
            libraries.ImportLibrary(
                iter(
                    [
                        libraries_pb2.ImportLibraryRequest(header=header),
                        libraries_pb2.ImportLibraryRequest(history=history),
                        libraries_pb2.ImportLibraryRequest(pattern=pattern),
                    ]
                ),
                metadata=connection.metadata,
            )
            (values,) = votes.values(connection, spec.game_id).values()
    assert abs(values.then - 0.5) < 1e-6
    assert abs(values.now - (1500 * 0.9 + 500 * 0.1) / 2000) < 1e-6


def test_after_the_change_the_winner_has_lost_and_the_board_is_the_same() -> None:
    old, new = change.rules(changed=False), change.rules(changed=True)
    assert old.spec() == new.spec()
    report = change.contest(changed=True, number=0, seed="test")
    position = new.start(0)
    for ply in report.plies:
        position = new.play(position, {ply.player: new.read_move(position, ply.player, ply.move)})
    before, after = old.outcome(position), new.outcome(position)
    assert before is not None and after is not None
    if len(before.winners) == 1:
        assert after.winners == (3 - before.winners[0],)
    won = [seat for seat in (1, 2) if report.results[seat - 1] == contests_pb2.RESULT_WIN]
    assert won == (list(after.winners) if len(after.winners) == 1 else [])


def test_results_of_another_size_are_not_mixed_with_those_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = shutil.copy(Path(change.__file__).with_name("change.jsonl"), tmp_path)
    arguments = ["change", str(results), "--repetitions", "16", "--old", "80", "--new"]
    monkeypatch.setattr(sys, "argv", [*arguments, "120"])
    change.main()
    assert capsys.readouterr().out.count("  120  ") == 2
    monkeypatch.setattr(sys, "argv", [*arguments, "140"])
    with pytest.raises(SystemExit):
        change.main()
    assert "measured with --old 80 --new 120, not with --old 80 --new 140" in capsys.readouterr().err


def test_clarity_comes_from_searches_whose_trees_were_measured() -> None:
    rules = referee("openspiel").from_settings({"game": "tic_tac_toe"})
    report = next(game_table.contests(rules, 1, "test"))
    positions = [game_table.position_of(rules, report, random.Random(seed)) for seed in range(2)]
    measured = game_table.clarity(rules, positions)
    assert measured["searches"] == 2 and 1 <= measured["search_depth"] <= measured["search_nodes"]
    sizes = [game_table.clearness(name) or 0 for name in ("hex", "go", "draughts")]
    assert 500 < sizes[0] < sizes[1] < 20_000 and sizes[2] > 500


@pytest.mark.parametrize("scores", [[], [(0.2, 0.1)]])
def test_too_few_contests_with_patterns_to_know_an_error_are_reported(
    scores: list[tuple[float, float]],
) -> None:
    with pytest.raises(SystemExit, match=f"{len(scores)} of 200 contests had patterns on their boards"):
        votes.compare(scores, 200)


def test_a_plot_without_a_table_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plot = ["growth", "--plot", str(tmp_path / "growth.svg")]
    for limits in (["--most-games", "0"], ["--most-events", "9999"]):
        monkeypatch.setattr(sys, "argv", [*plot, *limits])
        with pytest.raises(SystemExit):
            growth.main()
        assert "nothing to draw" in capsys.readouterr().err


@pytest.mark.parametrize("new", ["10", "50"])
def test_contests_after_the_change_that_fill_no_block_are_refused(
    new: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["change", str(tmp_path / "results.jsonl"), "--new", new])
    with pytest.raises(SystemExit):
        change.main()
    assert f"--new {new}: give a multiple of 20" in capsys.readouterr().err


def test_half_a_line_that_an_interrupted_run_wrote_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Path(change.__file__).with_name("change.jsonl").read_bytes()
    results = tmp_path / "change.jsonl"
    results.write_bytes(kept[:-100])
    blocks = [change.Block(**block) for block in json.loads(kept.splitlines()[-1])["blocks"]]
    monkeypatch.setattr(change, "measure", lambda *_: blocks)
    arguments = ["change", str(results), "--repetitions", "16", "--old", "80", "--new", "120"]
    monkeypatch.setattr(sys, "argv", arguments)
    change.main()
    assert results.read_bytes() == kept


def test_the_table_goes_into_its_place_of_a_page_and_leaves_the_rest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    results = Path(game_table.__file__).with_name("game_table.jsonl")
    page = tmp_path / "page.md"
    monkeypatch.setattr(
        sys, "argv", ["game_table", shutil.copy(results, tmp_path), "--document", str(page), "--games"]
    )
    page.write_text("Before\n<!-- games: measured -->\nold\n<!-- games: end -->\nAfter\n", encoding="utf-8")
    game_table.main()
    text = page.read_text(encoding="utf-8")
    assert text.startswith("Before\n") and text.endswith("\nAfter\n")
    assert "| Hex 9x9 |" in text and "old" not in text
    for broken in (text.replace("<!-- games: end -->", ""), text.replace("<!-- games: measured -->", "")):
        page.write_text(broken, encoding="utf-8")
        with pytest.raises(SystemExit):
            game_table.main()
        assert "games: the document has no" in capsys.readouterr().err
        assert page.read_text(encoding="utf-8") == broken
