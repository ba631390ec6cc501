from __future__ import annotations

from kernelindex.policy.neighbours import MeasuredShape, agreed_leader, find_neighbours


def shape(tokens: int, experts: int, leader: str | None = "liger", **more: int) -> MeasuredShape:
    axes = {"tokens": tokens, "experts": experts, **more}
    return MeasuredShape(shape_key=f"{axes}", axes=axes, leader=leader)


SWEEP = [shape(tokens, 128) for tokens in (128, 512, 2048, 8192)]
WANTED = {"tokens": 1024, "experts": 128}


def test_the_nearest_on_either_side_of_the_one_axis_that_differs() -> None:
    (bracket,) = find_neighbours(WANTED, [*SWEEP, shape(1024, 64), shape(2048, 64)])[:1]
    assert (bracket.axis, bracket.wanted) == ("tokens", 1024)
    assert bracket.below == SWEEP[1]
    assert bracket.above == SWEEP[2]
    assert bracket.agree is True
    assert bracket.leader == "liger"


def test_each_axis_has_its_own_bracket_in_the_order_asked() -> None:
    found = find_neighbours(WANTED, [shape(1024, 64), *SWEEP])
    assert [one.axis for one in found] == ["tokens", "experts"]
    assert found[1].below is not None
    assert found[1].above is None
    assert found[1].agree is None


def test_sides_that_disagree_or_have_no_leader() -> None:
    (split,) = find_neighbours(WANTED, [shape(512, 128, "liger"), shape(2048, 128, "loop")])
    assert split.agree is False
    assert split.leader is None
    (open_,) = find_neighbours(WANTED, [shape(512, 128, None), shape(2048, 128, "loop")])
    assert open_.agree is None


def test_two_axes_away_or_other_axes_is_no_neighbour() -> None:
    assert find_neighbours(WANTED, [shape(512, 64), shape(512, 128, hidden=4)]) == ()


def test_the_shape_itself_is_no_neighbour() -> None:
    assert find_neighbours(WANTED, [shape(1024, 128)]) == ()


def test_a_leader_is_agreed_only_where_every_closed_bracket_has_it() -> None:
    both = [*SWEEP, shape(1024, 64), shape(1024, 256)]
    assert agreed_leader(find_neighbours(WANTED, both)) == "liger"
    other = [*SWEEP, shape(1024, 64, "loop"), shape(1024, 256, "loop")]
    assert agreed_leader(find_neighbours(WANTED, other)) is None
    assert agreed_leader(find_neighbours(WANTED, [SWEEP[0]])) is None
