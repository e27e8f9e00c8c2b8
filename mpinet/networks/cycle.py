"""Hamiltonian cycles: the way round all processors, as a local rule of each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpinet.compiled import Mapped, Rule, rule

AHEAD = 0
"""The way that a cycle's rule is asked for; the way back is known from what arrives."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """A cycle through all processors of a network without switches.

    Parameters
    ----------
    name : str
        What it is called in results.
    rule : Rule
        ``rule(node, AHEAD, params)``: the port to the next processor on the cycle.
    params : ndarray of int64
        The rule's parameters.
    """

    name: str
    rule: Rule
    params: NDArray[np.int64]

    def successor(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The ports to the next processors, shape of the argument."""
        return Mapped(self.rule, self.params)(nodes, AHEAD)


@rule
def first_port(node, way, params):
    """Port 0, where it leads all the way round."""
    return 0


def ring_cycle(params: NDArray[np.int64]) -> Cycle:
    """The cycle of a network whose port 0 leads from every processor to the next number."""
    return Cycle("ring", first_port, params)
