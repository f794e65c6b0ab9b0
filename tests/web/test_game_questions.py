"""What players asked ACADEMY stands beside the game of the arena: one click to the pattern, one back."""

import subprocess
from pathlib import Path

from academy.store.tokens import Role
from tests.academy.service.running import serving
from tests.web.conftest import BIN, ENVIRONMENT, served_pages

_CONTROL = """\
[competition]
kind = "playoff"
games = 2
check_players = false
[academy]
address = "{address}"
token_env = "CUP_TOKEN"
[game]
name = "go"
board_size = 5
komi = 0.5
[[matchups]]
players = ["one", "two"]
[players.one]
command = "academy-bot go --set board_size=5 --set komi=0.5 --playouts 20 --seed 1 --academy"
[players.two]
command = "academy-bot go --set board_size=5 --set komi=0.5 --playouts 20 --seed 2 --academy"
"""


def test_a_game_shows_what_its_players_asked_and_what_became_of_their_proposals(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as academy:
        control = tmp_path / "cup.toml"
        control.write_text(_CONTROL.format(address=academy.address))
        arena = {"CUP_TOKEN": academy.token("cup", Role.ARENA)}
        command = (BIN / "arena", control, "-q")
        subprocess.run(command, env=ENVIRONMENT | arena, check=True, capture_output=True, timeout=120)
        admin = tmp_path / "admin"
        admin.write_text(academy.token("admin", Role.ADMIN))
        options = ("--academy", academy.address, "--academy-token-file", admin, "--competitions", control)
        with served_pages(*options) as pages:
            game = pages.get(pages.get("/competition?name=cup").link("/competition/game?"))
            assert game.status == 200 and "At ACADEMY" in game.words
            assert "asked the opening tree" in game.words and "proposed an endgame pattern" in game.words
            assert "inserted" in game.words
            pattern = pages.get(game.link("/patterns/endgame/"))
            assert pattern.status == 200
            # From what ACADEMY knows each way leads back to the game.
            assert pages.get(pattern.link("/competition/game?name=cup&game=")).status == 200
            for path in ("/", "/games/go-5x5", "/games/go-5x5/openings"):
                assert pages.get(pages.get(path).link("/competition/game?name=cup&game=")).status == 200
        # With a token that may not read the contest, the game is shown without it.
        admin.write_text(academy.token("reader", Role.BOT))
        with served_pages(*options) as pages:
            game = pages.get(pages.get("/competition?name=cup").link("/competition/game?"))
            assert game.status == 200 and "At ACADEMY" not in game.words
