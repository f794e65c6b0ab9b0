"""The client library of ACADEMY for bots: `Academy` for blocking calls, `AsyncAcademy` for asyncio.

Both answer with the values of `clients.advice` and raise AcademyUnavailableError or AcademyRefusedError. A
question that fair use forbids is not asked: the answer is then an empty list. Whoever asks faster than
ACADEMY's limits allow waits as long as it says, and raises its refusal only where that is longer than a call
may take.
"""

import asyncio
import queue
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import Self, TypeVar

import grpc
import grpc.aio

from academy.v1 import (
    consultation_pb2,
    consultation_pb2_grpc,
    contests_pb2,
    contests_pb2_grpc,
    game_pb2,
    proposals_pb2,
    proposals_pb2_grpc,
)
from clients.advice import ProposalStatus, proposal_statuses
from clients.answer_deadline import AnswerDeadline
from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection, explained
from clients.patience import RetryBudget
from clients.questions import AsyncQuestions, Questions
from clients.seat import Seat

__all__ = ["Academy", "AcademyRefusedError", "AcademyUnavailableError", "AsyncAcademy", "Connection", "Seat"]

Request = TypeVar("Request")
Response = TypeVar("Response")


class Academy(Questions):
    """A connection for blocking calls; close it, or use it in a `with` block."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._channel = connection.channel()
        self._consultation = consultation_pb2_grpc.ConsultationServiceStub(self._channel)
        self._proposals = proposals_pb2_grpc.ProposalServiceStub(self._channel)
        self._contests = contests_pb2_grpc.ContestServiceStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._channel.close()

    def _call(self, method: Callable[..., Response], request: object) -> Response:
        patience = RetryBudget(self._connection.timeout)
        while True:
            try:
                return method(request, timeout=patience.left, metadata=self._connection.metadata)
            except grpc.RpcError as error:
                failure = explained(error)
            time.sleep(patience.pause(failure))

    def game(self, game_id: str) -> game_pb2.Game:
        """What ACADEMY knows of a game's board and rules of its libraries."""
        return self._call(self._contests.GetGame, contests_pb2.GetGameRequest(game_id=game_id)).game

    def average_length(self, game_id: str) -> float:
        """Plies of an average game as known now; endgame proposals are from the last 20 % of it."""
        request = contests_pb2.GetGameRequest(game_id=game_id)
        return self._call(self._contests.GetGame, request).average_length

    def contest(self, contest_id: str) -> contests_pb2.Contest:
        """Which game a contest is of, and who plays it."""
        request = contests_pb2.GetContestRequest(contest_id=contest_id)
        return self._call(self._contests.GetContest, request).contest

    def _look_up(
        self, request: consultation_pb2.LookUpOpeningRequest
    ) -> consultation_pb2.LookUpOpeningResponse:
        return self._call(self._consultation.LookUpOpening, request)

    def _match(
        self, request: consultation_pb2.MatchPatternsRequest
    ) -> consultation_pb2.MatchPatternsResponse:
        return self._call(self._consultation.MatchPatterns, request)

    def _match_successors(
        self, request: consultation_pb2.MatchSuccessorsRequest
    ) -> consultation_pb2.MatchSuccessorsResponse:
        return self._call(self._consultation.MatchSuccessors, request)

    def propose(self, seat: Seat, plies: int) -> list[ProposalStatus]:
        """Submit what the seat found worth proposing in a contest of `plies` plies.

        Where the game's settings allow fewer proposals than that, the best of them are submitted.
        """
        if not seat.has_moved:
            return []
        average_length = self.average_length(seat.game_id)
        request = seat.proposals(plies, average_length)
        if request is None:
            return []
        try:
            response = self._call(self._proposals.SubmitProposals, request)
        except AcademyRefusedError as refusal:
            request = _fewer_proposals(seat, plies, average_length, refusal)
            response = self._call(self._proposals.SubmitProposals, request)
        return proposal_statuses(response)

    def own_proposals(self, contest_id: str = "") -> Iterator[ProposalStatus]:
        """One's own proposals, newest first, with their verdicts and reasons."""
        request = proposals_pb2.ListProposalsRequest(contest_id=contest_id)
        while True:
            response = self._call(self._proposals.ListProposals, request)
            yield from proposal_statuses(response)
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token

    @contextmanager
    def stream(self) -> "Iterator[PlayStream]":
        """One stream for many questions: several times cheaper than calls of their own.

        Each answer is waited for as long as a call may take; when one does not come, the stream is
        closed, and every question raises AcademyUnavailableError.
        """
        questions: queue.SimpleQueue[consultation_pb2.PlayRequest | None] = queue.SimpleQueue()
        answers = self._consultation.Play(
            iter(questions.get, None),
            metadata=self._connection.metadata,
        )
        deadline = AnswerDeadline(self._connection.timeout, answers.cancel)
        try:
            yield PlayStream(questions, answers, deadline)
        finally:
            deadline.close()
            questions.put(None)
            answers.cancel()


class PlayStream(Questions):
    """Questions and answers on one stream, one after another."""

    def __init__(
        self,
        questions: "queue.SimpleQueue[consultation_pb2.PlayRequest | None]",
        answers: Iterator[consultation_pb2.PlayResponse],
        deadline: AnswerDeadline,
    ) -> None:
        self._questions = questions
        self._answers = answers
        self._deadline = deadline
        self._number = 0

    def _ask(self, request: consultation_pb2.PlayRequest) -> consultation_pb2.PlayResponse:
        patience = RetryBudget(self._deadline.seconds)
        while True:
            response = self._answer(request)
            refusal = _refusal(response)
            if refusal is None:
                return response
            time.sleep(patience.pause(refusal))

    def _answer(self, request: consultation_pb2.PlayRequest) -> consultation_pb2.PlayResponse:
        self._number += 1
        request.request_id = self._number
        self._questions.put(request)
        try:
            with self._deadline:
                return next(self._answers)
        except StopIteration:
            raise AcademyUnavailableError("the stream was ended by the server") from None
        except grpc.RpcError as error:
            raise (_late(self._deadline.seconds) if self._deadline.expired else explained(error)) from None

    def _look_up(
        self, request: consultation_pb2.LookUpOpeningRequest
    ) -> consultation_pb2.LookUpOpeningResponse:
        return self._ask(consultation_pb2.PlayRequest(opening=request)).opening

    def _match(
        self, request: consultation_pb2.MatchPatternsRequest
    ) -> consultation_pb2.MatchPatternsResponse:
        return self._ask(consultation_pb2.PlayRequest(patterns=request)).patterns

    def _match_successors(
        self, request: consultation_pb2.MatchSuccessorsRequest
    ) -> consultation_pb2.MatchSuccessorsResponse:
        return self._ask(consultation_pb2.PlayRequest(successors=request)).successors


class AsyncAcademy(AsyncQuestions):
    """A connection for asyncio; close it, or use it in an `async with` block."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._channel = connection.asyncio_channel()
        self._consultation = consultation_pb2_grpc.ConsultationServiceStub(self._channel)
        self._proposals = proposals_pb2_grpc.ProposalServiceStub(self._channel)
        self._contests = contests_pb2_grpc.ContestServiceStub(self._channel)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connection."""
        await self._channel.close()

    async def _call(
        self, method: "Callable[..., grpc.aio.UnaryUnaryCall[Request, Response]]", request: Request
    ) -> Response:
        patience = RetryBudget(self._connection.timeout)
        while True:
            try:
                return await method(request, timeout=patience.left, metadata=self._connection.metadata)
            except grpc.RpcError as error:
                failure = explained(error)
            await asyncio.sleep(patience.pause(failure))

    async def game(self, game_id: str) -> game_pb2.Game:
        """As `Academy.game`."""
        return (await self._call(self._contests.GetGame, contests_pb2.GetGameRequest(game_id=game_id))).game

    async def average_length(self, game_id: str) -> float:
        """As `Academy.average_length`."""
        request = contests_pb2.GetGameRequest(game_id=game_id)
        return (await self._call(self._contests.GetGame, request)).average_length

    async def contest(self, contest_id: str) -> contests_pb2.Contest:
        """As `Academy.contest`."""
        request = contests_pb2.GetContestRequest(contest_id=contest_id)
        return (await self._call(self._contests.GetContest, request)).contest

    async def _look_up(
        self, request: consultation_pb2.LookUpOpeningRequest
    ) -> consultation_pb2.LookUpOpeningResponse:
        return await self._call(self._consultation.LookUpOpening, request)

    async def _match(
        self, request: consultation_pb2.MatchPatternsRequest
    ) -> consultation_pb2.MatchPatternsResponse:
        return await self._call(self._consultation.MatchPatterns, request)

    async def _match_successors(
        self, request: consultation_pb2.MatchSuccessorsRequest
    ) -> consultation_pb2.MatchSuccessorsResponse:
        return await self._call(self._consultation.MatchSuccessors, request)

    async def propose(self, seat: Seat, plies: int) -> list[ProposalStatus]:
        """As `Academy.propose`."""
        if not seat.has_moved:
            return []
        average_length = await self.average_length(seat.game_id)
        request = seat.proposals(plies, average_length)
        if request is None:
            return []
        try:
            response = await self._call(self._proposals.SubmitProposals, request)
        except AcademyRefusedError as refusal:
            request = _fewer_proposals(seat, plies, average_length, refusal)
            response = await self._call(self._proposals.SubmitProposals, request)
        return proposal_statuses(response)

    async def own_proposals(self, contest_id: str = "") -> AsyncIterator[ProposalStatus]:
        """As `Academy.own_proposals`."""
        request = proposals_pb2.ListProposalsRequest(contest_id=contest_id)
        while True:
            response = await self._call(self._proposals.ListProposals, request)
            for status in proposal_statuses(response):
                yield status
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token

    @asynccontextmanager
    async def stream(self) -> "AsyncIterator[AsyncPlayStream]":
        """As `Academy.stream`."""
        call = self._consultation.Play(metadata=self._connection.metadata)
        try:
            yield AsyncPlayStream(call, self._connection.timeout)
        finally:
            call.cancel()


class AsyncPlayStream(AsyncQuestions):
    """Questions and answers on one stream, one after another."""

    def __init__(
        self,
        call: "grpc.aio.StreamStreamCall[consultation_pb2.PlayRequest, consultation_pb2.PlayResponse]",
        seconds: float,
    ) -> None:
        self._call = call
        self._seconds = seconds
        self._number = 0

    async def _ask(self, request: consultation_pb2.PlayRequest) -> consultation_pb2.PlayResponse:
        patience = RetryBudget(self._seconds)
        while True:
            response = await self._answer(request)
            refusal = _refusal(response)
            if refusal is None:
                return response
            await asyncio.sleep(patience.pause(refusal))

    async def _answer(self, request: consultation_pb2.PlayRequest) -> consultation_pb2.PlayResponse:
        if self._call.done():
            raise AcademyUnavailableError("the stream has ended")
        self._number += 1
        request.request_id = self._number
        try:
            async with asyncio.timeout(self._seconds):
                await self._call.write(request)
                response = await self._call.read()
        except TimeoutError:
            self._call.cancel()
            raise _late(self._seconds) from None
        except grpc.RpcError as error:
            raise explained(error) from None
        if not isinstance(response, consultation_pb2.PlayResponse):
            raise AcademyUnavailableError("the stream was ended by the server")
        return response

    async def _look_up(
        self, request: consultation_pb2.LookUpOpeningRequest
    ) -> consultation_pb2.LookUpOpeningResponse:
        return (await self._ask(consultation_pb2.PlayRequest(opening=request))).opening

    async def _match(
        self, request: consultation_pb2.MatchPatternsRequest
    ) -> consultation_pb2.MatchPatternsResponse:
        return (await self._ask(consultation_pb2.PlayRequest(patterns=request))).patterns

    async def _match_successors(
        self, request: consultation_pb2.MatchSuccessorsRequest
    ) -> consultation_pb2.MatchSuccessorsResponse:
        return (await self._ask(consultation_pb2.PlayRequest(successors=request))).successors


def _fewer_proposals(
    seat: Seat, plies: int, average_length: float, refusal: AcademyRefusedError
) -> proposals_pb2.SubmitProposalsRequest:
    """As many as there is room for. Raises the refusal where there is none, or it says something else."""
    if refusal.reason == "TOO_MANY_PROPOSALS":
        room = int(refusal.metadata["allowed"]) - int(refusal.metadata["held"])
        request = seat.proposals(plies, average_length, room) if room > 0 else None
        if request is not None:
            return request
    raise refusal


def _late(seconds: float) -> AcademyUnavailableError:
    return AcademyUnavailableError(
        f"no answer within {seconds:g} s: the stream is closed [DEADLINE_EXCEEDED]", "DEADLINE_EXCEEDED"
    )


def _refusal(response: consultation_pb2.PlayResponse) -> AcademyRefusedError | None:
    """The refusal that an answer is, None for any other."""
    if response.WhichOneof("answer") != "refusal":
        return None
    refusal = response.refusal
    code = next((each.name for each in grpc.StatusCode if each.value[0] == refusal.code), "UNKNOWN")
    later = refusal.metadata.get("retry_after")
    return AcademyRefusedError(
        code, refusal.message, refusal.reason, refusal.metadata, None if later is None else float(later)
    )
