"""The routing algorithm (section 4; lengths also 3.2 and 5)."""

from __future__ import annotations

from math import log2

import numpy as np

from mpinet.claims import BEYOND, Corrected, Measured, claim, once, section
from mpinet.measure.routes import walk
from mpinet.networks import open as open_topology
from mpinet.networks.gmn.parameters import largest
from mpinet.networks.routing import path
from mpinet.papers.gmn.census import census
from mpinet.papers.gmn.digits import bound_2
from mpinet.papers.gmn.grids import MID, each_m, largest_of_each, name, parameters, size_of
from mpinet.papers.gmn.numbers import LENGTH, digits, numbers_read
from mpinet.papers.gmn.orders import best_orders

EXAMPLE = name(8, 256)
"""The network of the examples."""

ENUMERATED = 2**12
"""Number of differences that are all tested."""


def cost_of_pairs(topology: str) -> float:
    """Return the cost of a claim about all pairs of nodes."""
    return size_of(topology) ** 2 / 2.5


def longest_stated(topology: str) -> int:
    """Return the bound m + B2 on a path's length, as printed."""
    m, _ = parameters(topology)
    return m + bound_2(m)


@claim(
    "GMN-R-ex3", claimed={"E[1]": 1, "E[2]": 0, "O[1]": 0, "O[2]": 0, "b": 1}, grid=once("G(8,256)")
)
def example_3() -> dict[str, int]:
    """Return the digits of the sector difference in the emulator's routing."""
    network = open_topology(EXAMPLE)
    sectors = [int(network.address(node).partition(",")[0]) for node in (2, 42)]
    found = digits(sectors[1] - sectors[0], least=5)[::-1]
    return {"E[1]": found[2], "E[2]": found[4], "O[1]": found[1], "O[2]": found[3], "b": found[0]}


@claim("GMN-R-ex4", claimed="-c -c -c h2 -c -c h0 h0 -c -c -c", grid=once("G(8,256)"))
def example_4() -> str:
    """Return the ports of the route, named by their jumps."""
    network = open_topology(EXAMPLE)
    nodes, ports = path(network, network.routing("source"), 2, 42)
    named = []
    for node, port in zip(nodes, ports, strict=False):
        jump = (network.neighbor(node, port) - node) % network.size
        sign = "" if jump < network.size // 2 else "-"
        jump = min(jump, network.size - jump)
        named.append(f"{sign}c" if jump == 1 else f"{sign}h{(jump // 8).bit_length() - 1}")
    return " ".join(named)


claim_ex_5 = section(place="Ex. 5", grid=once("G(8,256)"))

EXAMPLE_5 = (
    claim_ex_5(
        "GMN-R-ex5a",
        claimed=(2, 1, 0, 255, 31, 30, 29, 37, 45, 44, 43, 42),
        measured=lambda: tuple(walk(EXAMPLE, 2, 42, "source")),
    ),
    claim_ex_5(
        "GMN-R-ex5b",
        claimed=(13, 21, 20, 19, 18, 17, 81),
        measured=lambda: tuple(walk(EXAMPLE, 13, 81, "source")),
    ),
)


@claim("GMN-R-deliver", relation="all", grid=MID, cost=cost_of_pairs)
def all_delivered(topology: str) -> Measured | bool:
    """Return whether all routes arrive, with the first lost route and the number of lost routes."""
    lost = census(topology).lost
    return Measured(False, lost.where | {"lost": lost.value}) if lost.value else True


CHOSEN = (
    "the paper states that the order of the hops can be chosen, so the best order is measured, "
    "with the hops of H, the diagonal if needed, and at most one more hop of type 0."
)

PRINTED_ORDER = (
    "The order follows the printed traversals as read by docs/papers/gmn 4.2 and used by the "
    "emulator's routing."
)

LONGEST_ROUTES = (
    claim(
        "GMN-R-len",
        relation="<=",
        claimed=longest_stated,
        grid=MID,
        cost=cost_of_pairs,
        measured=lambda topology: best_orders(topology)[0],
        reading=CHOSEN,
        fails_where=("N = 112, m = 7", lambda topology: parameters(topology) == (7, 112)),
        corrected=Corrected(
            "GMN-C-len", relation="<=", claimed=lambda topology: longest_stated(topology) + 1
        ),
    ),
    claim(
        "GMN-X-len-printed",
        place=BEYOND,
        relation="<=",
        claimed=lambda topology: longest_stated(topology) + 2,
        grid=MID,
        cost=cost_of_pairs,
        measured=lambda topology: census(topology).longest,
        reading=PRINTED_ORDER,
    ),
)


@claim(
    "GMN-R-hoptypes",
    claimed=lambda topology: parameters(topology)[0],
    grid=largest_of_each(3, 49),
    fails_where=("m is odd", lambda topology: parameters(topology)[0] % 2 == 1),
    corrected=Corrected(
        "GMN-C-hoptypes", claimed=lambda topology: parameters(topology)[0] // 2 * 2
    ),
)
def signed_types(topology: str) -> int:
    """Return the number of different jumps over the ports of hop nodes."""
    network = open_topology(topology)
    m, N = parameters(topology)
    nodes = np.arange(1, m)[:, np.newaxis]
    behind = network.neighbor(nodes, np.arange(2, network.ports))
    return len(np.unique(((behind - nodes) % N)[behind >= 0]))


@claim(
    "GMN-R-bits",
    note="Our constant for O(m log m): 4; 1.67 is the largest measured.",
    relation="<=",
    claimed=4,
    grid=MID,
    cost=cost_of_pairs,
)
def header_bits(topology: str) -> Measured:
    """Return the number of bits of the longest route's header, in units of m log2 m."""
    network = open_topology(topology)
    # The bound covers the longest header, which belongs to the longest route: a digit per hop.
    ends = census(topology).longest.where
    bits = network.routing("source").header_bits(ends["source"], ends["target"])
    m, _ = parameters(topology)
    return Measured(bits / (m * log2(m)), ends | {"bits": bits})


@claim(
    "GMN-R-arrays",
    relation="<=",
    claimed=lambda m: {"E": m // 4, "O": m // 4},
    grid=each_m(199, 199),
)
def array_lengths(m: int) -> dict[str, int]:
    """Return the highest index that the routing needs in each of its arrays E and O.

    The arrays hold the digits of a sector difference, except digit 0. Differences that take
    the diagonal do not count.
    """
    reach = largest(m // 2)
    lengths = [len(digits(reach)), int(numbers_read(0, ENUMERATED)[: reach + 1, LENGTH].max())]
    highest = max(lengths) - 1
    return {"E": highest // 2, "O": (highest + 1) // 2}
