"""A network as read by the checker: every node's neighbours, with fresh measurements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np

from mpinet.errors import CertificateError
from mpinet.networks.topology import Topology

MOST_PORTS = 2**24
"""Largest number of ports of a network that the checker reads."""

AT_ONCE = 2**12
"""Number of nodes whose ports are computed together."""


@dataclass(frozen=True, eq=False)
class Network:
    """A network as the checker sees it: neighbours of every node, computed by its rules."""

    hosts: int
    """Number of processors; higher node numbers are switches."""
    links: bool
    """True for a network of links; otherwise `busses` lists the members of each bus."""
    neighbors: list[list[int]]
    """Neighbours of every node, ascending, without repetition."""
    busses: list[list[int]]
    """Members of each bus; empty for a network of links."""
    parallel: dict[tuple[int, int], int]
    """Number of links from one node to another, for pairs with several links."""

    @classmethod
    def of(cls, topology: Topology) -> Network:
        """Read a topology through its rules.

        Raises
        ------
        CertificateError
            The network is too large for the checker.
        """
        size, ports = topology.size, topology.ports
        # The checker keeps plain lists and sets, which are easy to audit and take about a hundred
        # bytes per port.
        if size * ports > MOST_PORTS:
            raise CertificateError(f"{topology.name} has more ports than the checker reads.")
        neighbors: list[set[int]] = [set() for _ in range(size)]
        members: list[set[int]] = [set() for _ in range(topology.busses or 0)]
        nodes, parallel = np.arange(size), dict[tuple[int, int], int]()
        for port in range(ports):
            # The rules are called directly. The prover's adjacency lists could share a fault with
            # the bound that they support.
            ends = topology.neighbor(nodes, np.full(size, port))
            wired = nodes[ends >= 0]
            for node, end in zip(wired.tolist(), ends[wired].tolist(), strict=True):
                # A repeated neighbour is behind a parallel link. Cuts count its capacity; distances
                # and growth do not.
                if end in neighbors[node]:
                    parallel[node, end] = parallel.get((node, end), 1) + 1
                neighbors[node].add(end)
            if members:
                over = topology.channel(wired, np.full(len(wired), port))
                for node, bus in zip(wired.tolist(), over.tolist(), strict=True):
                    members[bus].add(node)
        # A loop brings nothing to another node. Sorted lists make the formulas and hashes
        # independent of the port order.
        lists = [sorted(others - {node}) for node, others in enumerate(neighbors)]
        buses = [sorted(bus) for bus in members]
        return cls(topology.hosts, topology.links, lists, buses, parallel)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.neighbors)

    @cached_property
    def fabric(self) -> dict[str, int | str]:
        """Numbers of switches and links, and a hash of all links with capacities.

        `links` counts parallel links; `links_sha256` is the SHA-256 digest of the lines ``u v c``
        of all pairs of neighbours with c links, u < v, ascending.
        """
        stated: dict[str, int | str] = {"switches": self.size - self.hosts}
        if not self.links:
            return stated
        count, text = 0, sha256()
        for node, others in enumerate(self.neighbors):
            for other in others:
                if other > node:
                    many = self.parallel.get((node, other), 1)
                    count += many
                    text.update(f"{node} {other} {many}\n".encode())
        return stated | {"links": count, "links_sha256": text.hexdigest()}

    @cached_property
    def edges_sha256(self) -> str:
        """SHA-256 digest of the lines ``u v`` of all pairs of neighbours, u < v, ascending."""
        text = sha256()
        for node, others in enumerate(self.neighbors):
            text.update("".join(f"{node} {v}\n" for v in others if v > node).encode())
        return text.hexdigest()

    def channels(self, node: int) -> int:
        """Return the number of links of a node, or of busses that have other members."""
        if self.links:
            return sum(self.parallel.get((node, other), 1) for other in self.neighbors[node])
        return sum(node in bus for bus in self.busses)

    def distances(self, root: int) -> list[int]:
        """Return the distance in hops from the root to each node.

        Raises
        ------
        CertificateError
            Some node cannot be reached.
        """
        distance = {root: 0}
        wave = [root]
        while wave:
            fresh = {v for u in wave for v in self.neighbors[u] if v not in distance}
            # Breadth-first search: all nodes of a wave are at the same distance, and any of them
            # stands for the wave.
            distance |= dict.fromkeys(fresh, distance[wave[0]] + 1)
            wave = sorted(fresh)
        # Every bound assumes that the collective is possible. In a disconnected network each claim
        # would be vacuously true.
        if len(distance) < self.size:
            raise CertificateError("the network is not connected, so there is no bound.")
        return [distance[node] for node in range(self.size)]


def edges_sha256(topology: Topology) -> str:
    """Return `Network.edges_sha256` of a topology, computed block by block."""
    text = sha256()
    ports = np.arange(topology.ports)
    for first in range(0, topology.size, AT_ONCE):
        nodes = np.arange(first, min(first + AT_ONCE, topology.size))
        ends = topology.neighbor(np.repeat(nodes, len(ports)), np.tile(ports, len(nodes)))
        for node, others in zip(nodes.tolist(), ends.reshape(len(nodes), -1), strict=True):
            # Ports may repeat a neighbour and may be unwired (-1). Both vanish here, as in
            # `Network.edges_sha256`.
            higher = sorted({v for v in others.tolist() if v > node})
            text.update("".join(f"{node} {v}\n" for v in higher).encode())
    return text.hexdigest()
