"""Tokens and tickets: shown once, stored hashed, refused for the right reason."""

import base64
from pathlib import Path

import pytest

from academy.store import tokens
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.errors import InvalidRecordError, UnknownTokenIdError
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.tokens import (
    Caller,
    CreateToken,
    ExpiredTokenError,
    RevokedTokenError,
    RevokeToken,
    Role,
    UnknownTokenError,
)
from tests.academy.store.examples import contest, go_game, report


class Clock:
    """A clock that the test sets."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("role", Role)
def test_token_identifies_the_caller(store: Store, role: Role) -> None:
    token, text = store.run(CreateToken("gnugo 1", role))
    assert store.read(tokens.authenticate, text, store.clock()) == Caller("gnugo 1", role, token.token_id)
    assert text.startswith(f"acd_{token.token_id}_")
    assert store.read(tokens.tokens) == [token]


def test_a_revoked_token_is_refused_and_stays_revoked(store: Store) -> None:
    token, text = store.run(CreateToken("gnugo", Role.BOT))
    revoked = store.run(RevokeToken(token.token_id))
    assert revoked.revoked is not None
    assert store.run(RevokeToken(token.token_id)) == revoked
    with pytest.raises(RevokedTokenError):
        store.read(tokens.authenticate, text, store.clock())


@pytest.mark.parametrize("token_id", ["", "0123456789abcdef", "x" * 600])
def test_what_is_not_a_token_cannot_be_revoked(store: Store, token_id: str) -> None:
    with pytest.raises(UnknownTokenIdError):
        store.run(RevokeToken(token_id))


def test_a_token_expires(tmp_path: Path) -> None:
    clock = Clock()
    with Store(tmp_path / "clocked", clock=clock) as store:
        _, text = store.run(CreateToken("gnugo", Role.BOT, expires=clock.now + 60))
        with pytest.raises(InvalidRecordError, match="expires"):
            store.run(CreateToken("gnugo", Role.BOT, expires=clock.now))
        clock.now += 59
        assert store.read(tokens.authenticate, text, store.clock()).name == "gnugo"
        clock.now += 1
        with pytest.raises(ExpiredTokenError):
            store.read(tokens.authenticate, text, store.clock())


def test_one_name_may_have_several_tokens(store: Store) -> None:
    made = [store.run(CreateToken("gnugo", Role.BOT)) for _ in range(3)]
    store.run(RevokeToken(made[1][0].token_id))
    assert [store.read(tokens.authenticate, text, store.clock()).token_id for _, text in made[::2]] == [
        token.token_id for token, _ in made[::2]
    ]


@pytest.mark.parametrize("name", ["", "a\tb", "x" * 129, "b\u202eob", "e\u0301"])
def test_a_token_needs_a_name_a_player_can_have(store: Store, name: str) -> None:
    with pytest.raises(InvalidRecordError, match="name"):
        store.run(CreateToken(name, Role.BOT))


def test_a_ticket_is_good_for_its_seat(store: Store) -> None:
    _, tickets = store.run(OpenContest(contest("liga/7:3")))
    assert [store.read(tokens.authenticate, ticket, store.clock()) for ticket in tickets] == [
        Caller("gnugo 1", Role.BOT, contest_id="liga/7:3", seat=1),
        Caller("seki", Role.BOT, contest_id="liga/7:3", seat=2),
    ]


def test_a_ticket_ends_with_a_newer_one_and_is_marked_over_after_the_report(store: Store) -> None:
    _, first = store.run(OpenContest(contest("c1")))
    _, second = store.run(OpenContest(contest("c1")))
    with pytest.raises(UnknownTokenError):
        store.read(tokens.authenticate, first[0], store.clock())
    store.run(ReportContest(report("c1"), "arena"))
    assert store.read(tokens.authenticate, second[0], store.clock()).over


def test_tokens_and_tickets_that_were_never_given_are_refused(store: Store) -> None:
    token, text = store.run(CreateToken("gnugo", Role.ADMIN))
    store.run(RegisterGame(go_game("other"), "arena"))
    _, (ticket, other) = store.run(OpenContest(contest("c1")))
    store.run(ReportContest(report("never opened"[:5]), "arena"))
    secret = ticket.rpartition(".")[2]
    never = base64.urlsafe_b64encode(b"never").decode().rstrip("=")
    for wrong in (
        "",
        "acd_",
        text[:-1],
        text + "x",
        text.swapcase(),
        text.replace(token.token_id, "0" * 16),
        text[:-43] + secret,
        ticket.replace(".1.", ".2."),
        ticket.replace(".1.", ".0."),
        ticket.replace(".1.", ".3."),
        ticket.replace(secret, other.rpartition(".")[2]),
        f"acdt_{never}.1.{secret}",
        f"acdt_AAAAA.1.{secret}",
        f"acdt_____.1.{secret}",
        f"acdt_{base64.urlsafe_b64encode(b'c 1').decode()}.1.{secret}",
        "x" * 10_000,
        "acd_é",
    ):
        with pytest.raises(UnknownTokenError):
            store.read(tokens.authenticate, wrong, store.clock())
    assert store.read(tokens.authenticate, text, store.clock())
    assert store.read(tokens.authenticate, ticket, store.clock())
