"""Rules and loops made of others: what `bind` replaces, how deep it reaches, what it refuses."""

from typing import NamedTuple

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
    assert hop.hop_all.callees["owner_of"] is placement.owner_of
    placement.owner_of.bind("even", UNEVEN=1)
    with pytest.raises(NameError, match=r"^advance names no UNEVEN$"):
        hop.advance.bind("even", UNEVEN=1)


def test_the_rules_and_numbers_for_the_loops_over_messages_are_all_named_there() -> None:
    cube, numbers = networks.open("hypercube:4"), {"HEADER_WORDS": 1, "WIDTH": 1}
    rules = cube.neighbor.rule, cube.routing().decide, blocks(cube).rule
    assert [loop.parts["WIDTH"] for loop in hop.inlining(*rules, **numbers)] == [1, 1, 1]
    with pytest.raises(NameError, match="WIDHT"):
        hop.inlining(*rules, WIDHT=1)


class Part(NamedTuple):
    """Numbers of which `difference` knows the first two."""

    first: Ints
    second: Ints


class Turned(NamedTuple):
    """The same fields in another order, behind one that the loop does not know."""

    factor: int
    second: Ints
    first: Ints


class Lacking(NamedTuple):
    """A group without a field that the loop reads."""

    first: Ints


@kernel
def difference(numbers: Part, sign: int) -> int:
    found = 0
    for i in range(numbers.first.size):
        found += sign * (numbers.first[i] - numbers.second[i])
    return found


@inlined
def of_parts(first, second):
    return Part(first, second).first[0]


def test_a_loop_bound_to_another_group_reads_its_fields_by_name() -> None:
    large, small = np.array([7, 9]), np.array([1, 2])
    turned = difference.bind("difference_turned", numbers=Turned)
    assert turned(Turned(5, small, large), 1) == (7 - 1) + (9 - 2)
    assert turned.bind("again", numbers=Part)(Part(large, small), -1) == -13
    assert difference(Part(large, small), 1) == 13


def test_a_group_without_a_field_that_the_loop_reads_is_refused() -> None:
    lacking = difference.bind("difference_lacking", numbers=Lacking)
    given = Lacking(np.arange(2))
    with pytest.raises((AttributeError, RuntimeError), match="second"):
        lacking(given, 1)
    with pytest.raises(AttributeError, match="'Lacking' object has no attribute 'second'"):
        lacking.plainly(given, 1)


def test_fields_of_groups_are_part_of_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    turned = difference.bind("difference", numbers=Turned)
    assert turned.fingerprint != difference.fingerprint
    assert difference.bind("difference", numbers=Part).fingerprint == difference.fingerprint
    # The code of a function that makes a group does not tell the order of the group's fields.
    before = of_parts.fingerprint
    monkeypatch.setitem(of_parts.function.__globals__, "Part", Turned)
    del of_parts.__dict__["fingerprint"]
    assert of_parts.fingerprint != before
