"""Limits of callers, calls and streams."""

from dataclasses import dataclass

from academy.wire.limits import limit


@dataclass(frozen=True)
class Limits:
    """Every bound on input from outside. Times are in seconds, sizes in bytes or items.

    A caller may ask `questions_per_second` on average and `question_burst` at once. A call is one question,
    and so is each further position or proposal in it; what takes longer to answer counts as more (see
    `cost`), for example a large board. 16 candidate moves that change one cell are one question, and so is
    each other move.
    """

    message_bytes: int = limit(4 * 1024 * 1024, "size of a message")
    metadata_bytes: int = limit(16 * 1024, "size of a call's metadata")
    libraries_per_call: int = limit(16, "entries of `libraries` in a call")
    positions_per_call: int = limit(1_024, "positions in a call")
    successors_per_call: int = limit(400, "candidate moves in a call")
    changes_per_call: int = limit(8_192, "cells that the candidate moves of a call change in all")
    cells_per_call: int = limit(4_096, "cells that a question for advice compares")
    moves_per_list: int = limit(10_000, "moves in a list")
    characters_per_move: int = limit(1_024, "characters of a move")
    characters_per_list: int = limit(262_144, "characters of all moves in a list")
    proposals_per_call: int = limit(64, "proposals in a call")
    analyses_per_call: int = limit(100, "lines that an analyst reports in a call")
    verdicts_per_call: int = limit(16, "verdicts to filter by in a call")
    players_per_call: int = limit(1_024, "players in a call")
    pattern_characters: int = limit(16_384, "characters of a pattern's text")
    records_per_import: int = limit(250_000, "records of an import")
    bytes_per_import: int = limit(256 * 1024 * 1024, "size of an import")
    default_matches: int = limit(256, "matches returned for a position unless the call says otherwise")
    default_matches_each: int = limit(
        16, "matches returned of one pattern on a position unless the call says otherwise"
    )
    matches_per_position: int = limit(65_536, "matches returned for a position at most")
    matches_per_call: int = limit(262_144, "matches returned for a call at most")
    default_page_size: int = limit(100, "entries of a page unless the call says otherwise")
    page_size: int = limit(1_000, "entries of a page at most")
    concurrent_calls: int = limit(
        512, "calls and streams at the same time, of all callers; an eighth for arenas and admins"
    )
    concurrent_calls_per_caller: int = limit(128, "calls and streams at the same time, of one caller")
    health_calls: int = limit(512, "calls about health at the same time, of all addresses")
    health_calls_per_peer: int = limit(64, "calls about health at the same time, of one address")
    health_watch_seconds: float = limit(600.0, "seconds until a watch of health ends")
    connections: int = limit(4_096, "connections of a process")
    questions_per_second: float = limit(1_000.0, "questions a second of one caller, on average")
    question_burst: float = limit(2_000.0, "questions of one caller at once")
    idle_stream_seconds: float = limit(600.0, "seconds until a stream without questions ends")
    library_watches: int = limit(64, "watches of libraries at the same time, of all callers")
    library_watches_per_caller: int = limit(16, "watches of libraries at the same time, of one caller")
    library_watch_seconds: float = limit(
        600.0, "seconds until a watch of libraries ends, to be begun again where it ended"
    )
    message_seconds: float = limit(60.0, "seconds until a call without its message ends")
    write_seconds: float = limit(30.0, "seconds until a call whose answer nobody reads is reset")
    ping_seconds: float = limit(60.0, "seconds of silence until a connection is pinged")
    pong_seconds: float = limit(20.0, "seconds until a pinged connection without an answer is closed")
    contest_seconds: float = limit(
        86_400.0,
        "seconds until an open contest blocks its players' analysis no longer; it may never be reported",
    )
    patterns_outside_contests_per_hour: int = limit(
        300, "different patterns that a name gets in an hour outside contests; 0: any number"
    )
