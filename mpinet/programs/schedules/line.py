"""Line exchanges: processors in a row, partners 2^j apart (docs/papers/gmn, 7.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.machine import Machine
from mpinet.programs.schedules.dimensionwise import Dimensionwise
from mpinet.programs.schedules.moves import Moves, MoveSends, merge
from mpinet.programs.schedules.schedule import is_one_port

RISING, FALLING = 0, 1
"""Registers of the copies that move up and down."""

UP, DOWN, BOTH = (RISING,), (FALLING,), (RISING, FALLING)


class Lines:
    """Exchanges along lines of neighbouring processors u, u+1, .. (mod N), all lines at once.

    In 2^j steps the copies of all elements with bit j = 0 move 2^j places up, the others 2^j places
    down. On one-port machines the two directions alternate, except for j = 0.

    Parameters
    ----------
    machine : Machine
        Machine with 2^q processors, one element each.
    moves : Moves
        The schedule's moves.
    place : callable
        ``place(nodes)`` returns the positions of processors in their lines. Dimensions refer to
        positions.
    """

    def __init__(self, machine: Machine, moves: Moves, place: Callable[[Ints], Ints]):
        self._moves = moves
        self._place = place
        self._places = place(moves.nodes)
        self._one_port = is_one_port(machine)

    def partners(self, j: int, state: Array) -> Array:
        """Return the states of the partners in dimension j (collective).

        Parameters
        ----------
        j : int
            The dimension.
        state : ndarray, shape (processors,)
            States of all processors' elements.

        Returns
        -------
        ndarray, shape (processors,)
            States of their partners.
        """
        copies = np.stack([state, state])
        turns = (UP, DOWN) if self._one_port and j > 0 else (BOTH,)
        for ways in turns:
            for unit in range(1 << j):
                self._move(j, unit, ways, copies)
        upper = (self._places >> j) & 1 == 1
        return np.where(upper, copies[RISING], copies[FALLING])

    def _move(self, j: int, unit: int, ways: tuple[int, ...], copies: Array) -> None:
        """Move each copy with one of the given directions to the next processor."""

        def sends() -> MoveSends:
            return merge(*(self._sends(j, unit, way) for way in ways))

        self._moves.move(("line", j, unit, ways), copies, sends, self._direction)

    def _sends(self, j: int, unit: int, way: int) -> MoveSends:
        """Return the next sends of the copies that have moved `unit` places."""
        sign = 1 if way == RISING else -1
        begin = unit if way == RISING else (1 << j) - unit
        within = self._places & ((2 << j) - 1)
        slots = np.flatnonzero((within >= begin) & (within < begin + (1 << j)))
        targets = (self._moves.nodes[slots] + sign) % self._moves.topology.size
        return MoveSends(slots, targets, way)

    def _direction(self, origins: Ints, receivers: Ints) -> Ints:
        """Return the register for the direction of each message."""
        return np.where(self._place(origins) < self._place(receivers), RISING, FALLING)


class Line(Dimensionwise):
    """Line exchanges in all dimensions, over the links between u and u+1: 2^q - 1 steps in total.

    The schedule serves the ring (docs/papers/gmn, 7.3), and all networks numbered along a
    Hamiltonian path.
    """

    name = "line"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        self.require_no_switches()
        self._lines = Lines(machine, Moves(machine, self.name), lambda nodes: nodes)

    def partners(self, j: int, state: Array) -> Array:
        """Return the partners' states after 2^j steps, or 2^(j+1) with one port and j > 0."""
        return self._lines.partners(j, state)
