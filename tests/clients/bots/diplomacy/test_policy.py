"""The bots as policies, on DeepMind's environment and in the arena."""

import os
from pathlib import Path

import pytest

from arena.jobs import GameJob, PlayerSetup
from arena.match.game import play
from clients.bots.diplomacy.bots import UnknownBotError, bot
from clients.bots.diplomacy.policy import BotPolicy
from referees.diplomacy.deepmind import DiplomacyState, action_of

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("name", ["hold", "random", "tactical"])
def test_a_policy_plays_as_the_bot_would_on_the_position_itself(name: str) -> None:
    """What a policy reads from observations is all that the bot needs."""
    state, policy, random_policy = DiplomacyState(), BotPolicy(name, 4), BotPolicy("random", 5)
    own = {slot: bot(name, f"4/1/{slot}") for slot in (1, 5)}
    while not state.is_terminal() and state.position.year < 1908:
        seen, legal = state.observation(), state.legal_actions()
        chosen, _ = policy.actions([1, 5], seen, legal)
        for actions, (slot, player) in zip(chosen, own.items(), strict=True):
            assert actions == [action_of(order) for order in player.orders(state.position, slot)]
            # None is left out, and there are no others.
            assert set(actions) <= set(legal[slot])
        others, _ = random_policy.actions([0, 2, 3, 4, 6], seen, legal)
        state.step([others[0], chosen[0], *others[1:4], chosen[1], others[4]])


def test_a_new_game_begins_in_the_first_year_with_new_bots() -> None:
    policy, lists = BotPolicy("tactical"), []
    for _ in range(2):
        policy.reset()
        state = DiplomacyState()
        while state.position.year < 1903:
            actions, _ = policy.actions(range(7), state.observation(), state.legal_actions())
            state.step(actions)
            lists.append(actions)
    assert lists[0] != lists[len(lists) // 2]
    assert str(policy) == "tactical"


def test_an_unknown_bot_is_refused_when_the_policy_is_made() -> None:
    with pytest.raises(UnknownBotError, match="no bot 'genius'"):
        BotPolicy("genius")


def test_the_arena_plays_them_against_each_other(tmp_path: Path) -> None:
    setups = [
        PlayerSetup(
            name,
            ("clients.bots.diplomacy.policy:BotPolicy",),
            protocol="policy",
            start_seconds=100.0,
            environment={"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
            parameters={"arguments": {"name": name, "seed": "{seed}"}},
        )
        for name in ("tactical", "random")
    ]
    settings = {"edition": "deepmind", "year_limit": 8, "aoa": False}
    seats = [setups[0], *[setups[1]] * 6]
    result = play(GameJob("3", "diplomacy", settings, tuple(seats), seed=2, log_path=str(tmp_path / "log")))
    assert result.outcome is not None
    assert not result.warnings
    assert max(result.outcome.points) == result.outcome.points[0]
