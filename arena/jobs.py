"""What passes between the competition and the workers: a game to play, and how it went."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, Final, NamedTuple

from referees.api import Outcome

# The protocol of players that dial in at the arena's lobby.
REMOTE: Final = "grpc"
# The id of what is begun to see whether a player gets ready: no game that counts.
CHECK_GAME_ID: Final = "startup-check"


@dataclass(frozen=True)
class TimeControl:
    """The clock of a player, in seconds.

    First `main_seconds` for the whole game, to which `increment_seconds` are added after each move, up to
    `most_seconds` (None: without a limit).
    When they are used up, periods of `byo_yomi_seconds` for `byo_yomi_stones` moves each (Canadian
    byo-yomi), or the game is lost where there is no byo-yomi. A fixed time per move is byo-yomi of one
    stone without main time. A move may be late by `margin_seconds`, which are taken from nothing.
    """

    main_seconds: float = 0.0
    increment_seconds: float = 0.0
    byo_yomi_seconds: float = 0.0
    byo_yomi_stones: int = 1
    margin_seconds: float = 0.0
    most_seconds: float | None = None


@dataclass(frozen=True)
class Adjudication:
    """When the arena ends a game that is decided, by the expected values (0 to 1) that players report.

    A seat has won when all others reported at most `resign_value` for `resign_moves` of their moves in a row
    and, if `two_sided`, it reported at least 1 - `resign_value` as often. A game is drawn when, after
    `draw_after` plies, all reported 0.5 give or take `draw_margin` for `draw_moves` moves each. After
    `count_after` plies the referee counts the position. None switches a rule off.
    """

    resign_value: float | None = None
    resign_moves: int = 3
    two_sided: bool = True
    draw_margin: float | None = None
    draw_moves: int = 8
    draw_after: int = 0
    count_after: int | None = None


@dataclass(frozen=True)
class Resources:
    """What a player takes of the machine that plays its game, where games are played on several machines.

    `memory_bytes` is 0 where it does not matter; `custom` are amounts of what only some machines offer,
    `labels` what they must be labelled with.
    """

    cpus: float = 0.5
    gpus: float = 0.0
    memory_bytes: int = 0
    custom: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlayerSetup:
    """A player of a competition, ready to be started.

    `command` is the program and its arguments; `protocol` the dialogue it speaks; `version` and `family`
    are what the control file says of it. Time limits are
    in seconds, memory in bytes; None means no limit. A `time_control` takes the place of
    `move_seconds` for moves. Without `restart` a program is kept for its player's next games.
    `parameters` are what a protocol has for itself (`startup_commands`, `aliases`...).
    """

    name: str
    command: tuple[str, ...]
    protocol: str = "gtp"
    version: str = ""
    family: str | None = None
    working_directory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    discard_stderr: bool = False
    start_seconds: float = 30.0
    move_seconds: float = 60.0
    exit_seconds: float = 5.0
    memory_bytes: int | None = None
    time_control: TimeControl | None = None
    restart: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)
    resources: Resources = Resources()


def label_clash(players: Iterable[PlayerSetup]) -> str:
    """Why no machine has the labels that the players of a game want; empty where one may have them."""
    wanted: dict[str, PlayerSetup] = {}
    for player in players:
        for name, value in player.resources.labels.items():
            other = wanted.setdefault(name, player)
            if (theirs := other.resources.labels[name]) != value:
                return (
                    f"players.{player.name}.resources.labels: {name} is {value!r} here and {theirs!r} for "
                    f"player {other.name}, and the players of a game sit on one machine: give both the same "
                    "value, or one of them none"
                )
    return ""


@dataclass(frozen=True)
class AcademyAccess:
    """Where ACADEMY is for the players of one game; `tickets` are bearer tokens by seat.

    `tls_ca` is the file of the authority that the server's certificate is checked by, if it has one.
    `game_id` is what ACADEMY calls the game; empty for what the referee calls it.
    """

    address: str
    contest_id: str
    tickets: tuple[str, ...]
    tls_ca: str | None = None
    game_id: str = ""


@dataclass(frozen=True)
class GameJob:
    """One game to play.

    Attributes:
        game_id: The game's id at the arena and at ACADEMY.
        game: The name of its referee.
        settings: The referee's settings.
        players: The players by seat.
        seed: The source of the game's chance, which no player may learn.
        move_limit: The number of plies after which the game is stopped.
        scorer: Who counts: `internal` (the referee) or `players` (they are asked).
        academy: How the players reach ACADEMY; None without it.
        log_path: The file for what players write to their standard error; None for that of the process that
            plays.
        transcript: The file for the lines of the players' protocols; None for no such file.
        live_path: The file that grows with each turn, for watchers; None for no such file.
        event: What the game is part of, for its record.
        remarks: Lines of the record's heading.
        opening: The moves, as text, that are played before the players choose theirs.
        opening_name: The opening's name.
        adjudication: When the arena ends the game early; None for never.
        failures: What becomes of a player that crashes or breaks its protocol after the first move was asked
            for: `forfeit`, or `void` for the whole game.
        ringmaster_rules: Whether the rules of Gomill's ringmaster hold: where a player refuses a move which
            the referee has accepted, the mover forfeits, and the record of a game that the move limit ends
            has the result `Void`.
        describe_positions: Whether each move comes with ACADEMY's description of the position, which takes
            as long as playing the move.
        seat_seeds: The seats' own seeds; made of `seed` one-way where they are left out.
        attempt: The number of the attempt at the game, from 1; its result has it too.
    """

    game_id: str
    game: str
    settings: Mapping[str, Any]
    players: tuple[PlayerSetup, ...]
    seed: int
    move_limit: int = 1000
    scorer: str = "internal"
    academy: AcademyAccess | None = None
    log_path: str | None = None
    transcript: str | None = None
    live_path: str | None = None
    event: str = ""
    remarks: tuple[str, ...] = ()
    opening: tuple[str, ...] = ()
    opening_name: str = ""
    adjudication: Adjudication | None = None
    failures: str = "forfeit"
    ringmaster_rules: bool = False
    describe_positions: bool = True
    seat_seeds: tuple[int, ...] = ()
    attempt: int = 1


class Fault(Enum):
    """Why a player's side of a game went wrong, in the words of SAGA's Problem column and of the log."""

    NONE = "none"
    LATE = "late"
    DISCONNECTED = "disconnected"
    ILLEGAL_MOVE = "illegal move"
    DISPUTED_MOVE = "disputed move"
    PROTOCOL = "protocol"
    REFUSED = "refused"


_NO_VALUES: Final[Mapping[int, float]] = {}


# A tuple: of a fast game, making and sending its moves is a good part of the work.
class JobMove(NamedTuple):
    """One recorded move.

    Attributes:
        seat: The seat that moved, from 1.
        text: The move as the referee spells it.
        board: The position after the move in ACADEMY's letters; None where the job asks for no descriptions.
        legal_moves: How many moves the mover had, 0 where they cannot be listed; None likewise.
        interaction: Whether pieces of different sides could act on each other after the move; None likewise.
        seconds: The time that the mover took.
        values: The expected values that players reported, by seat.
        comment: What the player wrote about the move.
        clock_seconds: The seconds on the mover's clock after the move; None without a clock.
        clock_stones: In byo-yomi, the number of moves that `clock_seconds` are for.
        opening: Whether the move is one of a given opening.
        stand_in: Whether the referee made the move for a seat whose player was gone.
        opening_move: The move as ACADEMY's opening trees know it; empty where that is its text.
        value_before: The mover's expected value of the position before.
    """

    seat: int
    text: str
    board: str | None
    legal_moves: int | None
    interaction: bool | None
    seconds: float
    values: Mapping[int, float] = _NO_VALUES
    comment: str = ""
    clock_seconds: float | None = None
    clock_stones: int = 0
    opening: bool = False
    stand_in: bool = False
    opening_move: str = ""
    value_before: float | None = None


@dataclass(frozen=True)
class PlayerUsage:
    """What one player's process cost, and what went wrong with it.

    Attributes:
        cpu_seconds: The processor time; None where it is unknown.
        wall_seconds: The time that the player's `own_moves` took.
        peak_memory_bytes: The most memory at a time; None where it is unknown.
        engine_name: The player's name for itself.
        engine_description: The same at length.
        fault: What went wrong.
        remark: What happened at the fault.
        turns: How many turns of the game were over when the player first failed to play one; known of games
            whose seats move at once.
        own_moves: The moves that the player was asked for, with one that lost on time, a resignation and a
            claim, and without the opening's and the referee's.
    """

    cpu_seconds: float | None = None
    wall_seconds: float = 0.0
    peak_memory_bytes: int | None = None
    engine_name: str = ""
    engine_description: str = ""
    fault: Fault = Fault.NONE
    remark: str = ""
    turns: int | None = None
    own_moves: int = 0


@dataclass(frozen=True)
class GameResult:
    """How a job went. `outcome` is None for a void game, whose reason is `void_reason`.

    `record` is the game in its referee's format, empty for a void game without a move. Times are in seconds,
    `started` is a Unix time. `absent` is the seat, if any, whose player did not get ready: it did not start,
    dial in or answer. `unproven` says why the result rests on a player's word alone, so that nothing
    may be learnt from it; empty where the referee or a player against its own interest confirms it.
    `arrangement` is the first position as a player arranged it, None where none did. `attempt` is the job's.
    """

    game_id: str
    outcome: Outcome | None
    void_reason: str
    moves: tuple[JobMove, ...]
    start_board: str
    usage: tuple[PlayerUsage, ...]
    record: str
    record_extension: str
    started: float
    setup_seconds: float
    play_seconds: float
    warnings: tuple[str, ...] = ()
    absent: int | None = None
    unproven: str = ""
    arrangement: str | None = None
    attempt: int = 1

    def __reduce__(self) -> tuple[Any, ...]:
        # Moves without their type, which pickle would name for each: that takes three times as long.
        return _rebuild_result, ({**self.__dict__, "moves": list(map(tuple, self.moves))},)


_move_of: Final = partial(tuple.__new__, JobMove)


def _rebuild_result(values: dict[str, Any]) -> GameResult:
    return GameResult(**{**values, "moves": tuple(map(_move_of, values["moves"]))})
