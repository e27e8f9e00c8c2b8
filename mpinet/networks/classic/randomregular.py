"""Random regular networks: every processor has d links to partners drawn from a seed."""

from __future__ import annotations

import numpy as np

from mpinet.errors import TopologyError
from mpinet.networks.graph import Graph
from mpinet.networks.parameters import whole_number

LARGEST = 2**20
ATTEMPTS = 1000


class RandomRegular(Graph):
    """Random d-regular network of N processors (Steger, Wormald 1999; Singla et al. 2012).

    The ends of links are paired at random. Pairs that would be a self-loop or a repeated link are
    drawn again among themselves. If this fails, or the network is disconnected, the whole draw is
    repeated. Ports lead to the neighbours in ascending order. Every rank holds the whole network.
    """

    parameters = (
        whole_number("N", 4, LARGEST),
        whole_number("d", 2, 64),
        whole_number("seed", 0, 2**63 - 1, default=0),
    )
    example = "randomregular:16,3"
    paper = "Steger, Wormald 1999; Singla et al. 2012"

    def __init__(self, N: int, d: int, seed: int = 0):
        if d >= N or N * d % 2:
            raise TopologyError(
                f"randomregular: d must be below N, and N d even, unlike in {N},{d}."
            )
        import networkx

        # Philox is a counter-based generator, the same on all platforms. All ranks draw the same
        # network without communication.
        generator = np.random.Generator(np.random.Philox(seed))
        for _ in range(ATTEMPTS):
            pairs = drawn_pairs(N, d, generator)
            graph = networkx.Graph(pairs)
            if len(pairs) == N * d // 2 and networkx.is_connected(graph):
                break
        else:
            raise TopologyError(
                f"randomregular: no connected network of {N},{d} in {ATTEMPTS} draws."
            )
        super().__init__(graph, "randomregular", f"{N},{d}" + (f",{seed}" if seed else ""))


def drawn_pairs(nodes: int, degree: int, generator: np.random.Generator) -> list[tuple[int, int]]:
    """Return random pairs with each node in `degree` different pairs; fewer if the draw gets stuck.

    Only the generator's `random` is used, because NumPy keeps its numbers from version to version.
    """
    ends = np.repeat(np.arange(nodes), degree)
    joined: set[tuple[int, int]] = set()
    while len(ends):
        ends = ends[np.argsort(generator.random(len(ends)), kind="stable")]
        left = []
        for u, v in ends.reshape(-1, 2).tolist():
            pair = (min(u, v), max(u, v))
            if u == v or pair in joined:
                left += [u, v]
            else:
                joined.add(pair)
        # All remaining pairs are self-loops or repeated links. Drawing them again would never end,
        # and the whole draw starts anew.
        if len(left) == len(ends):
            break
        ends = np.array(left, np.int64)
    return sorted(joined)
