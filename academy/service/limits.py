"""Limits of callers, calls and streams."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Every bound on input from outside. Times are in seconds, sizes in bytes or items.

    A caller may ask `questions_per_second` on average and `question_burst` at once. A call is one question,
    and so is each further position or proposal in it; what takes longer to answer counts as more (see
    `cost`), for example a large board. 16 candidate moves that change one cell are one question, and so is
    each other move. An eighth of `concurrent_calls` is kept for arenas and admins. A contest keeps its
    players from analysis for at most `contest_seconds`, as its arena may never report it. A connection that
    is silent for `ping_seconds` is pinged, and closed without an answer in `pong_seconds`. A name may see
    `patterns_outside_contests_per_hour` different patterns (0: any number). A stream of what is learnt ends
    after `library_watch_seconds`. A call's message must arrive in `message_seconds`; an answer that is not
    read within `write_seconds` resets the call.
    """

    message_bytes: int = 4 * 1024 * 1024
    metadata_bytes: int = 16 * 1024
    libraries_per_call: int = 16
    positions_per_call: int = 1_024
    successors_per_call: int = 400
    changes_per_call: int = 8_192
    cells_per_call: int = 4_096
    moves_per_list: int = 10_000
    characters_per_move: int = 1_024
    characters_per_list: int = 262_144
    proposals_per_call: int = 64
    analyses_per_call: int = 100
    verdicts_per_call: int = 16
    players_per_call: int = 1_024
    pattern_characters: int = 16_384
    records_per_import: int = 250_000
    bytes_per_import: int = 256 * 1024 * 1024
    default_matches: int = 256
    default_matches_each: int = 16
    matches_per_position: int = 65_536
    matches_per_call: int = 262_144
    default_page_size: int = 100
    page_size: int = 1_000
    concurrent_calls: int = 512
    concurrent_calls_per_caller: int = 128
    health_calls: int = 512
    health_calls_per_peer: int = 64
    health_watch_seconds: float = 600.0
    connections: int = 4_096
    questions_per_second: float = 1_000.0
    question_burst: float = 2_000.0
    idle_stream_seconds: float = 600.0
    library_watches: int = 64
    library_watches_per_caller: int = 16
    library_watch_seconds: float = 600.0
    message_seconds: float = 60.0
    write_seconds: float = 30.0
    ping_seconds: float = 60.0
    pong_seconds: float = 20.0
    contest_seconds: float = 86_400.0
    patterns_outside_contests_per_hour: int = 300
