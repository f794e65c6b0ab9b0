"""Metrics of the server for Prometheus."""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from academy.knowledge.game import RULES_VERSION
from academy.store.contest_tables import count_open_contests
from academy.store.environment import SCHEMA_VERSION
from academy.store.library_store import Store
from academy.store.maintenance.backup import last_backup

_SECONDS: Final = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class LibrarySize:
    """How many records a library of a game has."""

    game_id: str
    library: str
    records: int


@dataclass(slots=True)
class MethodMeter:
    """Counts the calls of one method: running ones, and ended ones by status and duration."""

    running: int = 0
    ended_by_code: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    by_seconds: list[int] = field(default_factory=lambda: [0] * (len(_SECONDS) + 1))

    def ended(self, code: str, seconds: float) -> None:
        """Count a running call as ended, with its status code and its duration."""
        self.running -= 1
        self.ended_by_code[code] += 1
        self.seconds += seconds
        self.by_seconds[bisect_left(_SECONDS, seconds)] += 1


class Metrics(Collector):
    """Counters of one server, in a registry of their own, written by one thread only.

    So they are plain numbers: the locks of Prometheus' own counters would slow each call.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.questions: Counter[str] = Counter(opening=0, position=0, successor=0, advice=0, weights=0)
        # Streams continue after them, so no call's status shows them.
        self.stream_refusals: Counter[str] = Counter()
        # By method and reason.
        self.refusals: Counter[tuple[str, str]] = Counter()
        self._methods: dict[str, MethodMeter] = {}
        self._sizes: Callable[[], Iterable[LibrarySize]] = tuple
        self._store: Store | None = None
        self.registry.register(self)
        ProcessCollector(registry=self.registry)

    def method(self, name: str) -> MethodMeter:
        """Return the counters of one method."""
        return self._methods.setdefault(name, MethodMeter())

    def watch(self, store: Store, sizes: Callable[[], Iterable[LibrarySize]]) -> None:
        """Add a data folder, with its writes that wait and its open contests, and the libraries in memory."""
        self._store, self._sizes = store, sizes

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, from any thread."""
        calls = CounterMetricFamily(
            "academy_calls", "Calls ended, by method and status", labels=["method", "code"]
        )
        running = GaugeMetricFamily(
            "academy_calls_running", "Calls and streams being answered", labels=["method"]
        )
        seconds = HistogramMetricFamily(
            "academy_call_seconds", "Time from a call's acceptance to its end", labels=["method"]
        )
        for name, meter in list(self._methods.items()):
            for code, ended in list(meter.ended_by_code.items()):
                calls.add_metric([name, code], ended)
            running.add_metric([name], meter.running)
            bounds = (*map(str, _SECONDS), "+Inf")
            seconds.add_metric(
                [name], list(zip(bounds, accumulate(meter.by_seconds), strict=True)), meter.seconds
            )
        questions = CounterMetricFamily(
            "academy_questions",
            "Openings, positions, successors of positions, moves to compare (advice), weights asked about",
            labels=["kind"],
        )
        stream_refusals = CounterMetricFamily(
            "academy_stream_refusals", "Questions on streams that were refused", labels=["reason"]
        )
        refusals = CounterMetricFamily(
            "academy_refusals", "Calls that were refused, by method and reason", labels=["method", "reason"]
        )
        for kind, count in list(self.questions.items()):
            questions.add_metric([kind], count)
        for reason, count in list(self.stream_refusals.items()):
            stream_refusals.add_metric([reason], count)
        for labels, count in list(self.refusals.items()):
            refusals.add_metric(labels, count)
        yield _build_info()
        if self._store is not None:
            yield from _collect_store(self._store)
        writes = self._store.waiting_writes if self._store is not None else 0
        waiting = GaugeMetricFamily("academy_writes_waiting", "Writes not yet committed", value=writes)
        records = GaugeMetricFamily(
            "academy_library_records", "Records of the libraries in memory", labels=["game", "library"]
        )
        for size in self._sizes():
            records.add_metric([size.game_id, size.library], size.records)
        yield from (calls, running, seconds, questions, stream_refusals, refusals, waiting, records)


def _build_info() -> Metric:
    build = GaugeMetricFamily(
        "academy_build_info", "What serves; always 1", labels=["version", "schema", "rules"]
    )
    build.add_metric([metadata.version("academy-arena"), str(SCHEMA_VERSION), str(RULES_VERSION)], 1)
    return build


def _collect_store(store: Store) -> Iterator[Metric]:
    # A folder that cannot be read must not hide the other metrics.
    try:
        room, contests = store.environment.room(), store.read(count_open_contests)
    except OSError:
        return
    yield GaugeMetricFamily("academy_open_contests", "Contests that wait for their reports", value=contests)
    yield GaugeMetricFamily("academy_map_used_bytes", "What the data take of the file", value=room.used)
    yield GaugeMetricFamily(
        "academy_map_free_bytes", "What the data may still grow by", value=max(0, room.limit - room.used)
    )
    yield GaugeMetricFamily(
        "academy_disk_free_bytes", "What the disk of the data folder has free", value=room.disk_free
    )
    follows = store.follows_log
    if follows is not None:
        yield GaugeMetricFamily(
            "academy_shared_log_up",
            "1 while the log that servers share is followed, else 0; missing where a folder has its own",
            value=follows,
        )
    last = last_backup(store.environment.folder)
    if last is not None:
        yield GaugeMetricFamily(
            "academy_last_backup_timestamp_seconds",
            "When the folder was backed up last, in seconds since 1970; missing before the first time",
            value=last,
        )
        yield GaugeMetricFamily(
            "academy_last_backup_age_seconds",
            "How long ago the folder was backed up last; missing before the first time",
            value=max(0.0, time.time() - last),
        )
