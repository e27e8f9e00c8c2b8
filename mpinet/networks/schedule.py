"""One-port broadcast schedules: what an informed node does in a step, as a local rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpinet.compiled import Rule


@dataclass(frozen=True, eq=False)
class Schedule:
    """A broadcast schedule from one root.

    Parameters
    ----------
    name : str
        The name for ``--algorithm``.
    root : int
        The node that starts.
    rule : Rule
        ``rule(node, root, since, step, params)``: the port on which a node that was informed in
        step `since` (the root: 0) sends in step `step` (1, 2, ..), or -1.
    params : ndarray of int64
        The rule's parameters.
    phases : tuple of (str, int)
        The phases' names and lengths in steps; together the schedule's length.
    """

    name: str
    root: int
    rule: Rule
    params: NDArray[np.int64]
    phases: tuple[tuple[str, int], ...]

    @property
    def steps(self) -> int:
        """The schedule's length in steps."""
        return sum(length for _, length in self.phases)
