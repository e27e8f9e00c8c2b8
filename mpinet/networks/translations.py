"""Translations: automorphisms that act transitively on processors and keep every port number.

A network has translations if it is the Cayley graph of a group with one generator per port. Tori,
hypercubes, circulants, pancakes and many more networks are such graphs. Processors of some
networks, such as HyperX, number their ports differently. Their ports are identified by the digits
that they add to the processor number. All mixed radices are tried, until the neighbours have the
same digit offsets at every processor. Exactly one translation takes processor 0 to a given
processor: the product of the translations to neighbours along a route. Only the translations to
neighbours are stored, and each is checked on every link.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from mpinet.base.arrays import Ints, Shorts, Table
from mpinet.compiled import kernel
from mpinet.errors import TooLarge
from mpinet.networks.adjacency import Adjacency, measure_distances
from mpinet.networks.topology import Topology

MOST_IMAGES = 2**22
"""Most images of processors that are stored, one per wired port."""

MOST_RADICES = 2**11
"""Most mixed radices that are tried, enough for all of 2^12 processors."""


@dataclass(frozen=True, eq=False)
class Translations:
    """The translations that take processor 0 to its neighbours."""

    ports: Table
    """Ports of every processor with a link to another one, in the order of processor 0. Shape (k,
    N).
    """
    neighbors: Table
    """Neighbours behind these ports. Shape (k, N)."""
    images: Table
    """Image of each processor under the translation that takes processor 0 across each of these
    links. Shape (k, N).
    """
    distance: Ints
    """Hops from processor 0. Shape (N,)."""

    @classmethod
    def of(cls, topology: Topology, most: int = MOST_IMAGES) -> Translations | None:
        """Return the translations that take processor 0 to its neighbours; None without any.

        Row k of `images` is one translation: the images of all processors. The result is None
        for networks with busses or switches.

        Raises
        ------
        TooLarge
            The network would need more than `most` images.

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
        if topology.size * topology.ports > most:
            raise TooLarge(
                f"{topology.name} has more than {most:,} ports: mpinet does not "
                "search for its translations."
            )
        nodes = np.arange(topology.size)[:, np.newaxis]
        ends = topology.neighbor(nodes, np.arange(topology.ports))
        wired = (ends >= 0) & (ends != nodes)
        # A translation keeps the degree. Irregular networks are rejected before any costly attempt.
        if (wired.sum(axis=1) != wired[0].sum()).any():
            return None
        distance = np.full(topology.size, -1, np.int32)
        lists = Adjacency.of(topology)
        if measure_distances(lists.begin, lists.others, 0, distance) < topology.size:
            return None
        ports = np.nonzero(wired)[1].reshape(topology.size, -1).T.copy()
        # Equal port numbers are tried first, which is cheap and right for most Cayley graphs. Mixed
        # radices are tried for the rest.
        for alike in (ports, ports_by_digits(ports, ends)):
            found = None if alike is None else cls._by(alike, ends, distance)
            if found is not None:
                return found
        return None

    @classmethod
    def _by(cls, ports: Table, ends: Table, distance: Shorts) -> Translations | None:
        """Return the translations that keep this order of ports; None if there are none."""
        neighbors = ends[np.arange(len(ends)), ports]
        images = np.empty_like(neighbors)
        take_over(np.argsort(distance, kind="stable"), distance, neighbors, images)
        found = cls(ports, neighbors, images, distance.astype(np.int64))
        return found if found.hold() else None

    @property
    def diameter(self) -> int:
        """Hops between the farthest processors."""
        return int(self.distance.max())

    def hold(self) -> bool:
        """Return whether each image is a permutation that keeps every link and its port."""
        nodes = np.arange(self.neighbors.shape[1])
        return all(
            # The construction only guesses the images. The check of every link proves the result
            # for any guess.
            np.array_equal(np.sort(image), nodes)
            and np.array_equal(image[self.neighbors], self.neighbors[:, image])
            and image[0] == end
            for image, end in zip(self.images, self.neighbors[:, 0], strict=True)
        )


def ports_by_digits(ports: Table, ends: Table) -> Table | None:
    """Order the ports of all processors by the digits that the ports add, as at processor 0.

    Parameters
    ----------
    ports : ndarray of int64, shape (k, N)
        The ports that lead to another processor, ascending.
    ends : ndarray of int64, shape (N, P)
        The node behind every port.

    Returns
    -------
    ndarray of int64, shape (k, N), or None
        None if the digit offsets are equal at all processors in no mixed radix.
    """
    size = len(ends)
    added = ends[0, ports[:, 0]]
    neighbors = ends[np.arange(size), ports]
    for sides in islice(radices(size), MOST_RADICES):
        # The last processor, whose digits all carry, rules out nearly every wrong radix.
        last = sum_of_digits(np.array([size - 1]), added, sides)
        if not np.array_equal(np.sort(last[:, 0]), np.sort(neighbors[:, -1])):
            continue
        wanted = sum_of_digits(np.arange(size), added, sides)
        order, there = wanted.argsort(axis=0, kind="stable"), neighbors.argsort(axis=0)
        if np.array_equal(np.sort(wanted, axis=0), np.sort(neighbors, axis=0)):
            found = np.empty_like(ports)
            np.put_along_axis(found, order, np.take_along_axis(ports, there, axis=0), axis=0)
            return found
    return None


def radices(size: int) -> Iterator[tuple[int, ...]]:
    """Yield the factorizations of a size into ordered sides of two and more.

    Examples
    --------
    >>> [*radices(8)]
    [(8,), (2, 4), (2, 2, 2), (4, 2)]
    """
    if size > 1:
        yield (size,)
    for first in range(2, size // 2 + 1):
        if size % first == 0:
            yield from ((first, *rest) for rest in radices(size // first))


def sum_of_digits(nodes: Ints, added: Ints, sides: tuple[int, ...]) -> Table:
    """Add each number's digits to each node's digits, without carry, shape (numbers, nodes)."""
    total, weight = np.zeros((len(added), len(nodes)), np.int64), 1
    for side in reversed(sides):
        digits = added[:, np.newaxis] // weight % side + nodes // weight % side
        total += digits % side * weight
        weight *= side
    return total


@kernel
def take_over(order: Ints, distance: Shorts, neighbors: Table, images: Table) -> None:
    """Write the images of all processors under the translations that take 0 across each link.

    Processors are visited by distance from processor 0. Each processor is reached by the lowest
    port from a processor closer to 0. Its image is the node behind the same port of that
    processor's image.
    """
    links, size = neighbors.shape
    # Images are products of generators along shortest routes. If translations exist, every route to
    # a node gives the same image.
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
