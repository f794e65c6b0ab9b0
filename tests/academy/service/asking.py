"""Calls to be refused: each maker fills in what is right, and takes what is wrong."""

from collections.abc import Callable
from typing import Any

import grpc

from academy.v1 import consultation_pb2, contests_pb2, game_pb2, libraries_pb2, proposals_pb2
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, ENDGAME, contest, position, report
from tests.academy.service.running import Client, refusal

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOT_FOUND = grpc.StatusCode.NOT_FOUND
EXISTS = grpc.StatusCode.ALREADY_EXISTS
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
DENIED = grpc.StatusCode.PERMISSION_DENIED
GAME = "refusing"
CONTEST = "refusing/1"

Call = Callable[[Client], Any]
# Who asks what; status, reason, field at fault, and words of the message: the rule and the numbers.
Case = tuple[str, Call, grpc.StatusCode, str, str, str]


def check_refused(everyone: dict[str, Client], case: Case) -> None:
    """Make the call and compare how it is refused."""
    who, call, code, reason, field, words = case

    refused = refusal(lambda: call(everyone[who]))

    assert (refused.code, refused.reason) == (code, reason), refused.message
    assert words in refused.message
    assert refused.fields == ([field] if field else [])


def match(**fields: Any) -> Call:
    request: dict[str, Any] = {"game_id": GAME, "positions": [position(EMPTY)]} | fields
    return lambda client: client.consultation.MatchPatterns(consultation_pb2.MatchPatternsRequest(**request))


def advise(**fields: Any) -> Call:
    request: dict[str, Any] = {"game_id": GAME, "position": position(EMPTY)} | fields
    return lambda client: client.consultation.Advise(consultation_pb2.AdviseRequest(**request))


def look_up(**fields: Any) -> Call:
    request: dict[str, Any] = {"game_id": GAME, "player": 1} | fields
    return lambda client: client.consultation.LookUpOpening(consultation_pb2.LookUpOpeningRequest(**request))


def propose(**fields: Any) -> Call:
    content: dict[str, Any] = {"library": ENDGAME, "cells": "x-\n-o", "ply": 1, "value": 0.5} | fields
    proposal = proposals_pb2.NewProposal(**content)
    return lambda client: client.proposals.SubmitProposals(
        proposals_pb2.SubmitProposalsRequest(contest_id=CONTEST, proposals=[proposal])
    )


def register(**fields: Any) -> Call:
    game = examples.tiny_go("strange")
    for name, value in fields.items():
        game.ClearField(name)  # type: ignore[arg-type]
        game.MergeFrom(game_pb2.Game(**{name: value}))
    return lambda client: client.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))


def open_contest(played: contests_pb2.Contest) -> Call:
    return lambda client: client.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played))


def report_with(change: Callable[[contests_pb2.ReportContestRequest], object]) -> Call:
    request = report(contest("refusing/report", GAME), ["c3", "b2"])
    change(request)
    return lambda client: client.contests.ReportContest(request)


def listing(**fields: Any) -> Call:
    request: dict[str, Any] = {"game_id": GAME, "library": ENDGAME} | fields
    return lambda client: client.libraries.ListPatterns(libraries_pb2.ListPatternsRequest(**request))


def update(**fields: Any) -> Call:
    request: dict[str, Any] = {"game_id": GAME} | fields
    return lambda client: client.libraries.UpdateSettings(libraries_pb2.UpdateSettingsRequest(**request))


def imported(*records: libraries_pb2.ImportLibraryRequest) -> Call:
    return lambda client: client.libraries.ImportLibrary(iter(records))


def settings(**fields: Any) -> game_pb2.LibrarySettings:
    return game_pb2.LibrarySettings(**fields)


HEADER = libraries_pb2.ImportLibraryRequest(header=libraries_pb2.ImportHeader(game_id=GAME))
