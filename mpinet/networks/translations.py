"""Translations: automorphisms that take every processor to another one, and each port to itself.

A network has them where all processors look alike and number their ports alike: it is the Cayley
graph of a group, with a generator for each port (tori, hypercubes, circulants, pancakes and many
more). Where processors number their ports in other orders, as those of a HyperX do, ports are told
apart by the digits that they add: a number is read in any mixed radix in which all processors'
neighbours lie from them as those of 0 lie from 0. Processor 0 is taken to any other one by just one
translation, the product of those to the neighbours that lie on the way. These few are kept, and are
checked on every link.
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
"""Most images of processors, as many as there are wired ports, that are kept."""

MOST_RADICES = 2**11
"""Ways to read numbers as digits that are tried: all of 2^12."""


@dataclass(frozen=True, eq=False)
class Translations:
    """The translations that take processor 0 to its neighbours."""

    ports: Table
    """The ports of every processor that have a link to another one, in the order of 0's. Shape (k,
    N)."""
    neighbors: Table
    """Neighbours behind these ports. Shape (k, N)."""
    images: Table
    """Image of each processor under the translation that takes processor 0 over each of these
    links. Shape (k, N)."""
    distance: Ints
    """Hops from processor 0. Shape (N,)."""

    @classmethod
    def of(cls, topology: Topology, most: int = MOST_IMAGES) -> Translations | None:
        """Find them; None where the network has none.

        Raises
        ------
        TooLarge
            There would be more than `most` images.

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
                f"{topology.name} has more than {most:,} ports: its translations are not "
                "looked for."
            )
        nodes = np.arange(topology.size)[:, np.newaxis]
        ends = topology.neighbor(nodes, np.arange(topology.ports))
        wired = (ends >= 0) & (ends != nodes)
        # A translation keeps the degree. Irregular networks are refused before anything costly is
        # tried.
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
        """Those that keep ports of this order; None where there are none."""
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
        """Tell if each image is a permutation that keeps every link, and its port."""
        nodes = np.arange(self.neighbors.shape[1])
        return all(
            # The construction only guesses the images. The check of every link makes the result a
            # proof, whatever the guess was.
            np.array_equal(np.sort(image), nodes)
            and np.array_equal(image[self.neighbors], self.neighbors[:, image])
            and image[0] == end
            for image, end in zip(self.images, self.neighbors[:, 0], strict=True)
        )


def ports_by_digits(ports: Table, ends: Table) -> Table | None:
    """Order everybody's ports by the digits that they add, as processor 0's are.

    Parameters
    ----------
    ports : ndarray of int64, shape (k, N)
        The ports that lead to another processor, ascending.
    ends : ndarray of int64, shape (N, P)
        Where every port leads.

    Returns
    -------
    ndarray of int64, shape (k, N), or None
        None where no mixed radix makes all processors look alike.
    """
    size = len(ends)
    added = ends[0, ports[:, 0]]
    neighbors = ends[np.arange(size), ports]
    for sides in islice(radices(size), MOST_RADICES):
        # The last processor, whose digits all carry, shows nearly every other radix to be wrong.
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
    """Yield the ways to write a size as a product of sides of two and more, in order.

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
    """Add to each node's digits those of some numbers, without carry, shape (numbers, nodes)."""
    total, weight = np.zeros((len(added), len(nodes)), np.int64), 1
    for side in reversed(sides):
        digits = added[:, np.newaxis] // weight % side + nodes // weight % side
        total += digits % side * weight
        weight *= side
    return total


@kernel
def take_over(order: Ints, distance: Shorts, neighbors: Table, images: Table) -> None:
    """Write where everybody goes if processor 0 goes over each link, and all others behind it.

    Every other one, in an order by distance, goes over the first port that leads there from a
    processor that is nearer to 0: where this one's image goes by this port.
    """
    links, size = neighbors.shape
    # Images are products of generators along shortest ways. If translations exist, any way to a
    # node gives the same image.
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
