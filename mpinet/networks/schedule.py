"""Broadcast schedules as local rules: the ports on which a node sends and listens in a step.

A schedule is made for one root. Its rule computes the output port from the node's own number, the
root, the step, and the step in which the node was informed. No table of calls is stored. The
machine runs the schedule step by step and checks the port model. Phases name ranges of steps for
display in results.
"""

from __future__ import annotations

from dataclasses import dataclass

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule, inlined

SPAN_BITS = 32
SPAN = 1 << SPAN_BITS
"""Increment of a rule's result for each further port. The result is the lowest of one or more
consecutive ports plus these increments; a single port is its own number.
"""


@inlined
def ports_from(first, count):
    """Return a rule's result for `count` consecutive ports; -1 if `count` is 0."""
    # One number carries a run of ports. A rule cannot return a list, and a bus transmission uses
    # consecutive ports anyway.
    return first + (count - 1) * SPAN if count > 0 else -1


@dataclass(frozen=True, eq=False)
class Schedule:
    """A broadcast schedule from one root.

    Examples
    --------
    >>> import mpinet
    >>> binomial = mpinet.open("hypercube:3").schedules(0)["binomial"]()
    >>> binomial.steps, binomial.phases
    (3, (('D0', 1), ('D1', 1), ('D2', 1)))
    """

    name: str
    """Name of the schedule for ``--algorithm``."""
    root: int
    """Node that has the message at the start."""
    rule: Rule
    """``rule(node, root, since, step, params)``: the output port of a node in step `step` (1, 2,
    ...), several ports (`ports_from`), or -1. The node was informed in step `since` (0 for the
    root). Ports of the same bus make a single transmission.
    """
    params: Ints
    """The rules' parameters."""
    phases: tuple[tuple[str, int], ...]
    """Names and lengths of the phases, in steps; the lengths add up to the schedule's length.
    Empty: the schedule lasts until no processor sends.
    """
    listen: Rule | None = None
    """Rule with the same arguments: the ports from which a node accepts messages in the step;
    `since` is -1 if the node is not informed. Default: all ports.
    """
    send: int | None = 1
    """Most messages that a processor sends in a step; None for one per port."""
    receive: int | None = 1
    """Most messages that a processor accepts in a step; None for one per port."""

    @property
    def steps(self) -> int:
        """The schedule's length in steps."""
        return sum(length for _, length in self.phases)

    @property
    def can_follow(self) -> bool:
        """True if the schedule can be one part of a product's schedule."""
        return bool(self.phases) and self.listen is None and self.send == self.receive == 1
