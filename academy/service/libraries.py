"""The libraries themselves: figures for everybody; for admins listing, deleting, restoring, pruning,
settings, export and import.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

import structlog

from academy.knowledge.library import UnknownPatternError
from academy.knowledge.node_analysis import MAX_BUDGET, NodeAnalysis
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.openings import OpeningTree
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.votes import VALUE_SCALE
from academy.service import paging
from academy.service.access import current_caller
from academy.service.cost import cost_of_moves
from academy.service.errors import BackupsOffError, StalePageTokenError, UnknownOpeningError, require
from academy.service.game_cache import CachedGame, GameCache
from academy.service.interceptor import CallInterceptor, Context
from academy.service.listing import list_patterns, list_tesujis
from academy.service.moves import check_line
from academy.service.transfer import exported, read_for_export, read_import
from academy.store.codec.field_rules import check_value
from academy.store.codec.games import (
    library_from_proto,
    pattern_library_from_proto,
    settings_from_proto,
    settings_to_proto,
)
from academy.store.codec.learnt_tables import tesuji_records
from academy.store.codec.openings import node_to_proto, search_kind_from_proto
from academy.store.codec.patterns import entry_with_figures
from academy.store.contest_tables import count_open_contests
from academy.store.errors import UnknownGameError
from academy.store.event_log import read_page
from academy.store.fork import ForkGame
from academy.store.game_tables import list_game_ids
from academy.store.history import origins
from academy.store.library_commands import (
    AnalyseOpenings,
    ChangeSettings,
    DeleteGame,
    DeleteOpening,
    DeletePattern,
    DeleteTesuji,
    ForgetAnalyses,
    PruneLibrary,
    RestorePattern,
)
from academy.store.library_store import Store
from academy.store.maintenance.backup import backup, note_backup, open_copy
from academy.store.player_commands import MuteInGame, MutePlayer, UnmuteInGame, UnmutePlayer, muted_players
from academy.store.player_statistics import (
    EVERYBODY,
    find_player_statistics,
    page_of_player_statistics,
    statistics_in_all_games,
)
from academy.store.proposal_tables import count_held_proposals
from academy.store.removals import RestoreRemoval, list_removals
from academy.store.tokens import Role
from academy.v1 import events_pb2, game_pb2, libraries_pb2_grpc, pattern_pb2
from academy.v1 import libraries_pb2 as messages
from academy.wire.errors import NotPermittedError

_log = structlog.get_logger()


_PRUNED_SHOWN: Final = 100
_BYTES_AT_ONCE: Final = 256 << 10
_EVENTS_AT_ONCE: Final = 50
_OF_CONTESTS: Final = frozenset({"contest_reported", "proposal_judged"})
_PAGES_LOOKED_AT: Final = 40


class LibraryServicer(libraries_pb2_grpc.LibraryServiceServicer):
    """academy.v1.LibraryService."""

    def __init__(self, store: Store, games: GameCache, guard: CallInterceptor, backups: Path | None) -> None:
        """Backups that admins ask for go into `backups`."""
        self._store = store
        self._games = games
        self._backups = backups
        self._backing_up = asyncio.Lock()
        self._guard = guard
        self._limits = guard.limits

    async def ListPatterns(
        self, request: messages.ListPatternsRequest, context: Context
    ) -> messages.ListPatternsResponse:
        """Return a page of a library."""
        size = paging.page_size(request.page_size, self._limits)
        key = paging.page_key(request, (float, int))
        library = pattern_library_from_proto(request.library)
        game = await self._games.game(request.game_id)
        listing = list_patterns(game, library, request.filter, request.order_by)
        pattern_ids = listing.numbers[listing.after(key)].tolist()
        records = (_pattern(game, library, pattern_id) for pattern_id in pattern_ids)
        patterns, more = paging.fill_page(records, size, self._limits)
        if request.include_origin:
            numbers = [record.pattern_id for record in patterns]
            game_id, proposer = request.game_id, request.filter.proposer
            known = await asyncio.to_thread(self._store.read, origins, game_id, library, numbers, proposer)
            for record in patterns:
                if record.pattern_id in known:
                    record.origin.CopyFrom(known[record.pattern_id])
        token = paging.page_token(request, listing.key_of(patterns[-1].pattern_id)) if more else ""
        return messages.ListPatternsResponse(
            patterns=patterns, next_page_token=token, total_size=len(listing.numbers)
        )

    async def ListTesujis(
        self, request: messages.ListTesujisRequest, context: Context
    ) -> messages.ListTesujisResponse:
        """Return a page of a game's tesujis in the order that the request names."""
        size = paging.page_size(request.page_size, self._limits)
        key = paging.page_key(request, (float, float, int))
        view = (await self._games.game(request.game_id)).view
        listing = list_tesujis(view.tesujis, request.order_by)
        records = tesuji_records(view.tesujis, view.spec, listing.after(key).tolist())
        tesujis, more = paging.fill_page(records, size, self._limits)
        return messages.ListTesujisResponse(
            tesujis=tesujis,
            next_page_token=paging.page_token(request, listing.key_of(tesujis[-1].code)) if more else "",
            total_size=len(view.tesujis),
        )

    async def GetPattern(
        self, request: messages.GetPatternRequest, context: Context
    ) -> messages.GetPatternResponse:
        """Return one pattern."""
        library = pattern_library_from_proto(request.library)
        game = await self._games.game(request.game_id)
        return messages.GetPatternResponse(pattern=_pattern(game, library, request.pattern_id))

    async def DeletePattern(
        self, request: messages.DeletePatternRequest, context: Context
    ) -> messages.DeletePatternResponse:
        """Delete a pattern and return it."""
        library = pattern_library_from_proto(request.library)
        spec = (await self._games.game(request.game_id)).view.spec
        command = DeletePattern(request.game_id, library, request.pattern_id, current_caller.get().name)
        entry = await self._store.write(command)
        return messages.DeletePatternResponse(pattern=entry_with_figures(entry, library, spec))

    async def RestorePattern(
        self, request: messages.RestorePatternRequest, context: Context
    ) -> messages.RestorePatternResponse:
        """Undo a deletion; the answer is empty if there is no room, or only muted players voted for it."""
        library = pattern_library_from_proto(request.library)
        spec = (await self._games.game(request.game_id)).view.spec
        command = RestorePattern(request.game_id, library, request.pattern_id, current_caller.get().name)
        entry = await self._store.write(command)
        if entry is None:
            return messages.RestorePatternResponse()
        return messages.RestorePatternResponse(pattern=entry_with_figures(entry, library, spec))

    async def ListOpenings(
        self, request: messages.ListOpeningsRequest, context: Context
    ) -> messages.ListOpeningsResponse:
        """Return a page of the opening tree after a line of moves."""
        size = paging.page_size(request.page_size, self._limits)
        key = paging.page_key(request, (int, int))
        view = (await self._games.game(request.game_id)).view
        generation, first = (int(key[0]), int(key[1])) if key else (view.generation, 0)
        if generation != view.generation:
            raise StalePageTokenError(
                "page_token: the opening tree has changed since the page before; begin again"
            )
        start = _find_node(view.openings, view.spec, request.moves)
        nodes = list(view.openings.branch(start, request.depth))
        records = (node_to_proto(node, request.game_id) for node in nodes[first:])
        page, more = paging.fill_page(records, size, self._limits)
        token = paging.page_token(request, [generation, first + len(page)]) if more else ""
        return messages.ListOpeningsResponse(nodes=page, next_page_token=token)

    async def DeleteOpening(
        self, request: messages.DeleteOpeningRequest, context: Context
    ) -> messages.DeleteOpeningResponse:
        """Delete a line and all its continuations."""
        require(bool(request.moves), "moves", "name at least one move: the position at the start stays")
        view = (await self._games.game(request.game_id)).view
        node = _find_node(view.openings, view.spec, request.moves)
        require(
            not view.spec.simultaneous or node.depth > 1,
            "moves",
            "name a move after the player: where a player's tree begins is not a move",
        )
        command = DeleteOpening(request.game_id, node.node_id, request.moves, current_caller.get().name)
        deleted, event = await self._store.write(command)
        nodes = [node_to_proto(node, request.game_id) for node in deleted[:_PRUNED_SHOWN]]
        return messages.DeleteOpeningResponse(removed=len(deleted), nodes=nodes, removal=event)

    async def DeleteTesuji(
        self, request: messages.DeleteTesujiRequest, context: Context
    ) -> messages.DeleteTesujiResponse:
        """Delete a tesuji and return it."""
        require(request.HasField("code"), "code", "name a tesuji by its code, as ListTesujis has it")
        command = DeleteTesuji(request.game_id, request.code, current_caller.get().name)
        tesuji, event = await self._store.write(command)
        return messages.DeleteTesujiResponse(tesuji=tesuji, removal=event)

    async def AnalyseOpenings(
        self, request: messages.AnalyseOpeningsRequest, context: Context
    ) -> messages.AnalyseOpeningsResponse:
        """Keep what searches found out about lines."""
        caller = current_caller.get()
        count, most = len(request.lines), self._limits.analyses_per_call
        require(1 <= count <= most, "lines", f"{count:,} lines: 1 to {most:,}", value=count, limit=most)
        self._guard.charge_rest(caller, sum(cost_of_moves(len(line.moves)) for line in request.lines))
        lines = []
        for place, line in enumerate(request.lines):
            field = f"lines[{place}]"
            require(bool(line.moves), f"{field}.moves", "name at least one move: no move leads to the start")
            check_line(line.moves, self._limits, f"{field}.moves")
            value = round(check_value(f"{field}.value", line.value) * VALUE_SCALE)
            kind = search_kind_from_proto(line.kind, f"{field}.kind")
            require(
                kind.fewest <= line.budget <= MAX_BUDGET,
                f"{field}.budget",
                f"{line.budget:,} must be from {kind.fewest} to {MAX_BUDGET:,} {kind.unit}: "
                "less says too little to be kept",
                value=line.budget,
                least=kind.fewest,
            )
            lines.append((tuple(line.moves), NodeAnalysis(value, line.budget, caller.name, kind)))
        command = AnalyseOpenings(request.game_id, lines, caller.name)
        return messages.AnalyseOpeningsResponse(counted=await self._store.write(command))

    async def ForgetAnalyses(
        self, request: messages.ForgetAnalysesRequest, context: Context
    ) -> messages.ForgetAnalysesResponse:
        """Take an analyst's findings out of the opening tree."""
        command = ForgetAnalyses(request.game_id, request.analyst, current_caller.get().name)
        return messages.ForgetAnalysesResponse(forgotten=await self._store.write(command))

    async def ListRemovals(
        self, request: messages.ListRemovalsRequest, context: Context
    ) -> messages.ListRemovalsResponse:
        """Return the removals that can be restored."""
        kept = await asyncio.to_thread(self._store.read, list_removals, request.game_id, self._store.clock())
        return messages.ListRemovalsResponse(removals=kept)

    async def RestoreRemoval(
        self, request: messages.RestoreRemovalRequest, context: Context
    ) -> messages.RestoreRemovalResponse:
        """Undo a removal."""
        command = RestoreRemoval(request.game_id, request.removal, current_caller.get().name)
        return await self._store.write(command)

    async def UpdateSettings(
        self, request: messages.UpdateSettingsRequest, context: Context
    ) -> messages.UpdateSettingsResponse:
        """Change the settings in `fields`, or all of them, or say what that would do."""
        given = request.settings
        if request.fields:
            wanted = game_pb2.LibrarySettings()
            stated = {field.name: value for field, value in given.ListFields()}
            for place, name in enumerate(request.fields):
                require(
                    name in stated,
                    f"fields[{place}]",
                    f"{name[:60]!r}: no setting, or its value is not given",
                )
                setattr(wanted, name, stated[name])
        else:
            spec = (await self._games.game(request.game_id)).view.spec
            defaults = LibrarySettings.for_kind(spec.players, spec.kind)
            wanted = settings_to_proto(settings_from_proto(given, defaults))
        command = ChangeSettings(request.game_id, wanted, current_caller.get().name, request.dry_run)
        settings, removed = await self._store.write(command)
        return messages.UpdateSettingsResponse(settings=settings_to_proto(settings), removed=removed)

    async def PruneLibrary(
        self, request: messages.PruneLibraryRequest, context: Context
    ) -> messages.PruneLibraryResponse:
        """Remove weak knowledge, or with `dry_run` only list it."""
        library = library_from_proto(request.library)
        spec = (await self._games.game(request.game_id)).view.spec
        command = PruneLibrary(
            request.game_id, library, request.below, request.dry_run, current_caller.get().name
        )
        pruned = await self._store.write(command)
        response = messages.PruneLibraryResponse(removed=len(pruned))
        for record in pruned[:_PRUNED_SHOWN]:
            if isinstance(record, PatternEntry):
                response.patterns.append(entry_with_figures(record, library, spec))
            else:
                response.nodes.append(node_to_proto(record, request.game_id))
        return response

    async def ExportLibrary(
        self, request: messages.ExportLibraryRequest, context: Context
    ) -> AsyncIterator[messages.ExportLibraryResponse]:
        """Send a game's libraries as of this moment."""
        wanted = {library_from_proto(request.library)} if request.library else set(Library)
        # Not the cached view, which goes on learning while the rest is read.
        moment = await asyncio.to_thread(self._store.read, read_for_export, request.game_id, wanted)
        async for record in exported(*moment):
            yield record

    async def ImportLibrary(
        self, request_iterator: AsyncIterator[messages.ImportLibraryRequest], context: Context
    ) -> messages.ImportLibraryResponse:
        """Take in records, all or none."""
        command = await read_import(request_iterator, current_caller.get().name, self._limits)
        return await self._store.write(command)

    async def ForkGame(
        self, request: messages.ForkGameRequest, context: Context
    ) -> messages.ForkGameResponse:
        """Register a game that begins with another game's libraries."""
        return await self._store.write(
            ForkGame(request.game_id, request.new_game_id, current_caller.get().name)
        )

    async def DeleteGame(
        self, request: messages.DeleteGameRequest, context: Context
    ) -> messages.DeleteGameResponse:
        """Make a game that nobody has played unknown."""
        command = DeleteGame(request.game_id, current_caller.get().name, request.really)
        return messages.DeleteGameResponse(game=await self._store.write(command))

    async def ListEvents(
        self, request: messages.ListEventsRequest, context: Context
    ) -> messages.ListEventsResponse:
        """Return a page of the event log."""
        size = paging.page_size(request.page_size, self._limits)
        key = paging.page_key(request, (int,))
        place = int(key[0]) if key else 0
        candidates, place = await self._find_events(request, place, size)
        events, more = paging.fill_page(candidates, size, self._limits)
        if more:
            place = events[-1].sequence
        token = paging.page_token(request, [place]) if place else ""
        return messages.ListEventsResponse(events=events, next_page_token=token)

    async def _find_events(
        self, request: messages.ListEventsRequest, place: int, size: int
    ) -> tuple[list[events_pb2.Event], int]:
        """Events for a page, as far as a call looks, and the place to go on from."""
        left_out = _OF_CONTESTS if request.without_contests else frozenset()
        if request.without_analyses:
            left_out |= {"openings_analysed"}
        candidates: list[events_pb2.Event] = []
        room = paging.page_bytes(self._limits)
        for _ in range(_PAGES_LOOKED_AT):
            # Reports are long: others' calls must not wait for them.
            events, place = await asyncio.to_thread(
                self._store.read,
                read_page,
                _EVENTS_AT_ONCE,
                place,
                game_id=request.game_id,
                newest_first=request.newest_first,
            )
            wanted = [event for event in events if event.WhichOneof("kind") not in left_out]
            candidates += wanted
            room -= sum(event.ByteSize() for event in wanted)
            if not place or len(candidates) > size or room < 0:
                break
        return candidates, place

    async def GetStatistics(
        self, request: messages.GetStatisticsRequest, context: Context
    ) -> messages.GetStatisticsResponse:
        """Return how much is known of a game."""
        view = (await self._games.game(request.game_id)).view
        return messages.GetStatisticsResponse(
            game_id=request.game_id,
            contests=view.measures.contests,
            players=view.measures.players,
            opening_nodes=view.opening_nodes,
            opening_depth=view.openings.depth,
            middle_game_patterns=len(view.libraries[Library.MIDDLE_GAME]),
            endgame_patterns=len(view.libraries[Library.ENDGAME]),
            tesujis=len(view.tesujis),
            evaluation_contests=view.evaluation.contests,
            evaluation_patterns=view.evaluation.patterns,
            settings=settings_to_proto(view.settings),
            generation=view.generation,
            held_proposals=self._store.read(count_held_proposals, request.game_id),
            analysed_nodes=sum(node.analysis is not None for node in view.openings.nodes.values()),
            open_contests=self._store.read(count_open_contests),
            everybody=self._store.read(find_player_statistics, request.game_id, EVERYBODY),
        )

    async def GetMeasures(
        self, request: messages.GetMeasuresRequest, context: Context
    ) -> messages.GetMeasuresResponse:
        """Return a game's measures."""
        measures = (await self._games.game(request.game_id)).view.measures
        return messages.GetMeasuresResponse(
            game_id=request.game_id,
            contests=measures.contests,
            measures={
                name: messages.Measure(
                    value=measure.value, contests=measure.contests, positions=measure.positions or None
                )
                for name, measure in measures.measures().items()
            },
        )

    async def MutePlayer(
        self, request: messages.MutePlayerRequest, context: Context
    ) -> messages.MutePlayerResponse:
        """Mute a player in all games, and in those to come."""
        # It goes on when its caller goes away: else some games would go on counting the votes.
        return await asyncio.shield(asyncio.create_task(self._mute(request)))

    async def _mute(self, request: messages.MutePlayerRequest) -> messages.MutePlayerResponse:
        await self._store.write(MutePlayer(request.player, request.force))
        answer, actor = messages.MutePlayerResponse(), current_caller.get().name
        for game_id in self._store.read(list_game_ids):
            # It may be deleted meanwhile.
            with suppress(UnknownGameError):
                answer.patterns += await self._store.write(MuteInGame(game_id, request.player, actor))
                answer.games += 1
        return answer

    async def UnmutePlayer(
        self, request: messages.UnmutePlayerRequest, context: Context
    ) -> messages.UnmutePlayerResponse:
        """Let a player propose again, and put its votes back."""
        # Like muting, it goes on when its caller goes away.
        return await asyncio.shield(asyncio.create_task(self._unmute(request)))

    async def _unmute(self, request: messages.UnmutePlayerRequest) -> messages.UnmutePlayerResponse:
        answer, actor = messages.UnmutePlayerResponse(), current_caller.get().name
        answer.was_muted = await self._store.write(UnmutePlayer(request.player))
        for game_id in self._store.read(list_game_ids):
            with suppress(UnknownGameError):
                outcome = await self._store.write(UnmuteInGame(game_id, request.player, actor))
                answer.patterns += outcome.patterns
                answer.no_room += outcome.no_room
        return answer

    async def ListMutedPlayers(
        self, request: messages.ListMutedPlayersRequest, context: Context
    ) -> messages.ListMutedPlayersResponse:
        """Return the players that are muted."""
        answer = messages.ListMutedPlayersResponse()
        for muted in self._store.read(muted_players):
            answer.players.add(player=muted.player).time.FromMicroseconds(round(muted.time * 1e6))
        return answer

    async def CreateBackup(
        self, request: messages.CreateBackupRequest, context: Context
    ) -> messages.CreateBackupResponse:
        """Copy all data into a new folder among the backups."""
        if self._backups is None:
            raise BackupsOffError
        # The copy goes on when its caller goes away: the next caller must wait for it all the same.
        return await asyncio.shield(asyncio.create_task(self._back_up(self._backups)))

    async def DownloadBackup(
        self, request: messages.DownloadBackupRequest, context: Context
    ) -> AsyncIterator[messages.DownloadBackupResponse]:
        """Copy all data to a file without a name, and send it."""
        # Like a backup, a copy that is being made goes on when its caller goes away.
        content = await asyncio.shield(asyncio.create_task(self._copy_to_send()))
        with content:
            size = os.fstat(content.fileno()).st_size
            answer = messages.DownloadBackupResponse(size=size)
            while part := await asyncio.to_thread(content.read, _BYTES_AT_ONCE):
                answer.content = part
                yield answer
                answer = messages.DownloadBackupResponse()
        what = "copy sent for a comparison" if request.for_comparison else "backup sent"
        if not request.for_comparison:
            note_backup(self._store.environment.folder)
        _log.info(what, bytes=size, caller=current_caller.get().name)

    async def _copy_to_send(self) -> BinaryIO:
        async with self._backing_up:
            return await asyncio.to_thread(open_copy, self._store.environment)

    async def _back_up(self, backups: Path) -> messages.CreateBackupResponse:
        async with self._backing_up:
            target = backups / datetime.now(UTC).strftime("%Y-%m-%dT%H%M%S.%fZ")
            size = await asyncio.to_thread(backup, self._store.environment, target)
        _log.info("backup made", folder=str(target), bytes=size, caller=current_caller.get().name)
        return messages.CreateBackupResponse(folder=str(target), bytes=size)

    async def ListPlayerStatistics(
        self, request: messages.ListPlayerStatisticsRequest, context: Context
    ) -> messages.ListPlayerStatisticsResponse:
        """Return the statistics of a game's players; callers that are not admins see their own."""
        caller, player = current_caller.get(), request.player
        if caller.role is not Role.ADMIN:
            if player not in ("", caller.name):
                raise NotPermittedError(
                    f"the statistics of {player!r} are for that player and admins to read", player=player
                )
            player = caller.name
        if player and not request.game_id:
            everywhere = await asyncio.to_thread(self._store.read, statistics_in_all_games, player)
            return messages.ListPlayerStatisticsResponse(players=everywhere)
        require(bool(request.game_id), "game_id", "name a game, or a player for the figures in all games")
        size = paging.page_size(request.page_size, self._limits)
        after = paging.page_place(request)
        statistics = self._store.read(page_of_player_statistics, request.game_id, player, after, size + 1)
        token = paging.token_of_place(request, statistics[size - 1][0]) if len(statistics) > size else ""
        return messages.ListPlayerStatisticsResponse(
            players=[figures for _, figures in statistics[:size]], next_page_token=token
        )


def _pattern(game: CachedGame, library: Library, pattern_id: int) -> pattern_pb2.PatternRecord:
    entry = game.view.libraries[library].get(pattern_id)
    if entry is None:
        raise UnknownPatternError(pattern_id, library, game.view.spec.game_id)
    return entry_with_figures(entry, library, game.view.spec)


def _find_node(tree: OpeningTree, spec: GameSpec, moves: Sequence[str]) -> OpeningNode:
    node = tree.root
    for known, move in enumerate(spec.canonical_line(moves)):
        step = next((child for child in tree.children(node.node_id) if child.move == move), None)
        if step is None:
            raise UnknownOpeningError(len(moves), known)
        node = step
    return node
