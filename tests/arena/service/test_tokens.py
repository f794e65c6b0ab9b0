from pathlib import Path

import pytest
from structlog.testing import capture_logs

from academy.wire.errors import NotAuthenticatedError, NotPermittedError
from academy.wire.tokens import digest_of
from arena.service.access import ServiceAccess
from arena.service.tokens import (
    MAX_BYTES,
    ServiceCaller,
    ServiceRole,
    Tokens,
    TokensError,
    add_token,
    remove_token,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.toml"


def test_a_token_is_known_by_its_digest_only(file: Path) -> None:
    token = add_token(file, "eye", ServiceRole.WATCHER)
    assert token not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert Tokens(file).authenticate(token) == ServiceCaller("eye", ServiceRole.WATCHER)


def test_a_token_made_later_is_known_and_one_taken_out_is_not(file: Path) -> None:
    first = add_token(file, "one", ServiceRole.PLAYER)
    tokens = Tokens(file)
    second = add_token(file, "two", ServiceRole.PLAYER)
    assert tokens.authenticate(second).name == "two"
    file.write_text(file.read_text().partition('["two"]')[2].join(('["two"]', "")))
    with pytest.raises(NotAuthenticatedError):
        tokens.authenticate(first)
    assert tokens.authenticate(second).name == "two"


def test_players_are_let_in_under_their_own_names_only(file: Path) -> None:
    player, operator = add_token(file, "one", ServiceRole.PLAYER), add_token(file, "me", ServiceRole.OPERATOR)
    tokens = ServiceAccess(Tokens(file))
    tokens.admit("one", player)
    for name, token in (("two", player), ("me", operator)):
        with pytest.raises(NotPermittedError, match=f"not of the player '{name}'; dial in with that"):
            tokens.admit(name, token)
    for wrong in ("", "guessed"):
        with pytest.raises(NotAuthenticatedError):
            tokens.admit("one", wrong)


@pytest.mark.parametrize(
    "text",
    [
        "[one",
        "one = 1",
        '[one]\nrole = "player"',
        '[one]\nrole = "king"\nsha256 = "00"',
        '[one]\nrole = "player"\nsha256 = "00"',
        '[one]\nrole = "player"\nsha256 = 7',
    ],
)
def test_a_file_that_is_none_is_refused(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(TokensError, match=r"tokens\.toml"):
        Tokens(file)


@pytest.mark.parametrize(
    "text", ['["me"]\nrole = "oprator"\nsha256 = "00"\n', None], ids=["a slip", "no file"]
)
def test_a_file_that_spoils_while_the_service_runs_locks_nobody_out_and_tells_strangers_nothing(
    file: Path, text: str | None
) -> None:
    player = add_token(file, "one", ServiceRole.PLAYER)
    tokens, good = Tokens(file), file.read_text()
    if text is None:
        file.unlink()
    else:
        file.write_text(good + text)
    with capture_logs() as logged:
        for _ in range(2):
            assert tokens.authenticate(player).name == "one"
            with pytest.raises(NotAuthenticatedError, match="the token is not known here"):
                tokens.authenticate("guessed")
    (line,) = logged
    assert line["log_level"] == "error" and str(file) in line["why"]
    with pytest.raises(TokensError, match=r"tokens\.toml"):
        tokens.callers()
    # Once it is mended it holds, and another slip is news.
    file.write_text(good.replace(digest_of(player).hex(), digest_of("another").hex()))
    assert tokens.authenticate("another").name == "one"
    with pytest.raises(NotAuthenticatedError):
        tokens.authenticate(player)
    file.write_text("[")
    with capture_logs() as logged:
        tokens.authenticate("another")
    assert len(logged) == 1


def test_names_are_given_once(file: Path) -> None:
    add_token(file, "one", ServiceRole.PLAYER)
    with pytest.raises(TokensError, match="already"):
        add_token(file, "one", ServiceRole.PLAYER)
    with pytest.raises(TokensError, match="not a name"):
        add_token(file, 'x"]\nrole', ServiceRole.PLAYER)


def test_a_file_that_an_editor_left_without_its_last_newline_takes_another_token(file: Path) -> None:
    first = add_token(file, "one", ServiceRole.PLAYER)
    file.write_text(file.read_text().rstrip("\n"))
    second = add_token(file, "two", ServiceRole.PLAYER)
    tokens = Tokens(file)
    assert [tokens.authenticate(token).name for token in (first, second)] == ["one", "two"]


def test_a_full_file_takes_no_other_token_and_stays_good(file: Path) -> None:
    token = add_token(file, "one", ServiceRole.PLAYER)
    file.write_text(file.read_text().ljust(MAX_BYTES - 50, "\n"))
    with pytest.raises(TokensError, match="revoke tokens first"):
        add_token(file, "two", ServiceRole.PLAYER)
    assert Tokens(file).authenticate(token).name == "one"


def test_a_file_that_is_nested_too_deep_is_refused(file: Path) -> None:
    file.write_text("x = " + "[" * 100_000)
    with pytest.raises(TokensError, match="can't be read: arrays or tables are nested more than 32 deep"):
        Tokens(file)


def test_a_revoked_token_is_taken_out_and_all_else_stays(file: Path) -> None:
    kept = [add_token(file, name, ServiceRole.PLAYER) for name in ("one", "two", "three")]
    file.write_text(file.read_text().replace('["three"]', '# the third\n["three"]'))
    tokens = Tokens(file)
    remove_token(file, "two")
    assert [caller.name for caller in tokens.callers()] == ["one", "three"]
    assert tokens.authenticate(kept[0]).name == "one" and file.stat().st_mode & 0o077 == 0
    with pytest.raises(NotAuthenticatedError):
        tokens.authenticate(kept[1])
    with pytest.raises(TokensError, match="no token of 'two'"):
        remove_token(file, "two")


def test_a_table_that_is_written_otherwise_is_left_to_people(file: Path) -> None:
    add_token(file, "one", ServiceRole.PLAYER)
    file.write_text(file.read_text().replace('["one"]', '["\\u006fne"]'))
    before = file.read_text()
    with pytest.raises(TokensError, match="delete it by hand"):
        remove_token(file, "one")
    assert file.read_text() == before
