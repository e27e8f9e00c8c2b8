"""Hamiltonian cycles of products: woven of the walks through all nodes of two factors.

A walk of the one factor gives every node a row, a walk of the other one a column. A node of the
product knows its own row and column, and with them the way to go on. Rows that are cycles make a
*cylinder*, which has a Hamiltonian cycle whatever its sides (Batagelj, Pisanski 1982, for trees of
small degree); rows and columns that are paths make a *grid*, which has one if a side is even.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule, inlined, open_part, rule
from mpinet.networks.cycle import Cycle, cycle_order, ports_to
from mpinet.networks.hamiltonian import searched_path
from mpinet.networks.topology import Topology

DOWN, UP, RIGHT, LEFT = range(4)
"""Moves: to the next row, to the one before; to the next column, to the one before."""

MOST_FACTOR_NODES = 2**20
"""Largest factor: a rank's tables have three entries of 8 bytes for every node of a factor."""

ROWS, ROW_STRIDE, ROW_TABLE, COLUMNS, COLUMN_STRIDE, COLUMN_TABLE, TABLES = range(2, 9)
"""Places in the parameters of a product's cycle: the size of the factor of rows, the divisor that
gives a node's number in that factor, and the start of that factor's table; the same for columns;
the tables.
"""

PLACE, AHEAD_PORT, BACK_PORT, WALK_RECORD = range(4)
"""A node's record in a walk's table: its place, its ports to the next and to the one before."""


@inlined
def turn_in_cylinder(row, column, rows, columns):
    """Return the next move of a cycle through rows that are cycles (three columns or more).

    Even rows are walked to the right, odd ones to the left. Rows r and r+1 are joined to one cycle
    by two links in columns 0 and 1 (r even) or 1 and 2 (r odd) instead of the links between these.
    """
    # Neighbouring rows run in opposite directions, so that two links between them join their cycles
    # to one.
    if row & 1 == 0:
        if column == 0 and row < rows - 1:
            return DOWN
        return UP if column == 1 and row > 0 else RIGHT
    if column == 2 and row < rows - 1:
        return DOWN
    return UP if column == 1 else LEFT


@inlined
def turn_in_grid(row, column, rows, columns):
    """Return the next move of a cycle through an even number of rows and two or more columns.

    From row 0 downwards, to and fro through all columns but the first, which leads back.
    """
    # Column 0 is kept free for the way back. All other columns are then walked to and fro like a
    # comb.
    if column == 0:
        return UP if row > 0 else RIGHT
    if row & 1 == 0:
        return RIGHT if column < columns - 1 else DOWN
    return DOWN if column == 1 and row < rows - 1 else LEFT


class FactorWalk(NamedTuple):
    """A way through all nodes of a factor."""

    order: Ints
    """The nodes, each linked to the next. Shape (n,)."""
    ports: Ints
    """Their ports to the next; any where the last has none. Shape (n,)."""
    closed: bool
    """True if another link joins the last node to the first, so that rows are cycles."""


def product_cycle(first: Topology, second: Topology) -> Cycle | None:
    """A cycle of the product of two networks of links without switches.

    A rank holds three numbers for every node of the two factors, not of the product.

    Returns
    -------
    Cycle or None
        None where no suitable walks through the factors are known.
    """
    one, other = walk_of(first), walk_of(second)
    if one is None or other is None:
        return None
    # The first factor's coordinate is the fast one in a product's number. Its ports come first,
    # too, so that the other factor's are shifted.
    slow, fast = _Side(second, other, first.size, first.ports), _Side(first, one, 1, 0)
    # A row is a walk through the columns: rows are cycles if the columns' walk is closed. Cylinders
    # come first, as they have a cycle for all sides.
    for rows, columns in ((fast, slow), (slow, fast)):
        if columns.walk.closed:
            return _weave("cylinder", next_in_cylinder, rows, columns)
    for rows, columns in ((fast, slow), (slow, fast)):
        # A grid of odd sides has one colour more than the other, so that it has no Hamiltonian
        # cycle at all.
        if rows.factor.size % 2 == 0 and columns.factor.size > 1:
            return _weave("grid", next_in_grid, rows, columns)
    return None


def walk_of(factor: Topology) -> FactorWalk | None:
    """A walk through two or more nodes, closed if possible; None if none is known."""
    if not factor.links or factor.hosts != factor.size:
        return None
    if not 1 < factor.size <= MOST_FACTOR_NODES:
        return None
    cycle = factor.cycle()
    if cycle is not None:
        order = cycle_order(factor, cycle)
        # Two nodes with one link have a cycle there and back. It uses that link twice, so that it
        # does not count as closed.
        return FactorWalk(order, cycle.successor(order), closed=factor.size > 2)
    path = searched_path(factor)
    if path is None:
        return None
    return FactorWalk(path, ports_to(factor, path, np.roll(path, -1)), closed=False)


class _Side(NamedTuple):
    """A factor, its walk, and where its numbers and ports are found in the product's."""

    factor: Topology
    walk: FactorWalk
    stride: int
    first_port: int

    def table(self) -> Ints:
        """The records of the walk, with the product's ports."""
        factor, order, ports = self.factor, self.walk.order, self.walk.ports
        table = np.empty((factor.size, WALK_RECORD), np.int64)
        table[order, PLACE] = np.arange(factor.size)
        table[order, AHEAD_PORT] = ports
        # The way back is stored as well, because neighbouring rows are walked in opposite
        # directions.
        table[np.roll(order, -1), BACK_PORT] = factor.reverse_port(order, ports)
        table[:, AHEAD_PORT:] += self.first_port
        return table.ravel()


def _weave(name: str, turn: Rule, rows: _Side, columns: _Side) -> Cycle:
    """The cycle of these two walks."""
    size = rows.factor.size * columns.factor.size
    head = [size, rows.factor.ports + columns.factor.ports]
    row_table, column_table = rows.table(), columns.table()
    head += [rows.factor.size, rows.stride, TABLES]
    head += [columns.factor.size, columns.stride, TABLES + row_table.size]
    return Cycle(name, turn, np.concatenate([head, row_table, column_table]))


@inlined
def row_record(node, params):
    """Return the index of the record of a node's row."""
    return params[ROW_TABLE] + WALK_RECORD * (node // params[ROW_STRIDE] % params[ROWS])


@inlined
def column_record(node, params):
    """Return the index of the record of a node's column."""
    return params[COLUMN_TABLE] + WALK_RECORD * (node // params[COLUMN_STRIDE] % params[COLUMNS])


@inlined
def port_of_turn(turn, row, column, params):
    """The port to the next row or column, or to the one before, by the records of both."""
    record = row if turn <= UP else column
    return params[record + (AHEAD_PORT if turn & 1 == 0 else BACK_PORT)]


# The move in a cylinder or in a grid, which `bind` gives.
turn_at = open_part


@rule
def next_in_lattice(node, way, params):
    """Return the next port of the cycle through rows and columns."""
    row, column = row_record(node, params), column_record(node, params)
    places = params[row + PLACE], params[column + PLACE]
    turn = turn_at(places[0], places[1], params[ROWS], params[COLUMNS])
    return port_of_turn(turn, row, column, params)


next_in_cylinder = next_in_lattice.bind("next_in_cylinder", turn_at=turn_in_cylinder)
next_in_grid = next_in_lattice.bind("next_in_grid", turn_at=turn_in_grid)
