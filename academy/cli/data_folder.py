"""Commands that work on a data folder, also while servers use it: tokens, players, check, backup, compact.

What concerns tokens and muted players is done at a server instead where its address is given.
"""

import getpass
import logging
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer
from rich.text import Text

from academy.cli import printing
from academy.cli.commands import CommandError, Commands, ExitCode
from academy.cli.connection import with_server_to_compare, with_server_where_asked
from academy.cli.libraries import Json
from academy.cli.services import Server
from academy.cli.serving import DEFAULT_DATA, Data, Replicas

if TYPE_CHECKING:
    from academy.store import player_commands
    from academy.store.environment import Transaction
    from academy.store.library_store import Store
    from academy.store.maintenance.check import Finding
    from academy.store.tokens import Token
    from academy.v1 import tokens_pb2

_REMEDY: Final = "stop its servers, keep it for inspection, and restore a backup into another folder"
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_MOST_DIGITS: Final = 12
_LONGEST: Final = 100 * 365 * _SECONDS["d"]


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    tokens = typer.Typer(cls=Commands, no_args_is_help=True, help="Make, list and revoke bearer tokens.")
    tokens.command("create")(with_server_where_asked(create_token))
    tokens.command("list")(with_server_where_asked(list_tokens))
    tokens.command("revoke")(with_server_where_asked(revoke_token))
    application.add_typer(tokens, name="tokens")
    players = typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        help="List those who taught, mute one, forget what one taught: in a data folder, also while servers "
        "use it.",
    )
    players.command("list")(list_players)
    players.command("mute")(with_server_where_asked(mute))
    players.command("unmute")(with_server_where_asked(unmute))
    players.command("forget")(forget)
    application.add_typer(players, name="players")
    application.command("check")(with_server_to_compare(check))
    application.command("backup")(with_server_where_asked(backup))
    application.command("restore")(restore)
    application.command("compact")(compact)
    application.command("snapshot")(snapshot)
    application.command("freeze")(freeze)
    application.command("move")(move)


def create_token(
    server: Server | None,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its holder: a bot's knowledge is kept under this name.")
    ],
    role: Annotated[
        Literal["bot", "analyst", "arena", "admin"], typer.Option(help="What its holder may do.")
    ] = "bot",
    expires: Annotated[str, typer.Option(help="How long it is good: 12h, 30d, 52w; nothing: for ever.")] = "",
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Make a token and print it. It is shown only now: ACADEMY keeps no more than a hash."""
    until = time.time() + _duration(expires) if expires else None
    if server is not None:
        token, text = _create_at_server(server, name, role, until)
    else:
        from academy.store.library_store import Store
        from academy.store.tokens import CreateToken, Role

        with Store(data) as store:
            token, text = store.run(CreateToken(name, Role(role), until))
    if json:
        printing.print_json(_as_json(token) | {"token": text})
    else:
        typer.echo(text)


def list_tokens(server: Server | None, data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """List all tokens, without their secrets."""
    if server is not None:
        tokens = _tokens_at_server(server)
    else:
        from academy.store.tokens import tokens as read_tokens

        with open_existing(data, read_only=True) as store:
            tokens = store.read(read_tokens)
    if json:
        printing.print_json([_as_json(token) for token in tokens])
        return
    table = printing.new_table("Tokens", " id", " name", " role", " created", " expires", " revoked")
    for token in tokens:
        table.add_row(
            token.token_id,
            Text(token.name),
            # Tokens of before are analysts' by a flag, which still holds.
            f"{token.role.value}, analyst" if token.analyst else token.role.value,
            _date(token.created),
            _date(token.expires),
            _date(token.revoked),
        )
    printing.console().print(table)


def revoke_token(
    server: Server | None,
    which: Annotated[
        str,
        typer.Argument(
            metavar="TOKEN",
            help="The token's id, as `tokens list` shows it, or its name where no other has that.",
        ),
    ],
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """End a token's rights at once, also at a running server."""
    if server is not None:
        from academy.v1 import tokens_pb2

        request = tokens_pb2.RevokeTokenRequest(token_id=_token_id(_tokens_at_server(server), which))
        revoked = _read_token(server.tokens.RevokeToken(request).token)
    else:
        from academy.store.tokens import RevokeToken
        from academy.store.tokens import tokens as read_tokens

        with open_existing(data) as store:
            revoked = store.run(RevokeToken(_token_id(store.read(read_tokens), which)))
    if json:
        printing.print_json(_as_json(revoked))
    else:
        typer.echo(f"revoked {revoked.token_id} of {revoked.name}")


def check(
    server: Server | None,
    data: Data = DEFAULT_DATA,
    replay: Annotated[
        bool, typer.Option(help="Make every library again from the event log, and compare.")
    ] = True,
    json: Json = False,
) -> None:
    """Check a data folder: indexes, counts, and the libraries against their events. Exit status 4: faults.

    With --against also that its libraries are those of a server, byte for byte, as of the last event that
    both have learnt.
    """
    from academy.store.environment import TableName
    from academy.store.maintenance import check as checking
    from academy.store.maintenance import scan

    _check_exists(data)
    # Records are read only from sound pages: others could end this process without a word.
    findings = [checking.Finding("", what) for what in scan.find_damage(data)]
    events = 0
    if not findings:
        with open_existing(data, read_only=True) as store:
            findings = list(checking.check(store.environment, replay=replay))
            with store.environment.reading() as transaction:
                events = transaction.count(TableName.EVENTS)
            if server is not None:
                findings += _compare(store, server)
    faults = sum(finding.is_fault for finding in findings)
    if json:
        printing.print_json({"events": events, "findings": list(map(asdict, findings))})
    else:
        for finding in findings:
            typer.echo(f"{finding.game_id or 'all games'}: {finding.what}")
        typer.echo(f"{data}: {events:,} events, " + (f"{faults} faults; {_REMEDY}" if faults else "sound"))
    if faults:
        raise typer.Exit(ExitCode.FAULTY)


def _compare(store: "Store", server: Server) -> list["Finding"]:
    """Compare a folder with a copy of a server's."""
    from academy.store.environment import Environment
    from academy.store.maintenance import agreement
    from academy.store.maintenance import backup as copies

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copies.place_received(_download(server), copy)
        with Environment(copy, read_only=True) as other:
            return list(agreement.disagreements(store.environment, other))


def backup(
    server: Server | None,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="An empty or new folder.")],
    data: Data = DEFAULT_DATA,
) -> None:
    """Copy a data folder as of this moment, also while a server uses it; or that of a server elsewhere."""
    from academy.store.maintenance import backup as copies

    if server is not None:
        size = copies.place_received(_download(server), target)
        typer.echo(f"{target}: {size:,} bytes, verified")
        return
    _check_pages(data)
    with open_existing(data, read_only=True) as store:
        size = copies.backup(store.environment, target)
    typer.echo(f"{target}: {size:,} bytes, verified")


def _download(server: Server) -> Iterator[bytes]:
    """Yield the parts of a server's copy, which it begins to make with the first."""
    from academy.v1 import libraries_pb2

    for part in server.libraries.DownloadBackup(libraries_pb2.DownloadBackupRequest()):
        yield part.content


def restore(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A backup.")],
    data: Annotated[
        Path, typer.Option("--data", envvar="ACADEMY_DATA", help="An empty or new folder.")
    ] = DEFAULT_DATA,
) -> None:
    """Put a backup into an empty data folder."""
    from academy.store.maintenance import backup as copies

    size = copies.restore(source, data)
    typer.echo(f"{data}: {size:,} bytes, verified; start it with: academy serve --data {data}")


def compact(
    data: Data = DEFAULT_DATA,
    keep: Annotated[
        int | None,
        typer.Option(min=1, help="How many of the newest events stay.", show_default="1000"),
    ] = None,
    shrink: Annotated[
        bool, typer.Option(help="Also give room back to the disk; no server may use the folder then.")
    ] = False,
    json: Json = False,
) -> None:
    """Replace old events by a snapshot of each game's libraries, also while a server uses the folder.

    The libraries stay as they are, and a contest that comes again is still not counted twice.
    """
    from academy.store.maintenance import compaction

    _check_pages(data)
    with open_existing(data) as store:
        done = compaction.compact(store.environment, keep=keep or compaction.EVENTS_KEPT, run=store.run)
    before, after = compaction.shrink(data) if shrink else (0, 0)
    if json:
        sizes = {"bytes_before": before, "bytes_after": after} if shrink else {}
        printing.print_json({"removed": done.removed, "left": done.left} | sizes)
        return
    typer.echo(f"{data}: {done.removed:,} events replaced by snapshots, {done.left:,} left")
    if shrink:
        typer.echo(f"{data}: {before:,} bytes before, {after:,} now")


def snapshot(
    data: Data = DEFAULT_DATA,
    keep: Annotated[
        int, typer.Option(min=2, help="How many of the newest snapshots stay; one alone may be damaged.")
    ] = 2,
    cut: Annotated[
        bool,
        typer.Option(
            help="Remove from the log what all kept snapshots hold. Servers that lag behind begin again with "
            "a snapshot."
        ),
    ] = False,
) -> None:
    """Store a snapshot of a folder that follows a shared log, with which new servers begin.

    Also while a server uses the folder. It is kept where the log is, in NATS' object store.
    """
    _check_pages(data)
    from academy.store.shared_log import snapshots

    with open_existing(data, read_only=True) as store:
        made = snapshots.make(store.environment, keep=keep)
        typer.echo(f"{data}: a snapshot of message {made.followed:,}, {made.size:,} bytes")
        if cut:
            first = snapshots.cut(store.environment, keep=keep)
            typer.echo(f"the log begins with message {first:,}")


def freeze(
    data: Data = DEFAULT_DATA,
    lift: Annotated[
        bool, typer.Option("--lift", help="Have them write again, if none was upgraded.")
    ] = False,
) -> None:
    """Have no server of this version write to the shared log any more, so that they can be upgraded.

    They go on answering questions. The first that is upgraded takes writes again.
    """
    from academy.store.shared_log.place import FreezeLog

    _check_exists(data)
    # The command says itself what it is refused.
    logging.getLogger("academy.store.shared_log").addHandler(logging.NullHandler())
    with open_existing(data) as store:
        store.run(FreezeLog(lift))
    typer.echo("writes go on" if lift else "no server of this version writes any more")


def move(
    to: Annotated[
        str,
        typer.Option(
            help="A new stream, nats://HOST[:PORT][,HOST...][/STREAM], or `own`: a log of the folder's own."
        ),
    ],
    data: Data = DEFAULT_DATA,
    log_replicas: Replicas = 0,
) -> None:
    """Make a folder's history a log that servers share, or take a folder out of one.

    No server may use the folder meanwhile. A move that was killed goes on when it is run again.
    """
    from academy.store.shared_log import place
    from academy.store.shared_log.address import LogAddress
    from academy.wire.addresses import InvalidAddressError

    _check_pages(data)
    if to == "own":
        from academy.store.environment import Environment
        from academy.store.maintenance.compaction import lock_alone

        with lock_alone(data):
            pass
        with Environment(data) as environment:
            environment.write(place.remove)
        typer.echo(f"{data}: has a log of its own now")
        return
    try:
        address = LogAddress.parse(to, log_replicas)
    except InvalidAddressError as error:
        raise CommandError(f"{error}; or write own", ExitCode.USAGE) from error
    from academy.store.shared_log import moving

    count = moving.share(data, address)
    typer.echo(f"{data}: follows {address} now, {count:,} messages")


def open_existing(data: Path, *, read_only: bool = False) -> "Store":
    """Open the data in a folder. Raises CommandError where it holds none."""
    from academy.store.library_store import Store

    _check_exists(data)
    return Store(data, read_only=read_only)


def _check_pages(data: Path) -> None:
    """Refuse to read all of a file with damaged pages: that could end this process without a word."""
    from academy.store.maintenance import scan

    _check_exists(data)
    for what in scan.find_damage(data):
        raise CommandError(f"{data}: {what}; {_REMEDY}", ExitCode.FAULTY)


def _check_exists(data: Path) -> None:
    if not (data / "data.mdb").exists():
        raise CommandError(f"{data}: holds no data of ACADEMY; give the folder with --data", ExitCode.USAGE)


def _create_at_server(server: Server, name: str, role: str, until: float | None) -> tuple["Token", str]:
    from academy.v1 import tokens_pb2

    number = tokens_pb2.TokenRole.Value(f"TOKEN_ROLE_{role.upper()}")
    request = tokens_pb2.CreateTokenRequest(name=name, role=number)
    if until is not None:
        request.expire_time.FromMicroseconds(round(until * 1e6))
    made = server.tokens.CreateToken(request)
    return _read_token(made.token), made.secret


def _tokens_at_server(server: Server) -> list["Token"]:
    """The tokens of a server, the oldest first."""
    from academy.v1 import tokens_pb2

    request = tokens_pb2.ListTokensRequest()
    tokens: list[Token] = []
    while True:
        page = server.tokens.ListTokens(request)
        tokens += map(_read_token, page.tokens)
        if not page.next_page_token:
            return tokens
        request.page_token = page.next_page_token


def _read_token(message: "tokens_pb2.Token") -> "Token":
    from academy.store.tokens import Role, Token
    from academy.v1 import tokens_pb2

    role = Role(tokens_pb2.TokenRole.Name(message.role).removeprefix("TOKEN_ROLE_").lower())
    return Token(
        message.token_id,
        message.name,
        role,
        message.create_time.seconds,
        message.expire_time.seconds or None,
        message.revoke_time.seconds or None,
    )


def _token_id(tokens: Sequence["Token"], wanted: str) -> str:
    """The id of the token with this id or, among those not revoked, this name."""
    named = [token.token_id for token in tokens if token.name == wanted and token.revoked is None]
    if any(token.token_id == wanted for token in tokens) or not named:
        return wanted
    if len(named) > 1:
        raise CommandError(f"{wanted!r} is the name of {len(named)} tokens; give an id: {', '.join(named)}")
    return named[0]


def _duration(text: str) -> float:
    number, unit = text[:-1], text[-1:]
    if unit not in _SECONDS or not number.isascii() or not number.isdigit() or not number.strip("0"):
        raise CommandError(
            f"{text!r} is no time: write a number and one of {' '.join(_SECONDS)}", ExitCode.USAGE
        )
    # Python reads no number of thousands of digits.
    if len(number) > _MOST_DIGITS or (seconds := int(number) * _SECONDS[unit]) > _LONGEST:
        raise CommandError(
            f"{text[:40]!r} is too long: at most 100 years; without --expires it is good for ever",
            ExitCode.USAGE,
        )
    return float(seconds)


def _date(seconds: float | None) -> str:
    when = _moment(seconds)
    return "" if when is None else when if isinstance(when, str) else when.strftime("%Y-%m-%d %H:%M")


def _moment(seconds: float | None) -> datetime | str | None:
    """Return a token's time; in words where no calendar reaches it, as earlier versions allowed."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{seconds:.3g} s after 1970"


def _as_json(token: "Token") -> dict[str, object]:
    times = {"created": token.created, "expires": token.expires, "revoked": token.revoked}
    return {
        "token_id": token.token_id,
        "name": token.name,
        "role": token.role.value,
    } | {
        name: when.isoformat() if isinstance(when := _moment(seconds), datetime) else when
        for name, seconds in times.items()
    }


def account_name() -> str:
    """Return the name of the account that runs the command, for the event log."""
    try:
        return f"{getpass.getuser()} (data folder)"
    except (KeyError, OSError):
        return "data folder"


_REPLAYS: Final = 20
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The player's name, as knowledge is kept under it.")
]
OnlyGame = Annotated[str, typer.Option("--game", help="Only in this game.")]


@dataclass
class _Known:
    """The figures of a player over all games."""

    games: int = 0
    elo: float | None = None
    votes: Counter[str] = field(default_factory=Counter)
    muted: bool = False


def list_players(game: OnlyGame = "", data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """List the players with their votes in the libraries: of how many patterns, and who is muted."""
    with open_existing(data, read_only=True) as store, store.environment.reading() as transaction:
        known = _players(transaction, game)
    rows = sorted(known.items(), key=lambda row: (-row[1].votes.total(), row[0]))
    if json:
        printing.print_json(
            [
                {"player": name, "games": figures.games, "elo": figures.elo, "muted": figures.muted}
                | {"votes": {library: figures.votes[library] for library in ("middle-game", "endgame")}}
                for name, figures in rows
            ]
        )
        return
    table = printing.new_table("Players", " player", "games", "elo", "middle-game", "endgame", " muted")
    for name, figures in rows:
        elo = "" if figures.elo is None else f"{figures.elo:.0f}"
        votes = (f"{figures.votes[library]:,}" for library in ("middle-game", "endgame"))
        table.add_row(printing.shown(name), str(figures.games), elo, *votes, "muted" if figures.muted else "")
    printing.console().print(table)


def _players(transaction: "Transaction", only: str) -> dict[str, _Known]:
    from academy.knowledge.votes import ELO_SCALE
    from academy.store import game_tables, keys
    from academy.store.codec.packing import unpack_message
    from academy.store.environment import TableName
    from academy.store.player_commands import muted_players
    from academy.v1 import pattern_pb2

    known: dict[str, _Known] = {}
    for game_id in _games(transaction, only):
        for name, hundredths in game_tables.ratings(transaction, game_id):
            figures = known.setdefault(name, _Known())
            figures.games += 1
            figures.elo = hundredths / ELO_SCALE
        for key, stored in transaction.scan(TableName.PATTERNS, keys.in_game(game_id)):
            library = keys.pattern_of(key)[0].value
            for vote in unpack_message(pattern_pb2.PatternRecord, stored).votes:
                known.setdefault(vote.player, _Known()).votes[library] += 1
    for muted in muted_players(transaction):
        known.setdefault(muted.player, _Known()).muted = True
    return known


def _games(transaction: "Transaction", only: str) -> list[str]:
    from academy.store import game_tables, player_commands

    if only:
        game_tables.game_record(transaction, only)
        return [only]
    return list(player_commands.game_ids(transaction))


def mute(
    server: Server | None,
    name: Name,
    force: Annotated[bool, typer.Option("--force", help="Also a name that nothing is known of yet.")] = False,
    data: Data = DEFAULT_DATA,
) -> None:
    """Let a player's votes count for nothing, in all games: those it has, and all it proposes from now on.

    A pattern that only it proposed goes. `players unmute` brings back all but its silent votes, which
    counted for nothing. What other players' patterns became by its proposals stays: see `players forget`.
    """
    if server is not None:
        from academy.v1 import libraries_pb2

        request = libraries_pb2.MutePlayerRequest(player=name, force=force)
        done = server.libraries.MutePlayer(request)
        games, taken = done.games, done.patterns
    else:
        from academy.store.player_commands import MuteInGame, MutePlayer

        with open_existing(data) as store:
            store.run(MutePlayer(name, force))
            game_ids = _games_of(store)
            taken = sum(store.run(MuteInGame(game_id, name, account_name())) for game_id in game_ids)
        games = len(game_ids)
    typer.echo(f"{name}: muted in {games} games; its votes for {taken:,} patterns count no longer")


def unmute(server: Server | None, name: Name, data: Data = DEFAULT_DATA) -> None:
    """Let a player propose again, and put back the votes that counted before it was muted."""
    if server is not None:
        from academy.v1 import libraries_pb2

        done = server.libraries.UnmutePlayer(libraries_pb2.UnmutePlayerRequest(player=name))
        was_muted, patterns, no_room = done.was_muted, done.patterns, done.no_room
    else:
        from academy.store.player_commands import UnmuteInGame, UnmutePlayer

        with open_existing(data) as store:
            was_muted = store.run(UnmutePlayer(name))
            back = [store.run(UnmuteInGame(game_id, name, account_name())) for game_id in _games_of(store)]
        patterns = sum(outcome.patterns for outcome in back)
        no_room = sum(outcome.no_room for outcome in back)
    if not (was_muted or patterns or no_room):
        raise CommandError(f"{name!r} is not muted; `academy players list` says who is")
    lost = f"; {no_room:,} patterns have no room and are lost" if no_room else ""
    typer.echo(f"{name}: may propose again; its votes for {patterns:,} patterns are back{lost}")


def forget(
    name: Name,
    game: OnlyGame = "",
    really: Annotated[
        bool, typer.Option("--really", help="Do it: without this, only what would change is shown.")
    ] = False,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Make the libraries what they are without all that a player proposed, by replaying their events.

    Games it played stay in the opening tree, the measures and the ratings. Without --really nothing changes.
    It cannot be undone: make a backup first. A player that is not muted may go on proposing.
    """
    from academy.store import player_commands

    with open_existing(data, read_only=not really) as store:
        environment = store.environment
        with environment.reading() as transaction:
            games = _games(transaction, game)
        differences = {}
        for game_id in games:
            replay = player_commands.begin_replay(environment, game_id, name)
            differences[game_id] = (
                _forget(store, replay) if really else player_commands.preview_forgetting(environment, replay)
            )
    if json:
        printing.print_json(
            {
                game_id: {"gone": difference.gone, "changed": difference.changed, "new": difference.new}
                | {"compacted": difference.compacted, "replayed": difference.replayed}
                for game_id, difference in differences.items()
            }
        )
        return
    for game_id, difference in differences.items():
        if not (difference.removed or difference.patterns):
            continue
        done = "" if really else "would be "
        typer.echo(
            f"{game_id}: {difference.gone:,} patterns {done}removed, {difference.changed:,} {done}changed, "
            f"{difference.new:,} {done}new"
        )
        if not difference.replayed:
            typer.echo(
                f"{game_id}: its events do not make its libraries again by these rules: votes are taken "
                "out of the patterns as they are, and what they merged stays"
            )
        elif difference.compacted:
            typer.echo(
                f"{game_id}: events up to {difference.compacted:,} were compacted away: "
                "what was learnt before keeps its merged cells and loses the player's votes"
            )
    if not any(difference.removed or difference.patterns for difference in differences.values()):
        typer.echo(f"{name}: no pattern is otherwise without it")
    elif not really:
        typer.echo("nothing was changed; do it with --really")


def _forget(store: "Store", replay: "player_commands.Replay") -> "player_commands.Difference":
    from academy.store import player_commands
    from academy.store.errors import StoreBusyError

    for _ in range(_REPLAYS):
        try:
            return store.run(player_commands.ForgetPlayer(replay, account_name()))
        except StoreBusyError:
            # Contests were reported meanwhile.
            player_commands.preview_forgetting(store.environment, replay)
    raise CommandError("the servers learn faster than this can replay; try again when less is played")


def _games_of(store: "Store") -> list[str]:
    from academy.store import player_commands

    with store.environment.reading() as transaction:
        return list(player_commands.game_ids(transaction))
