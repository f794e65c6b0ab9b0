"""Keys of the named databases.

Numbers are big-endian, so that keys sort as numbers do. A game's or contest's id is followed by a zero
byte, which no id holds, so that one id's keys never mix with another's that begins alike.

| table | key | value |
|---|---|---|
| meta | `schema` | version of the schema, in digits |
| meta | `compacted` | number of the last event that may have been removed |
| meta | `too_late` | number of the last event that new ones may not refer to |
| meta | `deleted `, game | number of the event that deleted it last |
| meta | `shared_log` | LogPlace; nothing in a folder with a log of its own |
| meta | `frozen_log schema `, number, `, rules `, number | nothing; while servers of these do not write |
| meta | `imported `, game, digest of an import's records | number of its event |
| meta | `source `, game | number of an event, and the name that its contests go under (`sources`) |
| meta | `taken `, game, section, source | number of the event that brought contests of this source |
| meta | `origin `, game | number of an event, and the game that it was forked from; after a compaction |
| games | game | academy.v1.Game with its present settings |
| game_state | game | GameState |
| measures | game | the sums behind its measures, as JSON with sorted keys |
| ratings | game, digest of a player's name | Rating |
| patterns | game, library, pattern number | academy.v1.PatternRecord without derived fields |
| openings | game, node number | academy.v1.OpeningNodeRecord |
| tesujis | game | Tesujis; nothing where it has none |
| evaluations | game | Evaluation; nothing where it has none |
| changes | game, generation | Changes; the last ones only |
| deleted_patterns | game, library, pattern number | DeletedPattern |
| removals | game, event that removed | RemovalRecord; for a time |
| muted_players | digest of a player's name | MutedPlayer |
| events | sequence | format byte and academy.v1.Event |
| events_by_game | game, sequence | nothing |
| snapshots | game | its generation and the compressed Snapshot |
| contests | contest | ContestRecord |
| open_contests | digest of a player's name, game, time of opening, contest | nothing; until the report |
| open_contests_by_age | game, time of opening, contest | nothing; until the report |
| uses | contest, seat, library, pattern number | nothing; until the report |
| proposals | proposal id | academy.v1.Proposal |
| proposals_by_contest | contest, number | seat and proposal id |
| proposals_by_player | digest of the name, number | proposal id |
| held_proposals | game, proposal id | nothing; until the report |
| tokens | token id | TokenRecord |
| arenas | digest of its name | ArenaRecord |
| claims | contest, seat, plies, digest of the board, value | PatternAnswer or nothing; until the report |
| player_statistics | game, digest of the name | PlayerStatistics |
| analyses | digest of the name | AnalysisRecord |
| growth | game, number of the contest in the game | academy.v1.GrowthPoint; of some contests |
| recent_contests | game, number of the contest in the game | RecentContest; the last ones only |
| node_contests | game, node number | NodeContests |
| pattern_history | game, library, pattern number | PatternHistory |

A contest is kept under the id that its arena gave it, followed by a blank and the arena's number where that
is not 0: each arena has ids of its own. A player's name is its identity, see `academy.store.arenas`.
"""

import hashlib
import re
from typing import Final

from academy.knowledge.claims import Claim
from academy.knowledge.own_proposals import ACADEMY_PROPOSER
from academy.knowledge.settings import Library
from academy.knowledge.spec import GAME_ID
from academy.knowledge.votes import VALUE_SCALE
from academy.store.errors import InvalidRecordError, UnknownGameError
from academy.wire.names import complaint_about

SHARED_LOG: Final = b"shared_log"
PLAYER_BYTES: Final = 16
_BOARD_BYTES: Final = 8
NO_BOARD: Final = bytes(_BOARD_BYTES)
"""What stands for the board in claims from before boards were kept."""
FIRST_BOARD: Final = bytes(_BOARD_BYTES - 1) + b"\1"
_NO_PLIES: Final = 2**64 - 1
CONTEST_ID: Final = re.compile(r"[!-~]{1,128}")
_KEPT_CONTEST_ID: Final = re.compile(r"[!-~]{1,128}(?: [1-9][0-9]{0,8})?")
PLAYER_NAME: Final = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,128}")
# A name, `@` and a namespace.
_IDENTITY: Final = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,300}")
_LIBRARIES: Final = {Library.OPENING: 1, Library.MIDDLE_GAME: 2, Library.ENDGAME: 3}
_BY_NUMBER: Final = {number: library for library, number in _LIBRARIES.items()}


def number(value: int) -> bytes:
    """A number of up to 64 bits."""
    return value.to_bytes(8)


def game(game_id: str) -> bytes:
    """A game by itself. Raises UnknownGameError for what cannot be a game's id."""
    if not GAME_ID.fullmatch(game_id):
        raise UnknownGameError(game_id)
    return game_id.encode()


def in_game(game_id: str, *numbers: int) -> bytes:
    """Something numbered within a game: an event, a generation, an opening node."""
    return game(game_id) + b"\0" + b"".join(map(number, numbers))


def pattern(game_id: str, library: Library, *pattern_id: int) -> bytes:
    """A pattern of a library; without number the beginning of all their keys."""
    return in_game(game_id) + bytes([_LIBRARIES[library]]) + b"".join(map(number, pattern_id))


def pattern_of(key: bytes) -> tuple[Library, int]:
    """The library and number in a key made by `pattern`."""
    return _BY_NUMBER[key[-9]], int.from_bytes(key[-8:])


def last_number(key: bytes) -> int:
    """The number a key ends with."""
    return int.from_bytes(key[-8:])


def rating(game_id: str, name: str) -> bytes:
    """A player of a game."""
    return in_game(game_id) + player(name)


def contest(contest_id: str) -> bytes:
    """A contest by itself. Raises InvalidRecordError for what cannot be the id that one is kept under."""
    if not _KEPT_CONTEST_ID.fullmatch(contest_id):
        _check_contest_id(contest_id)
    return contest_id.encode()


def _check_contest_id(contest_id: str) -> None:
    """Raise InvalidRecordError for what cannot be a contest's id as its arena gives it."""
    if not CONTEST_ID.fullmatch(contest_id):
        raise InvalidRecordError(
            "contest_id", f"{contest_id[:140]!r} must be 1 to 128 printable ASCII characters without blanks"
        )


def kept_contest_id(contest_id: str, arena: int) -> str:
    """The id that a contest of the arena of this number is kept under. Raises InvalidRecordError."""
    _check_contest_id(contest_id)
    return f"{contest_id} {arena}" if arena else contest_id


def given_contest_id(contest_id: str) -> str:
    """The id that the arena gave a contest, from the one it is kept under."""
    return contest_id.partition(" ")[0]


def arena_number(contest_id: str) -> int:
    """The number of the arena of a contest, from the id it is kept under."""
    return int(contest_id.partition(" ")[2] or 0)


def is_place_of_contest(contest_id: str) -> bool:
    """Whether a contest may be kept under this id."""
    return _KEPT_CONTEST_ID.fullmatch(contest_id) is not None


def in_contest(contest_id: str, *numbers: int) -> bytes:
    """Something numbered within a contest."""
    return contest(contest_id) + b"\0" + b"".join(map(number, numbers))


def contest_of(key: bytes) -> str:
    """The contest in a key made by `in_contest`."""
    return key.partition(b"\0")[0].decode()


def seat_of(key: bytes) -> int:
    """The first number in a key made by `in_contest`: of uses and claims the seat."""
    return int.from_bytes(key.partition(b"\0")[2][:8])


def open_contest(name: str, game_id: str, opened: int | None = None, contest_id: str = "") -> bytes:
    """An open contest of a player in a game; see `open_contest_by_age`."""
    return player(name) + open_contest_by_age(game_id, opened, contest_id)


def open_contest_by_age(game_id: str, opened: int | None = None, contest_id: str = "") -> bytes:
    """An open contest of a game: nanoseconds since 1970, and its id; without them the beginning of all."""
    return in_game(game_id) + (b"" if opened is None else number(opened)) + contest_id.encode()


def use(contest_id: str, seat: int, library: Library, pattern_id: int) -> bytes:
    """A pattern shown to a seat."""
    return in_contest(contest_id, seat) + bytes([_LIBRARIES[library]]) + number(pattern_id)


def use_of(key: bytes) -> tuple[int, Library, int]:
    """The seat, library and pattern in a key made by `use`."""
    return int.from_bytes(key[-17:-9]), *pattern_of(key)


def claim(contest_id: str, seat: int, claimed: Claim) -> bytes:
    """What a seat claimed to expect; the keys of one position begin with `in_contest` of seat and plies."""
    plies = _NO_PLIES if claimed.plies is None else claimed.plies
    value = round(claimed.value * VALUE_SCALE).to_bytes(4)
    return in_contest(contest_id, seat, plies) + claimed.board + value


def claim_of(key: bytes) -> Claim:
    """The claim in a key made by `claim`."""
    plies = int.from_bytes(key[-12 - _BOARD_BYTES : -4 - _BOARD_BYTES])
    value = int.from_bytes(key[-4:]) / VALUE_SCALE
    return Claim(None if plies == _NO_PLIES else plies, key[-4 - _BOARD_BYTES : -4], value)


def board(letters: str) -> bytes:
    """8 bytes that stand for a board."""
    return hashlib.blake2b(letters.encode(), digest_size=_BOARD_BYTES).digest()


def open_contest_place(end: bytes) -> tuple[int, str]:
    """The time of opening and the contest that a key of an open contest ends with."""
    return int.from_bytes(end[:8]), end[8:].decode()


def player(name: str) -> bytes:
    """Return 16 bytes that stand for a player's name of any length."""
    return hashlib.blake2b(name.encode(), digest_size=PLAYER_BYTES).digest()


def check_voter_name(field: str, name: str) -> None:
    """Raise InvalidRecordError for what cannot be the identity of a player, or of ACADEMY as a proposer."""
    if not _IDENTITY.fullmatch(name):
        raise InvalidRecordError(
            field, f"{name[:140]!r} must be 1 to 300 characters without control characters"
        )


def check_identity(field: str, name: str) -> None:
    """Raise InvalidRecordError for what cannot be a player's identity."""
    check_voter_name(field, name)
    if name == ACADEMY_PROPOSER:
        raise InvalidRecordError(field, f"{name!r} is ACADEMY's own name: a player needs another")


def check_new_player_name(name: str) -> None:
    """Raise InvalidRecordError for what cannot be a player's name from now on; the log may hold others."""
    check_player_name("name", name)
    if complaint := complaint_about(name):
        raise InvalidRecordError("name", complaint)


def check_player_name(field: str, name: str) -> None:
    """Raise InvalidRecordError for what cannot be a player's name as its arena gives it."""
    if not PLAYER_NAME.fullmatch(name):
        raise InvalidRecordError(
            field, f"{name[:140]!r} must be 1 to 128 characters without control characters"
        )
    check_identity(field, name)
