"""What players are refused, with the rule and the numbers, through a real channel."""

import math

import pytest

from academy.v1 import contests_pb2, proposals_pb2
from tests.academy.service.asking import (
    CONTEST,
    DENIED,
    EXHAUSTED,
    GAME,
    INVALID,
    NOT_FOUND,
    Case,
    advise,
    check_refused,
    look_up,
    match,
    propose,
)
from tests.academy.service.examples import EMPTY, ENDGAME, MIDDLE_GAME, OPENING, position
from tests.academy.service.running import Client, refusal

REFUSED: dict[str, Case] = {
    # Boards and positions
    "a board of another size": (
        "reader",
        match(positions=[position(EMPTY), position("-" * 24)]),
        INVALID,
        "INVALID_BOARD",
        "positions[1].board",
        "24 letters: this game's has 25",
    ),
    "a letter that boards do not have": (
        "reader",
        match(positions=[position("?" + EMPTY[1:])]),
        INVALID,
        "INVALID_BOARD",
        "positions[0].board",
        "'?'",
    ),
    "a player the game does not have": (
        "reader",
        match(positions=[position(EMPTY), position(EMPTY, 3)]),
        INVALID,
        "INVALID_FIELD",
        "positions[1].player",
        "players 1 to 2",
    ),
    "advice for a player the game does not have": (
        "reader",
        advise(position=position(EMPTY, 3)),
        INVALID,
        "INVALID_FIELD",
        "position.player",
        "3: refusing has players 1 to 2",
    ),
    "the opening of a player the game does not have": (
        "reader",
        look_up(player=0),
        INVALID,
        "INVALID_FIELD",
        "player",
        "0: refusing has players 1 to 2",
    ),
    "no positions": (
        "reader",
        match(positions=[]),
        INVALID,
        "INVALID_FIELD",
        "positions",
        "0 positions: 1 to 1,024",
    ),
    "too many positions": (
        "reader",
        match(positions=[position(EMPTY)] * 1_025),
        INVALID,
        "INVALID_FIELD",
        "positions",
        "1,025 positions: 1 to 1,024",
    ),
    "too many matches a position": (
        "reader",
        match(max_matches=65_537),
        INVALID,
        "INVALID_FIELD",
        "max_matches",
        "65,537: at most 65,536",
    ),
    "too many matches a call": (
        "reader",
        match(positions=[position(EMPTY)] * 5, max_matches=65_536),
        INVALID,
        "INVALID_FIELD",
        "max_matches",
        "327,680: at most 262,144",
    ),
    "a library that has no patterns": (
        "reader",
        match(libraries=[ENDGAME, OPENING]),
        INVALID,
        "INVALID_RECORD",
        "libraries[1]",
        "lines of moves",
    ),
    "an expected value above 1": (
        "reader",
        match(positions=[position(EMPTY, 1, 1.5)]),
        INVALID,
        "INVALID_RECORD",
        "positions[0].expected_value",
        "1.5",
    ),
    "an expected value that is not a number": (
        "player",
        match(positions=[position(EMPTY, 1, math.nan)], contest_id=CONTEST),
        INVALID,
        "INVALID_RECORD",
        "positions[0].expected_value",
        "nan",
    ),
    "a game that is not registered": (
        "reader",
        match(game_id="chess"),
        NOT_FOUND,
        "UNKNOWN_GAME",
        "",
        "'chess'",
    ),
    "a game id that cannot be one": (
        "reader",
        match(game_id="../x"),
        NOT_FOUND,
        "UNKNOWN_GAME",
        "",
        "'../x'",
    ),
    "no game at all": ("reader", match(game_id=""), NOT_FOUND, "UNKNOWN_GAME", "", "''"),
    # Openings
    "a list of too many moves": (
        "reader",
        look_up(moves=["a1"] * 10_001),
        INVALID,
        "INVALID_FIELD",
        "moves",
        "10,001 moves: at most 10,000",
    ),
    "a move that is too long": (
        "reader",
        look_up(moves=["a1", "b" * 1_025]),
        INVALID,
        "INVALID_FIELD",
        "moves[1]",
        "1,025 characters",
    ),
    "moves that are too long together": (
        "reader",
        look_up(moves=["b" * 1_024] * 257),
        INVALID,
        "INVALID_FIELD",
        "moves",
        "263,168 characters in all: at most 262,144",
    ),
    "an empty move": ("reader", look_up(moves=[""]), INVALID, "INVALID_FIELD", "moves[0]", "0 characters"),
    "a contest of another game": (
        "player",
        look_up(game_id="refusing-too", contest_id=CONTEST),
        NOT_FOUND,
        "UNKNOWN_GAME",
        "",
        "refusing-too",
    ),
    # Proposals
    "a ragged pattern": (
        "player",
        propose(cells="x--\n--"),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].cells",
        "line 2, column 2",
    ),
    "a pattern larger than the board with its edge": (
        "player",
        propose(cells="\n".join(["--------"] * 3)),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].cells",
        "neither may be more than 7",
    ),
    "a pattern of too many cells": (
        "player",
        propose(cells="\n".join(["-" * 22] * 22)),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].cells",
        "at most 441 cells",
    ),
    "a text that is not a pattern for its length": (
        "player",
        propose(cells="-" * 16_385),
        INVALID,
        "INVALID_FIELD",
        "proposals[0].cells",
        "16,385 characters",
    ),
    "a letter that patterns do not have": (
        "player",
        propose(cells="x?\n--"),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].cells",
        "column 2: letter '?'",
    ),
    "a pattern that says nothing": (
        "player",
        propose(cells="##\n##"),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].cells",
        "other than '#' and '+'",
    ),
    "no pattern": ("player", propose(cells=""), INVALID, "INVALID_RECORD", "proposals[0].cells", "no cells"),
    "a value above 1": (
        "player",
        propose(value=1.0001),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value",
        "1.0001",
    ),
    "a value below 0": (
        "player",
        propose(value=-0.1),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value",
        "-0.1",
    ),
    "a value that is not a number": (
        "player",
        propose(value=math.nan),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value",
        "nan",
    ),
    "a value without end": (
        "player",
        propose(value=math.inf),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value",
        "inf",
    ),
    "a value before that is not a number": (
        "player",
        propose(value_before=math.nan),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value_before",
        "nan",
    ),
    "a middle-game proposal without the value before": (
        "player",
        propose(library=MIDDLE_GAME),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].value_before",
        "must be stated",
    ),
    "a proposal for the opening tree": (
        "player",
        propose(library=OPENING),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].library",
        "lines of moves",
    ),
    "a proposal without ply": (
        "player",
        propose(ply=0),
        INVALID,
        "INVALID_RECORD",
        "proposals[0].ply",
        "at least 1",
    ),
    "too many proposals in a call": (
        "player",
        lambda client: client.proposals.SubmitProposals(
            proposals_pb2.SubmitProposalsRequest(
                contest_id=CONTEST, proposals=[proposals_pb2.NewProposal()] * 65
            )
        ),
        INVALID,
        "INVALID_FIELD",
        "proposals",
        "65 in one call: 1 to 64",
    ),
    "a call without proposals": (
        "player",
        lambda client: client.proposals.SubmitProposals(
            proposals_pb2.SubmitProposalsRequest(contest_id=CONTEST)
        ),
        INVALID,
        "INVALID_FIELD",
        "proposals",
        "0 in one call: 1 to 64",
    ),
    "more proposals than the game allows": (
        "player",
        lambda client: client.proposals.SubmitProposals(
            proposals_pb2.SubmitProposalsRequest(
                contest_id=CONTEST,
                proposals=[
                    proposals_pb2.NewProposal(library=ENDGAME, cells="x-", ply=ply, value=0.5)
                    for ply in range(1, 12)
                ],
            )
        ),
        EXHAUSTED,
        "TOO_MANY_PROPOSALS",
        "",
        "max_submissions_per_contest",
    ),
    "a proposal without contest": (
        "player",
        lambda client: client.proposals.SubmitProposals(
            proposals_pb2.SubmitProposalsRequest(proposals=[proposals_pb2.NewProposal()])
        ),
        INVALID,
        "INVALID_FIELD",
        "contest_id",
        "must be given",
    ),
    "a proposal for a contest one does not play": (
        "reader",
        lambda client: client.proposals.SubmitProposals(
            proposals_pb2.SubmitProposalsRequest(contest_id=CONTEST, proposals=[proposals_pb2.NewProposal()])
        ),
        DENIED,
        "NOT_PERMITTED",
        "",
        "does not play it",
    ),
    "a look at another's proposals": (
        "reader",
        lambda client: client.proposals.ListProposals(proposals_pb2.ListProposalsRequest(player="ann")),
        DENIED,
        "NOT_PERMITTED",
        "",
        "'ann'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.threat("lies")
@pytest.mark.threat("vote_stuffing")
def test_a_player_that_breaks_a_rule_is_refused_by_name(everyone: dict[str, Client], case: str) -> None:
    check_refused(everyone, REFUSED[case])


def test_refused_writes_leave_nothing_behind(everyone: dict[str, Client]) -> None:
    assert not everyone["player"].proposals.ListProposals(proposals_pb2.ListProposalsRequest()).proposals
    games = everyone["reader"].contests.ListGames(contests_pb2.ListGamesRequest()).games
    assert [game.game_id for game in games] == [GAME]


def test_error_numbers_are_separate_details(everyone: dict[str, Client]) -> None:
    _, too_many, *_ = REFUSED["more proposals than the game allows"]
    _, positions, *_ = REFUSED["too many positions"]

    assert refusal(lambda: too_many(everyone["player"])).metadata == {
        "held": "0",
        "more": "11",
        "allowed": "10",
    }
    assert refusal(lambda: positions(everyone["reader"])).metadata == {
        "field": "positions",
        "value": "1025",
        "limit": "1024",
    }
