"""Figures go where the document has a place for them, and nowhere else."""

from pathlib import Path

import pytest

from benchmarks import figures
from benchmarks.figures import DOCUMENT, PARTS, placed


def test_figures_replace_those_of_the_same_part() -> None:
    text = "before\n<!-- one: measured -->\nold\n<!-- one: end -->\nafter\n"
    assert placed(text, "one", "new") == text.replace("old", "new")
    assert placed(placed(text, "one", "new"), "one", "old") == text


def test_a_part_without_a_place_is_reported() -> None:
    with pytest.raises(ValueError, match="two: the document has no"):
        placed("<!-- one: measured -->\n<!-- one: end -->", "two", "figures")


def test_the_document_has_a_place_for_every_part() -> None:
    for name in PARTS:
        assert placed(DOCUMENT.read_text(), name, "figures") != ""


def test_an_unknown_part_is_named_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["figures", "store", "typo"])
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("something was measured"))

    with pytest.raises(SystemExit) as ended:
        figures.main()

    assert ended.value.code == 2
    assert "no such part: typo; there are matching, " in capsys.readouterr().err


def test_parts_after_one_that_fails_are_measured_and_it_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    document = tmp_path / "performance.md"
    places = "".join(
        f"<!-- {name}: measured -->\nold\n<!-- {name}: end -->\n" for name in ("broken", "sound")
    )
    document.write_text(places)
    monkeypatch.setattr(figures, "DOCUMENT", document)
    monkeypatch.setattr(figures, "PARTS", {"broken": ("no_such_module",), "sound": ("platform",)})
    monkeypatch.setattr("sys.argv", ["figures"])

    with pytest.raises(SystemExit) as ended:
        figures.main()

    assert ended.value.code == "not measured, as they failed: broken"
    before, after = document.read_text().split("<!-- sound: measured -->")
    assert "old" in before and "Linux" in after and "old" not in after
