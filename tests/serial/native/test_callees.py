"""Callees are compiled into their callers alone, once, and are what they are as plain Python."""

from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from serial.native.jobs import printed

from mpinet.base.arrays import Array, Ints, Table
from mpinet.base.native.tiers import PLAIN, tier
from mpinet.base.records import Record
from mpinet.compiled import inlined, kernel, part, phase, prefetch, routine, sweep


@inlined
def collatz(number):
    """Steps from a number to 1."""
    steps = 0
    while number != 1:
        if number < 1:
            raise ValueError("a number below 1")
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    return steps


@routine
def scaled(numbers, factor):
    """Called with two constants and a variable."""
    total = 0
    for i in range(numbers.size):
        total += factor * numbers[i]
    return total


@kernel
def totals(numbers: Ints, factor: int, found: Ints) -> None:
    """Write three sums, and the longest of the ways to 1."""
    found[0] = scaled(numbers, 2)
    found[1] = scaled(numbers, 3)
    found[2] = scaled(numbers, factor)
    found[3] = 0
    for i in range(numbers.size):
        found[3] = max(found[3], collatz(numbers[i]))


class Stop(Record):
    """24 bytes, which may lie in two lines of the cache."""

    arrives: int
    leaves: int
    number: int


@kernel
def added(rows: Table, stops: Annotated[Array, Stop], first: int) -> int:
    """Ask for items, of which most are not there, and add up what is."""
    total = 0
    for i in range(stops.size):
        prefetch(rows, first + 1000 * i)
        prefetch(stops, first + 1000 * i)
        total += rows[i, 0] + stops[i].leaves
    return total


@pytest.fixture(scope="module")
def native():
    """The kernel as native code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mpinet.compiled.SHORT", 0)  # or Numba puts it into the kernel
        assert totals.is_ready and "run" not in vars(totals)
    return totals.run


def test_callees_do_what_they_do_as_plain_python(native):
    numbers, found, plain = np.arange(1, 40), np.zeros(4, np.int64), np.zeros(4, np.int64)
    native(numbers, 5, found)
    totals.plainly(numbers, 5, plain)
    assert found.tolist() == plain.tolist() == [1560, 2340, 3900, 111]


def test_errors_of_callees_come_with_their_words(native):
    for run in (native, totals.plainly):
        with pytest.raises(ValueError, match=r"^a number below 1$"):
            run(np.array([-4]), 1, np.zeros(4, np.int64))


COMPILING = """
import re
import mpinet.compiled
from numba.core.codegen import JITCodeLibrary
from mpinet.compiler import callees, objects
from serial.native import test_callees

made, finalize = [], JITCodeLibrary._finalize_specific

def noted(library):
    made.append(library.name)
    finalize(library)

JITCodeLibrary._finalize_specific = noted

def compiled(kernel):
    return str(objects._module(kernel.description, objects.symbol(kernel.fingerprint)))

"""
"""What a process that compiles does."""


def told_by_a_compiler(text):
    return printed("-c", COMPILING + text, cwd=Path(__file__).parents[2]).split()


def test_a_callee_is_typed_once_and_optimised_in_its_callers_alone():
    told = told_by_a_compiler("""
mpinet.compiled.SHORT = 0
text = compiled(test_callees.totals)
forms = {name.rpartition("_")[0]: len(each.overloads) for name, each in callees.KNOWN.items()}
print(forms["scaled"], forms["collatz"], *made)
""")
    assert told[:2] == ["1", "1"]
    assert not any(name.startswith(("scaled_", "collatz_")) for name in told[2:])


def test_items_are_asked_for_by_lines_wherever_they_are():
    rows, stops = np.arange(100).reshape(5, 20), Stop.array(5)
    stops["leaves"] = range(5)
    assert added.is_ready
    assert added(rows, stops, -9) == 210 == added.plainly(rows, stops, -9)
    (calls,) = told_by_a_compiler("""
print(len(re.findall("call void @llvm.prefetch", compiled(test_callees.added))))
""")
    assert int(calls) > 0 and int(calls) % 3 == 0  # a number, and both ends of a stop, some times


@sweep
def looked_up(numbers, table, at, found):
    """Read by an index, by a pair of which one is a constant below 0, and by such a constant."""
    found[at + 1], found[at + 2], found[at + 3] = numbers[at], table[at, -1], numbers[-1]


@kernel
def look_up(numbers: Ints, table: Table, at: int, found: Ints) -> None:
    """Look numbers up."""
    looked_up(numbers, table, at, found)


def test_sweeps_count_from_the_end_for_constants_alone():
    """An index below 0 leads to what lies before an array: nobody asks whether it is one."""
    numbers, table, found = np.arange(10)[5:], np.arange(8).reshape(4, 2)[2:], np.zeros(5, np.int64)
    assert look_up.is_ready
    look_up(numbers, table, 1, found)
    assert found.tolist() == [0, 0, 6, 7, 9]
    look_up(numbers, table, -1, found)
    assert found.tolist() == ([4, 3, 9, 7, 9] if tier() != PLAIN else [9, 7, 9, 7, 9])
    look_up.plainly(numbers, table, -1, found)
    assert found.tolist() == [9, 7, 9, 7, 9]


@part
def entry(numbers, at):
    """Read by an index that is no constant."""
    return numbers[at]


@phase
def entry_in_phase(numbers, at, found):
    """Read an entry."""
    found[0] = entry(numbers, at)


@sweep
def entry_in_sweep(numbers, at, found):
    """Read an entry."""
    found[1] = entry(numbers, at)


@kernel
def read_twice(numbers: Ints, at: int, found: Ints) -> None:
    """Read an entry in a phase and in a sweep."""
    entry_in_phase(numbers, at, found)
    entry_in_sweep(numbers, at, found)


@kernel
def read_again(numbers: Ints, at: int, found: Ints) -> None:
    """Read an entry in other loops."""
    entry_in_sweep(numbers, at, found)
    entry_in_phase(numbers, at + 1, found)


def test_parts_count_from_the_end_where_their_callers_do():
    numbers, found = np.arange(10)[5:], np.zeros(2, np.int64)
    read_twice(numbers, -1, found)
    assert found.tolist() == [9, 9 if tier() == PLAIN else 4]


def test_a_part_is_compiled_once_for_all_phases_and_once_for_all_sweeps():
    within = [
        each.parts["entry"]
        for loop in (read_twice, read_again)
        for each in loop.description.parts.values()
    ]
    assert sorted(each.how.get("from_zero", False) for each in within) == [False, False, True, True]
    assert len({each.name for each in within}) == 2
    found = np.zeros(2, np.int64)
    read_again(np.arange(9), 4, found)
    assert found.tolist() == [5, 4]
