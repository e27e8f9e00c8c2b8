"""Communication (section IV): two-way shift routing, the GBSN routing, popular instances."""

from __future__ import annotations

import numpy as np

from mpinet import measure
from mpinet.claims import BEYOND, Claim, Measured, over, section
from mpinet.papers.gbsn.definition import POPULAR, right_shifts, rotated_right
from mpinet.papers.gbsn.grids import (
    FIGURE_1B,
    SEVERAL,
    UP_TO_6,
    F,
    blocks,
    bsn,
    divisors,
    few,
    words,
)
from mpinet.papers.gbsn.measured import (
    addresses,
    compare,
    first_ports,
    in_blocks,
    links,
    network,
    ports,
    route_lengths,
)
from mpinet.papers.measured import diameter


def delivered(topology: str, routing: str, longest: int) -> Measured | bool:
    """Return whether all routes arrive within `longest` hops, with the first that does not."""
    found = measure.route_lengths(network(topology), routing)
    if found.undelivered_pair:
        return Measured(False, {"not delivered": found.undelivered_pair, "why": found.reason})
    if found.longest > longest:
        return Measured(False, {"route": found.longest_pair, "hops": found.longest})
    return True


claim_iv = section(place="IV", relation="all")


@claim_iv("GBSN-S4-twsr-delivers", grid=UP_TO_6)
def twsr_delivers(topology: str) -> Measured | bool:
    """Return whether two-way shift routing delivers, by walking all routes."""
    a, b, n = words(topology)
    return delivered(topology, "twsr", -(-n // a) + 2 * (-(-n // b) - 1))


@claim_iv(
    "GBSN-S4-twsr-on-gbsn",
    grid=SEVERAL,
    reading="a message updates the section, shifts right, and shifts back to the left; it stops at "
    "a missing link.",
)
def twsr_on_gbsn(topology: str) -> Measured | bool:
    """Return whether all messages arrive, by walking all routes."""
    hops, words = measure.length_matrix(network(topology), "twsr"), addresses(topology)
    pairs, lost = len(words) * (len(words) - 1), np.argwhere(hops < 0).tolist()
    first = {"from word": words[lost[0][0]], "to word": words[lost[0][1]]} if lost else {}
    return Measured(not lost, {"served": f"{pairs - len(lost)} of {pairs} pairs"} | first)


@claim_iv("GBSN-X-twsr-corrected", place=BEYOND, grid=SEVERAL)
def twsr_corrected(topology: str) -> Measured:
    """Return whether all messages arrive, with the hops by both routings on words of the GBSN."""
    words, of = addresses(topology), blocks(topology)
    hops = measure.length_matrix(network(topology), "twsr-corrected")
    regular = bsn(max(a for a in divisors(of.b) if a <= max(of.a)), of.b, of.bits)
    whole = measure.length_matrix(network(regular), "twsr")[np.ix_(words, words)]
    there = {"hops": int(hops.sum()), "BSN": regular, "hops in the BSN": int(whole.sum())}
    return Measured(bool(hops.min() >= 0), there)


right_bit = claim_iv(
    "GBSN-S4-rightmost-bit",
    grid=F,
    measured=lambda topology: all(
        {addresses(topology)[node] & 1 for node in nodes} == {0, 1} for nodes in in_blocks(topology)
    ),
)


def crossing(a: int, b: int, k: int) -> int:
    """Return the hops that section k+1 of an address adds to the longest two-way shift route."""
    # The difference of two networks isolates one section. A single route would include the cost of
    # its ends.
    longest = [int(route_lengths(bsn(a, b, n), "twsr").max()) for n in (k * b, (k + 1) * b)]
    return longest[1] - longest[0]


SECTIONS = over("b = 1, 2; 3 <= k, (k+1) b <= 9", b=(1, 2), k=lambda b: range(3, 9 // b))
ONE_MORE = (
    "the cost of crossing a block is the increase of the longest two-way shift route on BSN(a,b) "
    "by one more section of b bits, the (k+1)-th. It is measured beyond 2b bits, where both shifts "
    "coincide: there section 2 of b = 1 adds 2 hops, and section 3 adds 4."
)

claim_iii_c = section(place="III.C", grid=SECTIONS, reading=ONE_MORE)

CROSSINGS = (
    claim_iii_c("GBSN-S3-crossing-best", claimed=3, measured=lambda b, k: crossing(b, b, k)),
    claim_iii_c(
        "GBSN-S3-crossing-worst",
        claimed=lambda b, k: 2 + b,
        measured=lambda b, k: crossing(1, b, k),
    ),
)

gbsn_routing_on_bsn = claim_iv(
    "GBSN-S4-gbsn-routing-on-bsn",
    grid=UP_TO_6,
    measured=lambda topology: delivered(topology, "gbsn", diameter(topology).value),
)


@claim_iv(
    "GBSN-S4-gbsn-routing-delivers",
    grid=few(lambda of: of.size <= 80, " (N <= 12, and drawn), N <= 80"),
)
def gbsn_routing_delivers(topology: str) -> Measured | bool:
    """Return whether the GBSN's routing delivers without visiting a node twice, on all routes."""
    found = delivered(topology, "gbsn", network(topology).size - 1)
    twice = measure.repeats(network(topology), "gbsn")
    return Measured(False, {"node twice from": twice}) if found is True and twice else found


def by_right_shifts(topology: str) -> Measured | bool:
    """Return whether routes between blocks' first nodes use only the required right shifts.

    If not, the witness is the first pair of blocks whose route differs.
    """
    of = blocks(topology)
    shifts, others = shifts_on_routes(topology)
    for block in range(len(of.m)):
        for goal in range(len(of.m)):
            wanted = right_shifts(block, goal, of.b, of.block_bits)
            if block != goal and (others[block, goal] or shifts[block, goal] != wanted):
                return Measured(False, {"block": block, "destination's block": goal})
    return True


RIGHT_SHIFTS = (
    claim_iv(
        "GBSN-S4-right-shift-suffices",
        grid=F,
        measured=by_right_shifts,
        fails_where=(
            "there are two or more blocks",
            lambda topology: len(blocks(topology).m) > 1,
        ),
    ),
    claim_iv("GBSN-S4-right-shift-fig1", grid=FIGURE_1B, measured=by_right_shifts),
)


def shifts_on_routes(topology: str) -> tuple[np.ndarray, np.ndarray]:
    """Count the right shifts on routes between blocks; mark routes with other such hops.

    Returns
    -------
    shifts : ndarray of int64, shape (k, k)
        Hops on the port RIGHT that rotate the word to the right by b bits.
    others : ndarray of bool, shape (k, k)
        True if the route has other hops between blocks.
    """
    of, wiring, first = blocks(topology), ports(topology), first_ports(topology)
    word = np.array(addresses(topology))
    turned = np.array([rotated_right(own, of.b, of.bits) for own in word.tolist()])
    behind = np.concatenate([wiring.partial, np.full_like(wiring.shift, -1)], axis=1)
    np.put_along_axis(behind, wiring.left[:, np.newaxis] + np.arange(2), wiring.shift, axis=1)
    starts = np.cumsum([0, *of.m[:-1]])
    goals = np.broadcast_to(starts, (len(starts), len(starts)))
    nodes = goals.T.copy()
    shifts, others = np.zeros(goals.shape, np.int64), np.zeros(goals.shape, bool)
    for _ in range(len(word)):
        port = first[nodes, goals]
        going = port >= 0
        following = np.where(going, behind[nodes, port], nodes)
        between = going & (port >= wiring.left[nodes])
        right = between & (port == wiring.left[nodes] + 1) & (word[following] == turned[nodes])
        shifts += right
        others |= between & ~right
        nodes = following
    others |= nodes != goals
    return shifts, others


def instance(popular: str, a: str, b: str) -> Claim:
    """Return the claim that a popular network is BSN(a,b); `a` and `b` are ``1`` or ``n``."""
    return claim_iv(
        f"GBSN-S4-{popular}",
        statement=f"the {popular} network of 2^n nodes is BSN({a},{b}) on n bits: same links, same "
        "numbers",
        grid=over("n <= 8", n=range(1, 9)),
        measured=lambda n: compare(
            links(bsn(n if a == "n" else 1, n if b == "n" else 1, n)), POPULAR[popular](n)
        ),
    )


INSTANCES = (
    instance("hypercube", "1", "n"),
    instance("shuffle-exchange", "1", "1"),
    instance("complete", "n", "n"),
)
"""Popular networks as instances of the BSN."""
