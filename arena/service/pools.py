"""The service of pools and seasons: operators change them while the standing arena runs."""

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog

from arena.league.errors import InvalidPoolError, InvalidSeasonError, PoolConflictError
from arena.league.pools import ENDED, OPEN, PAUSED, StoredPool
from arena.league.seasons import Season, Seasons
from arena.results.database import utc_now
from arena.service.access import AnsweringServicer, ServiceAccess, answered
from arena.service.leagues import read_ratings
from arena.service.pool_files import check, check_own, game_of, remove, schedule_of
from arena.service.pool_keeper import PoolKeeper, is_open
from arena.service.timestamps import timestamp_of
from arena.service.tokens import ServiceCaller, ServiceRole
from arena.v1 import pools_pb2 as messages
from arena.v1 import pools_pb2_grpc

_log = structlog.get_logger()


class PoolServicer(AnsweringServicer, pools_pb2_grpc.PoolServiceServicer):
    """Answers from the league's pools and seasons; the keeper makes them so."""

    def __init__(self, access: ServiceAccess, keeper: PoolKeeper, seasons: Seasons) -> None:
        super().__init__(access)
        self._keeper = keeper
        self._pools = keeper.pools
        self._seasons = seasons

    @answered(ServiceRole.OPERATOR)
    async def AddPool(
        self, request: messages.AddPoolRequest, caller: ServiceCaller
    ) -> messages.AddPoolResponse:
        """Add a pool."""

        def add() -> StoredPool:
            pool_file = self._keeper.folder / f"{request.name}.toml"
            settings = request.settings.SerializeToString(deterministic=True)
            # First, as a name may not lead out of the folder.
            self._pools.check_name(request.name)
            check_own(pool_file)
            check(request.name, request.settings, self._keeper.folder)
            return self._pools.add(request.name, settings)

        pool = await asyncio.to_thread(add)
        _log.info("pool added", name=pool.name, caller=caller.name)
        return messages.AddPoolResponse(pool=self._message(pool))

    @answered(ServiceRole.OPERATOR)
    async def ChangePool(
        self, request: messages.ChangePoolRequest, caller: ServiceCaller
    ) -> messages.ChangePoolResponse:
        """Give a pool other settings."""

        def change() -> StoredPool:
            known = messages.PoolSettings.FromString(self._pools.named(request.name).settings)
            if game_of(known) != game_of(request.settings):
                raise InvalidPoolError(
                    "settings", "the game of a pool stays: add another pool for another game"
                )
            check(request.name, request.settings, self._keeper.folder)
            return self._pools.change(request.name, request.settings.SerializeToString(deterministic=True))

        pool = await asyncio.to_thread(change)
        _log.info("pool changed", name=pool.name, caller=caller.name)
        return messages.ChangePoolResponse(pool=self._message(pool))

    @answered(ServiceRole.OPERATOR)
    async def PausePool(
        self, request: messages.PausePoolRequest, caller: ServiceCaller
    ) -> messages.PausePoolResponse:
        """Begin no more rounds."""
        return messages.PausePoolResponse(pool=await self._set_state(request.name, PAUSED, caller))

    @answered(ServiceRole.OPERATOR)
    async def ResumePool(
        self, request: messages.ResumePoolRequest, caller: ServiceCaller
    ) -> messages.ResumePoolResponse:
        """Go on with a pool that was paused."""
        return messages.ResumePoolResponse(pool=await self._set_state(request.name, OPEN, caller))

    @answered(ServiceRole.OPERATOR)
    async def EndPool(
        self, request: messages.EndPoolRequest, caller: ServiceCaller
    ) -> messages.EndPoolResponse:
        """End a pool."""
        return messages.EndPoolResponse(pool=await self._set_state(request.name, ENDED, caller))

    @answered(ServiceRole.OPERATOR)
    async def RemovePool(
        self, request: messages.RemovePoolRequest, caller: ServiceCaller
    ) -> messages.RemovePoolResponse:
        """Free the name of a pool that never ran."""
        is_running = self._keeper.is_running(request.name)

        def remove_pool() -> None:
            pool = self._pools.named(request.name)
            if pool.state == ENDED:
                if is_running:
                    # Without the pool nobody would end it. It may not have got so far that it has a log.
                    raise PoolConflictError(
                        f"the run of the pool {pool.name!r} goes on: remove it when that is over",
                        name=pool.name,
                    )
                settings = messages.PoolSettings.FromString(pool.settings)
                remove(self._keeper.folder / f"{pool.name}.toml", settings)
            self._pools.remove(pool.name)

        await asyncio.to_thread(remove_pool)
        _log.info("pool removed", name=request.name, caller=caller.name)
        return messages.RemovePoolResponse()

    async def _set_state(self, name: str, state: str, caller: ServiceCaller) -> messages.Pool:
        pool = await asyncio.to_thread(self._pools.set_state, name, state)
        _log.info("pool's state set", name=name, state=state, caller=caller.name)
        return self._message(pool)

    @answered(*ServiceRole)
    async def GetPool(self, request: messages.GetPoolRequest, _: ServiceCaller) -> messages.GetPoolResponse:
        """One pool."""
        pool = await asyncio.to_thread(self._pools.named, request.name)
        return messages.GetPoolResponse(pool=self._message(pool))

    @answered(*ServiceRole)
    async def ListPools(
        self, _request: messages.ListPoolsRequest, _: ServiceCaller
    ) -> messages.ListPoolsResponse:
        """All pools."""
        answer = messages.ListPoolsResponse(
            pools=map(self._message, await asyncio.to_thread(self._pools.all))
        )
        for pool in answer.pools:
            # An answer has room for those of a few pools.
            pool.settings.ClearField("openings")
        return answer

    @answered(ServiceRole.OPERATOR)
    async def BeginSeason(
        self, request: messages.BeginSeasonRequest, caller: ServiceCaller
    ) -> messages.BeginSeasonResponse:
        """Begin a season."""
        begins, ends = _time(request, "begins"), _time(request, "ends")
        season = await asyncio.to_thread(self._seasons.begin, request.name, begins, ends)
        _log.info("season begun", name=season.name, caller=caller.name)
        return messages.BeginSeasonResponse(season=_season(season))

    @answered(ServiceRole.OPERATOR)
    async def EndSeason(
        self, request: messages.EndSeasonRequest, caller: ServiceCaller
    ) -> messages.EndSeasonResponse:
        """End a season now."""
        season = await asyncio.to_thread(self._seasons.end, request.name)
        _log.info("season ended", name=season.name, caller=caller.name)
        return messages.EndSeasonResponse(season=_season(season))

    @answered(ServiceRole.OPERATOR)
    async def RemoveSeason(
        self, request: messages.RemoveSeasonRequest, caller: ServiceCaller
    ) -> messages.RemoveSeasonResponse:
        """Forget a season."""
        await asyncio.to_thread(self._seasons.remove, request.name)
        _log.info("season removed", name=request.name, caller=caller.name)
        return messages.RemoveSeasonResponse()

    @answered(*ServiceRole)
    async def ListSeasons(
        self, _request: messages.ListSeasonsRequest, _: ServiceCaller
    ) -> messages.ListSeasonsResponse:
        """All seasons."""
        seasons = await asyncio.to_thread(self._seasons.all)
        return messages.ListSeasonsResponse(seasons=map(_season, seasons))

    @answered(*ServiceRole)
    async def GetSeasonTable(
        self, request: messages.GetSeasonTableRequest, _: ServiceCaller
    ) -> messages.GetSeasonTableResponse:
        """The table of a game in a season."""
        lines = await read_ratings(partial(self._seasons.table, request.season, request.game))
        return messages.GetSeasonTableResponse(
            lines=[
                messages.SeasonLine(
                    player=line.name,
                    version=line.version,
                    games=line.games,
                    points=line.points,
                    elo=line.elo,
                    error=line.error,
                )
                for line in lines
            ]
        )

    def _message(self, pool: StoredPool) -> messages.Pool:
        settings, now = messages.PoolSettings.FromString(pool.settings), utc_now()
        answer = messages.Pool(name=pool.name, settings=settings, added=timestamp_of(pool.added))
        if pool.state == PAUSED:
            answer.state = messages.POOL_STATE_PAUSED
        elif pool.state == ENDED:
            answer.state = messages.POOL_STATE_ENDED
        elif is_open(pool, settings, now):
            answer.state = messages.POOL_STATE_OPEN
            answer.remark = self._keeper.remark(pool.name)
        else:
            answer.state = messages.POOL_STATE_CLOSED
            schedule = schedule_of(settings)
            opens = schedule.opens(now) if schedule is not None else None
            if opens is not None:
                answer.opens.CopyFrom(timestamp_of(opens))
        return answer


def _time(request: Any, field: str) -> datetime | None:
    """A time of a request in UTC, without a zone; None where it is absent. Raises InvalidSeasonError."""
    if not request.HasField(field):
        return None
    try:
        time: datetime = getattr(request, field).ToDatetime(UTC)
    except (OverflowError, ValueError) as error:
        raise InvalidSeasonError(field, str(error)) from None
    return time.replace(tzinfo=None)


def _season(season: Season) -> messages.Season:
    return messages.Season(
        name=season.name,
        begins=timestamp_of(season.begins),
        ends=None if season.ends is None else timestamp_of(season.ends),
    )
