"""A game's evaluation as text that people can read, edit and take to another server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from academy.store.codec import learnt_tables
from academy.store.library_text import reading
from academy.store.maintenance.check import check
from tests.academy.cli.conftest import Academy, pointed_at
from tests.academy.service.examples import download_weights, teach_weights
from tests.academy.service.running import Running, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("weights") / "data") as running:
        teach_weights(running, "moved")
        yield running


@pytest.fixture(scope="module")
def academy(server: Running) -> Academy:
    return pointed_at(server)


@pytest.mark.parametrize("form", ["text", "binary"])
def test_an_evaluation_moves_to_an_empty_server_and_values_there_as_here(
    server: Running, academy: Academy, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In more than one part.
    for module in (learnt_tables, reading):
        monkeypatch.setattr(module, "WEIGHTS_PER_RECORD", 50)
    first, second = tmp_path / "first", tmp_path / "second"
    assert academy("export", "moved", "--to", first, "--format", form).exit_code == 0
    here = server.store.follow().refresh("moved").evaluation
    assert len(here) > 150
    with serving(tmp_path / "elsewhere") as empty:
        elsewhere = pointed_at(empty)
        assert elsewhere("games", "create", first).exit_code == 0
        done = elsewhere("import", "moved", first)
        assert done.exit_code == 0, done.err
        assert f"{len(here):,} weights" in " ".join(done.out.split())
        assert empty.store.follow().refresh("moved").evaluation == here
        assert (
            download_weights(empty.admin(), "moved").revision
            == download_weights(server.admin(), "moved").revision
        )
        assert elsewhere("export", "moved", "--to", second, "--format", form).exit_code == 0
        # The same again: counts add up, what they say stays.
        assert elsewhere("import", "moved", first, "--again").exit_code == 0
        twice = empty.store.follow().refresh("moved").evaluation
        assert twice.weight_millionths.tolist() == here.weight_millionths.tolist()
        assert (twice.seen == 2 * here.seen).all() and twice.contests == 2 * here.contests
        assert elsewhere("import", "moved", first, "--replace").exit_code == 0
        assert empty.store.follow().refresh("moved").evaluation == here
        # Its log makes the same again.
        assert not list(check(empty.store.environment))
    assert first.read_bytes() == second.read_bytes()


def test_weights_of_a_game_whose_evaluation_is_off_are_named_as_kept(
    academy: Academy, tmp_path: Path
) -> None:
    exported = tmp_path / "exported"
    assert academy("export", "moved", "--to", exported).exit_code == 0
    with serving(tmp_path / "elsewhere") as empty:
        elsewhere = pointed_at(empty)
        elsewhere("games", "create", exported)
        elsewhere("settings", "moved", "evaluation=false")
        remedy = "academy settings moved evaluation=true\n"
        assert elsewhere("weights", "moved").out == f"evaluation is off: {remedy}"
        elsewhere("import", "moved", exported)
        patterns = elsewhere("statistics", "moved", "--json").json()["evaluation_patterns"]
        kept = f"evaluation is off, 8 contests and {patterns:,} patterns are kept: {remedy}"
        assert elsewhere("weights", "moved").out == kept


def test_a_turned_pattern_is_the_same_and_counts_for_the_other_with_colours_exchanged(
    server: Running, academy: Academy, tmp_path: Path
) -> None:
    edited = tmp_path / "edited.txt"
    before = server.store.follow().refresh("moved").evaluation
    known = dict(zip(before.codes.tolist(), before.weight_millionths.tolist(), strict=True))
    # The same rows of four in the first row, read from the other end, and with the colours exchanged.
    texts = ["0x/1x/2-/3o", "1o/2-/3x/4x", "0o/1o/2-/3x"]
    for text, sign in zip(texts, (1, 1, -1), strict=True):
        edited.write_text(
            "% academy text 1\n% game moved\n% library evaluation\n"
            f"{text} seen 1000000000 weight {sign * 2} gradient 1\n"
        )
        done = academy("import", "moved", edited)
        assert done.exit_code == 0, done.err
    after = server.store.follow().refresh("moved").evaluation
    changed = {
        code: weight
        for code, weight in zip(after.codes.tolist(), after.weight_millionths.tolist(), strict=True)
        if known.get(code) != weight
    }
    assert len(changed) == 1 and abs(next(iter(changed.values()))) == pytest.approx(2_000_000, abs=5)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("queens seen 1 weight 1 gradient 1", "is none of first, move, mobility, soldiers, kings"),
        ("0x/1-/2o/9x seen 1 weight 1 gradient 1", "no shape of anchored patterns has these"),
        ("0x/0-/1o/2x seen 1 weight 1 gradient 1", "a cell is there twice"),
        ("0-/1-/2-/3- seen 1 weight 1 gradient 1", "it says nothing"),
        ("kings seen 1 weight 9 gradient 1", "a weight beyond 8"),
        ("kings seen 1 weight", "must be one of seen, weight, gradient, once, with a value after it"),
        ("kings seen 1 weight 1 seen 2", "'seen' must be one of seen, weight, gradient, once"),
        ("% contests 1 contests 2", "'contests' must be one of contests, best"),
        ("% contests 1 best 99999 uses 0", "line 4, column 19: best: 99999.0 must be a number from -"),
        ("% uses 2 successes 3", "3 successes of 2 uses"),
        ("% contests 1 worst 3", "'worst' must be one of contests, best"),
    ],
)
def test_text_that_no_evaluation_could_have_is_refused_by_line(
    academy: Academy, tmp_path: Path, line: str, complaint: str
) -> None:
    file = tmp_path / "wrong.txt"
    file.write_text(f"% academy text 1\n% library evaluation\n\n{line}\n")
    refused = academy("import", "moved", file)
    shown = " ".join(refused.err.split())
    assert refused.exit_code and complaint in shown and "line 4" in shown


@pytest.mark.parametrize("again", ["0x/1x/2-/3o", "1o/2-/3x/4x", "0o/1o/2-/3x"])
def test_a_weight_that_stands_twice_is_refused_by_both_lines_however_it_is_written(
    academy: Academy, tmp_path: Path, again: str
) -> None:
    file = tmp_path / "twice.txt"
    first, second = (f"{name} seen 1 weight 1 gradient 1" for name in ("0x/1x/2-/3o", again))
    file.write_text(f"% academy text 1\n% library evaluation\n{first}\nkings seen 1\n{second}\n")
    refused = academy("import", "moved", file)
    assert refused.exit_code
    assert "line 5, column 1: the same as in line 3: leave one of the two out" in " ".join(
        refused.err.split()
    )
