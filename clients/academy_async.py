"""The client of ACADEMY for asyncio.

`clients/academy.py`, the client for blocking calls, is generated from this file: `make unasync`. A client
that asks faster than ACADEMY's limits allow waits for as long as ACADEMY says, at most for as long as a call
may take.
"""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Self, TypeVar

import grpc

from academy.knowledge.boards import Board
from academy.knowledge.fair_use import FairUse
from academy.knowledge.node_analysis import MAX_BUDGET
from academy.knowledge.spec import GameSpec
from academy.v1 import (
    consultation_pb2,
    consultation_pb2_grpc,
    contests_pb2,
    contests_pb2_grpc,
    game_pb2,
    libraries_pb2,
    libraries_pb2_grpc,
    proposals_pb2,
    proposals_pb2_grpc,
)
from clients.connection import AcademyRefusedError, Connection, to_client_error
from clients.position_checks import check_game, check_moves, check_number
from clients.responses import (
    Advice,
    Analysis,
    BookMove,
    OpeningMove,
    PatternMatch,
    ProposalStatus,
    SuccessorMatches,
    advice,
    fair_use_of,
    opening_moves,
    opponent_gains,
    pattern_matches,
    proposal_statuses,
    refusal_of,
    successor_matches,
)
from clients.retries import RetryBudget
from clients.seat import ANY_MATCHES, MatchOptions, Seat
from clients.streams import AsyncAnswerStream

if TYPE_CHECKING:
    from clients.local_weights import LocalWeights

Response = TypeVar("Response")


class AsyncQuestions(ABC):
    """What a bot can ask of ACADEMY's libraries, by calls or on a stream."""

    @abstractmethod
    async def _ask(self, question: str, request: Any) -> Any:
        """Ask, by the question's name in `PlayRequest`."""

    async def opening(self, seat: Seat, moves: Sequence[str], own_moves: int) -> list[OpeningMove]:
        """Look up the known continuations of an opening.

        Args:
            seat: the seat that asks; the question counts for its fair use.
            moves: all moves of the contest so far, in the game's notation.
            own_moves: how many of them the seat made.

        Returns:
            The continuations, best for the player to move first; empty where none is known.

        Raises:
            FairUseError: the seat may not ask before this move; `Seat.allows_opening` says so beforehand.
            ValueError: `moves` is one text.
            AcademyRefusedError: ACADEMY refused.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        return opening_moves(await self._ask("opening", seat.build_opening_request(moves, own_moves)))

    async def book_move(self, seat: Seat, moves: Sequence[str], own_moves: int) -> BookMove | None:
        """Find the move that the opening tree recommends; it can be played at once.

        ACADEMY is asked where fair use has room for it. In between, the seat goes on with what the last
        answer holds of what may follow, in games with the setting `opening_plies_ahead`.

        Args:
            seat: the seat that asks; a question counts for its fair use.
            moves: all moves of the contest so far, in the game's notation.
            own_moves: how many of them the seat made.

        Returns:
            The move; None where the tree recommends none, or may not be asked.

        Raises:
            ValueError: `moves` is one text.
            AcademyRefusedError: ACADEMY refused.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        if not seat.allows_opening(own_moves):
            return seat.held_book_move(moves)
        request = seat.build_book_request(moves, own_moves)
        recommended = advice(request, await self._ask("advice", request)).book
        seat.hold_book(moves, recommended)
        return recommended

    async def patterns(
        self,
        seat: Seat,
        boards: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        options: MatchOptions = ANY_MATCHES,
        both_players: bool = False,
    ) -> list[list[PatternMatch]]:
        """Find the patterns that lie on boards.

        Args:
            seat: the seat that asks.
            boards: the boards, such as those after each candidate move.
            expected_value: what the seat expects of the position to move in, from 0 (a loss) to 1 (a win). In
                a contest it must be at most its `pattern_value_limit`, by LUDAE's rules 0.33, and the value
                that the arena hears of this position.
            plies: how many plies led to that position. Without it ACADEMY takes the first board for the
                position's; in a contest of more than two players it refuses then.
            options: which patterns.
            both_players: whether the answer has the opponent's patterns too.

        Returns:
            A list for each board, strongest patterns first.

        Raises:
            FairUseError: too much is expected; `Seat.allows_patterns` says so beforehand.
            ValueError: `plies` is negative or more than a message holds.
            AcademyRefusedError: ACADEMY refused.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        request = seat.build_pattern_request(
            boards, expected_value, plies=plies, options=options, both_players=both_players
        )
        return pattern_matches(await self._ask("patterns", request))

    async def opponent_gains(
        self,
        seat: Seat,
        board: Board,
        after: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        options: MatchOptions = ANY_MATCHES,
    ) -> list[list[PatternMatch]]:
        """Find the opponent's patterns that lie on boards, but not on the present one.

        This is the question of `patterns` for `board` and `after` with `both_players`, and its limits hold.

        Args:
            seat: the seat that asks.
            board: the board of the position to move in.
            after: the boards to compare with it.
            expected_value: as for `patterns`.
            plies: how many plies led to `board`.
            options: which patterns.

        Returns:
            A list for each of the boards `after`, strongest patterns first.

        Raises:
            FairUseError: as for `patterns`.
            ValueError: as for `patterns`.
            AcademyRefusedError: ACADEMY refused.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        request = seat.build_pattern_request(
            [board, *after], expected_value, plies=plies, options=options, both_players=True
        )
        return opponent_gains(await self._ask("patterns", request))

    async def successors(
        self,
        seat: Seat,
        board: Board,
        after: Sequence[Board],
        expected_value: float | None = None,
        *,
        plies: int | None = None,
        options: MatchOptions = ANY_MATCHES,
    ) -> SuccessorMatches:
        """Find the patterns on a board, and what each of some moves changes of them.

        Args:
            seat: the seat that asks.
            board: the board of the position to move in.
            after: the boards after each move, at most 400, of the size of `board`.
            expected_value: as for `patterns`.
            plies: how many plies led to `board`.
            options: which patterns.

        Returns:
            The matches on `board`, and for each move those gained and lost.

        Raises:
            FairUseError: as for `patterns`.
            ValueError: as for `patterns`, or a board has another size.
            AcademyRefusedError: ACADEMY refused.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        request = seat.build_successor_request(board, after, expected_value, plies=plies, options=options)
        return successor_matches(await self._ask("successors", request))

    async def advise(
        self,
        seat: Seat,
        board: Board,
        moves: Sequence[int] | Sequence[Board] = (),
        expected_value: float | None = None,
        *,
        line: Sequence[str] | None = None,
        plies: int | None = None,
    ) -> Advice:
        """Compare moves by all that ACADEMY knows, and find the move that the opening tree recommends.

        What fair use does not allow now is not asked; the answer says what was.

        Args:
            seat: the seat that asks.
            board: the board of the position to move in.
            moves: the moves to compare: the empty cells that they go to, by index, or the boards after them.
                Where empty, all cells that a sensible move may go to.
            expected_value: as for `patterns`; None not to compare moves in a contest.
            line: all moves of the contest so far, to ask for the book's move, too, in games of two who move
                in turn.
            plies: how many plies led to `board`, where there is no `line`. Without either ACADEMY finds out
                by the board which ply `expected_value` is about.

        Returns:
            A number for each move, the book's move, and what they rest on.

        Raises:
            ValueError: a board has another size, or no such cell, `plies` is negative or more than a message
                holds, or `line` is one text.
            AcademyRefusedError: ACADEMY refused.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        request = seat.build_advice_request(board, moves, expected_value, line=line, plies=plies)
        answer = Advice() if request is None else advice(request, await self._ask("advice", request))
        if line is None:
            return answer
        if answer.opening_asked:
            seat.hold_book(line, answer.book)
            return answer
        return replace(answer, book=seat.held_book_move(line))


class AsyncAcademy(AsyncQuestions):
    """A connection to ACADEMY; close it, or use it in an `async with` block.

    Args:
        connection: where ACADEMY is, and who asks; what `Connection.from_environment` returns.

    Raises:
        OSError: a certificate cannot be read.
        ValueError: the environment names no ACADEMY.
    """

    def __init__(self, connection: Connection | None) -> None:
        if connection is None:
            raise ValueError("where is ACADEMY? Set ACADEMY_ADDRESS to host:port, or give a Connection")
        self._connection = connection
        self._channel = connection.asyncio_channel()
        self._consultation = consultation_pb2_grpc.ConsultationServiceStub(self._channel)
        self._questions: dict[str, Any] = {
            "opening": self._consultation.LookUpOpening,
            "patterns": self._consultation.MatchPatterns,
            "successors": self._consultation.MatchSuccessors,
            "advice": self._consultation.Advise,
        }
        self._proposals = proposals_pb2_grpc.ProposalServiceStub(self._channel)
        self._contests = contests_pb2_grpc.ContestServiceStub(self._channel)
        self._libraries = libraries_pb2_grpc.LibraryServiceStub(self._channel)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connection."""
        await self._channel.close()

    async def _call(self, method: Callable[..., Awaitable[Response]], request: object) -> Response:
        budget = RetryBudget(self._connection.timeout)
        while True:
            try:
                return await method(request, timeout=budget.left, metadata=self._connection.metadata)
            except grpc.RpcError as error:
                failure = to_client_error(error)
            await asyncio.sleep(budget.pause(failure))

    async def game(self, game_id: str) -> game_pb2.Game:
        """Return what ACADEMY knows of a game's board and the rules of its libraries.

        Args:
            game_id: ACADEMY's name of the game, such as `go-9x9`.

        Raises:
            AcademyRefusedError: ACADEMY refused, or does not know the game.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        return (await self._call(self._contests.GetGame, contests_pb2.GetGameRequest(game_id=game_id))).game

    async def average_length(self, game_id: str) -> float:
        """Return the plies of an average contest; endgame proposals are from the last 20 % of it.

        Args:
            game_id: ACADEMY's name of the game.

        Raises:
            AcademyRefusedError: ACADEMY refused, or does not know the game.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        request = contests_pb2.GetGameRequest(game_id=game_id)
        return (await self._call(self._contests.GetGame, request)).average_length

    async def fair_use(self, game_id: str) -> FairUse:
        """Return how much players may lean on a game's libraries in contests, for their `Seat`.

        Args:
            game_id: ACADEMY's name of the game, such as `go-9x9`.

        Raises:
            AcademyRefusedError: ACADEMY refused, or does not know the game.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        return fair_use_of((await self.game(game_id)).settings)

    async def weights(self, seat: Seat, spec: GameSpec) -> "LocalWeights":
        """Download the weights of a game's evaluation and tesujis, to think with them without asking.

        What this process has of them is not sent again, whichever connection it came by. In games without the
        setting `local_weights` players may not.

        Args:
            seat: the seat that asks; in a contest it is counted as a use.
            spec: the game, as the referee's `spec()` has it.

        Returns:
            The weights as ACADEMY has them now; the same object as before where nothing has changed.

        Raises:
            ValueError: ACADEMY's game of the seat has another board than `spec`.
            AcademyRefusedError: ACADEMY refused; the reason is LOCAL_WEIGHTS_OFF where players may not.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        # It needs NumPy, which takes longer to load than the rest of the library.
        from clients.local_weights import LocalWeights, held_weights, hold_weights

        place = self._connection.address, seat.game_id, spec
        known = held_weights.get(place)
        if known is None:
            check_game(spec, await self.game(seat.game_id))
        request = consultation_pb2.DownloadWeightsRequest(
            game_id=seat.game_id,
            contest_id=seat.contest_id,
            player=seat.player,
            known_revision=known.revision if known else "",
        )
        answer = await self._call(self._consultation.DownloadWeights, request)
        if known is None or not answer.unchanged:
            known = LocalWeights(spec, answer)
            hold_weights(place, known)
        return known

    async def contest(self, contest_id: str) -> contests_pb2.Contest:
        """Return which game a contest is of, and who plays it.

        Args:
            contest_id: the contest.

        Raises:
            AcademyRefusedError: ACADEMY refused, or does not know the contest.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        request = contests_pb2.GetContestRequest(contest_id=contest_id)
        return (await self._call(self._contests.GetContest, request)).contest

    async def seat(self, spec: GameSpec, contest_id: str = "", player: int = 0) -> Seat:
        """Return a seat with ACADEMY's name of its contest's game, and the contest's rules of fair use.

        Args:
            spec: the game, as the referee's `spec()` has it.
            contest_id: the contest; "" for ACADEMY_CONTEST. Without either the seat is for analysis outside a
                contest, of the game that ACADEMY_GAME or else `spec` names; ACADEMY is not called.
            player: the seat's number, from 1; 0 for ACADEMY_PLAYER, without which analysis has seat 1.

        Returns:
            The seat, for all questions and proposals of the contest.

        Raises:
            ValueError: `player` and ACADEMY_PLAYER give no number from 1 to 64, or the contest's game has
                another board than `spec`.
            AcademyRefusedError: ACADEMY refused, or does not know the contest.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        contest_id = contest_id or os.environ.get("ACADEMY_CONTEST", "")
        number = str(player or os.environ.get("ACADEMY_PLAYER") or ("" if contest_id else 1))
        if not number.isdecimal() or int(number) < 1:
            raise ValueError(f"seat {number!r}: set ACADEMY_PLAYER, or give `player`: a number from 1")
        if not contest_id:
            return Seat(os.environ.get("ACADEMY_GAME") or spec.game_id, spec.geometry, int(number))
        contest = await self.contest(contest_id)
        game = await self.game(contest.game_id)
        check_game(spec, game)
        rules = fair_use_of(contest.fair_use if contest.HasField("fair_use") else game.settings)
        return Seat(contest.game_id, spec.geometry, int(number), contest_id, rules)

    async def statistics(self, game_id: str) -> libraries_pb2.GetStatisticsResponse:
        """Return how much is known of a game, and how many contests are open at the server.

        Args:
            game_id: ACADEMY's name of the game.

        Raises:
            AcademyRefusedError: ACADEMY refused, or does not know the game.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        request = libraries_pb2.GetStatisticsRequest(game_id=game_id)
        return await self._call(self._libraries.GetStatistics, request)

    async def own_statistics(self) -> list[libraries_pb2.PlayerStatistics]:
        """Return what the holder of a player's token did in each game: proposals, help given and taken.

        Raises:
            AcademyRefusedError: ACADEMY refused, as it does an admin, who may ask for anybody's.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        request = libraries_pb2.ListPlayerStatisticsRequest()
        return list((await self._call(self._libraries.ListPlayerStatistics, request)).players)

    async def report_analysis(self, game_id: str, moves: Sequence[str], analysis: Analysis) -> bool:
        """Tell ACADEMY what a search found out about a line of the opening tree: for analysts and admins.

        Args:
            game_id: ACADEMY's name of the game.
            moves: the line, at least one move.
            analysis: what the player of the last move may expect, and how it was searched; the analyst is the
                caller, whatever it says.

        Returns:
            Whether it was news: the tree has the line, and nobody had searched it in another way or as long.

        Raises:
            ValueError: the budget is less than 1 or more than 1,000,000,000, or `moves` is one text.
            AcademyRefusedError: ACADEMY refused.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        check_moves("moves", moves)
        check_number("budget", analysis.budget, 1, MAX_BUDGET)
        line = libraries_pb2.LineAnalysis(
            moves=moves,
            value=analysis.value,
            budget=analysis.budget,
            kind=analysis.kind.value,  # type: ignore[arg-type]
        )
        request = libraries_pb2.AnalyseOpeningsRequest(game_id=game_id, lines=[line])
        return bool((await self._call(self._libraries.AnalyseOpenings, request)).counted)

    async def delete_tesuji(self, game_id: str, code: int) -> libraries_pb2.DeleteTesujiResponse:
        """Delete a tesuji of a game: for admins. `academy removals restore` undoes it.

        Args:
            game_id: ACADEMY's name of the game.
            code: the tesuji's code, as in `Advice.tesuji_ids`.

        Returns:
            The tesuji as it was, and the number of its removal.

        Raises:
            ValueError: the code is below 0 or has more than 63 bits.
            AcademyRefusedError: ACADEMY refused, or the game has no tesuji of this code.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        check_number("code", code, 0, 2**63 - 1)
        request = libraries_pb2.DeleteTesujiRequest(game_id=game_id, code=code)
        return await self._call(self._libraries.DeleteTesuji, request)

    async def _ask(self, question: str, request: Any) -> Any:
        return await self._call(self._questions[question], request)

    async def propose(self, seat: Seat, plies: int, *, over: bool = True) -> list[ProposalStatus]:
        """Submit the seat's best new patterns, up to the number that the game allows.

        Args:
            seat: the seat, with its moves recorded by `Seat.record_move`.
            plies: how many plies the contest had.
            over: whether the contest is over; False for a bot that proposes while it plays.

        Returns:
            The proposals and their verdicts so far; empty where nothing is worth proposing, or there is no
            room for more proposals in the contest.

        Raises:
            AcademyRefusedError: ACADEMY refused.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
        if not seat.has_moved:
            return []
        known = await self._call(self._contests.GetGame, contests_pb2.GetGameRequest(game_id=seat.game_id))
        length, most = known.average_length, known.game.settings.max_submissions_per_contest
        request = seat.build_proposals(plies, length, most, over=over)
        if request is None:
            return []
        try:
            response = await self._call(self._proposals.SubmitProposals, request)
        except AcademyRefusedError as refusal:
            if refusal.reason != "TOO_MANY_PROPOSALS":
                raise
            # ACADEMY holds some that this seat does not know of.
            room = int(refusal.metadata["allowed"]) - int(refusal.metadata["held"])
            request = seat.build_proposals(plies, length, seat.submitted + room, over=over)
            if request is None:
                return []
            response = await self._call(self._proposals.SubmitProposals, request)
        seat.note_submitted(request)
        return proposal_statuses(response)

    async def own_proposals(self, contest_id: str = "") -> AsyncIterator[ProposalStatus]:
        """List the client's own proposals, newest first, with their verdicts and reasons.

        Args:
            contest_id: the contest; "" for all.

        Yields:
            The proposals, as they are now.

        Raises:
            AcademyRefusedError: ACADEMY refused.
            AcademyUnavailableError: ACADEMY did not answer in time.
        """
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
        """Open one stream for many questions: several times cheaper than calls of their own.

        Each answer may take as long as a call. When one does not come, the stream is closed, and every
        question raises AcademyUnavailableError.

        Yields:
            The stream, which has the same questions as the client.
        """
        answers = AsyncAnswerStream(self._consultation.Play, self._connection)
        try:
            yield AsyncPlayStream(answers)
        finally:
            answers.close()


class AsyncPlayStream(AsyncQuestions):
    """Questions and answers on one stream, one after another; `stream` opens it.

    Threads or tasks may share it: each question waits for the answer of the question before it.
    """

    def __init__(self, answers: AsyncAnswerStream) -> None:
        self._answers = answers
        self._numbers = count(1)

    async def _ask(self, question: str, request: Any) -> Any:
        budget = RetryBudget(self._answers.seconds)
        while True:
            numbered = consultation_pb2.PlayRequest(request_id=next(self._numbers), **{question: request})
            response = await self._answers.ask(numbered, budget.left)
            refusal = refusal_of(response)
            if refusal is None:
                return getattr(response, question)
            await asyncio.sleep(budget.pause(refusal))
