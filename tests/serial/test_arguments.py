"""What annotations tell of a kernel: its types, and groups of what belongs together."""

from typing import Annotated, NamedTuple

import numpy as np

from mpinet.base.arguments import Arguments, PortRule
from mpinet.base.arrays import Array, Ints
from mpinet.base.records import Record, Short
from mpinet.compiled import Kernel, inlined, kernel, part, phase
from mpinet.machine import hop
from mpinet.networks import open as network

SCALE = 1


class Wiring(NamedTuple):
    neighbor: PortRule
    params: Ints


@inlined
def scaled(number):
    return SCALE * number


@kernel
def sum_behind(wiring: Wiring, port: int, nodes: Ints) -> int:
    """The sum of the neighbours' numbers."""
    total, neighbor = 0, wiring.neighbor.call
    for i in range(nodes.size):
        total += neighbor(nodes[i], port, wiring.params)
    return scaled(total)


def test_a_group_reaches_a_kernel_as_it_was_given() -> None:
    cube, nodes = network("hypercube:5"), np.arange(7, 20)
    wiring = Wiring(cube.neighbor.native, cube.params)
    assert sum_behind(wiring, 3, nodes) == sum(node ^ 8 for node in range(7, 20))
    assert sum_behind.bind("thrice", SCALE=3)(wiring, 0, nodes) == 3 * sum(nodes ^ 1)


def signature_of(loop: Kernel) -> str:
    """What the compiler is told of a kernel's parameters and result."""
    _, params, result = Arguments(loop.function, {}).described
    return f"{result}({', '.join(each for _, kinds in params for each in kinds)})"


def test_annotations_tell_the_signature() -> None:
    assert signature_of(sum_behind) == "int64(port_rule, int64[::1], int64, int64[::1])"
    assert signature_of(hop.deal) == ("void(int64[:, ::1], int32[::1], int64[::1], int64[:, ::1])")


class Account(Record):
    count: int
    most: Annotated[int, "largest"]


class Cell(Record):
    high: Annotated[Short, "kept"]
    low: Short
    open: bool


class Grid(NamedTuple):
    cells: Annotated[Array, Cell]
    rows: Annotated[Array, Cell, 2]


@part
def book(cell, account):
    cell.high += cell.low
    account.count += 1
    account.most = max(account.most, int(cell.high))


@phase
def fill(grid, account):
    cells, rows = grid.cells, grid.rows
    for i in range(cells.size):
        book(cells[i], account)
        rows[i % 2, i // 2].low = cells[i].high
        cells[i].open = cells[i].high > 5


@kernel
def play(grid: Grid, account: Account) -> int:
    fill(grid, account)
    return account.count


def test_kernels_write_into_records_what_plain_python_does() -> None:
    played = []
    for run in (play, play.function):
        grid, account = Grid(Cell.array(4), Cell.array(2, 2)), Account.counted()
        grid.cells["low"] = [3, 5, 7, 9]
        account.most = 6
        assert run(grid, account.record) == account.count == 4
        played.append((grid.cells.tolist(), grid.rows.tolist(), account.most))
    assert played[0] == played[1]
    assert played[0][0] == [(3, 3, False), (5, 5, False), (7, 7, True), (9, 9, True)]
    assert (played[0][1][1][1][1], played[0][2]) == (9, 9)


def test_records_say_their_layout_and_what_is_kept_of_them() -> None:
    assert signature_of(play) == "int64(Cell[::1], Cell[:, ::1], Account)"
    assert (Cell.dtype.itemsize, Cell.kept, Account.kept) == (
        12, {"high": "kept"}, {"most": "largest"}
    )  # fmt: skip


def test_a_record_of_another_layout_is_another_kernel() -> None:
    class Wider(Record):
        low: int
        high: int

    @kernel
    def raised(cells: Annotated[Array, Wider]) -> None:
        cells[0].high += 7

    @kernel
    def lowered(cells: Annotated[Array, Cell]) -> None:
        cells[0].high += 7

    wide, narrow = Wider.array(1), Cell.array(1)
    raised(wide), lowered(narrow)
    assert (wide["high"][0], wide["low"][0], narrow["high"][0], narrow["low"][0]) == (7, 0, 7, 0)
