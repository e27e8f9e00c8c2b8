"""A router that shares its machine with other sends; these take precedence in each step.

Generator programs route messages in this way (`process.post`). The processors' own sends and the
in-flight messages share every step, its ports and its counts.
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
    """Routes messages over the channels left free by other sends, the oldest messages first.

    Only `step_behind` makes steps. Ended messages are kept for `take`. The caller has to check that
    they ended at their targets.

    Parameters
    ----------
    machine : Machine
        The machine that moves and counts messages.
    routing : Routing
        The nodes' decisions.
    """

    def __init__(self, machine: Machine, routing: Routing):
        super().__init__(machine, routing, keep=True, checked=False)
        self._arbiter = Arbiter(machine)
        self._granting = self._granting._replace(how=hop.CHOSEN)
        # The machine moves and meters routed messages together with the other sends.
        self._marks = self._marks._replace(loads=self._marks.loads[:0])
        self._leaving = self._leaving._replace(leavers=hop.EVERYBODY)
        self._noted = True
        self._others = np.empty(0, np.int64), np.empty(0, np.int64)

    def step_behind(self, nodes: Ints, ports: Ints, payload: Ints, word: int = 0) -> Inbox:
        """Make one step of the machine in which the given sends take precedence (collective).

        The step is counted, traced and metered as in `Machine.step`, even if nothing moves.

        Parameters
        ----------
        nodes, ports, payload, word
            The other sends, as for `Machine.step`; payloads of one 64-bit word each.

        Returns
        -------
        Inbox
            Messages received from these sends, without the router's messages.

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
        # Own sends and routed messages share one exchange; -1 as number marks own sends on arrival.
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
