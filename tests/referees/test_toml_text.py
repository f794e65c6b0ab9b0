"""TOML from outside: what is read, and what is refused before it costs time or stack."""

import pytest

from referees.toml_text import MAX_CHARACTERS, MAX_NESTING, InvalidTomlError, read_toml


def test_tables_are_read() -> None:
    assert read_toml('a.b = 1\n[c."d.e"]\nf = ["1.2.3", {g = 2}]') == {
        "a": {"b": 1},
        "c": {"d.e": {"f": ["1.2.3", {"g": 2}]}},
    }


def test_texts_may_have_as_many_dots_as_they_like() -> None:
    text = ".".join("a" * 100)
    assert read_toml(f'x = """\nsee {text}\n"""\ny = ["{text}", \'{text}\'] # {text}')["y"] == [text, text]


def test_nesting_within_the_limit_is_read() -> None:
    depth = MAX_NESTING - 1
    assert read_toml("x = " + "[" * depth + "]" * depth)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("x = ", "it is not valid TOML: Invalid value", id="no TOML"),
        pytest.param("x = '" + "a" * MAX_CHARACTERS + "'", "it is longer than 1048576 characters", id="long"),
        pytest.param("x = " + "[" * 500_000, "nested more than 32 deep", id="arrays without an end"),
        pytest.param("x = " + "{a = " * 100_000, "nested more than 32 deep", id="tables without an end"),
        pytest.param("x = " + "[" * 40 + "]" * 40, "nested more than 32 deep", id="arrays"),
        pytest.param(f"[{'.'.join('a' * 31)}]\nb.c.d = 1", "nested more than 32", id="headers"),
        pytest.param(
            ".".join("a" * 500_000) + " = 1",
            "a key has more than 32 parts, or a line begins like one",
            id="dotted key",
        ),
        pytest.param("[" + " . ".join(['"a"'] * 100_000) + "]", "a key has more than 32", id="dotted header"),
        pytest.param(
            f"x = {{y = [1, 0x{'f' * 5000}]}}",
            "a whole number has more than 4300 digits",
            id="hexadecimal number",
        ),
        pytest.param("x = " + "9" * 5000, "a whole number has more than 4300 digits", id="decimal number"),
        pytest.param("x = {y = 1, " + ".".join("a" * 90_000) + " = 1}", "a key has more", id="inline key"),
    ],
)
def test_all_else_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidTomlError) as caught:
        read_toml(text)
    assert message in str(caught.value)
