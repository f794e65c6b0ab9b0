"""Generations: families keep their best, variants take the other places, and the descent is kept."""

import itertools
import json
import math
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.control.parameters import GridParameter, Linear
from arena.control.plans import ChildProgram, Family, GenerationsPlan, ParameterSpace
from arena.jobs import PlayerSetup
from arena.selection.child_program import ChildProgramError, ask_for_child
from arena.selection.generations import Generations, round_robin_rounds
from arena.selection.selector import CompetitionChangedError, Fixture
from tests.arena.cli.command import ARENA, arena
from tests.arena.control_files import FAMILIES, PROGRAM
from tests.arena.selection.playing import Rule, completed, play, resumed
from tests.waiting import until

PANEL = {"panel": PlayerSetup("panel", ("panel",))}


def make(name: str, values: Sequence[Any]) -> PlayerSetup:
    return PlayerSetup(name, ("member", *map(repr, values)))


def family(name: str = "evolving", size: int = 6, keep: int = 2) -> Family:
    parameters = tuple(GridParameter(code, Linear(0.0, 1.0), 1, "%.3f") for code in ("x", "y"))
    return Family(name, size, keep, make, ParameterSpace(parameters, 0.1, 0.5))


def generations(*families: Family, count: int = 12, seed: int = 3, meet: Any = "everybody") -> Generations:
    plan = GenerationsPlan(families or (family(),), tuple(PANEL), count, rounds=3, meet=meet)
    return Generations(plan, PANEL, seed)


def against(*panel: str, rounds: int, count: int = 4) -> Generations:
    """Two members, of whom one is kept, against a panel."""
    plan = GenerationsPlan((family(size=2, keep=1),), panel, count, rounds, "panel")
    return Generations(plan, {name: PlayerSetup(name, (name,)) for name in panel}, seed=3)


def nearer_wins(*peak: float) -> Rule:
    """Who lies nearer to the peak wins the more often; the panel stands on it."""

    def winners(fixture: Fixture) -> Sequence[int]:
        places = [[float(word) for word in setup.command[1:]] or peak for setup in fixture.setups]
        first, second = (-math.dist(place, peak) for place in places)
        chance = 1.0 / (1.0 + math.exp(12.0 * (second - first)))
        return [1] if random.Random(fixture.seed).random() < chance else [2]

    return winners


def mean_distance(selector: Generations, born: int, peak: Sequence[float]) -> float:
    members = [member for member in selector.descent().members if member.born == born]
    return sum(math.dist(list(member.values.values()), peak) for member in members) / len(members)


@pytest.mark.parametrize("meet", ["everybody", "panel"])
def test_a_family_comes_nearer_to_what_wins(meet: str) -> None:
    selector = generations(meet=meet)
    total = selector.total
    played = play(selector, nearer_wins(0.9, 0.2), at_once=4)
    assert selector.finished and len(played.games) == selector.total == total
    assert len(set(played.ids)) == len(played.ids)
    assert mean_distance(selector, 11, (0.9, 0.2)) < mean_distance(selector, 0, (0.9, 0.2)) / 2


@pytest.mark.parametrize(("panel", "rounds"), [("ab", 1), ("abc", 2), ("abcd", 3), ("ab", 2)])
def test_members_of_all_places_meet_the_same_of_the_panel_and_all_of_it_in_turn(
    panel: str, rounds: int
) -> None:
    met: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for fixture in play(against(*panel, rounds=rounds, count=len(panel))).fixtures:
        generation = fixture.game_id.partition("_")[0]
        for member, other in itertools.permutations(fixture.players):
            if member not in panel:
                met[generation, member[-1]][other] += 1
    for generation, place in met:
        assert met[generation, place] == met[generation, "0"]
    total = sum((met[f"g{number}", "0"] for number in range(len(panel))), Counter[str]())
    assert total == dict.fromkeys(panel, 2 * rounds)


def test_a_generation_that_an_earlier_version_began_goes_on_as_it_began() -> None:
    """Places met others of the panel, and the games did not say so."""
    selector = against("easy", "hard", rounds=1, count=2)
    first = selector.next_game()
    assert first is not None and set(first.players) == {"evolving-g0-0", "easy"}
    stored = json.loads(first.detail)
    assert stored.pop("alike")
    before = replace(first, detail=json.dumps(stored))
    again = against("easy", "hard", rounds=1, count=2)
    again.completed(completed(before, (1,)))
    rest = play(again).fixtures
    met = [next(name for name in fixture.players if name in ("easy", "hard")) for fixture in rest]
    assert met == ["easy", "hard", "hard"] + 4 * ["hard"]
    # A run that is interrupted once more says the same.
    third = against("easy", "hard", rounds=1, count=2)
    assert third.resume(before.game_id, before.players, before.detail) is not None
    later = third.resume("g0_2", (), "")
    assert later is not None and "hard" in later.players


def test_families_keep_their_places_also_when_one_always_wins() -> None:
    strong, weak = family("strong", 4, 2), family("weak", 2, 1)
    selector = generations(strong, weak, count=3)

    def strong_wins(fixture: Fixture) -> Sequence[int]:
        return [max((1, 2), key=lambda seat: fixture.players[seat - 1].startswith("strong"))]

    play(selector, strong_wins)
    alive = [member.family for member in selector.descent().members if member.alive]
    assert sorted(alive) == ["strong"] * 4 + ["weak"] * 2
    kept = [member for member in selector.descent().members if member.last > member.born]
    assert {member.family for member in kept} == {"strong", "weak"}


def test_finished_games_give_the_same_descent_again_and_an_unfinished_game_comes_again() -> None:
    selector = generations()
    played = play(selector, nearer_wins(0.5, 0.5), most=70)
    again = generations()
    resumed(again, played.games)
    assert again.descent() == selector.descent() and again.descent().generation > 1
    waiting = selector.next_game()
    assert waiting is not None
    assert again.resume(waiting.game_id, waiting.players, waiting.detail) == waiting
    assert again.next_game() != waiting
    over = played.fixtures[0]
    assert again.resume(over.game_id, over.players, over.detail) is None
    assert resumed(generations(count=1), played.games).finished


def test_another_seed_or_family_is_refused_once_there_are_games() -> None:
    games = play(generations(), nearer_wins(0.5, 0.5), most=30).games
    with pytest.raises(CompetitionChangedError, match=r"competition\.seed: .* with 3, .* now has 4"):
        resumed(generations(seed=4), games)
    with pytest.raises(CompetitionChangedError, match="families"):
        resumed(generations(family(size=5)), games)


@pytest.mark.parametrize("out", ["evolving-g0-1", "panel"])
def test_who_is_left_out_plays_no_more_and_makes_room(out: str) -> None:
    selector = generations(count=3)
    first = selector.next_game()
    selector.exclude("player", out)
    assert first is not None
    if out not in first.players:
        selector.completed(completed(first, (1,)))
    rest = play(selector, nearer_wins(0.5, 0.5))
    assert all(out not in fixture.players for fixture in rest.fixtures)
    assert rest.ids[0].startswith("g0_"), "the others go on"
    assert out not in [member.name for member in selector.descent().members if member.alive]


def test_everybody_meets_everybody_before_anybody_twice() -> None:
    for count in (2, 5, 8):
        names = [str(number) for number in range(count)]
        rounds = count - 1 + count % 2
        pairs = round_robin_rounds(names, rounds, random.Random(1))
        assert len({frozenset(pair) for pair in pairs}) == len(pairs) == count * (count - 1) // 2


@pytest.mark.usefixtures("patient_obituary")
@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        ("print('no')", "this is not JSON"),
        ("print('[1]')", 'must be {"values": {...}}'),
        ("print('{\"values\": {\"other\": 1}}')", "its values must be those of `first`: LEVEL; it has other"),
        ("print('{\"values\": {}}')", "its values must be those of `first`: LEVEL; it has none"),
        ("print('{\"values\": {\"LEVEL\": NaN}}')", "NaN is not a number of JSON"),
        ("print('{\"values\": {\"LEVEL\": [1]}}')", "LEVEL must be printable text, a number"),
        ("print('{\"values\": {\"LEVEL\": 1e999}}')", "LEVEL must be printable text, a number"),
        (r"print('{\"values\": {\"LEVEL\": \"\\u001b\"}}')", "LEVEL must be printable text, a number"),
        ("print('{\"values\": {\"LEVEL\": 1}, \"parents\": [\"me\"]}')", "'me' is none of the family's"),
        ("print('{\"values\": {\"LEVEL\": \"' + 'x' * 70000 + '\"}}')", "at most 65536 are allowed"),
        ("import sys; sys.exit('no idea')", 'status 1; its last words: "no idea"'),
        ("import time; time.sleep(60)", "child_seconds = 1"),
    ],
)  # fmt: skip
def test_a_program_that_gives_no_child_is_named_with_its_fault(
    tmp_path: Path, program: str, complaint: str
) -> None:
    # One that ends before it has read anything is another fault.
    seconds = 1.0 if "sleep" in program else 60.0
    command = ChildProgram((sys.executable, "-c", f"input()\n{program}"), seconds, {"LEVEL": 1}, tmp_path)
    with pytest.raises(ChildProgramError, match=r"families\.learning\.child") as raised:
        ask_for_child(command, "learning", {"kept": [], "members": [{"name": "learning-g0-0"}]})
    assert complaint in str(raised.value)


def check_first_elo(results: Path, parents: dict[str, list[str]]) -> None:
    """A variant begins with the mean of what its parents have at the time, the first members at 1000."""
    query = "SELECT Name, EloBefore, EloAfter FROM ARENA_Rating ORDER BY GameId"
    with closing(sqlite3.connect(results)) as connection:
        games = connection.execute(query).fetchall()
    reached: defaultdict[str, set[float]] = defaultdict(set)
    variants = 0
    for name, before, after in games:
        if name in parents and name not in reached:
            of_parents = itertools.product(*(reached[parent] or {1000.0} for parent in parents[name]))
            means = {statistics.fmean(elos) for elos in of_parents} if parents[name] else {1000.0}
            if parents[name] and "-g0-" not in name:
                # They have won more than others.
                means.discard(1000.0)
            assert any(before == pytest.approx(mean) for mean in means), name
            variants += bool(parents[name])
        reached[name] |= {before, after}
    assert variants >= 2


@pytest.mark.usefixtures("games_here")
def test_a_run_that_is_killed_goes_on_with_the_same_members_each_game_once(tmp_path: Path) -> None:
    control = tmp_path / "families.toml"
    control.write_text(FAMILIES.replace("PYTHON", sys.executable))
    (tmp_path / "child.py").write_text(PROGRAM)
    running = subprocess.Popen([*ARENA, "run", str(control), "-q"], process_group=0)
    history = tmp_path / "families.hist"
    until(lambda: history.exists() and "g1_2 " in history.read_text(), running)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    # Reading asks the program for nobody, so what is read stays.
    before = json.loads(arena("descent", control, "--json").stdout)
    assert before["members"] and before == json.loads(arena("descent", control, "--json").stdout)
    done = arena("run", control, "-q")
    assert (done.returncode, done.stderr) == (0, "")
    after = json.loads(arena("descent", control, "--json").stdout)
    kept = {member["name"]: member["values"] for member in after["members"]}
    assert {member["name"]: member["values"] for member in before["members"]}.items() <= kept.items()
    assert {member["generation"] for member in [before, after]} == {before["generation"], 3}
    report = json.loads(arena("show", control, "--json").stdout)
    assert report["games"] == report["total"] == 54
    learning = [member for member in after["members"] if member["family"] == "learning"]
    assert all(member["parents"] and member["variation"] == "program" for member in learning[1:])
    check_first_elo(tmp_path / "families.results.sqlite", {m["name"]: m["parents"] for m in after["members"]})
    drawn = arena("descent", control, "--svg", tmp_path / "descent.svg")
    assert drawn.returncode == 0
    assert (tmp_path / "descent.svg").read_text().count("<circle") == len(after["members"])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("keep = 1\n[families.evolving.player]", "keep = 4\n[families.evolving.player]"),
         "families.evolving.keep: must be at most size, which is 3, not 4"),
        (('child = "PYTHON child.py"\n', ""), "families.learning.parameters: is missing, and so is child"),
        (("{level}", "level"), "families.evolving.parameters.level: {level} stands nowhere"),
        (('rounds = 3', 'rounds = 3\nmeet = "panel"\non_void = "skip-matchup"'), "competition.on_void"),
        (("[players.panel]", "[players.learning-g]"), "names of members of the family learning begin"),
    ],
)  # fmt: skip
def test_a_control_file_with_a_fault_is_refused_with_its_place(
    tmp_path: Path, change: tuple[str, str], complaint: str
) -> None:
    control = tmp_path / "families.toml"
    control.write_text(FAMILIES.replace(*change))
    refused = arena("check", control)
    assert refused.returncode == 1 and complaint in refused.stderr
