"""Answers the questions of bots, in single calls and on streams; contests are under fair use."""

from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import chain
from typing import Final

import grpc

from academy.knowledge.boards import Board, InvalidBoardError
from academy.knowledge.claims import Claim
from academy.knowledge.evaluation import EVALUATION_IN_USES
from academy.knowledge.fair_use import FairUse, FairUseExceededError
from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.uses import WEIGHTS_IN_USES, uses_by_kind
from academy.matching import kernels
from academy.service.access import ContestAccess, ContestSeat, current_caller
from academy.service.advice import MoveAdvice, moves_to_compare
from academy.service.answers import (
    NO_WEIGHTS,
    PatternCall,
    PatternQuestion,
    SuccessorAnswer,
    answer_opening,
    answer_weights,
)
from academy.service.books import Reader
from academy.service.consultation_counts import AnalysisAllowance, ContestCounts
from academy.service.cost import (
    cost_of_advice,
    cost_of_board,
    cost_of_listing,
    cost_of_moves,
    cost_of_position,
    cost_of_positions,
    cost_of_successors,
    split_moves,
)
from academy.service.errors import (
    AnswerTooLargeError,
    InvalidFieldError,
    LocalWeightsOffError,
    is_expected,
    require,
    to_status,
    to_stream_refusal,
)
from academy.service.game_cache import CachedGame, GameCache
from academy.service.interceptor import CallInterceptor, Context
from academy.service.limits import Limits
from academy.service.moves import CandidateMoveChange, check_line, parse_candidate_moves, read_changes
from academy.service.scheduling import QUESTIONS_AT_ONCE, FairScheduler
from academy.store import keys
from academy.store.codec.contests import MAX_PLIES
from academy.store.codec.field_rules import check_value
from academy.store.codec.games import library_to_proto, pattern_library_from_proto
from academy.store.library_store import Store
from academy.store.replica import GameView
from academy.store.tokens import Caller
from academy.v1 import consultation_pb2 as messages
from academy.v1 import consultation_pb2_grpc, contests_pb2

Response = messages.MatchPatternsResponse | messages.MatchSuccessorsResponse
# Answers with at most this number of matches fit into any message.
_SURELY_SMALL: Final = 10_000
_SOME_PATTERNS: Final = 3


class ConsultationServicer(consultation_pb2_grpc.ConsultationServiceServicer):
    """academy.v1.ConsultationService."""

    def __init__(
        self,
        store: Store,
        games: GameCache,
        access: ContestAccess,
        guard: CallInterceptor,
    ) -> None:
        self._games = games
        self._access = access
        self._guard = guard
        self._limits = guard.limits
        self._metrics = guard.metrics
        self._counts = ContestCounts(store)
        self._allowance = AnalysisAllowance(store, guard.limits.patterns_outside_contests_per_hour)
        self._scheduler = FairScheduler()

    async def LookUpOpening(
        self, request: messages.LookUpOpeningRequest, context: Context
    ) -> messages.LookUpOpeningResponse:
        """Return the statistics of the position after a list of moves."""
        caller = current_caller.get()
        self._check_moves(request.moves, caller)
        game = await self._games.game(request.game_id)
        spec = game.view.spec
        seat = self._access.find_asking_seat(caller, spec, request.contest_id, request.player)
        return self._ask_opening(caller, seat, game, request.player, request.moves)

    def _ask_opening(
        self,
        caller: Caller,
        seat: ContestSeat | None,
        game: CachedGame,
        player: int,
        moves: Sequence[str],
    ) -> messages.LookUpOpeningResponse:
        """Return what is known of a line, with the player's number of such questions."""
        self._metrics.questions["opening"] += 1
        spec, rules = game.view.spec, _rules_of(seat, game.view)
        reader = Reader.of(self._access.elo(caller, seat, spec.game_id), rules)
        # With more players, or when all move at once, the next recommended move would not be the asker's.
        ahead = rules.opening_plies_ahead if spec.two_in_turn else 0
        known = answer_opening(game.books.of(game.view.openings, reader), player, ahead, tuple(moves))
        if seat is not None:
            # With what the player will read: what cannot be counted is not answered.
            book = known.recommendation
            short = contests_pb2.OpeningAnswer(move=book.move, value=book.value, visits=known.position.visits)
            known.consultations = self._counts.count_opening_question(
                seat, game.view.openings, moves, rules, short
            )
        return known

    async def MatchPatterns(
        self, request: messages.MatchPatternsRequest, context: Context
    ) -> messages.MatchPatternsResponse:
        """Return the patterns that occur on each position."""
        caller = current_caller.get()
        libraries = _read_libraries(request, self._limits)
        self._check_positions(request)
        count, most = len(request.positions), request.max_matches or self._limits.default_matches
        game = await self._games.game(request.game_id)
        spec = game.view.spec
        position_cost = cost_of_position(cost_of_board(spec.geometry.size), most, request.both_players)
        self._guard.charge_rest(caller, cost_of_positions(count, position_cost, request.include_cells))
        if request.both_players:
            require(
                spec.players == 2,
                "both_players",
                f"{spec.game_id} has {spec.players} players: only games of two have an opponent",
                players=spec.players,
            )
        questions, claims = self._read_questions(caller, request, game.view)
        # Taken now, so that the call does not see what the library learns while it waits.
        stored = game.stored_patterns() if request.include_cells else None
        call = PatternCall(spec, game.patterns.ranked, libraries, questions)
        if count * position_cost <= QUESTIONS_AT_ONCE:
            written = call.answer()
        else:
            written = await self._scheduler.answer(call, caller.name, position_cost)
        await self._count_answer(caller, spec, claims, written.table.pattern_ids(libraries))
        response = written.message
        if stored is not None:
            response.patterns.cells.extend(written.cells(stored))
        self._metrics.questions["position"] += count
        if written.matches_listed > _SURELY_SMALL or request.include_cells:
            self._check_size(response)
        return response

    async def MatchSuccessors(
        self, request: messages.MatchSuccessorsRequest, context: Context
    ) -> messages.MatchSuccessorsResponse:
        """Return the patterns that occur on a position, and how candidate moves change them."""
        caller = current_caller.get()
        libraries = _read_libraries(request, self._limits)
        candidates = parse_candidate_moves(request.moves, self._limits)
        self._check_matches(request.max_matches, 1 + len(candidates), "position and moves")
        most = request.max_matches or self._limits.default_matches
        game = await self._games.game(request.game_id)
        spec = game.view.spec
        board = cost_of_board(spec.geometry.size)
        self._guard.charge_rest(caller, cost_of_successors(candidates, board, most, request.include_cells))
        # A position with its successors is checked like one without.
        matching = messages.MatchPatternsRequest(
            contest_id=request.contest_id,
            positions=[request.position],
            max_matches=request.max_matches,
            max_matches_each=request.max_matches_each,
        )
        (question,), claims = self._read_questions(caller, matching, game.view, ("position",))
        moves = read_changes(candidates, spec.geometry)
        stored = game.stored_patterns() if request.include_cells else None
        answer = SuccessorAnswer(spec, game.patterns.ranked, libraries, question)
        for part in split_moves(moves, board, kernels.in_use()):
            await self._scheduler.wait(caller.name)
            answer.add(part)
        written = answer.encode()
        await self._count_answer(caller, spec, claims, written.table.pattern_ids(libraries))
        response = written.message
        if stored is not None:
            response.patterns.cells.extend(written.cells(stored))
        self._metrics.questions["position"] += 1
        self._metrics.questions["successor"] += len(moves)
        self._check_size(response)
        return response

    async def Advise(self, request: messages.AdviseRequest, context: Context) -> messages.AdviseResponse:
        """Return how good candidate moves are, and the move that the book recommends."""
        caller = current_caller.get()
        candidates = self._check_candidates(request)
        asks_book = request.HasField("opening")
        if asks_book:
            self._check_moves(request.opening.moves, caller, "opening.moves")
        position = request.position
        require(
            bool(position.board) or not (candidates or request.cells),
            "position.board",
            "empty, but there are moves or cells to compare: give the board that they belong to, or neither",
        )
        game = await self._games.game(request.game_id)
        seat = self._access.find_asking_seat(
            caller, game.view.spec, request.contest_id, position.player, "position.player"
        )
        rules = _rules_of(seat, game.view)
        value = position.expected_value if position.HasField("expected_value") else None
        if value is not None:
            check_value("position.expected_value", value)
        compares = bool(position.board or not asks_book) and (seat is None or rules.allows_patterns(value))
        if not (compares or asks_book):
            rules.check_patterns(value)
        advice, claims = None, dict[ContestSeat, Claim]()
        if compares and game.view.spec.two_in_turn:
            advice, claims = self._begin_advice(caller, request, game, candidates)
        answer = messages.AdviseResponse()
        if asks_book:
            try:
                self._add_book(answer, caller, seat, game, request)
            except FairUseExceededError:
                # A part that fair use does not allow now is left out, except the last one.
                if advice is None:
                    raise
        if advice is not None:
            await self._compare(caller, claims, advice)
            advice.write(answer, request.include_ids)
            if not candidates and not request.cells:
                answer.cells.extend(move.cell for move in advice.moves if move.cell is not None)
        return answer

    def _add_book(
        self,
        answer: messages.AdviseResponse,
        caller: Caller,
        seat: ContestSeat | None,
        game: CachedGame,
        request: messages.AdviseRequest,
    ) -> None:
        """Write the move that the book recommends. Raises FairUseExceededError."""
        known = self._ask_opening(caller, seat, game, request.position.player, request.opening.moves)
        answer.consultations, answer.opening_asked = known.consultations, True
        if known.HasField("recommendation"):
            answer.book.CopyFrom(known.recommendation)

    async def _compare(self, caller: Caller, claims: Mapping[ContestSeat, Claim], advice: MoveAdvice) -> None:
        """Find all that is known of the moves, and count what that rests on."""
        spec = advice.game.view.spec
        advice.add_tesujis()
        advice.add_evaluation()
        if advice.replies:
            search = advice.search()
            for part in split_moves(advice.replies, cost_of_board(spec.geometry.size), kernels.in_use()):
                await self._scheduler.wait(caller.name)
                search.add(part)
            advice.add_patterns(search)
        await self._count_answer(caller, spec, claims, advice.uses, advice.best_cell)
        self._metrics.questions["advice"] += 1

    def _check_candidates(self, request: messages.AdviseRequest) -> list[CandidateMoveChange]:
        """Check the number of moves and cells, and return the moves' changes."""
        count, most = len(request.cells), self._limits.cells_per_call
        require(count <= most, "cells", f"{count:,} cells: at most {most:,}", value=count, limit=most)
        if not request.moves:
            return []
        require(not count, "cells", "cells and moves were both given: give one of them", value=count)
        return parse_candidate_moves(request.moves, self._limits)

    def _begin_advice(
        self,
        caller: Caller,
        request: messages.AdviseRequest,
        game: CachedGame,
        candidates: list[CandidateMoveChange],
    ) -> tuple[MoveAdvice, dict[ContestSeat, Claim]]:
        """Check the position, and return the moves to compare and what is claimed of it."""
        matching = messages.MatchPatternsRequest(contest_id=request.contest_id, positions=[request.position])
        spec = game.view.spec
        (question,), claims = self._read_questions(caller, matching, game.view, ("position",))
        moves = moves_to_compare(spec, question.board, question.player, request.cells, candidates)
        cost = cost_of_advice(len(moves), candidates, cost_of_board(spec.geometry.size))
        self._guard.charge_rest(caller, cost)
        return MoveAdvice(game, question, moves), claims

    async def DownloadWeights(
        self, request: messages.DownloadWeightsRequest, context: Context
    ) -> messages.DownloadWeightsResponse:
        """Return the weights of a game's evaluation and tesujis."""
        caller = current_caller.get()
        game = await self._games.game(request.game_id)
        view = game.view
        seat = self._access.find_asking_seat(caller, view.spec, request.contest_id, request.player)
        free = seat is None and caller.analyses_freely
        if seat is not None:
            self._counts.check_claims(seat)
        rules = _rules_of(seat, view)
        if not (free or rules.local_weights):
            raise LocalWeightsOffError(view.spec.game_id, in_game=not view.settings.local_weights)
        least_elo = self._access.least_elo(caller, seat, request.game_id, rules)
        evaluation, tesujis = view.answered_evaluation, view.answered_tesujis
        # That a caller has the newest revision is known only when the whole answer is made.
        self._guard.charge_rest(caller, cost_of_listing(len(evaluation.codes) + len(tesujis)))
        answer = answer_weights(evaluation, tesujis, least_elo, request.known_revision)
        if seat is not None:
            self._counts.note_uses(seat, Library.MIDDLE_GAME, _weights_used(answer))
        self._metrics.questions["weights"] += 1
        if not answer.unchanged:
            context.set_compression(grpc.Compression.Gzip)
            # Without this gRPC sends metadata with the answer, and forgets the compression.
            await context.send_initial_metadata(())
        return answer

    async def Play(
        self, request_iterator: AsyncIterator[messages.PlayRequest], context: Context
    ) -> AsyncIterator[messages.PlayResponse]:
        """Answer questions in the order of their arrival; a refusal is an answer too."""
        caller = current_caller.get()
        async for request in request_iterator:
            answer = messages.PlayResponse(request_id=request.request_id)
            try:
                self._guard.charge(caller, 1)
                match request.WhichOneof("question"):
                    case "opening":
                        answer.opening.CopyFrom(await self.LookUpOpening(request.opening, context))
                    case "patterns":
                        answer.patterns.CopyFrom(await self.MatchPatterns(request.patterns, context))
                    case "successors":
                        answer.successors.CopyFrom(await self.MatchSuccessors(request.successors, context))
                    case "advice":
                        answer.advice.CopyFrom(await self.Advise(request.advice, context))
                    case _:
                        raise InvalidFieldError(
                            "question", "neither opening, patterns, successors nor advice were asked about"
                        )
            except Exception as error:
                # An incident ends the stream, as it would end a call.
                if not is_expected(error):
                    raise
                status = to_status(error)
                self._metrics.stream_refusals[status.reason] += 1
                answer.refusal.CopyFrom(to_stream_refusal(status))
            yield answer

    def _check_moves(self, moves: Sequence[str], caller: Caller, field: str = "moves") -> None:
        check_line(moves, self._limits, field)
        self._guard.charge_rest(caller, cost_of_moves(len(moves)))

    def _check_positions(self, request: messages.MatchPatternsRequest) -> None:
        count, most = len(request.positions), self._limits.positions_per_call
        if not 1 <= count <= most:
            raise InvalidFieldError(
                "positions", f"{count:,} positions: 1 to {most:,}", value=count, limit=most
            )
        self._check_matches(request.max_matches, count, "positions")

    def _check_matches(self, max_matches: int, count: int, what: str) -> None:
        most = self._limits.matches_per_position
        if max_matches > most:
            raise InvalidFieldError(
                "max_matches", f"{max_matches:,}: at most {most:,}", value=max_matches, limit=most
            )
        matches = max_matches or self._limits.default_matches
        total, most = count * matches, self._limits.matches_per_call
        if total > most:
            raise InvalidFieldError(
                "max_matches",
                f"{count:,} {what} of {matches:,} matches each are {total:,}: at most {most:,} a call",
                value=total,
                limit=most,
            )

    def _check_size(self, response: Response) -> None:
        size = response.ByteSize()
        if size > self._limits.message_bytes:
            raise AnswerTooLargeError(size, self._limits.message_bytes)

    async def _count_answer(
        self,
        caller: Caller,
        spec: GameSpec,
        claims: Mapping[ContestSeat, Claim],
        uses: dict[Library, list[int]],
        best_cell: int | None = None,
    ) -> None:
        """Count what the answer rests on: as uses in a contest, its patterns against the allowance outside.

        In a contest the answer is kept in short with what the player claimed.

        Raises AnalysisExceededError.
        """
        if not claims:
            patterns = uses_by_kind(chain.from_iterable(uses.values())).patterns
            await self._allowance.take(caller, spec.game_id, patterns)
        for seat, claim in claims.items():
            self._counts.note_answer(seat, claim, _in_short(uses, best_cell), uses)

    def _read_questions(
        self,
        caller: Caller,
        request: messages.MatchPatternsRequest,
        view: GameView,
        fields: Sequence[str] = (),
    ) -> tuple[list[PatternQuestion], dict[ContestSeat, Claim]]:
        """Check all positions before any is answered; `fields` are their names if not `positions[i]`.

        In a contest also return what each asking seat claims.
        """
        spec = view.spec
        contest_id, both = request.contest_id, request.both_players
        most = request.max_matches or self._limits.default_matches
        most_each = request.max_matches_each or self._limits.default_matches_each
        questions = []
        seats: dict[int, tuple[ContestSeat | None, float | None]] = {}
        for place, position in enumerate(request.positions):
            field = fields[place] if fields else f"positions[{place}]"
            player = position.player
            if player not in seats:
                seat = self._access.find_asking_seat(caller, spec, contest_id, player, f"{field}.player")
                if seat is not None:
                    _check_says_where(position, spec, field)
                rules = _rules_of(seat, view)
                seats[player] = seat, self._access.least_elo(caller, seat, spec.game_id, rules)
            seat, least_elo = seats[player]
            value = position.expected_value if position.HasField("expected_value") else None
            if value is not None:
                check_value(f"{field}.expected_value", value)
            if seat is not None:
                _rules_of(seat, view).check_patterns(value)
            if position.HasField("plies"):
                require(
                    position.plies <= MAX_PLIES,
                    f"{field}.plies",
                    f"{position.plies:,}: a contest has at most {MAX_PLIES:,}",
                    value=position.plies,
                    limit=MAX_PLIES,
                )
            try:
                board = Board.from_letters(spec.geometry, position.board)
            except InvalidBoardError as error:
                raise InvalidFieldError(f"{field}.board", str(error)) from error
            questions.append(PatternQuestion(board, player, both, most, most_each, least_elo))
        seats_in_contest = {player: seat for player, (seat, _) in seats.items() if seat is not None}
        return questions, self._read_claims(request, seats_in_contest)

    def _read_claims(
        self, request: messages.MatchPatternsRequest, seats: dict[int, ContestSeat]
    ) -> dict[ContestSeat, Claim]:
        """Return the value that each player of a contest claims for its first position.

        Raises ClaimsContradictError for a player whose earlier claims contradict each other.
        """
        claims: dict[ContestSeat, Claim] = {}
        for player, seat in seats.items():
            position = next(position for position in request.positions if position.player == player)
            plies = position.plies if position.HasField("plies") else None
            self._counts.check_claims(seat)
            claims[seat] = Claim(plies, keys.board(position.board), position.expected_value)
        return claims


def _weights_used(answer: messages.DownloadWeightsResponse) -> list[int]:
    """What an answer with weights counts as: which tesujis a player goes by at home is not known."""
    if answer.revision == NO_WEIGHTS:
        return []
    return [WEIGHTS_IN_USES, *([EVALUATION_IN_USES] if answer.contests else [])]


def _in_short(uses: Mapping[Library, Sequence[int]], best_cell: int | None) -> contests_pb2.PatternAnswer:
    """What an answer rested on, for people who look at the contest later."""
    answer = contests_pb2.PatternAnswer(patterns=0, best_cell=best_cell)
    for library, numbers in uses.items():
        given = uses_by_kind(dict.fromkeys(numbers))
        answer.patterns += len(given.patterns)
        answer.tesujis += len(given.tesujis)
        answer.evaluation |= given.evaluation
        if given.patterns:
            answer.some.add(library=library_to_proto(library), pattern_ids=given.patterns[:_SOME_PATTERNS])
    return answer


def _check_says_where(position: messages.Position, spec: GameSpec, field: str) -> None:
    """Raise InvalidFieldError for a claim of which nobody could say to which position it belongs."""
    require(
        spec.players <= 2 or position.HasField("plies"),
        f"{field}.plies",
        f"must be given in a contest of {spec.game_id}, which has {spec.players} players: the arena's boards "
        "there are those of who moved, so yours does not say which position it is; give the number of plies "
        "played so far",
        players=spec.players,
    )


def _rules_of(seat: ContestSeat | None, view: GameView) -> FairUse:
    """Return the rules that are in force: the contest's, or outside of contests the game's."""
    return seat.rules if seat is not None and seat.rules is not None else FairUse.of(view.settings)


def _read_libraries(
    request: messages.MatchPatternsRequest | messages.MatchSuccessorsRequest, limits: Limits
) -> tuple[Library, ...]:
    if not request.libraries:
        return PATTERN_LIBRARIES
    count, most = len(request.libraries), limits.libraries_per_call
    require(count <= most, "libraries", f"{count:,} libraries: at most {most:,}", value=count, limit=most)
    libraries = [
        pattern_library_from_proto(library, f"libraries[{place}]")
        for place, library in enumerate(request.libraries)
    ]
    return tuple(dict.fromkeys(libraries))
