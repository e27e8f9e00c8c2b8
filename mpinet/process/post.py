"""Messages that the network routes between processes: hop by hop, by the routing's decisions.

They move in the same steps as the processors' own sends, which go first on every channel. Of the
messages that wait for a channel the oldest goes: the one handed over in the earliest step, of
those the one from the lowest processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.arrays import Ints
from mpinet.compiled import kernel
from mpinet.errors import RoutingError
from mpinet.machine import Machine
from mpinet.machine.arbitration import Arbiter
from mpinet.networks.routing import ARRIVED, Routing, hop_limit
from mpinet.process.mail import Arrived, Letters

NUMBER, HOPS, HEADER = 0, 1, 2
"""Words that a message carries beside its value; a processor's own send has the number -1."""

OWN = -(1 << 62)
"""Lowest priority number, of the processors' own sends."""


class Post:
    """The messages under way at this rank's processors and switches.

    Parameters
    ----------
    machine : Machine
        The machine.
    routing : str or None
        The routing's name (default: the network's first).
    """

    def __init__(self, machine: Machine, routing: str | None = None):
        self._machine = machine
        self._name = routing
        self._routing: Routing | None = None
        self._arbiter: Arbiter | None = None
        self._new: list[tuple[int, int, int, Any]] = []
        self._nodes = np.zeros(0, np.int64)
        self._ports = np.zeros(0, np.int64)
        self._words = np.zeros((0, HEADER), np.int64)
        self._values: list[Any] = []
        self._arrived: list[tuple[int, int, Any]] = []

    @property
    def live(self) -> int:
        """Messages here that are under way."""
        return len(self._nodes) + len(self._new)

    def hand_over(self, step: int, source: int, target: int, value: Any) -> None:
        """Take a message from a processor before a step, its `step`-th."""
        number = step * self._machine.topology.size + source
        self._new.append((number, source, target, value))

    def letters(self, senders: Ints, ports: Ints, keys: Ints, values: Any) -> Letters:
        """The processors' own sends together with the messages that hop (collective)."""
        self._accept_new()
        hops = self._granted(senders, ports)
        words = np.full((len(senders) + len(hops), self._words.shape[1]), -1, np.int64)
        words[len(senders) :] = self._words[hops]
        words[len(senders) :, HOPS] += 1
        letters = Letters(
            np.concatenate([senders, self._nodes[hops]]),
            np.concatenate([ports, self._ports[hops]]),
            np.concatenate([keys, len(values) + np.arange(len(hops))]),
            values + [self._values[place] for place in hops.tolist()],
            words,
        )
        self._keep(np.delete(np.arange(len(self._nodes)), hops))
        return letters

    def sort_out(self, arrived: Arrived) -> tuple[Ints, list[tuple[int, int, Any]]]:
        """Let routed messages decide on their next port.

        Returns
        -------
        own : ndarray of int64
            Places in the inbox of the processors' own messages.
        ended : list of (target, number, value)
            Routed messages that are at their targets, sorted.
        """
        inbox = arrived.inbox
        routed = inbox.payload[:, 1 + NUMBER] >= 0
        places = np.flatnonzero(routed)
        self._settle(inbox.nodes[places], inbox.payload[places, 1:], arrived.values(places))
        ended, self._arrived = self._arrived, []
        return np.flatnonzero(~routed), sorted(ended, key=lambda end: end[:2])

    def _accept_new(self) -> None:
        """Let sources write the headers of the messages that they have handed over."""
        new, self._new = self._new, []
        routing = self._decisions()
        rows = np.array([message[:3] for message in new], np.int64).reshape(-1, 3)
        words = np.zeros((len(new), HEADER + routing.words), np.int64)
        words[:, NUMBER] = rows[:, 0]
        sources, targets = rows[:, 1].copy(), rows[:, 2].copy()
        start_headers(routing.start.native, routing.params, sources, targets, words)
        self._settle(sources, words, [message[3] for message in new])

    def _decisions(self) -> Routing:
        """The routing, made where the first message is under way."""
        if self._routing is None:
            self._routing = self._machine.topology.routing(self._name)
            self._arbiter = Arbiter.where_needed(self._machine)
            self._words = np.zeros((0, HEADER + self._routing.words), np.int64)
        return self._routing

    def _settle(self, nodes: Ints, words: Ints, values: list[Any]) -> None:
        """Let messages decide where they are; they keep the order of their numbers."""
        routing = self._decisions()
        nodes, words = np.ascontiguousarray(nodes), np.ascontiguousarray(words)
        ports = np.empty_like(nodes)
        decide_ports(routing.decide.native, routing.params, nodes, words, ports)
        self._require_sound(nodes, ports, words)
        for place in np.flatnonzero(ports == ARRIVED).tolist():
            number = int(words[place, NUMBER])
            self._arrived.append((int(nodes[place]), number, values[place]))
        onward = np.flatnonzero(ports >= 0)
        self._nodes = np.concatenate([self._nodes, nodes[onward]])
        self._ports = np.concatenate([self._ports, ports[onward]])
        self._words = np.concatenate([self._words, words[onward]])
        self._values = self._values + [values[place] for place in onward.tolist()]
        self._keep(np.argsort(self._words[:, NUMBER], kind="stable"))

    def _require_sound(self, nodes: Ints, ports: Ints, words: Ints) -> None:
        """Raise `RoutingError` on every rank where a decision leads nowhere."""
        topology = self._machine.topology
        lost = (ports < ARRIVED) | (ports >= topology.ports)
        lost |= topology.neighbor(nodes, np.clip(ports, 0, topology.ports - 1)) < 0
        lost &= ports != ARRIVED
        lost |= words[:, HOPS] > hop_limit(topology.size)
        if lost.any():
            at = int(nodes[lost][0])
            self._machine.transport.fail(
                RoutingError(
                    f"Routing {self._decisions().name} on {topology.name} leads a message nowhere "
                    f"at node {at}."
                )
            )

    def _granted(self, senders: Ints, ports: Ints) -> Ints:
        """Which messages hop: the oldest on each channel that no processor sends on."""
        if self._arbiter is not None:
            return self._agreed(senders, ports, self._arbiter)
        width = self._machine.topology.ports
        channels = self._nodes * width + self._ports
        _, first = np.unique(channels, return_index=True)
        return np.sort(first[~np.isin(channels[first], senders * width + ports)])

    def _agreed(self, senders: Ints, ports: Ints, arbiter: Arbiter) -> Ints:
        """The same where processors contend for channels and receivers (collective)."""
        topology = self._machine.topology
        there = (ports >= 0) & (ports < topology.ports)
        there[there] = topology.neighbor(senders[there], ports[there]) >= 0
        own = np.unique(senders[there] * topology.ports + ports[there])
        granted = arbiter.grant(
            np.concatenate([own // topology.ports, self._nodes]),
            np.concatenate([own % topology.ports, self._ports]),
            np.concatenate([OWN + own, self._words[:, NUMBER]]),
        )
        return np.flatnonzero(granted[len(own) :])

    def _keep(self, places: Ints) -> None:
        """Keep some of the messages, in this order."""
        self._nodes, self._ports = self._nodes[places], self._ports[places]
        self._words = self._words[places]
        self._values = [self._values[place] for place in places.tolist()]


@kernel("void(start_rule, int64[::1], int64[::1], int64[::1], int64[:, ::1])")
def start_headers(start_rule, params, sources, targets, words):
    """Let every source write its message's header into the message's words."""
    start = start_rule.call
    header = np.empty(words.shape[1] - HEADER, np.int64)
    for i in range(sources.size):
        header[:] = 0
        start(sources[i], targets[i], header, params)
        for j in range(header.size):
            words[i, HEADER + j] = header[j]


@kernel("void(decide_rule, int64[::1], int64[::1], int64[:, ::1], int64[::1])")
def decide_ports(decide_rule, params, nodes, words, ports):
    """Write the port by which every message leaves, and rewrite its header."""
    decide = decide_rule.call
    header = np.empty(words.shape[1] - HEADER, np.int64)
    for i in range(nodes.size):
        for j in range(header.size):
            header[j] = words[i, HEADER + j]
        ports[i] = decide(nodes[i], header, params)
        for j in range(header.size):
            words[i, HEADER + j] = header[j]
