"""Games in memory follow what any process commits."""

import asyncio
import random
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.game import PATTERN_LIBRARIES
from academy.knowledge.pattern_entry import PatternEntry
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec, Placement
from academy.knowledge.text import read_cells
from academy.knowledge.votes import Vote, VoteTally
from academy.matching.matches import MatchQuery
from academy.service import game_cache
from academy.service.game_cache import GameCache
from academy.service.pattern_cache import PatternCache, RankedPatterns
from academy.store import game_tables
from academy.store.codec.games import library_to_proto, spec_to_proto
from academy.store.consultation_notes import NoteUses
from academy.store.contest_commands import OpenContest, ReportContest
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2
from academy.wire.games import read_spec
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, position
from tests.academy.service.running import serving

WRITER = """
import sys
from pathlib import Path
from academy.store.contest_commands import ReportContest
from academy.store.library_store import Store
from academy.v1 import contests_pb2
with Store(Path(sys.argv[1])) as store:
    request = contests_pb2.ReportContestRequest.FromString(bytes.fromhex(sys.argv[2]))
    store.run(ReportContest(request, "other"))
"""


def test_write_of_another_process_is_seen_at_once(tmp_path: Path) -> None:
    with serving(tmp_path) as academy:
        academy.register(examples.tiny_go("go"))
        bot = academy.bot("reader")
        question = consultation_pb2.LookUpOpeningRequest(game_id="go", player=1)
        assert bot.consultation.LookUpOpening(question).position.visits == 0
        played = examples.report(examples.contest("other/1", "go"), ["c3", "b2"])
        subprocess.run([sys.executable, "-c", WRITER, tmp_path, played.SerializeToString().hex()], check=True)

        answer = bot.consultation.LookUpOpening(question)

        assert (answer.position.visits, answer.moves[0].move) == (1, "c3")
        # And this process goes on from there.
        academy.store.run(ReportContest(examples.report(examples.contest("own/1", "go"), ["c3"]), "own"))
        assert bot.consultation.LookUpOpening(question).position.visits == 2


def test_another_game_under_the_id_of_a_deleted_one_is_answered_by_its_own_rules(tmp_path: Path) -> None:
    dropped = spec_to_proto(
        GameSpec(
            "go",
            SquareGeometry(5, 6),
            symmetries=("identity", "mirror_columns"),
            placement=Placement.DROPPED,
            winning_row=4,
        )
    )
    with serving(tmp_path) as academy:
        admin, libraries = academy.admin(), academy.admin().libraries
        for game, cells in ((examples.tiny_go("go"), 25), (dropped, 30), (examples.tiny_go("go"), 25)):
            academy.register(game)
            question = consultation_pb2.MatchPatternsRequest(game_id="go", positions=[position("-" * cells)])
            admin.consultation.MatchPatterns(question)
            libraries.DeleteGame(libraries_pb2.DeleteGameRequest(game_id="go"))


def test_patterns_that_change_or_go_are_matched_as_they_are(tmp_path: Path) -> None:
    with serving(tmp_path) as academy:
        academy.register(examples.tiny_go("go"))
        bot, admin = academy.bot("reader"), academy.admin()
        request = consultation_pb2.MatchPatternsRequest(game_id="go", positions=[position(EMPTY)])

        def patterns_and_values() -> list[tuple[int, float]]:
            table = bot.consultation.MatchPatterns(request).patterns
            return sorted(zip(table.pattern_ids, table.values, strict=True))

        def listed() -> list[tuple[int, float]]:
            listing = libraries_pb2.ListPatternsRequest(game_id="go", library=examples.ENDGAME)
            return sorted(
                (pattern.pattern_id, pattern.signature.value)
                for pattern in admin.libraries.ListPatterns(listing).patterns
            )

        assert patterns_and_values() == []
        examples.teach(academy, "go", "first", [("ann", "--", 0.9), ("ann", "-\n-\n-", 0.2)])
        assert patterns_and_values() == listed() and len(patterns_and_values()) == 2
        # A second vote changes a value; a deletion takes the pattern out.
        examples.teach(academy, "go", "second", [("bob", "--", 0.1)])
        assert patterns_and_values() == listed()
        admin.libraries.DeletePattern(
            libraries_pb2.DeletePatternRequest(
                game_id="go", library=examples.ENDGAME, pattern_id=patterns_and_values()[0][0]
            )
        )
        assert patterns_and_values() == listed() and len(patterns_and_values()) == 1


def entry(pattern_id: int, cells: str, chance: random.Random) -> PatternEntry:
    spec = read_spec(examples.tiny_go("go"))
    votes = tuple(
        Vote.of(f"player {number}", chance.uniform(0, 2_000), chance.random(), number)
        for number in range(chance.randint(1, 3))
    )
    return PatternEntry(pattern_id, spec.canonical(read_cells(cells, spec.geometry)), 1, VoteTally(votes))


def found_on(board: Board, ranked: RankedPatterns) -> list[int]:
    matches = ranked.match(MatchQuery(board, ranked.select(map(library_to_proto, PATTERN_LIBRARIES)), 10_000))
    numbers: list[int] = ranked.pattern_ids.take(matches.places).tolist()
    return numbers


def test_a_game_without_patterns_loads_no_kernel(tmp_path: Path) -> None:
    with patch.object(game_cache, "warm_up_in_background") as load, serving(tmp_path) as academy:
        arena = academy.arena()
        academy.register(examples.tiny_go("go"))
        question = consultation_pb2.MatchPatternsRequest(game_id="go", positions=[position(EMPTY)])
        arena.consultation.MatchPatterns(question)
        load.assert_not_called()
        examples.teach(academy, "go", "taught", [("ann", "-", 0.9)])
        assert arena.consultation.MatchPatterns(question).positions[0].patterns
        load.assert_called()


def test_cache_changed_step_by_step_equals_a_new_one() -> None:
    chance = random.Random(7)
    spec = read_spec(examples.tiny_go("go"))
    patterns = PatternCache(spec)
    libraries: dict[int, Library] = {}
    entries: dict[int, PatternEntry] = {}
    letters = "-xo#"
    for step in range(300):
        number = chance.randint(1, 40)
        if chance.random() < 0.3:
            patterns.remove(number)
            entries.pop(number, None)
        else:
            cells = "-" + "".join(chance.choice(letters) for _ in range(chance.randint(0, 3)))
            libraries[number] = chance.choice(PATTERN_LIBRARIES)
            known, entries[number] = entries.get(number), entry(number, cells, chance)
            if known is None or known.pattern != entries[number].pattern:
                patterns.put(libraries[number], entries[number])
            else:
                patterns.restate(libraries[number], number, 1, entries[number].votes)
        if step % 25:
            continue
        afresh = PatternCache(spec)
        for stored in entries.values():
            afresh.put(libraries[stored.pattern_id], stored)
        ranked, expected = patterns.ranked, afresh.ranked
        assert ranked.pattern_ids.tolist() == expected.pattern_ids.tolist()
        strengths = [entries[number].strength for number in ranked.pattern_ids.tolist()]
        assert strengths == sorted(strengths, reverse=True)
        board = Board.from_letters(spec.geometry, "".join(chance.choices("-xo", k=25)))
        assert found_on(board, ranked) == found_on(board, expected)
        assert sorted(patterns.figures["pattern_id"]) == sorted(entries)
        for row in patterns.figures:
            known = entries[int(row["pattern_id"])]
            assert (row["strength"], row["elo"], row["value"], row["proposers"]) == (
                known.strength,
                known.votes.elo,
                known.votes.value,
                known.votes.proposers,
            )
            assert row["library"] == library_to_proto(libraries[known.pattern_id])


def test_uses_do_not_change_the_ranked_patterns(tmp_path: Path) -> None:
    with serving(tmp_path) as academy:
        academy.register(examples.tiny_go("go"))
        examples.teach(academy, "go", "first", [("ann", "--", 0.9), ("ann", "-\n-\n-", 0.2)])

        async def look() -> None:
            games = GameCache(academy.store)
            game = await games.game("go")
            ranked, view = game.patterns.ranked, game.view
            number = int(ranked.pattern_ids[0])
            played = examples.contest("used", "go")
            academy.store.run(OpenContest(played))
            academy.store.note(NoteUses("used", 1, Library.ENDGAME, [number]))
            academy.store.run(ReportContest(examples.report(played, ["c3"]), "arena"))

            assert (await games.game("go")).view.generation > view.generation
            assert game.view.libraries[Library.ENDGAME][number].uses == 1
            assert game.patterns.ranked is ranked

        asyncio.run(look())


def test_a_query_goes_on_with_the_patterns_it_began_with() -> None:
    chance = random.Random(3)
    spec = read_spec(examples.tiny_go("go"))
    patterns = PatternCache(spec)
    patterns.put(Library.ENDGAME, entry(1, "xo", chance))
    before = patterns.ranked
    patterns.remove(1)
    patterns.put(Library.ENDGAME, entry(2, "--", chance))
    board = Board.from_letters(spec.geometry, "xo" + "-" * 23)

    assert set(found_on(board, before)) == {1}
    assert set(found_on(board, patterns.ranked)) == {2}


def test_games_are_loaded_latest_first_for_as_long_as_there_is_time(tmp_path: Path) -> None:
    names = ["first", "second", "third"]
    with serving(tmp_path) as academy:
        for name in names:
            academy.register(examples.tiny_go(name))
        academy.store.run(ReportContest(examples.report(examples.contest("c/1", "second"), ["c3"]), "arena"))
        assert academy.store.read(game_tables.latest_games) == ["second", "third", "first"]

        async def load() -> None:
            assert await GameCache(academy.store).load(0.0) == 0
            assert await GameCache(academy.store).load(60.0) == 3
            # One that was not loaded in time is loaded when it is asked about.
            assert (await GameCache(academy.store).game("first")).view.spec.game_id == "first"

        asyncio.run(load())


def test_looking_for_games_to_load_does_not_count_all_patterns_for_each(tmp_path: Path) -> None:
    with serving(tmp_path) as academy:
        for number in range(12):
            game = contests_pb2.RegisterGameRequest(game=examples.tiny_go(f"game-{number}"))
            academy.arena().contests.RegisterGame(game)

        async def count_looks() -> int:
            games = GameCache(academy.store)
            assert await games.load(60.0) == 12
            with patch.object(PatternCache, "__len__", autospec=True, return_value=0) as looks:
                await games.load(60.0)
            return looks.call_count

        assert asyncio.run(count_looks()) <= 12


def test_question_during_loading_is_answered(tmp_path: Path) -> None:
    with serving(tmp_path) as academy:
        academy.register(examples.tiny_go("go"))

        async def ask_all_the_time() -> set[int]:
            games = GameCache(academy.store)
            tasks = [asyncio.create_task(games.game("go"))]
            # One in each round of the event loop: whichever it is that the loading ends in.
            while not tasks[0].done():
                await asyncio.sleep(0)
                tasks.append(asyncio.create_task(games.game("go")))
            return {id(game) for game in await asyncio.gather(*tasks)}

        assert len(asyncio.run(ask_all_the_time())) == 1


def test_a_game_that_is_still_being_loaded_does_not_spoil_the_end(tmp_path: Path) -> None:
    with serving(tmp_path) as academy:
        for name in ("first", "second", "third"):
            game = contests_pb2.RegisterGameRequest(game=examples.tiny_go(name))
            academy.arena().contests.RegisterGame(game)
        examples.teach(academy, "first", "before", [("ann", "--", 0.9)])

        async def end_while_loading() -> None:
            games = GameCache(academy.store)
            await games.game("third")
            first = await games.game("first")
            examples.teach(academy, "first", "after", [("ann", "-\n-\n-", 0.2)])
            await games.game("first")
            assert first.saved < first.view.generation
            # First in the thread that will write the other one's patterns.
            loading = asyncio.create_task(games.game("second"))
            for _ in range(3):
                await asyncio.sleep(0)
            await games.close(60.0)
            assert first.saved == first.view.generation
            assert (await loading).view.spec.game_id == "second"

        asyncio.run(end_while_loading())
