"""Hamiltonian cycles of products, composed of Hamiltonian walks of the two factors.

A walk through all nodes of one factor gives every node a row, a walk of the other factor a column.
The row and the column of a product's node determine the next port. Rows that are cycles make a
*cylinder*, which has a Hamiltonian cycle for all sides (Batagelj, Pisanski 1982, for trees of
small degree). Rows and columns that are paths make a *grid*, which has a Hamiltonian cycle if a
side is even.
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
"""Moves: to the next row, to the previous row, to the next column, to the previous column."""

MOST_FACTOR_NODES = 2**20
"""Nodes of the largest factor: each rank's tables have three entries of 8 bytes per node of a
factor.
"""

ROWS, ROW_STRIDE, ROW_TABLE, COLUMNS, COLUMN_STRIDE, COLUMN_TABLE, TABLES = range(2, 9)
"""Places in the parameters of a product's cycle.

For the factor of rows: its size, the divisor from a product's node number to the factor's number,
and the start of its table. The same for columns. Then the tables.
"""

PLACE, AHEAD_PORT, BACK_PORT, WALK_RECORD = range(4)
"""A node's record in a walk's table: its place, its port to the next node and to the previous
node.
"""


@inlined
def turn_in_cylinder(row, column, rows, columns):
    """Return the next move of a cycle through rows that are cycles (three columns or more).

    Even rows are walked to the right, odd rows to the left. Two links join rows r and r+1 into one
    cycle, in columns 0 and 1 (r even) or 1 and 2 (r odd). They replace the links between these
    columns.
    """
    # Neighbouring rows run in opposite directions. Two links between such rows join their cycles
    # into one.
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

    The cycle goes down from row 0, back and forth through all columns except the first. The first
    column leads back.
    """
    # Column 0 is kept free for the way back. All other columns are then walked back and forth like
    # a comb.
    if column == 0:
        return UP if row > 0 else RIGHT
    if row & 1 == 0:
        return RIGHT if column < columns - 1 else DOWN
    return DOWN if column == 1 and row < rows - 1 else LEFT


class FactorWalk(NamedTuple):
    """A walk through all nodes of a factor."""

    order: Ints
    """The nodes, each linked to the next. Shape (n,)."""
    ports: Ints
    """Ports from each node to the next; arbitrary at the last node if the walk is open. Shape
    (n,).
    """
    closed: bool
    """True if another link joins the last node to the first, and rows are therefore cycles."""


def product_cycle(first: Topology, second: Topology) -> Cycle | None:
    """Return a Hamiltonian cycle of the product of two networks of links without switches.

    A rank holds three numbers for every node of the two factors, not of the product.

    Returns
    -------
    Cycle or None
        None if no suitable walks through the factors are known.
    """
    one, other = walk_of(first), walk_of(second)
    if one is None or other is None:
        return None
    # The first factor's coordinate is the fast one in a product's number. Its ports come first, and
    # the other factor's ports are shifted.
    slow, fast = _Side(second, other, first.size, first.ports), _Side(first, one, 1, 0)
    # A row is a walk through the columns: rows are cycles if the columns' walk is closed. Cylinders
    # come first, as they have a cycle for all sides.
    for rows, columns in ((fast, slow), (slow, fast)):
        if columns.walk.closed:
            return _weave("cylinder", next_in_cylinder, rows, columns)
    for rows, columns in ((fast, slow), (slow, fast)):
        # In a bipartite colouring of a grid with odd sides, one colour has one node more. Such a
        # grid has no Hamiltonian cycle.
        if rows.factor.size % 2 == 0 and columns.factor.size > 1:
            return _weave("grid", next_in_grid, rows, columns)
    return None


def walk_of(factor: Topology) -> FactorWalk | None:
    """Return a walk through two or more nodes, closed if possible; None if none is known."""
    if not factor.links or factor.hosts != factor.size:
        return None
    if not 1 < factor.size <= MOST_FACTOR_NODES:
        return None
    cycle = factor.cycle()
    if cycle is not None:
        order = cycle_order(factor, cycle)
        # Two nodes with one link have a cycle there and back. This cycle uses the link twice and
        # does not count as closed.
        return FactorWalk(order, cycle.successor(order), closed=factor.size > 2)
    path = searched_path(factor)
    if path is None:
        return None
    return FactorWalk(path, ports_to(factor, path, np.roll(path, -1)), closed=False)


class _Side(NamedTuple):
    """A factor, its walk, and the weight and first port of its coordinate in the product."""

    factor: Topology
    walk: FactorWalk
    stride: int
    first_port: int

    def table(self) -> Ints:
        """Return the records of the walk, with the product's ports."""
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
    """Return the product's cycle made of these two walks."""
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
    """Return the port to the next or previous row or column, from the records of both."""
    record = row if turn <= UP else column
    return params[record + (AHEAD_PORT if turn & 1 == 0 else BACK_PORT)]


# The move in a cylinder or in a grid, which `bind` inserts.
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
