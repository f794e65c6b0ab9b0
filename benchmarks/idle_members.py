"""A thousand members that have dialled in and wait: the service's memory and processor time.

    python -m benchmarks.idle_members

Registers the members in a league, starts `arena serve`, lets them dial in, and watches the service's process.
"""

import asyncio
import tempfile
import time
from contextlib import closing
from pathlib import Path

from arena.league.database import open_league
from arena.v1 import players_pb2, players_pb2_grpc
from benchmarks import arguments
from benchmarks.process_usage import processor_seconds, resident_bytes
from benchmarks.standing_day import register, serve
from clients import Connection


async def dial(address: str, name: str, token: str, inside: asyncio.Semaphore) -> None:
    """Dial in and wait for games."""
    where = Connection(address, token=token)
    async with where.asyncio_channel() as channel:
        stream = players_pb2_grpc.PlayerServiceStub(channel).Play(metadata=where.metadata)
        await stream.write(players_pb2.PlayRequest(hello=players_pb2.Hello(player=name)))
        await stream.read()
        inside.release()
        await stream.read()


async def watch(address: str, tokens: dict[str, str], service: int, seconds: float) -> None:
    """Let the members in, wait, and print what the service took."""
    inside = asyncio.Semaphore(0)
    empty = resident_bytes(service) / 1e6
    begun = time.perf_counter()
    dialling = []
    for name, token in tokens.items():
        dialling.append(asyncio.create_task(dial(address, name, token, inside)))
        await inside.acquire()
    came = time.perf_counter() - begun
    await asyncio.sleep(5)
    used = processor_seconds(service)
    begun = time.perf_counter()
    await asyncio.sleep(seconds)
    share = (processor_seconds(service) - used) / (time.perf_counter() - begun)
    print(f"{len(tokens)} members came in {came:.1f} s; the service without them has {empty:.0f} MB")
    print(f"waiting for {seconds:g} s: {resident_bytes(service) / 1e6:.0f} MB, {100 * share:.1f} % of a core")
    for task in dialling:
        task.cancel()


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--members", type=arguments.count, default=1_000)
    parser.add_argument("--seconds", type=arguments.positive, default=30.0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with closing(open_league(f"{folder}/league.db", create=True)) as league:
            tokens = register(league, chosen.members)
        address = f"unix:{folder}/arena"
        service = serve(Path(folder), address)
        try:
            asyncio.run(watch(address, tokens, service.pid, chosen.seconds))
        finally:
            service.terminate()
            service.wait()


if __name__ == "__main__":
    main()
