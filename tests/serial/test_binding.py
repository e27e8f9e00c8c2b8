"""Rules and loops made of others: what `bind` replaces, how deep it reaches, what it refuses."""

import numpy as np
import pytest

from mpinet import networks
from mpinet.base.arrays import Ints
from mpinet.compiled import inlined, kernel, rule
from mpinet.machine import hop, placement
from mpinet.machine.placement import blocks

FACTOR = 1


@inlined
def changed(number):
    """Stand-in for what is done to a number."""
    return -1


@inlined
def scaled(number):
    """Names both, for functions that name neither."""
    return FACTOR * changed(number)


@inlined
def squared(number):
    return number * number


@inlined
def next_one(number):
    return number + 1


@rule
def moved(node, port, params):
    return scaled(node) + port


@kernel
def total(numbers: Ints) -> int:
    found = 0
    for i in range(numbers.size):
        found += scaled(numbers[i])
    return found


scaled_square = scaled.bind("scaled_square", changed=squared)


@inlined
def of_a_square(number):
    return scaled_square(number)


def test_a_part_reaches_the_callees_of_a_rule_and_of_a_loop() -> None:
    nodes = np.arange(1, 101)
    by_rule = moved.bind("moved_squares", changed=squared, FACTOR=3)
    by_loop = total.bind("total_squares", changed=squared, FACTOR=3)
    assert [by_rule(node, 2, nodes) for node in (4, 5)] == [50, 77]
    assert by_loop(nodes) == 3 * sum(n * n for n in range(1, 101))
    assert (moved(4, 2, nodes), total(nodes)) == (1, -100)


def test_parts_that_are_bound_later_come_beside_those_bound_before() -> None:
    squares = total.bind("total_squares", changed=squared)
    assert squares.bind("three_squares", FACTOR=3)(np.arange(4)) == 3 * (1 + 4 + 9)
    assert squares.bind("total_next", changed=next_one)(np.arange(4)) == 1 + 2 + 3 + 4


def test_what_a_callee_was_bound_to_stays_so() -> None:
    with pytest.raises(NameError):
        of_a_square.bind("of_a_next_one", changed=next_one)
    assert of_a_square.bind("thrice", FACTOR=3)(5) == 75


def test_variants_with_other_parts_in_a_callee_are_kept_apart() -> None:
    squares = total.bind("total_", changed=squared)
    assert len({each.fingerprint for each in (total, squares, total.bind("t", FACTOR=2))}) == 3


@pytest.mark.parametrize("name", ["chnaged", "number", "size", "float64"])
def test_a_part_that_no_function_names_as_a_global_is_refused(name: str) -> None:
    with pytest.raises(NameError, match=f"^total names no {name}$"):
        total.bind("wrong", changed=squared, **{name: 1})


def test_a_name_of_another_file_is_another_thing() -> None:
    assert hop.advance.callees["owner_of"] is placement.owner_of
    placement.owner_of.bind("even", UNEVEN=1)
    with pytest.raises(NameError, match=r"^advance names no UNEVEN$"):
        hop.advance.bind("even", UNEVEN=1)


def test_the_rules_and_numbers_for_the_loops_over_messages_are_all_named_there() -> None:
    cube, numbers = networks.open("hypercube:4"), {"HEADER_WORDS": 1, "WIDTH": 1}
    rules = cube.neighbor.rule, cube.routing().decide, blocks(cube).rule
    assert [loop.parts["WIDTH"] for loop in hop.inlining(*rules, **numbers)] == [1, 1, 1]
    with pytest.raises(NameError, match="WIDHT"):
        hop.inlining(*rules, WIDHT=1)
