"""A router that shares its machine: others send in the same steps, and go first.

This is how generator programs have messages routed (`process.post`): processors' own sends and the
messages under way share every step, its ports and its counts.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.machine import hop
from mpinet.machine.arbitration import Arbiter
from mpinet.machine.machine import Machine
from mpinet.machine.router import Router
from mpinet.machine.stepping import Inbox
from mpinet.networks.routing import Routing


class GuestRouter(Router):
    """Routes messages over the channels that others' sends leave free, the oldest first.

    It steps by `step_behind` alone. The messages that have ended are kept for `take`; whether they
    are where they were sent to is the caller's to check.

    Parameters
    ----------
    machine : Machine
        Moves and counts.
    routing : Routing
        The nodes' decisions.
    """

    def __init__(self, machine: Machine, routing: Routing):
        super().__init__(machine, routing, keep=True, checked=False)
        self._arbiter = Arbiter(machine)
        self._granting = self._granting._replace(how=hop.CHOSEN)
        # The machine moves all that hops, as it moves the others' sends, and meters it.
        self._marks = self._marks._replace(loads=self._marks.loads[:0])
        self._leaving = self._leaving._replace(leavers=hop.EVERYBODY)
        self._noted = True
        self._others = np.empty(0, np.int64), np.empty(0, np.int64)

    def step_behind(self, nodes: Ints, ports: Ints, payload: Ints, word: int = 0) -> Inbox:
        """Make one step of the machine in which others' sends go first (collective).

        The step is counted, traced and metered as `Machine.step` does it, also where nothing moves.

        Parameters
        ----------
        nodes, ports, payload, word
            The others' sends, as for `Machine.step`; a word of 64 bits each.

        Returns
        -------
        Inbox
            What came of these sends; not the router's messages.

        Raises
        ------
        ModelViolation
            As in `Machine.step`.
        RoutingError
            As in `Router.step`.
        """
        self._others = nodes, ports
        _, moves = self._hop(self._granted())
        moves, sends = moves[: self._ledger.moved], len(nodes)
        # Own sends and routed messages share one exchange; -1 in the number tells them apart on
        # arrival.
        rows = np.full((sends + len(moves), hop.WORDS + self._width), -1)
        rows[:sends, hop.PLACE] = payload
        rows[sends:] = self._leaving.rows[: len(moves)]
        nodes, ports = np.concatenate([nodes, moves[:, 0]]), np.concatenate([ports, moves[:, 1]])
        numbers = np.concatenate([np.full(sends, -1), self._known(moves[:, 3])])
        inbox = self.machine.step(nodes, ports, rows, word=word, numbers=numbers)
        routed = inbox.payload[:, hop.NUMBER] >= 0
        self._take_in(inbox.payload[routed], in_order=False)
        others = inbox.payload[~routed, hop.PLACE]
        return Inbox(inbox.nodes[~routed], inbox.ports[~routed], others, inbox.total)

    def _grant(self, arbiter: Arbiter, nodes: Ints, ports: Ints, priorities: Ints) -> Flags:
        return arbiter.grant_behind(*self._others, nodes, ports, priorities)
