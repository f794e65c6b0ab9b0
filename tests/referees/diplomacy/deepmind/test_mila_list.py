"""MILA's own list of actions, which has fewer convoys."""

from collections import Counter

from referees.diplomacy.deepmind import POSSIBLE_ACTIONS, OrderCode, mila_list, mila_strings, parts


def test_the_mila_list_has_13006_different_strings_in_order() -> None:
    listed = mila_list()
    assert len(listed) == 13_006
    assert listed[0] == "WAIVE"
    assert list(listed[1:]) == sorted(set(listed[1:]))


def test_milas_list_leaves_out_long_and_needless_convoys() -> None:
    listed = set(mila_list())
    long = {
        (parts(action).province, parts(action).target)
        for action in POSSIBLE_ACTIONS
        if parts(action).code is OrderCode.CONVOY_TO and not listed & set(mila_strings(action))
    }
    missing: Counter[tuple[OrderCode, bool]] = Counter()
    for action in POSSIBLE_ACTIONS:
        code, province, _, target, _, third = parts(action)
        convoyed = (province if code is OrderCode.CONVOY_TO else third, target)
        missing[code, convoyed in long] += len(set(mila_strings(action)) - listed)
    assert +missing == {
        (OrderCode.CONVOY_TO, True): 374,
        (OrderCode.CONVOY, True): 4238,
        (OrderCode.CONVOY, False): 2176,
        (OrderCode.SUPPORT_MOVE_TO, True): 2565,
        (OrderCode.SUPPORT_MOVE_TO, False): 27,
    }


def test_a_fleet_that_a_route_could_do_without_is_not_listed() -> None:
    listed = mila_list()
    assert "F ION C A ALB - TUN" in listed
    assert "F ADR C A ALB - TUN" not in listed
