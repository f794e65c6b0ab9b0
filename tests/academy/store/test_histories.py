"""Whatever happens in whatever order, the log makes the libraries, and followers and other writers agree."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.settings import Library
from academy.store import game_tables
from academy.store.codec.openings import node_to_proto
from academy.store.codec.patterns import entry_to_proto
from academy.store.consultation_notes import NoteUses
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.errors import (
    ContestOverError,
    NotDeletedError,
    TooManyProposalsError,
    UnknownContestError,
    UnknownRemovalError,
)
from academy.store.game_registration import RegisterGame
from academy.store.library_commands import (
    ChangeSettings,
    DeletePattern,
    DeleteTesuji,
    PruneLibrary,
    RestorePattern,
)
from academy.store.library_import import ImportLibraries
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.removals import RestoreRemoval
from academy.store.replica import GameView
from academy.store.writer import GAMES_IN_MEMORY, Command, LoadedGames
from academy.v1 import contests_pb2, game_pb2
from tests.academy.store.examples import contest, endgame_proposal, go_game, report, submission
from tests.academy.store.test_replica import Mirror, matchable

GAMES = ("go-9x9", "go")
PLIES = 12

_REFUSALS = (
    ContestOverError,
    NotDeletedError,
    TooManyProposalsError,
    UnknownContestError,
    UnknownRemovalError,
)

small = st.integers(0, 3)
steps = st.one_of(
    st.tuples(st.just("open"), small),
    st.tuples(st.just("propose"), small, small, st.sampled_from([1, 2])),
    st.tuples(st.just("report"), small, st.booleans()),
    st.tuples(st.just("void"), small),
    st.tuples(st.just("use"), small),
    st.tuples(st.just("capacities"), st.integers(0, 12)),
    st.tuples(st.just("delete"), small),
    st.tuples(st.just("delete tesuji"), small),
    st.tuples(st.just("restore"), small),
    st.tuples(st.just("restore removal"), small),
    st.tuples(st.just("prune"), st.sampled_from([Library.ENDGAME, Library.OPENING])),
    st.tuples(st.just("import"), st.booleans()),
    st.tuples(st.just("look")),
)


def players(number: object) -> tuple[str, str]:
    """Who plays a contest: one comes again and again, with another Elo each time as it changes seats."""
    others = f"player {number}", "gnugo 1"
    return others if number == 1 else others[::-1]


def import_again(view: GameView, game_id: str, replace: bool) -> ImportLibraries:
    """Import a game's own endgame patterns and openings."""
    entries = view.libraries[Library.ENDGAME].values()
    patterns = {Library.ENDGAME: [entry_to_proto(entry, Library.ENDGAME, view.spec) for entry in entries]}
    nodes = [node_to_proto(node, game_id) for node in view.openings.nodes.values()]
    return ImportLibraries(game_id, patterns, nodes, replace, "admin", again=True)


def command(view: GameView, game_id: str, what: str, *arguments: object) -> Command[object] | NoteUses:
    """The command that a step stands for."""
    number = arguments[0]
    contest_id = f"{game_id}/{number}"
    entries = view.libraries[Library.ENDGAME]
    match what:
        case "open":
            return OpenContest(contest(contest_id, game_id, players(number)))
        case "propose":
            _, back, seat = arguments
            request = report(contest_id, game_id, plies=PLIES)
            proposal = endgame_proposal(request, seat=int(str(seat)), back=int(str(back)))
            return submission(contest_id, int(str(seat)), [proposal], "bot", game_id)
        case "report" | "void":
            played = report(
                contest_id, game_id, plies=PLIES, names=players(number), first_wins=bool(arguments[-1])
            )
            opened = contest(contest_id, game_id, players(number))
            void = contests_pb2.ReportContestRequest(contest=opened, void=True)
            return ReportContest(void if what == "void" else played, "arena")
        case "use":
            return NoteUses(contest_id, 2, Library.ENDGAME, list(entries)[:3])
        case "capacities":
            assert isinstance(number, int)
            capacities = game_pb2.LibrarySettings(
                endgame_capacity=number,
                opening_capacity=number,
                tesuji_capacity=number,
                evaluation=number > 0,
                evaluation_patterns=number,
            )
            return ChangeSettings(game_id, capacities, "admin")
        case "delete" if entries:
            return DeletePattern(
                game_id, Library.ENDGAME, list(entries)[int(str(number)) % len(entries)], "admin"
            )
        case "delete tesuji" if len(view.tesujis):
            codes = view.tesujis.codes.tolist()
            return DeleteTesuji(game_id, codes[int(str(number)) % len(codes)], "admin")
        case "restore removal":
            return RestoreRemoval(game_id, max(1, view.generation - int(str(number))), "admin")
        case "restore":
            return RestorePattern(game_id, Library.ENDGAME, int(str(number)) + 1, "admin")
        case "prune":
            assert isinstance(number, Library)
            return PruneLibrary(game_id, number, 0.9, False, "admin")
        case "import":
            return import_again(view, game_id, bool(number))
        case _:
            return NoteUses("none", 1, Library.ENDGAME, [])


@given(history=st.lists(st.tuples(st.sampled_from(GAMES), steps), max_size=25), most=st.sampled_from([1, 64]))
@settings(max_examples=15)
def test_every_history_can_be_made_again(history: list[tuple[str, tuple[object, ...]]], most: int) -> None:
    with TemporaryDirectory() as folder, Store(Path(folder)) as store:
        assert store._writer is not None
        assert store._writer._games._most == GAMES_IN_MEMORY
        store._writer._games._most = most
        other = LoadedGames()
        mirror = Mirror()
        follower = store.follow(mirror)
        for game_id in GAMES:
            store.run(RegisterGame(go_game(game_id), "arena"))
        for game_id, (what, *arguments) in history:
            try:
                if what == "look":
                    with store.environment.reading() as transaction:
                        other.current(transaction, game_id)
                view = follower.refresh(game_id)
                made = command(view, game_id, str(what), *(arguments or [0]))
                if isinstance(made, NoteUses):
                    store.note(made)
                else:
                    store.run(made)
            except _REFUSALS:
                continue
        assert list(check(store.environment)) == []
        views = [follower.refresh(game_id) for game_id in GAMES]
        for view in views:
            fresh = store.follow().refresh(view.spec.game_id)
            assert (view.libraries, view.openings.nodes) == (fresh.libraries, fresh.openings.nodes)
        assert mirror.patterns == {key: entry for view in views for key, entry in matchable(view).items()}
        with store.environment.reading() as transaction:
            for game_id in GAMES:
                followed = other.current(transaction, game_id)
                expected = game_tables.load(transaction, game_id)
                assert sorted(game_tables.records(followed.knowledge, followed.generation)) == sorted(
                    game_tables.records(*expected)
                )
