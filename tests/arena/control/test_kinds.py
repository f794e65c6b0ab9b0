"""The kinds of competition in TOML: what arrives, and the messages about faults."""

import math
import sys
from pathlib import Path

import pytest

from arena.control.candidates import CandidateTemplate
from arena.control.control_file import read_control
from arena.control.parameters import (
    Bounded,
    Explicit,
    GridParameter,
    InvalidParameterError,
    Linear,
    Logarithmic,
    describe,
)
from arena.control.plans import (
    CrossEntropyPlan,
    GauntletPlan,
    MarsPlan,
    MonteCarloPlan,
    PlayoffPlan,
    SprtPlan,
    SwissPlan,
)
from arena.control.sample import sample
from arena.control.settings import Control, ControlError
from arena.jobs import Adjudication, PlayerSetup, TimeControl
from arena.ratings.pentanomial import Sprt


def control(folder: Path, text: str) -> Control:
    path = folder / "cup.toml"
    path.write_text(text, encoding="utf-8")
    return read_control(path)


def test_a_playoff(tmp_path: Path) -> None:
    plan = control(tmp_path, sample("playoff")).plan
    assert isinstance(plan, PlayoffPlan)
    plain, handicap = plan.matchups
    assert (plain.matchup_id, plain.title, plain.games, plain.alternating) == (
        "0",
        "weak v strong",
        100,
        True,
    )
    assert (handicap.matchup_id, handicap.title) == ("handicap", "with two stones")
    assert dict(handicap.game.settings) == {
        "board_size": 9,
        "komi": 0.5,
        "self_capture": False,
        "handicap": 2,
    }
    assert (handicap.games, handicap.alternating, handicap.game.move_limit) == (100, False, 500)


def test_round_robin_is_another_word_for_all_play_all(tmp_path: Path) -> None:
    text = sample("all-play-all")
    renamed = control(tmp_path, text.replace('"all-play-all"', '"round-robin"'))
    assert renamed == control(tmp_path, text) and renamed.kind == "all-play-all"


def test_the_samples_of_gauntlet_swiss_and_sprt_become_their_plans(tmp_path: Path) -> None:
    assert control(tmp_path, sample("gauntlet")).plan == GauntletPlan(("strong",), ("weak", "middle"), 20)
    assert control(tmp_path, sample("swiss")).plan == SwissPlan(("weak", "middle", "strong"), 3, 2)
    assert control(tmp_path, sample("sprt")).plan == SprtPlan(("strong", "weak"), Sprt(0, 20), 2000)


def test_a_series_of_mars_has_its_contestants_and_settings(tmp_path: Path) -> None:
    plan = control(tmp_path, sample("mars").replace('selector = "least-played"', "kinds = [1, 1]")).plan
    assert isinstance(plan, MarsPlan)
    (series,) = plan.series
    assert (series.selector, series.kinds) == ("weighted", (1, 1))
    assert series.contestants == {"weak": 1.0, "middle": 1.0, "strong": 1.0}
    assert [(setting.name, setting.weight) for setting in series.settings] == [("small", 2.0), ("large", 1.0)]
    assert [setting.game.settings["board_size"] for setting in series.settings] == [9, 13]
    assert (series.games, series.weight, series.complete, series.pure) == (100, 1.0, False, True)


def test_a_monte_carlo_tuner(tmp_path: Path) -> None:
    explicit = 'scale = "explicit"\nvalues = ["a", 2, 0.5]\nsplit = 3\n'
    share = 'scale = "log"\nlow = 0.01\nhigh = 1\nsplit = 2\n'
    more = f"\n[parameters.style]\n{explicit}\n[parameters.share]\n{share}"
    text = sample("mc_tuner").replace("{level}", "{level} --style {style} {share} {other}") + more
    plan = control(tmp_path, text).plan
    assert isinstance(plan, MonteCarloPlan)
    assert [parameter.scale for parameter in plan.parameters] == [
        Linear(0, 12, integer=True), Explicit(("a", 2, 0.5)), Logarithmic(0.01, 1.0),
    ]  # fmt: skip
    assert (plan.games, plan.exploration, plan.initial_visits, plan.max_depth) == (200, 0.45, 10, 2)
    candidate = plan.candidate.make("#3", [7, "a", 0.1])
    assert candidate.command[-5:] == ("7", "--style", "a", "0.1", "{other}")
    assert candidate.name == "#3"


@pytest.mark.parametrize(("seat", "expected"), [("random", None), ("black", 1), ("white", 2)])
def test_a_cross_entropy_tuner(tmp_path: Path, seat: str, expected: int | None) -> None:
    text = sample("ce_tuner").replace('candidate_seat = "random"', f'candidate_seat = "{seat}"')
    plan = control(tmp_path, text).plan
    assert isinstance(plan, CrossEntropyPlan)
    assert plan.candidate.seat == expected
    assert plan.parameters[0].transform == Bounded(None, 0.0, 12.0, integer=True)
    assert (plan.generations, plan.samples, plan.batch, plan.elite_proportion, plan.step_size) == (
        5,
        20,
        4,
        0.2,
        0.8,
    )


@pytest.mark.parametrize(
    ("transform", "number", "value"),
    [
        (Bounded(), 1.25, 1.25),
        (Bounded(10.0), 2.0, 100.0),
        (Bounded(2.0, most=4.0), 5.0, 4.0),
        (Bounded(10.0, most=4.0), 318.0, 4.0),
        (Bounded(10.0, most=4.0, integer=True), 1e6, 4),
        (Bounded(10.0), 318.0, sys.float_info.max),
        (Bounded(10.0, integer=True), 318.0, int(sys.float_info.max)),
        (Bounded(least=0.0), -1.0, 0.0),
        (Bounded(integer=True), 2.5, 3),
        (Bounded(integer=True), -2.5, -2),
        (Bounded(integer=True), -10.24, -10),
    ],
)
def test_a_number_is_transformed_and_kept_within_its_bounds(
    transform: Bounded, number: float, value: float
) -> None:
    assert transform(number) == value


@pytest.mark.parametrize(
    ("scale", "place", "value"),
    [
        (Linear(10, 20), 0.25, 12.5),
        (Linear(-20, 0, integer=True), 0.488, -10),
        (Logarithmic(0.01, 100.0), 0.5, 1.0),
        (Logarithmic(1, 100, integer=True), 0.25, 3),
        (Explicit(("a", "b", "c")), 0.34, "b"),
        (Explicit(("a", "b", "c")), 1.0, "c"),
    ],
)
def test_a_place_on_a_scale_has_its_value(scale: Linear, place: float, value: object) -> None:
    assert scale(place) == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (1.0, -1.0), (1e-300, 1e300), (1e300, 1e-300), (-1e-300, -1e300)],
)
def test_ends_that_no_logarithmic_scale_reaches_are_refused_with_the_rule(low: float, high: float) -> None:
    with pytest.raises(InvalidParameterError, match=r"neither end may be 0, .* same sign, .* 1e307 times"):
        Logarithmic(low, high)


@pytest.mark.parametrize(("format", "value"), [("%c", 1_200_000), ("%c", -1), ("%d", math.inf), ("%d", "x")])
def test_a_value_that_its_format_cannot_hold_is_shown_as_it_is(format: str, value: object) -> None:
    parameter = GridParameter("size", Explicit((value,)), 1, format)
    assert describe([parameter], [value]) == f"[size?{value!r}]"


def test_a_value_that_looks_like_a_place_stays_as_it_is() -> None:
    make = CandidateTemplate(PlayerSetup("x", ("x", "{a}", "{b}", "{c}")), ("a", "b"))
    assert make("x", ["{b}", "{a}"]).command == ("x", "{b}", "{a}", "{c}")


def test_clocks_openings_and_adjudication(tmp_path: Path) -> None:
    (tmp_path / "openings.sgf").write_text("(;FF[4]GM[1]SZ[9];B[ee])", encoding="utf-8")
    text = sample("playoff").replace("# [time_control]", "[time_control]").replace("# main", "main")
    text = text.replace("# [openings]", "[openings]").replace("# file", "plies = 4\nfile")
    text = text.replace("# [adjudication]", "[adjudication]").replace("# resign_value", "resign_value")
    text += "\n[players.strong.time_control]\nbyo_yomi_seconds = 2\nbyo_yomi_stones = 5\n"
    settings = control(tmp_path, text)
    assert settings.players["weak"].time_control == TimeControl(main_seconds=60)
    assert settings.players["strong"].time_control == TimeControl(byo_yomi_seconds=2, byo_yomi_stones=5)
    assert settings.openings is not None
    assert (settings.openings.file, settings.openings.plies) == (tmp_path / "openings.sgf", 4)
    assert settings.adjudication == Adjudication(resign_value=0.02)


@pytest.mark.parametrize(
    ("kind", "old", "new", "message"),
    [
        ("playoff", "[[matchups]]", "[[matchup]]", "matchup: unknown setting; did you mean"),
        ("playoff", 'id = "handicap"', 'id = "0"', "matchups[1].id: another matchup has the id '0'"),
        ("playoff", 'id = "handicap"', 'idd = "x"', "matchups[1].idd: unknown setting; did you mean 'id'?"),
        ("playoff", '["weak", "strong"]', '["weak", "stron"]', "matchups[0].players: 'stron' has no table"),
        ("playoff", '["weak", "strong"]', '["weak"]', "matchups[0].players: 1 given, go has 2 seats"),
        ("playoff", "komi = 0.5", "kmi = 0.5", "matchups[1].game.kmi: Go has no such setting"),
        ("playoff", "handicap = 2", "handicap = 1", "matchups[1].game.handicap: "),
        ("playoff", "games = 100", "games = -1", "competition.games: must be a whole number from 0"),
        ("gauntlet", '["strong"]', "[]", "competition.challengers: 0 given, at least 1 is needed"),
        ("gauntlet", "# opponents", 'opponents = ["strong"] #', "competition.opponents: 'strong' is a chall"),
        ("swiss", "rounds = 3", "", "competition.rounds: is missing"),
        ("sprt", "elo1 = 20", "elo1 = 0", "competition.elo1: elo0 must be less than elo1"),
        ("sprt", "elo1 = 20", "elo1 = 1001", "competition.elo1: must be a number from -1000 to 1000, "),
        ("sprt", "games = 2000", "games = 7", "competition.games: must be even"),
        ("sprt", "alpha = 0.05", "alpha = 0.5", "competition.alpha: must be a number from 1e-06 to 0.499"),
        ("mars", 'name = "first"', "", "series[0].name: is missing"),
        ("mars", "weight = 1 ", "weight = 0 ",
         "series: no open one has a weight above 0: give one of them a weight, or say state = \"complete\""),
        ("mars", '"least-played"', '"strongest"', "series[0].selector: must be one of 'weighted'"),
        ("mars", "clones = true ", "kinds = [3, 4] ", "series[0].kinds: 3 + 4 is not 2, the seats of a game"),
        ("mars", "strong = 1 }", "stron = 1 }", "series[0].contestants: 'stron' has no table [players.stron"),
        ("mars", "{ weak = 1, middle = 1, strong = 1 }", "{ weak = 0 }", "series[0].contestants: 0 have a w"),
        ("mars", 'name = "large"', 'name = "small"', "series[0].settings[1].name: another setting is called"),
        ("mars", "{ board_size = 13 }", "{ board_size = 99 }", "series[0].settings[1].game.board_size: 99 i"),
        ("mc_tuner", "split = 4", "split = 1", "parameters: their splits multiply to 1, from 2"),
        ("mc_tuner", "low = 0", 'scale = "log"\nlow = 0', "not valid TOML"),
        ("mc_tuner", 'scale = "linear"', 'scale = "log"', "parameters.level.low: a logarithmic scale can't"),
        ("mc_tuner", "low = 0", "low = 12", "parameters.level.low: must be less than high, which is 12,"),
        ("mc_tuner", "low = 0", "low = 13", "parameters.level.low: must be less than high, which is 12,"),
        ("mc_tuner", "[parameters.level]", "[parameters.seed]",
         "parameters.seed: {seed} stands for the seat's own seed: give the parameter another name"),
        ("mc_tuner", "{level}", "5", "parameters.level: {level} stands nowhere in the candidate's command"),
        ("mc_tuner", 'command = "gnugo --mode gtp --seed {seed} --level {level}"', 'protocol = "grpc"',
         "candidate.protocol: the arena must start candidates; 'grpc' is of players that dial in"),
        ("mc_tuner", "[candidate]", "[candidat]", "candidate: is missing: the file needs a table [candidate"),
        ("mc_tuner", "initial_wins = 5", "initial_wins = 50", "competition.initial_wins: must be at most"),
        ("mc_tuner", 'opponent = "weak"', 'opponent = "x"', "competition.opponent: 'x' has no table [player"),
        ("mc_tuner", '"level %d"', '"level"', "parameters.level.format: must hold one value's place"),
        ("mc_tuner", '"level %d"', '"%99999d"', "parameters.level.format: may not ask for a thousand"),
        ("ce_tuner", "step_size = 0.8", "step_size = 1.5", "competition.step_size: must be a number from"),
        ("ce_tuner", "step_size = 0.8", "step_size = 1",
         "competition.step_size: must be a number from 1e-09 to 0.9"),
        ("ce_tuner", "least = 0", "least = 20", "parameters.level.least: must be at most `most`, which is 1"),
        ("ce_tuner", "batch = 4", "batch = 20000", "competition.batch: 20000 games of 20 samples are 400000"),
        ("ce_tuner", '"none"', '"cosine"', "parameters.level.transform: must be one of 'none', 'exp'"),
        ("swiss", "# [time_control]", "[time_control]", "time_control.main_seconds: give main_seconds or by"),
        ("swiss", "# [time_control]", "[time_control]\nmain_seconds = 1\nmost_seconds = 5",
         "time_control.most_seconds: belongs to increment_seconds, which is not given: leave it out"),
        ("swiss", "# [time_control]", "[time_control]\nmain_seconds = 1\nbyo_yomi_stones = 5",
         "time_control.byo_yomi_stones: belongs to byo_yomi_seconds, which is not given: leave it out"),
        ("swiss", "# [adjudication]", "[adjudication]\ncount_after = 9\ntwo_sided = false",
         "adjudication.two_sided: belongs to resign_value, which is not given: leave it out"),
        ("swiss", "# [adjudication]", "[adjudication]\nresign_value = 0.1\ndraw_after = 9",
         "adjudication.draw_after: belongs to draw_margin, which is not given: leave it out"),
        ("swiss", "# [openings]\n# file", "[openings]\nfile", "openings.file: there is no file"),
        ("swiss", "# [adjudication]", "[adjudication]", "adjudication.resign_value: is missing, and so are"),
        ("swiss", "# restart = false", "restart = 0", "players.weak.restart: must be true or false, not 0"),
    ],
)  # fmt: skip
def test_a_fault_is_named_by_its_path(tmp_path: Path, kind: str, old: str, new: str, message: str) -> None:
    assert old in sample(kind)
    with pytest.raises(ControlError) as error:
        control(tmp_path, sample(kind).replace(old, new, 1))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("[]", "has 0 items; it needs at least 1"),
        ("[1, nan]", "item 2 must be a finite number, not nan"),
        ("[inf]", "item 1 must be a finite number, not inf"),
        (r'["a\u0000"]', "item 1 must be at most 4096 characters, none of them NUL"),
        (f'["{4097 * "x"}"]', "item 1 must be at most 4096 characters, none of them NUL"),
    ],
)
def test_values_that_no_player_could_be_given_are_refused(tmp_path: Path, values: str, message: str) -> None:
    text = sample("mc_tuner").replace("{level}", "{level} {style}")
    with pytest.raises(ControlError) as error:
        control(tmp_path, f'{text}\n[parameters.style]\nscale = "explicit"\nvalues = {values}\nsplit = 2\n')
    assert str(error.value) == f"parameters.style.values: {message}"


def test_a_list_of_values_has_no_more_parts_than_values(tmp_path: Path) -> None:
    text = sample("mc_tuner").replace("{level}", "{level} {style}")
    with pytest.raises(ControlError, match=r"^parameters.style.split: 3 parts of 2 values: give at most 2"):
        control(tmp_path, f'{text}\n[parameters.style]\nscale = "explicit"\nvalues = [1, 2]\nsplit = 3\n')


def test_a_series_has_a_limit_of_settings(tmp_path: Path) -> None:
    settings = f"settings = [{1001 * '{game={}},'}]\n"
    text = crowd(1, 'kind = "mars"') + f'[[series]]\nname = "x"\n{settings}'
    with pytest.raises(ControlError, match=r"series\[0\].settings: has 1001 items; at most 1000 are allowed"):
        control(tmp_path, text)


HEX = 'name = "hex"\nboard_size = 5'


def crowd(players: int, competition: str, game: str = HEX) -> str:
    tables = "".join(f'[players.p{number}]\ncommand = "x"\n' for number in range(players))
    return f"[competition]\n{competition}\n[game]\n{game}\n{tables}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (crowd(703, 'kind = "gauntlet"\nchallengers = ["p0"]'),
         "competition.opponents: 702 given, 703 players with the challengers: at most 702 are allowed"),
        (crowd(28, 'kind = "all-play-all"', 'name = "diplomacy"'),
         "competition.competitors: 28 players have 1184040 line-ups in a game of 7, at most 250000 are"),
        (crowd(60, 'kind = "swiss"\nrounds = 2\ngames = 10000'),
         "competition.games: 10000 games of 30 pairings are 300000 at a time, at most 250000 are allowed"),
    ],
)  # fmt: skip
def test_more_games_than_a_run_could_hold_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ControlError) as error:
        control(tmp_path, text)
    assert message in str(error.value)


@pytest.mark.parametrize("kind", ["all-play-all", "standing"])
def test_players_for_fewer_seats_than_a_game_has_get_a_kind_that_seats_them(
    tmp_path: Path, kind: str
) -> None:
    rule = 'competition.competitors: 2 given, and a game of diplomacy has 7 seats: give 7 .* kind = "mars"'
    with pytest.raises(ControlError, match=rule):
        control(tmp_path, crowd(2, f'kind = "{kind}"', 'name = "diplomacy"'))
    of_series = crowd(2, 'kind = "mars"', 'name = "diplomacy"') + '[[series]]\nname = "x"\ngames = 1\n'
    assert control(tmp_path, of_series).competitors == ("p0", "p1")


def test_as_many_players_as_the_cross_table_has_letters_for_play_all_play_all(tmp_path: Path) -> None:
    assert len(control(tmp_path, crowd(702, 'kind = "all-play-all"')).competitors) == 702
