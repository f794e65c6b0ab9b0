"""What Prometheus is told of the service."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from academy.wire.metrics_page import MetricsPage
from arena.lobby.addresses import InvalidAddressError
from arena.lobby.lobby import Lobby
from arena.service.competitions import CompetitionServicer
from arena.service.runs import Runs


class ServiceMetrics(Collector):
    """Looks at the service whenever Prometheus asks, in the thread that answers it."""

    def __init__(self, lobby: Lobby, servicer: CompetitionServicer, runs: Runs) -> None:
        self._lobby = lobby
        self._servicer = servicer
        self._runs = runs

    def collect(self) -> Iterator[Metric]:
        """Tell everything."""
        build = GaugeMetricFamily("arena_build_info", "What serves; always 1", labels=["version"])
        build.add_metric([version("academy-arena")], 1)
        yield build
        yield GaugeMetricFamily("arena_runs", "Competitions that run", value=len(self._runs))
        ended = CounterMetricFamily("arena_runs_ended", "Runs that ended, by exit status", labels=["status"])
        for status, count in list(self._runs.ended.items()):
            ended.add_metric([str(status)], count)
        yield ended
        yield GaugeMetricFamily("arena_players", "Players that have dialled in", value=self._lobby.players)
        seats = GaugeMetricFamily("arena_seats", "Seats for players that dial in", labels=["state"])
        taken, waiting = self._lobby.seats
        seats.add_metric(["taken"], taken)
        seats.add_metric(["waiting"], waiting)
        yield seats
        yield GaugeMetricFamily("arena_watchers", "Who follow a competition", value=self._servicer.watchers)
        calls = CounterMetricFamily(
            "arena_calls", "Calls about competitions, by OK or the reason of the refusal", labels=["result"]
        )
        for result, count in list(self._servicer.calls.items()):
            calls.add_metric([result], count)
        yield calls


@contextmanager
def served(metrics: Collector, address: str) -> Iterator[int]:
    """Serve Prometheus at `host:port` from a thread of its own while the block lasts; yields the port.

    Port 0 is any free one. Raises InvalidAddressError.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise InvalidAddressError(f"{address!r}: metrics need host:port (port 0 to 65535)")
    registry = CollectorRegistry()
    registry.register(metrics)
    ProcessCollector(registry=registry)
    try:
        page = MetricsPage(registry, host.strip("[]"), int(port))
    except OSError as error:
        raise InvalidAddressError(f"{address}: metrics cannot be served there ({error.strerror})") from error
    try:
        yield page.port
    finally:
        page.close()
