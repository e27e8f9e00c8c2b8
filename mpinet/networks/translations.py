"""Translations: automorphisms that take every processor to another one, and each port to itself.

A network has them where all processors look alike and number their ports alike: it is the Cayley
graph of a group, with a generator for each port (tori, hypercubes, circulants, pancakes and many
more). Processor 0 is taken to any other one by just one translation, the product of those to the
neighbours that lie on the way. These few are kept, and are checked on every link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Ints, Shorts, Table
from mpinet.compiled import kernel
from mpinet.errors import TooLarge
from mpinet.networks.adjacency import Adjacency, measure_distances
from mpinet.networks.topology import Topology

MOST_IMAGES = 2**22
"""Most images of processors, as many as there are wired ports, that are kept."""


@dataclass(frozen=True, eq=False)
class Translations:
    """The translations that take processor 0 to its neighbours.

    Attributes
    ----------
    ports : ndarray of int64, shape (k,)
        The ports of every processor that have a link to another one.
    neighbors : ndarray of int64, shape (k, N)
        Where they lead.
    images : ndarray of int64, shape (k, N)
        Where the translation that takes processor 0 over each of these links takes all others.
    distance : ndarray of int64, shape (N,)
        Hops from processor 0.
    """

    ports: Ints
    neighbors: Table
    images: Table
    distance: Ints

    @classmethod
    def of(cls, topology: Topology) -> Translations | None:
        """Find them; None where the network has none.

        Raises
        ------
        TooLarge
            There would be more than `MOST_IMAGES` images.

        Examples
        --------
        >>> from mpinet.networks import open
        >>> Translations.of(open("ring:5")).images
        array([[1, 2, 3, 4, 0],
               [4, 0, 1, 2, 3]])
        >>> Translations.of(open("mesh:2x3")) is None
        True
        """
        if not topology.links or topology.hosts < topology.size:
            return None
        if topology.size * topology.ports > MOST_IMAGES:
            raise TooLarge(
                f"{topology.name} has more than {MOST_IMAGES:,} ports: its translations are not "
                "looked for."
            )
        nodes = np.arange(topology.size)
        ends = topology.neighbor(nodes[:, np.newaxis], np.arange(topology.ports))
        ports = np.flatnonzero((ends[0] >= 0) & (ends[0] != 0))
        wired = (ends >= 0) & (ends != nodes[:, np.newaxis])
        if (wired != wired[0]).any():
            return None
        neighbors = np.ascontiguousarray(ends[:, ports].T)
        distance = np.full(topology.size, -1, np.int32)
        lists = Adjacency.of(topology)
        if measure_distances(lists.begin, lists.others, 0, distance) < topology.size:
            return None
        order = np.argsort(distance, kind="stable")
        images = np.empty_like(neighbors)
        take_over(order, distance, neighbors, images)
        found = cls(ports, neighbors, images, distance.astype(np.int64))
        return found if found.hold() else None

    @property
    def diameter(self) -> int:
        """Hops between the farthest processors."""
        return int(self.distance.max())

    def hold(self) -> bool:
        """Tell if each image is a permutation that keeps every link, and its port."""
        nodes = np.arange(self.neighbors.shape[1])
        return all(
            np.array_equal(np.sort(image), nodes)
            and np.array_equal(image[self.neighbors], self.neighbors[:, image])
            and image[0] == end
            for image, end in zip(self.images, self.neighbors[:, 0], strict=True)
        )


@kernel
def take_over(order: Ints, distance: Shorts, neighbors: Table, images: Table) -> None:
    """Write where everybody goes if processor 0 goes over each link, and all others behind it.

    Every other one, in an order by distance, goes over the first port that leads there from a
    processor that is nearer to 0: where this one's image goes by this port.
    """
    links, size = neighbors.shape
    for link in range(links):
        images[link, :] = -1
        images[link, 0] = neighbors[link, 0]
    for place in range(size):
        node = order[place]
        for port in range(links):
            end = neighbors[port, node]
            if distance[end] == distance[node] + 1 and images[0, end] < 0:
                for link in range(links):
                    images[link, end] = neighbors[port, images[link, node]]
