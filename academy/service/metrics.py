"""What Prometheus is told of the server."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class LibrarySize:
    """How many records a library of a game has."""

    game_id: str
    library: str
    records: int


class Metrics:
    """Counters of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._methods: dict[str, MethodMeter] = {}
        self.calls = Counter(
            "academy_calls", "Calls ended, by method and status", ["method", "code"], registry=self.registry
        )
        self.seconds = Histogram(
            "academy_call_seconds",
            "Time from a call's acceptance to its end",
            ["method"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.running = Gauge(
            "academy_calls_running", "Calls and streams being answered", ["method"], registry=self.registry
        )
        self.questions = Counter(
            "academy_questions", "Positions and move lists asked about", ["kind"], registry=self.registry
        )

    def method(self, name: str) -> "MethodMeter":
        """What counts the calls of one method."""
        meter = self._methods.get(name)
        if meter is None:
            meter = self._methods[name] = MethodMeter(self, name)
        return meter

    def watch(self, queue: Callable[[], int], sizes: Callable[[], Iterable[LibrarySize]]) -> None:
        """Also tell, when asked, how many writes wait and how large the libraries are."""
        self.registry.register(_Watched(queue, sizes))


class MethodMeter:
    """The counters of one method, looked up once."""

    def __init__(self, metrics: Metrics, name: str) -> None:
        self._running = metrics.running.labels(name)
        self._seconds = metrics.seconds.labels(name)
        self._calls = metrics.calls
        self._name = name
        self._by_code: dict[str, Counter] = {}

    def began(self) -> None:
        """Count a call or stream as running."""
        self._running.inc()

    def ended(self, code: str, seconds: float) -> None:
        """Count it as ended, with a status code, after so many seconds."""
        self._running.dec()
        self._seconds.observe(seconds)
        calls = self._by_code.get(code)
        if calls is None:
            calls = self._by_code[code] = self._calls.labels(self._name, code)
        calls.inc()


class _Watched(Collector):
    def __init__(self, queue: Callable[[], int], sizes: Callable[[], Iterable[LibrarySize]]) -> None:
        self._queue = queue
        self._sizes = sizes

    def collect(self) -> Iterator[GaugeMetricFamily]:
        waiting = GaugeMetricFamily("academy_writes_waiting", "Writes not yet committed")
        waiting.add_metric([], self._queue())
        yield waiting
        records = GaugeMetricFamily(
            "academy_library_records", "Records of the libraries in memory", labels=["game", "library"]
        )
        for size in self._sizes():
            records.add_metric([size.game_id, size.library], size.records)
        yield records
