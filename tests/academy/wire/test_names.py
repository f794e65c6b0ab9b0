"""Which names players may have."""

import pytest

from academy.wire.names import complaint_about


@pytest.mark.parametrize(
    "name",
    ["alice", "Alice B. Toklas", "André", "字", "αλίκη", "Ἀλίκη", "\U0001f3b2", "한글", "ᠮᠣᠩ"],
)
def test_names_of_all_scripts_are_valid(name: str) -> None:
    assert complaint_about(name) == ""


@pytest.mark.parametrize(
    "hidden",
    [
        "\n",
        "\u00a0",
        "\u00ad",
        "\u034f",
        "\u115f",
        "\u1160",
        "\u17b4",
        "\u180b",
        "\u180e",
        "\u200b",
        "\u202e",
        "\u2800",
        "\u3164",
        "\ufe0f",
        "\uffa0",
        "\U000e0041",
        "\U000e0100",
    ],
)
@pytest.mark.parametrize("place", [0, 3, 5])
def test_no_name_differs_from_another_by_what_cannot_be_seen(hidden: str, place: int) -> None:
    name = "alice"[:place] + hidden + "alice"[place:]
    assert complaint_about(name).startswith(f"character {place + 1} of the name {name!a} cannot be seen")


@pytest.mark.parametrize("name", [" alice", "alice ", " "])
def test_no_name_differs_from_another_by_blanks_at_its_ends(name: str) -> None:
    assert complaint_about(name) == f"the name {name!a} begins or ends with a blank: leave it out"


def test_a_letter_and_its_accent_are_one_character() -> None:
    assert "write 'Andr\\xe9'" in complaint_about("Andre\u0301")
