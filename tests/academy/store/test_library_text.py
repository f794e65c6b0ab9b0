"""Libraries as text: written, read, edited, and the complaints about mistakes."""

import re
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.settings import Library
from academy.store.codec.games import spec_to_proto
from academy.store.codec.openings import node_to_proto
from academy.store.codec.patterns import entry_to_proto, entry_with_figures
from academy.store.library_text.reading import read_text
from academy.store.library_text.words import LibraryTextError
from academy.store.library_text.writing import write_text
from tests.academy.store import strategies
from tests.academy.store.examples import export, go, go_game

TEXT = """\
% academy text 1
% game go-9x9
%% what seki found

% library endgame

% id 12
% player 1
% vote "gnugo \\"1\\" é" 1500.5 0.812345 17
% vote "seki" -20 1
% uses 3 successes 2
% last 17 "t-5/17"
x - o
- - #
< 2; 740; 0.8125; 1 >

% library opening

"" id 0 mover 0 visits 2 wins 2/0 draws 0/0 losses 0/2 values 1.4/0.6 told 2 elos 0
  E5 id 4 mover 1 visits 2 wins 2/0 draws 0/0 losses 0/2 values 1.4/0.6 told 2 elos 3000 level 16
% weaker -1 visits 1 wins 1/0 draws 0/0 losses 0/1 values 0.7/0.3 told 1 elos 1400
    "player 1" mover 2 visits 1 wins 1/0 draws 0/0 losses 0/1 values 1/0 told 0 elos 1500
  D3 mover 1 visits 1 wins 1/0 draws 0/0 losses 0/1 values 1/0 told 0 elos 1500
"""


@settings(max_examples=30)
@given(data=st.data(), kind=st.sampled_from(list(strategies.SPECS)))
def test_what_is_written_is_read_again(data: st.DataObject, kind: str) -> None:
    spec = strategies.SPECS[kind]
    entries = [
        (entry, library)
        for library in (Library.MIDDLE_GAME, Library.ENDGAME)
        for entry in data.draw(st.lists(strategies.entries(spec), max_size=3))
    ]
    patterns = [entry_to_proto(entry, library, spec) for entry, library in entries]
    for record in patterns:
        votes = sorted([*record.votes, *record.silent_votes], key=lambda vote: (vote.event, vote.order))
        for place, vote in enumerate(votes):
            # The lines order the votes whose event means nothing here.
            vote.order = vote.order if vote.event else place
        for kept in (record.votes, record.silent_votes):
            kept.sort(key=lambda vote: (vote.event, vote.order))
    exported = [entry_with_figures(entry, library, spec) for entry, library in entries]
    nodes = [node_to_proto(node, spec.game_id) for node in data.draw(strategies.nodes())]
    text = "\n".join(write_text(export(spec_to_proto(spec), exported, nodes)))
    assert all(str(entry.signature) in text for entry, _ in entries)
    parsed = read_text(text, spec)
    assert [record for records in parsed.patterns.values() for record in records] == patterns
    assert sorted(parsed.nodes, key=lambda node: node.node_id) == sorted(nodes, key=lambda node: node.node_id)


def test_a_text_by_hand_is_understood() -> None:
    parsed = read_text(TEXT, go())
    (record,) = parsed.patterns[Library.ENDGAME]
    assert [
        (vote.player, vote.elo_hundredths, vote.value_millionths, vote.event) for vote in record.votes
    ] == [
        ('gnugo "1" é', 150_050, 812_345, 17),
        ("seki", -2_000, 1_000_000, 0),
    ]
    assert (record.uses, record.successes, record.last_contest_id) == (3, 2, "t-5/17")
    assert record.cells == "x - o\n- - #"
    # New nodes got free numbers, and every node its parent's.
    assert [(node.node_id, node.parent_id, node.move, node.depth) for node in parsed.nodes] == [
        (0, 0, "", 0),
        (4, 0, "E5", 1),
        (5, 4, "player 1", 2),
        (6, 0, "D3", 1),
    ]


def test_a_position_of_a_text_by_hand_may_say_what_weak_players_left_there() -> None:
    levels = [
        (node.HasField("level"), node.level, [(part.level, part.visits) for part in node.weaker])
        for node in read_text(TEXT, go()).nodes
    ]
    assert levels == [(False, 0, []), (True, 16, [(-1, 1)]), (False, 0, []), (False, 0, [])]


def test_blank_lines_above_the_first_do_no_harm() -> None:
    assert read_text(f"\n \n{TEXT}", go()) == read_text(TEXT, go())
    with pytest.raises(LibraryTextError, match="line 3, column 1: the first line must be"):
        read_text("\n\nhello", go())


def test_a_text_of_another_board_is_refused_and_that_of_another_name_with_the_remedy() -> None:
    renamed = "\n".join(write_text(export(go_game("go-9x9-f"))))
    with pytest.raises(LibraryTextError, match="not this game, 'go-9x9': leave this line out if"):
        read_text(renamed, go())
    assert read_text(renamed.replace("% game go-9x9-f\n", ""), go()).patterns == {}
    smaller = spec_to_proto(go())
    smaller.geometry.square.rows = 5
    with pytest.raises(LibraryTextError, match=r"line 3, column 1: describes .* board or players differ"):
        read_text("\n".join(write_text(export(smaller))), go())


def test_line_ends_of_windows_do_no_harm() -> None:
    assert read_text(TEXT.replace("\n", "\r\n"), go()) == read_text(TEXT, go())


@pytest.mark.parametrize("label", ["", "< 2; 740.25; 0.81; 1 >\n", "< 2; 7e2; 0.8124699784; 1 >\n"])
def test_a_label_may_be_left_out_or_say_less_exactly_what_the_votes_say(label: str) -> None:
    assert read_text(TEXT.replace("< 2; 740; 0.8125; 1 >\n", label), go()) == read_text(TEXT, go())


@pytest.mark.parametrize("player", [1, 2])
def test_a_pattern_by_hand_has_the_player_of_its_label(player: int) -> None:
    text = TEXT.replace("% player 1\n", "").replace("0.8125; 1 >", f"0.8125; {player} >")
    (record,) = read_text(text, go()).patterns[Library.ENDGAME]
    assert record.player == player


def test_the_page_shows_how_a_pattern_is_written_by_hand() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/patterns.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^    % academy text 1\n(?:    .*\n|\n)+", page, re.MULTILINE)
    read = read_text(textwrap.dedent(example), go())
    assert [(record.player, len(record.votes)) for record in read.patterns[Library.MIDDLE_GAME]] == [
        (2, 3),
        (1, 1),
    ]


@pytest.mark.parametrize(
    ("above", "label", "line", "complaint"),
    [
        ("", "< 3; 165; 0.78; 2 >", 3, "give '% vote \"NAME\" ELO VALUE' above it for each proposer"),
        ("", "", 3, "the pattern has no player: give '% player P' above it, or a label below it"),
        ('% vote "ann" 165 0.78', "", 3, "has no player: give '% player P'"),
        ("% player 1", "", 3, "the pattern has no vote: give '% vote"),
        ('% silent "ann" 165 0.78', "< 1; 165; 0.78; 1 >", 3, "the pattern has no vote: give '% vote"),
        ('% vote "ann" 165 0.78', "< 1; 165; 0.78; 3 >", 5, "player 3: this game has players 1 to 2"),
        ('% vote "ann" 165 0.78', f"< 1; 165; 0.78; {10**17} >", 5, "this game has players 1 to 2"),
        ('% vote "ann" 165 0.78', "< 1; 165 >", 5, "not a label"),
    ],
)
def test_a_pattern_by_hand_that_lacks_a_line_is_refused_with_that_line(
    above: str, label: str, line: int, complaint: str
) -> None:
    text = "\n".join(filter(None, ["% academy text 1", "% library middle-game", above, "# x o", label]))
    with pytest.raises(LibraryTextError) as refused:
        read_text(text, go())
    assert refused.value.line == line and complaint in str(refused.value)


def test_the_last_pattern_may_end_the_text() -> None:
    cut = TEXT[: TEXT.index("< 2;")]
    assert len(read_text(cut, go()).patterns[Library.ENDGAME]) == 1


def test_an_export_that_was_cut_anywhere_is_refused() -> None:
    read = read_text(TEXT, go())
    text = "\n".join(write_text(export(go_game(), nodes=read.nodes)))
    assert read_text(text, go()).nodes == read_text(text + "\n\n%% a remark\n", go()).nodes
    for length in range(text.index("% description") + 14, len(text)):
        with pytest.raises(LibraryTextError):
            read_text(text[:length], go())
    with pytest.raises(LibraryTextError, match=r"before its last line, '% end'.* write that line below"):
        read_text(text.removesuffix("% end"), go())
    with pytest.raises(LibraryTextError, match="stands below '% end'"):
        read_text(f"{text}\nx - o", go())


def test_an_empty_library_is_a_text_too() -> None:
    assert read_text("\n".join(write_text(export(go_game()))), go()).patterns == {}


@pytest.mark.parametrize(
    ("before", "after", "line", "column", "complaint"),
    [
        ("% academy text 1", "hello", 1, 1, "the first line must be"),
        ("% game go-9x9", "% game chess", 2, 8, "not this game, 'go-9x9'"),
        ("% library endgame", "% library yose", 5, 11, "there are opening, middle-game, endgame"),
        ("% library endgame\n", "", 6, 3, "has no place here"),
        ("% id 12", "% id twelve", 7, 6, "not a whole number"),
        ("% id 12", "% id 12 13", 7, 3, "followed by 2 words; it needs 1"),
        ("% id 12", "% number 12", 7, 3, "not one of id, player"),
        ("% player 1", "% player 3", 7, 1, "player 3: this game has players 1 to 2"),
        ("% player 1", "% player 4294967296", 8, 10, "too great"),
        ("% player 1\n", "% player 0\n", 7, 1, "player 0: this game has players 1 to 2"),
        ('"seki" -20', "seki -20", 10, 8, "not a name in quotes"),
        ('"seki" -20', "[" * 100_000 + " -20", 10, 8, "not a name in quotes"),
        ('"seki" -20', '"\\ud800" -20', 10, 8, "half of a character"),
        ('17 "t-5/17"', '17 "\\udfff"', 12, 11, "half of a character"),
        ('"player 1" mover', '"\\ud800" mover', 22, 5, "half of a character"),
        ("% player 1", "% id 13", 8, 3, "stands here for the second time"),
        ("% last 17", "% uses 1 successes 0\n% last 17", 12, 3, "stands here for the second time"),
        ('"seki" -20', '"seki -20', 10, 8, "not a name in quotes"),
        ("0.812345 17", "1.812345 17", 9, 31, "not a value from 0 to 1"),
        ("0.812345 17", "0.8123456 17", 9, 31, "at most 6 decimals"),
        ("0.812345 17", "nan 17", 9, 31, "not a number"),
        ("successes 2", "success 2", 11, 10, "'successes' must"),
        ("successes 2", "successes 4", 7, 1, "4 of only 3 uses"),
        ("x - o", "x - q", 13, 5, "letter 'q'"),
        ("- - #", "- -", 14, 3, "a row of 2 cells"),
        ("< 2; 740; 0.8125; 1 >", "< 2; 740 >", 15, 1, "not a label"),
        (
            "< 2; 740",
            "< 3; 740",
            15,
            3,
            "'3' is not the proposers of the pattern, which the lines above make 2",
        ),
        ("740;", "1e-99999999;", 15, 6, "elo '1e-99999999' is not a number"),
        ("740;", "741;", 15, 6, "'741' is not the elo of the pattern, which the lines above make 740.25"),
        ("0.8125;", "0.8126;", 15, 11, "make 0.8124699784: change those (the votes count), or leave"),
        ("0.8125; 1 >", "0.8125; 2 >", 15, 19, "'2' is not the player of the pattern"),
        (
            "D3 mover 1 visits 1",
            "D3 mover 1 visits 2",
            23,
            3,
            "2, but wins, draws and losses of player 1 add up to 1",
        ),
        (
            "losses 0/1 values 1/0 told 0 elos 1500\n  D3",
            "losses 0/0 values 1/0 told 0 elos 1500\n  D3",
            22,
            5,
            "of player 2 add up to 0",
        ),
        ("x - o\n- - #\n", "", 13, 1, "no cells above"),
        ('    "player 1"', '   "player 1"', 22, 4, "indented by 3 blanks"),
        ('    "player 1"', '      "player 1"', 22, 7, "indented by 6 blanks"),
        ("  D3 ", "D3 ", 23, 1, "wrong indent"),
        ("D3 mover 1", "D3 mover", 23, 19, "once, with a value"),
        ("D3 mover 1 ", "D3 ", 23, 3, "no 'mover' on its line"),
        ("D3 mover", "D3 id 4 mover", 23, 9, "others for one each"),
        ("D3 mover 1 visits 1 wins 1/0", "D3 mover 1 visits 1 wins 1", 23, 3, "1 numbers given for 2"),
        ("D3 mover 1 visits 1 wins 1/0", "D3 mover 1 visits 1 wins 1/x", 23, 30, "not a whole number"),
        ("0 elos 1500\n  D3", "2 elos 1500\n  D3", 22, 5, "2 must be from 0 to 1"),
        (" level 16", "", 20, 3, "its levels must rise, and end below the node's own"),
        ("level 16", "level x", 20, 96, "not a whole number"),
        ("level 16", "level 2147483648", 20, 96, "too great"),
        ("% weaker -1 visits 1", "% weaker -1 visits 3", 20, 3, "more visits than the node's"),
        ("% weaker -1 visits 1", "% weaker -1 visit 1", 21, 13, "must be one of visits, wins"),
        ("% weaker -1 visits 1", "% weaker -1", 21, 3, "no 'visits' on its line"),
        ("% weaker -1 visits 1", "% weaker -1 visits 1 mover 1", 21, 22, "must be one of visits, wins"),
        ("% weaker", "% weakest", 21, 3, "'% weaker' below a position of the opening"),
    ],
)
def test_mistake_is_reported_with_line_and_column(
    before: str, after: str, line: int, column: int, complaint: str
) -> None:
    assert before in TEXT
    with pytest.raises(LibraryTextError) as refused:
        read_text(TEXT.replace(before, after, 1), go())
    assert (refused.value.line, refused.value.column) == (line, column)
    assert complaint in str(refused.value)
    assert str(refused.value).startswith(f"line {line}, column {column}: ")


@given(text=st.text(alphabet='%"<> \n\\/-x#E5.;1a\u2028', max_size=60))
def test_no_text_does_worse_than_be_refused(text: str) -> None:
    try:
        read_text(f"% academy text 1\n% library endgame\n{text}", go())
        read_text(f"% academy text 1\n% library opening\n{text}", go())
    except LibraryTextError as refused:
        assert refused.line >= 1
        assert refused.column >= 1
