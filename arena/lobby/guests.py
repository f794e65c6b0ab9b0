"""A player that has dialled in: what it said of itself, and what it is still to be told."""

import asyncio
from collections import deque

from arena.lobby.refusals import Refusal, TooMany
from arena.v1 import players_pb2


class Guest:
    """One stream of one player. Use it within one event loop."""

    def __init__(self, hello: players_pb2.Hello, token_digest: bytes, waiting_messages: int) -> None:
        self.hello = hello
        self.token_digest = token_digest
        self.seats: set[int] = set()
        self._limit = waiting_messages
        self._messages: deque[players_pb2.PlayResponse] = deque()
        self._news = asyncio.Event()
        self._ended = False
        self._why: Refusal | None = None

    @property
    def name(self) -> str:
        """The player's name in control files."""
        return self.hello.player

    @property
    def has_room(self) -> bool:
        """Whether it takes another game."""
        return not self._ended and len(self.seats) < max(1, self.hello.games_at_once)

    def tell(self, message: players_pb2.PlayResponse) -> None:
        """Have it told; a guest that leaves too much unread is ended."""
        if len(self._messages) >= self._limit:
            self.end(TooMany(f"{self._limit} messages were not read", waiting_messages=self._limit))
        elif not self._ended:
            self._messages.append(message)
            self._news.set()

    def end(self, why: Refusal | None = None) -> None:
        """End the stream as soon as it has been told what it is to be told; with a refusal at once."""
        if not self._ended:
            self._ended, self._why = True, why
            self._news.set()

    async def next_message(self) -> players_pb2.PlayResponse | None:
        """What is to be sent next, None at the end. Raises Refusal where that is how it ends."""
        while True:
            if self._why is not None:
                raise self._why
            if self._messages:
                return self._messages.popleft()
            if self._ended:
                return None
            self._news.clear()
            await self._news.wait()
