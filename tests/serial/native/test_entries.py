"""Entries of native kernels: every form of argument and result arrives as it was given."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from mpinet.base import arrays
from mpinet.base.arguments import ITEMS, NUMBERS, SIGNATURES, PortRule, StartRule
from mpinet.base.arrays import Array, Ints
from mpinet.base.native.background import WATCH
from mpinet.base.native.tiers import PLAIN, tier
from mpinet.base.records import Record, Short, Word32
from mpinet.compiled import Kernel, kernel, rule

ARRAYS = {name: kind for name, kind in vars(arrays).items() if hasattr(kind, "__metadata__")}
"""Annotations of arrays, by name."""


def both(loop: Kernel) -> list[Callable[..., Any]]:
    """A kernel as native code, and as plain Python."""
    assert WATCH.address(loop) or tier() == PLAIN
    return [loop.run, loop.plainly]


def made(text: str, **scope: Any) -> Kernel:
    """A kernel of a text."""
    names = {**ARRAYS, "np": np, "tuple": tuple, "__name__": "mpinet.trial", **scope}
    exec(text, names)
    return kernel(names["trial"])


def test_the_annotations_of_arrays_are_found() -> None:
    assert len(ARRAYS) > 15


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_each_kind_is_read_and_written_in_place(name: str) -> None:
    item, _, indices = ARRAYS[name].__metadata__[0].partition("[")
    dimensions, dtype = indices.count(",") + 1, np.dtype(ITEMS.get(item, item))
    places = ["1, 0, 2"[: 3 * dimensions - 2], "0, 1, 1"[: 3 * dimensions - 2]]
    shape = (2, 2, 3)[:dimensions]
    loop = made(
        f"def trial(before: int, array: {name}, after: int) -> tuple[int, int, int, int]:\n"
        f"    array[{places[0]}] = array[{places[1]}]\n"
        f"    return before, array.size, array.shape[{dimensions - 1}], after"
    )
    numbers = (np.arange(12) * 37 % 5 + 1).astype(dtype)
    views = [numbers[: int(np.prod(shape))].reshape(shape).copy()]
    if "::1" not in indices:  # any strides
        views += [np.zeros((*shape[:-1], 7), dtype)[..., 1:6:2][..., : shape[-1]], views[0].T]
    for run in both(loop):
        for view in views:
            array = view
            array.flat[:] = numbers[: array.size]
            expected = array.copy()
            expected[tuple(map(int, places[0].split(",")))] = expected[
                tuple(map(int, places[1].split(",")))
            ]
            assert run(-3, array, 2**62) == (-3, array.size, array.shape[-1], 2**62)
            assert np.array_equal(array, expected)


RESULTS = {
    "int": [-(2**63), -1, 0, 2**63 - 1],
    "bool": [False, True],
    "float": [0.0, -0.5, 1e308, float("inf")],
}


def test_all_kinds_of_numbers_are_tested() -> None:
    assert {kind.__name__ for kind in NUMBERS} == RESULTS.keys()


@pytest.mark.parametrize("kind", RESULTS)
def test_numbers_come_back_as_they_were_given(kind: str) -> None:
    loop = made(f"def trial(value: {kind}) -> {kind}:\n    return value")
    for run in both(loop):
        for value in RESULTS[kind]:
            found = run(value)
            assert found == value and type(found) is type(value)
        assert run(np.array(RESULTS[kind])[1]) == RESULTS[kind][1]


def test_several_results_and_none() -> None:
    several = made(
        "def trial(a: int, b: bool, c: float) -> tuple[float, int, bool, int]:\n"
        "    return c / 2, a + 1, not b, a - 1"
    )
    nothing = made("def trial(numbers: Ints) -> None:\n    numbers[0] = 7")
    numbers = np.zeros(1, np.int64)
    for run in both(several):
        found = run(5, True, 3.0)
        assert found == (1.5, 6, False, 4)
        assert [type(each) for each in found] == [float, int, bool, int]
    for run in both(nothing):
        numbers[0] = 0
        assert run(numbers) is None and numbers[0] == 7


class Lane(Record):
    """Fields of several sizes."""

    sent: int
    high: Short
    low: Word32
    open: bool


class Group(NamedTuple):
    """A group of several forms."""

    next: PortRule
    lanes: Annotated[Array, Lane]
    grid: Annotated[Array, Lane, 2]
    total: Lane
    params: Ints
    turns: int


@rule
def after(node, port, params):
    """Return the next number."""
    return node + port + params[0]


@rule
def begin(source, target, header, params):
    """Write a header."""
    header[0] = target - source + params[0]


@kernel
def sweep_lanes(first: int, group: Group, started: StartRule, header: Ints, last: bool) -> int:
    """Write records, alone, in a row and in a table, and call rules."""
    following = group.next.call
    start = started.call
    for turn in range(group.turns):
        for i in range(group.lanes.size):
            lane = group.lanes[i]
            lane.sent += following(i, turn, group.params)
            lane.high -= 1
            lane.open = not lane.open
        group.grid[1, turn].low += 5
        group.grid[1, turn].high = group.grid[0, turn].high + turn
    group.total.sent = group.lanes[1].sent
    start(first, group.turns, header, group.params)
    return first + header[0] if last else 0


def test_records_groups_and_rules_reach_a_kernel() -> None:
    for run in both(sweep_lanes):
        lanes, grid, total = Lane.array(3), np.zeros((2, 4), Lane.dtype), Lane.array(1)
        grid["high"][0] = 9
        group = Group(after.native, lanes, grid, total[0], np.array([100]), 4)
        header = np.zeros(2, np.int64)
        assert run(7, group, begin.native, header, True) == 7 + 4 - 7 + 100
        assert lanes["sent"].tolist() == [4 * (100 + i) + 6 for i in range(3)]
        assert lanes["high"].tolist() == [-4] * 3 and not lanes["open"].any()
        assert grid["low"].tolist() == [[0] * 4, [5] * 4]
        assert grid["high"].tolist() == [[9] * 4, [9, 10, 11, 12]]
        assert total["sent"].tolist() == [lanes["sent"][1]]
        assert header.tolist() == [97, 0]


@pytest.mark.parametrize("kind", SIGNATURES)
def test_rules_of_each_kind_get_what_kernels_give(kind: str) -> None:
    """Each number is weighed by a power of ten, each array by its length and an item."""
    names = {
        "port_rule": "node port params", "start_rule": "source target header params",
        "decide_rule": "node header params", "schedule_rule": "node root since step params",
        "class_rule": "node port in_port in_class header params",
        "candidates_rule": "node in_port in_class header candidates params",
        "choose_rule": "node header candidates credits params",
    }[kind].split()  # fmt: skip
    terms = {
        name: f"{name}[1, 1] + {name}.shape[0]" if name == "candidates"
        else f"{name}[1] + {name}.size" if name in ("params", "header", "credits") else name
        for name in names
    }  # fmt: skip
    value = " + ".join(f"({term}) * {10 ** (2 * at)}" for at, term in enumerate(terms.values()))
    end = f"    header[0] = {value}" if kind == "start_rule" else f"    return {value}"
    scope: dict[str, Any] = {"__name__": "mpinet.trial"}
    exec(f"def trial({', '.join(names)}):\n{end}", scope)
    told = rule(scope["trial"])
    assert told.kind == kind
    arrays_given = {
        "params": np.array([0, 11, 0]), "header": np.array([0, 12]),
        "candidates": np.array([[0, 0], [0, 13]]), "credits": np.array([0, 14, 0, 0]),
    }  # fmt: skip
    args = [arrays_given.get(name, at + 1) for at, name in enumerate(names)]
    hints = ", ".join(
        f"{name}: {'Table' if name == 'candidates' else 'Ints' if name in arrays_given else 'int'}"
        for name in names
    )
    call = f"rule.call({', '.join(names)})"
    body = f"    {call}\n    return header[0]" if kind == "start_rule" else f"    return {call}"
    loop = made(f"def trial(rule: Kind, {hints}) -> int:\n{body}", Kind=Annotated[Any, kind])
    sizes = {"params": 11 + 3, "header": 12 + 2, "candidates": 13 + 2, "credits": 14 + 4}
    expected = sum(sizes.get(name, at + 1) * 10 ** (2 * at) for at, name in enumerate(names))
    native = told.native.address
    assert native or tier() == PLAIN
    for run in both(loop):
        for address in (native, 0):
            told.native.address = address
            arrays_given["header"][0] = 0
            assert run(told.native, *args) == expected
    told.native.address = native


def test_the_place_of_the_header_tells_rules_of_as_many_arguments_apart() -> None:
    def classes(u, p, by, before, header, params):
        return 0

    def candidates(u, by, before, header, ways, params):
        return 0

    assert rule(classes).kind == "class_rule"
    assert rule(candidates).kind == "candidates_rule"
