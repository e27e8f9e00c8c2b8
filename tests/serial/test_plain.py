"""Plain kernels calculate as compiled ones do: each is compared with NumPy's 64-bit numbers."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import (
    Array,
    Bytes,
    ByteTables,
    Counts,
    FlagRows,
    Flags,
    HalfRows,
    Halves,
    Ints,
    Reals,
    RowViews,
    ShortRows,
    Shorts,
    Table,
    Tables,
    WordRows,
    Words,
)
from mpinet.base.plainrecords import as_python
from mpinet.base.records import Record, Short, Word32
from mpinet.compiled import Compiled, Kernel, inlined, kernel, phase, rule
from mpinet.errors import MpinetError

DRAWS = np.random.default_rng(47)


def forms(loop: Kernel) -> list[Callable[..., Any]]:
    """Return the kernel as it runs, which is compiled as a rule, and the plain one."""
    return [loop.run, loop.plainly]


def drawn(kind: Any, count: int = 200) -> Any:
    """Draw numbers of the whole range of a type, its ends among them."""
    limits = np.iinfo(kind)
    numbers = DRAWS.integers(limits.min, limits.max, count, kind, endpoint=True)
    numbers[:4] = limits.min, limits.max, 0, 1
    DRAWS.shuffle(numbers)
    return numbers


def wide(numbers: Any) -> Any:
    """Return what compiled code calculates with: 64 bits."""
    return numbers.astype(np.uint64 if numbers.dtype.kind == "u" else np.int64)


@inlined
def write_results(a, b, i, results):
    """Write a result of each operation; `b` is no zero where it divides."""
    results[0, i], results[1, i], results[2, i] = a + b, a - b, a * b
    results[3, i], results[4, i], results[5, i] = a & b, a | b, a ^ b
    results[6, i], results[7, i] = a << (b & 63), a >> (b & 63)
    results[8, i], results[9, i], results[10, i] = a == b, a < b, a <= b
    results[11, i], results[12, i] = min(a, b), max(a, b)
    if b != 0:
        results[13, i], results[14, i] = a // b, a % b


def results_of(a: Any, b: Any) -> Any:
    """Return the same, by NumPy's numbers of 64 bits."""
    results = np.zeros((15, len(a)), np.int64)
    with np.errstate(over="ignore"):
        found = (
            *(a + b, a - b, a * b, a & b, a | b, a ^ b),
            *(a << (b & a.dtype.type(63)), a >> (b & a.dtype.type(63))),
            *(a == b, a < b, a <= b, np.minimum(a, b), np.maximum(a, b)),
        )
        for row, values in zip(results, found, strict=False):
            row[:] = values.astype(np.int64)
        some = b != 0
        results[13, some] = (a[some] // b[some]).astype(np.int64)
        results[14, some] = (a[some] % b[some]).astype(np.int64)
    return results


@kernel
def calculate_ints(a: Ints, b: Ints, results: Table) -> None:
    for i in range(a.size):
        write_results(a[i], b[i], i, results)


@kernel
def calculate_shorts(a: Shorts, b: Shorts, results: Table) -> None:
    for i in range(a.size):
        write_results(a[i], b[i], i, results)


@kernel
def calculate_counts(a: Counts, b: Counts, results: Table) -> None:
    for i in range(a.size):
        write_results(a[i], b[i], i, results)


@kernel
def calculate_halves(a: Halves, b: Halves, results: Table) -> None:
    for i in range(a.size):
        write_results(a[i], b[i], i, results)


@kernel
def calculate_bytes(a: Bytes, b: Bytes, results: Table) -> None:
    for i in range(a.size):
        write_results(a[i], b[i], i, results)


@kernel
def calculate_words(a: Words, b: Words, results: Table) -> None:
    for i in range(a.size):
        write_results(a[i], b[i], i, results)


CALCULATIONS = {
    np.int64: calculate_ints,
    np.int32: calculate_shorts,
    np.uint32: calculate_counts,
    np.uint16: calculate_halves,
    np.uint8: calculate_bytes,
    np.uint64: calculate_words,
}


@pytest.mark.parametrize("kind", CALCULATIONS, ids=lambda kind: kind.__name__)
def test_numbers_of_every_width_calculate_with_64_bits(kind: Any) -> None:
    a, b = drawn(kind), drawn(kind)
    if kind is np.int64:
        b[(a == a.min()) & (b == -1)] = 1  # the one quotient that has no place in 64 bits
    expected = results_of(wide(a), wide(b))
    for run in forms(CALCULATIONS[kind]):
        results = np.zeros_like(expected)
        run(a, b, results)
        np.testing.assert_array_equal(results, expected)


class Targets(NamedTuple):
    """Arrays of every width."""

    shorts: Shorts
    counts: Counts
    halves: Halves
    bytes: Bytes
    ints: Ints
    words: Words
    flags: Flags
    short_rows: ShortRows
    half_rows: HalfRows
    byte_tables: ByteTables
    word_rows: WordRows
    flag_rows: FlagRows
    tables: Tables


def targets(count: int) -> Targets:
    """Return such arrays."""
    kinds = np.int32, np.uint32, np.uint16, np.uint8, np.int64, np.uint64, np.bool_
    rows = np.int32, np.uint16, np.uint64, np.bool_
    flat = (np.zeros(count, kind) for kind in kinds)
    short, half, word, flag = (np.zeros((2, count), kind) for kind in rows)
    tables = np.zeros((2, 2, count), np.uint8), np.zeros((2, 2, count), np.int64)
    return Targets(*flat, short, half, tables[0], word, flag, tables[1])


@inlined
def write(to, i, value):
    """Write a number, and then more of it in place."""
    to[i] = value
    to[i] += 3
    to[i] *= 5


@inlined
def write_row(to, i, value):
    """Write a number into the last row."""
    to[1, i] = value
    to[1, i] -= 7


@kernel
def write_all(values: Ints, to: Targets) -> None:
    for i in range(values.size):
        write(to.shorts, i, values[i])
        write(to.counts, i, values[i])
        write(to.halves, i, values[i])
        write(to.bytes, i, values[i])
        write(to.ints, i, values[i])
        write(to.words, i, values[i])
        to.flags[i] = values[i]
        write_row(to.short_rows, i, values[i])
        write_row(to.half_rows, i, values[i])
        write_row(to.word_rows, i, values[i])
        to.flag_rows[1, i] = values[i] & 2
        to.byte_tables[1, 0, i] = values[i] + 9
        to.tables[0, 1, i] = values[i] - to.byte_tables[1, 0, i]


def test_numbers_that_are_written_wrap_around_in_every_array() -> None:
    values = drawn(np.int64)
    with np.errstate(over="ignore"):
        more, less, bytes_ = (values + 3) * 5, values - 7, (values + 9).astype(np.uint8)
        expected = targets(len(values))
        for array in expected[:6]:
            array[:] = more.astype(array.dtype)
        for rows in (expected.short_rows, expected.half_rows, expected.word_rows):
            rows[1] = less.astype(rows.dtype)
        expected.flags[:], expected.flag_rows[1] = values != 0, (values & 2) != 0
        expected.byte_tables[1, 0] = bytes_
        expected.tables[0, 1] = values - bytes_.astype(np.int64)
    for run in forms(write_all):
        found = targets(len(values))
        run(values, found)
        for array, right in zip(found, expected, strict=True):
            np.testing.assert_array_equal(array, right)


@kernel
def make_arrays(values: Ints, results: Table) -> None:
    shorts, counts = np.empty(values.size, np.int32), np.zeros(values.size, np.uint32)
    halves, words = np.full(values.size, 7, np.uint16), np.ones(values.size, np.uint64)
    rows, flags = np.zeros((2, values.size), np.uint8), np.zeros(values.size, np.bool_)
    for i in range(values.size):
        shorts[i] = counts[i] = rows[1, i] = values[i]
        halves[i] += values[i]
        words[i] = np.uint64(values[i])
        flags[i] = np.int64(values[i]) < 0
    copied = shorts.copy()
    shorts[:] = -1
    for i in range(values.size):
        results[0, i], results[1, i], results[2, i] = copied[i] << 8, counts[i] << 8, halves[i] * 3
        results[3, i], results[4, i] = words[i] >> np.uint64(1), rows[1, i] - 300
        results[5, i], results[6, i] = flags[i] + flags[i], shorts[i] * 2
        results[7, i] = np.uint32(values[i]) + np.int32(values[i])
        results[8, i], results[9, i] = np.int64(words[i]) >> 1, np.uint8(values[i]) - np.uint16(1)


def test_arrays_and_numbers_that_kernels_make_are_as_wide_as_they_say() -> None:
    values = drawn(np.int64)

    def cut(kind: Any) -> Any:
        return values.astype(kind).astype(np.int64)

    with np.errstate(over="ignore"):
        expected = np.array([
            cut(np.int32) << 8,
            cut(np.uint32) << 8,
            (values + 7).astype(np.uint16).astype(np.int64) * 3,
            (values.astype(np.uint64) >> np.uint64(1)).astype(np.int64),
            cut(np.uint8) - 300,
            2 * (values < 0),
            np.full(len(values), -2),
            cut(np.uint32) + cut(np.int32),
            values >> 1,
            cut(np.uint8) - 1,
        ])  # fmt: skip
    for run in forms(make_arrays):
        results = np.zeros_like(expected)
        run(values, results)
        np.testing.assert_array_equal(results, expected)


@kernel
def count_flags(a: Flags, b: Flags, results: Table) -> int:
    count = 0
    for i in range(a.size):
        results[0, i], results[1, i], results[2, i] = a[i] + b[i], a[i] - b[i], a[i] * b[i]
        results[3, i], results[4, i], results[5, i] = a[i] & b[i], a[i] | b[i], a[i] ^ b[i]
        results[6, i], results[7, i], results[8, i] = not a[i], a[i] == b[i], a[i] < b[i]
        results[9, i], results[10, i] = int(a[i]) << 3, np.int64(b[i]) + 1
        count += a[i]
        count += a[i] > b[i]
    return count


def test_flags_are_the_numbers_0_and_1() -> None:
    a, b = (DRAWS.integers(0, 2, 100).astype(np.bool_) for _ in range(2))
    x, y = a.astype(np.int64), b.astype(np.int64)
    rows = [x + y, x - y, x * y, x & y, x | y, x ^ y, 1 - x, x == y, x < y, x << 3, y + 1]
    expected = np.array([row.astype(np.int64) for row in rows])
    for run in forms(count_flags):
        results = np.zeros_like(expected)
        count = run(a, b, results)
        assert type(count) is int and count == x.sum() + (x > y).sum()
        np.testing.assert_array_equal(results, expected)


@kernel
def divide_ints(a: Ints, b: Ints, remainder: bool) -> int:
    return a[0] % b[0] if remainder else a[0] // b[0]


@kernel
def divide_counts(a: Counts, b: Counts, remainder: bool) -> int:
    return a[0] % b[0] if remainder else a[0] // b[0]


@kernel
def divide_words(a: Words, b: Words, remainder: bool) -> int:
    return a[0] % b[0] if remainder else a[0] // b[0]


@kernel
def divide_reals(a: Reals, b: Reals, remainder: bool) -> float:
    return a[0] % b[0] if remainder else a[0] / b[0]


@pytest.mark.parametrize("remainder", [False, True])
@pytest.mark.parametrize(
    ("loop", "kind"),
    [
        (divide_ints, np.int64),
        (divide_counts, np.uint32),
        (divide_words, np.uint64),
        (divide_reals, np.float64),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_a_division_by_zero_raises(loop: Kernel, kind: Any, remainder: bool) -> None:
    for run in forms(loop):
        with pytest.raises(ZeroDivisionError):
            run(np.ones(1, kind), np.zeros(1, kind), remainder)
        assert run(np.full(1, 7, kind), np.full(1, 2, kind), remainder) == (
            1 if remainder else 7 / 2 if kind is np.float64 else 3
        )


class Meter(Record):
    """A record with a field of every kind."""

    load: int
    low: Short
    seen: bool
    marks: Word32
    high: Annotated[Short, "kept"]


class Meters(NamedTuple):
    """A group of records and arrays."""

    row: Annotated[Array, Meter]
    table: Annotated[Array, Meter, 2]
    total: Meter
    marks: Counts


@phase
def read_meter(meters, i):
    """Change a record by others."""
    meter, other = meters.row[i], meters.table[i & 1, i]
    meter.low += other.load
    meter.marks -= other.low
    meter.seen = meter.seen ^ other.seen
    meter.high = other.marks << 3
    meter.load = meter.load * 0x1234567 + other.marks * other.marks
    meters.table[1, i].load, meters.table[1, -1].high = meter.load, i
    meters.total.load += meter.seen + other.seen
    meters.marks[i] = meter.marks + 5


@kernel
def read_meters(meters: Meters, given: Annotated[Array, Meter]) -> int:
    for i in range(meters.row.size):
        read_meter(meters, i)
        given[i].low = meters.table.shape[0] * meters.row.shape[0]
    return meters.total.load


def meters_of(count: int) -> tuple[Meters, Any]:
    """Return records with drawn fields."""
    row, table, given = Meter.array(count), Meter.array(2, count), Meter.array(count)
    for records in (row, table):
        for name in Meter.dtype.names or ():
            kind = Meter.dtype[name]
            flat = (
                drawn(kind, 2 * count)[: records.size]
                if kind.kind != "b"
                else DRAWS.integers(0, 2, records.size)
            )
            records[name] = flat.reshape(records.shape)
    return Meters(row, table, Meter.one(), np.zeros(count, np.uint32)), given


def read_by_numpy(meters: Meters) -> int:
    """Do the same with NumPy's numbers of 64 bits, field by field."""
    row, table, total = meters.row, meters.table, 0
    for i in range(row.size):
        here = {name: np.int64(row[name][i]) for name in Meter.dtype.names or ()}
        other = {name: np.int64(table[name][i & 1, i]) for name in Meter.dtype.names or ()}
        seen = here["seen"] ^ other["seen"]
        marks = (here["marks"] - other["low"]).astype(np.uint32)
        load = here["load"] * np.int64(0x1234567) + other["marks"] * other["marks"]
        row["low"][i] = (here["low"] + other["load"]).astype(np.int32)
        row["marks"][i], row["seen"][i], row["load"][i] = marks, seen, load
        row["high"][i] = (other["marks"] << np.int64(3)).astype(np.int32)
        table["load"][1, i], table["high"][1, -1] = load, i
        total += int(seen + other["seen"])
        meters.marks[i] = (marks.astype(np.int64) + 5).astype(np.uint32)
    return total


def test_records_with_one_and_two_indices_are_the_memory_of_the_caller() -> None:
    given_meters, _ = meters_of(50)
    expected = Meters(
        given_meters.row.copy(), given_meters.table.copy(), Meter.one(), np.zeros(50, np.uint32)
    )
    with np.errstate(over="ignore"):
        total = read_by_numpy(expected)
    for run in forms(read_meters):
        meters = Meters(
            given_meters.row.copy(), given_meters.table.copy(), Meter.one(), np.zeros(50, np.uint32)
        )
        given = Meter.array(50)
        assert run(meters, given) == total == meters.total.load
        for name in Meter.dtype.names or ():
            np.testing.assert_array_equal(meters.row[name], expected.row[name])
            np.testing.assert_array_equal(meters.table[name], expected.table[name])
        np.testing.assert_array_equal(meters.marks, expected.marks)
        assert (given["low"] == 100).all()


def test_records_that_lie_apart_in_memory_are_refused() -> None:
    meters, given = meters_of(8)
    with pytest.raises(TypeError, match="not contiguous"):
        read_meters.plainly(meters, np.repeat(given, 2)[::2])


@kernel
def several(node: int, flags: Flags, reals: Reals) -> tuple[int, bool, float]:
    return node * node, flags[0], reals[0]


def test_results_are_numbers_of_python() -> None:
    square = np.full(1, (1 << 62) + 5) ** 2
    for run in forms(several):
        found = run((1 << 62) + 5, np.ones(1, np.bool_), np.full(1, 2.5))
        assert [*map(type, found)] == [int, bool, float] and found == (square[0], True, 2.5)
    assert type(as_python((np.uint64(2**63), (np.bool_(False),)))[1][0]) is bool


@kernel
def shift(number: int, places: int, flag: bool) -> int:
    return (number << places) + flag


@pytest.mark.parametrize("kind", [np.int8, np.uint32, np.int64], ids=lambda kind: kind.__name__)
def test_single_numbers_have_64_bits_in_a_kernel(kind: Any) -> None:
    for run in forms(shift):
        found = run(kind(100), kind(30), np.bool_(True))
        assert type(found) is int and found == (100 << 30) + 1


@kernel
def add_views(rows: RowViews, function: Ints, exact: Shorts) -> int:
    total = 0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            total += rows[i, j]
    for place in function[1:-1]:
        total += place
    part = exact[2:]
    part[0] = 9
    return total + part[1]


def test_views_and_parts_of_arrays_are_their_memory() -> None:
    rows, numbers = DRAWS.integers(-9, 9, (7, 11)), DRAWS.integers(-9, 9, 20)
    for run in forms(add_views):
        shorts = np.arange(6, dtype=np.int32)
        assert run(rows[:, 2:5], numbers, shorts) == rows[:, 2:5].sum() + numbers[1:-1].sum() + 3
        assert shorts.tolist() == [0, 1, 9, 3, 4, 5]


@inlined
def behind(node, port, params):
    """Return a number of a part of the parameters."""
    return params[1:][port] * node


@rule
def followed(node, port, params):
    """Return what is behind a port, modulo the number of processors."""
    return behind(node, port, params) % params[0]


@rule
def halved(node, port, params):
    """Return what is no whole number."""
    return node / 2 if port else node


@kernel
def follow(neighbor: PortRule, params: Ints, nodes: Shorts, found: Ints) -> None:
    value = neighbor.call
    for i in range(nodes.size):
        for port in range(3):
            found[i] += value(nodes[i], port, params)


def test_rules_get_whole_numbers_of_python_from_narrow_arrays() -> None:
    params = np.array([2**40, 3 << 33, 5 << 33, 7 << 33])
    nodes, found = drawn(np.int32), np.zeros(200, np.int64)
    with np.errstate(over="ignore"):
        expected = sum((nodes.astype(np.int64) * params[1 + port]) % params[0] for port in range(3))
    follow.plainly(SimpleNamespace(call=followed.plain), params, nodes, found)
    np.testing.assert_array_equal(found, expected)
    found[:] = 0
    follow.run(followed.native, params, nodes, found)
    np.testing.assert_array_equal(found, expected)


def test_a_plain_kernel_does_not_cut_what_a_user_s_rule_returns() -> None:
    nodes, found = np.ones(1, np.int32), np.zeros(1, np.int64)
    with pytest.raises(MpinetError, match="halved"):
        follow.plainly(SimpleNamespace(call=halved.plain), np.ones(1, np.int64), nodes, found)


def test_the_plain_form_of_a_function_calls_plain_functions() -> None:
    plain = calculate_ints.plain
    named = [
        plain.__globals__[name] for name in plain.__code__.co_names if name in plain.__globals__
    ]
    assert named and not any(isinstance(each, Compiled) for each in named)


COMMANDS = (
    "route hypercube:6 --pairs permutation",
    "route torus:6x7 --pairs random:300 --policy fifo --seed 5",
    "load dragonfly:1,2,2 --routing ugal-g,par --rate 0.3 --warmup 20 --steps 60",
    "load torus:4x4 --rate 0.2 --flits 3 --warmup 20 --steps 60 --seed 9223372036854775807",
    "broadcast fattree:2,3 --schedule",
    "gossip hypercube:4",
    "replay allreduce:ring,1MB --on torus:4x4 --latency 50 --time-byte 1",
    "show debruijn:6 --distances",
    "optimum debruijn:3",
    "flood debruijn:6 --root 5",
)


def digest_of(line: str, plain: bool, ranks: int) -> str:
    """Return the digest of a command."""
    front = [sys.executable, "-W", "error::RuntimeWarning", "-m", "mpinet"]
    launch = ["launch", "-n", str(ranks)] if ranks > 1 else []
    settings = os.environ | {"NUMBA_DISABLE_JIT": str(int(plain))}
    words = [*front, *launch, *line.split(), "--json"]
    done = subprocess.run(words, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    digest: str = json.loads(done.stdout)["digest"]
    return digest


@pytest.mark.costly
@pytest.mark.parametrize("line", COMMANDS)
def test_plain_and_compiled_code_give_one_digest_on_all_ranks(line: str) -> None:
    compiled = digest_of(line, False, 1)
    assert digest_of(line, True, 1) == compiled == digest_of(line, True, 2)
