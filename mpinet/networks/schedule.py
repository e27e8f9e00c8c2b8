"""Broadcast schedules: on which ports a node sends and listens in a step, as local rules.

A schedule is made for one root. Its rule returns the port to send on from the node's own number,
the root, the step, and the step in which the node was informed; so no table of calls is stored.
The machine runs it step by step and checks the port model. Phases name stretches of the steps, for
results to show.
"""

from __future__ import annotations

from dataclasses import dataclass

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule, inlined

SPAN_BITS = 32
SPAN = 1 << SPAN_BITS
"""A rule's answer is the lowest of one or more consecutive ports, plus `SPAN` for each further
one: a single port stands for itself."""


@inlined
def ports_from(first, count):
    """The answer for `count` consecutive ports; -1 if there is none."""
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
    """The name for ``--algorithm``."""
    root: int
    """The node that starts."""
    rule: Rule
    """``rule(node, root, since, step, params)``: the port on which a node that was informed in step
    `since` (the root: 0) sends in step `step` (1, 2, ..), several ports (`ports_from`; all ports of
    one bus are one transmission), or -1."""
    params: Ints
    """The rules' parameters."""
    phases: tuple[tuple[str, int], ...]
    """Names and lengths of the phases, in steps; together the schedule's length. Empty: the
    schedule lasts until no processor sends."""
    listen: Rule | None = None
    """Rule with the same arguments: the ports that a node accepts from in the step; `since` is -1
    if the node is not informed. Default: it accepts from all."""
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
        """True if it can be one part of a product's schedule."""
        return bool(self.phases) and self.listen is None and self.send == self.receive == 1
