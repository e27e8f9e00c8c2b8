"""Collectives (III.C; procedures and counts: docs/papers/gbsn, 4), and the block tree."""

from __future__ import annotations

from math import gcd, log2

import numpy as np

from mpinet.claims import BEYOND, Measured, claim
from mpinet.machine import Machine
from mpinet.papers.gbsn.grids import FIGURE_1B, F, blocks, bsn, few, regular, words
from mpinet.papers.gbsn.measured import network, ports
from mpinet.programs import ascend
from mpinet.programs.broadcast import broadcast
from mpinet.programs.circulate import circulate
from mpinet.programs.operators.operator import KINDS

WRONG = -1
"""Number of steps recorded for a collective with a wrong result."""


def stated_steps(topology: str) -> dict[str, int]:
    """Return the step counts of docs/papers/gbsn, 4."""
    a, b, n = words(topology)
    p, rho = -(-n // b), n // gcd(n, b)
    # A pass shifts the word p - 1 times. The word is shifted back in the shorter direction.
    realign = min(p - 1, rho - (p - 1)) if p > 1 else 0
    steps = {
        "ascend": n + p - 1 + realign,
        "descend": n + p - 1 + realign,
        "minimum": n + p - 1,
        "broadcast, one-port": n + p - 1,
        "broadcast, all-port": -(-n // a) + p - 1,
    }
    for q in range(1, n + 1):
        turns = [2 ** (q - z) * min(z // b, rho - z // b) for z in range(b, q)]
        steps[f"circulation in 2^{q}"] = 2**q - 1 + sum(turns)
    return steps


@claim(
    "GBSN-X-collectives",
    place=BEYOND,
    statement="ASCEND, DESCEND, the minimum, broadcasts from every root and data circulation in "
    "every subcube of BSN(a,b) take the specification's steps",
    claimed=stated_steps,
    grid=regular("a | b <= n <= 7", 7).quick(lambda topology: words(topology).n <= 6),
    cost=lambda topology: 2.0 ** words(topology).n / 4,
)
def steps_of_collectives(topology: str) -> dict[str, int]:
    """Return the steps of each collective, as counted by the machine."""
    n = words(topology).n
    steps = {kind: of_pass(topology, "sum", kind, "sections") for kind in KINDS}
    steps["minimum"] = of_pass(topology, "min", KINDS[0], "unaligned")
    steps["broadcast, one-port"] = of_broadcasts(topology, "sections", "one")
    steps["broadcast, all-port"] = of_broadcasts(topology, "subsections", "all")
    for q in range(1, n + 1):
        found = circulate(Machine(network(topology), "one"), q, "unaligned")
        steps[f"circulation in 2^{q}"] = found.steps if found.correct else WRONG
    return steps


def of_pass(topology: str, operator: str, kind: str, algorithm: str) -> int:
    """Return the steps of a pass with one port."""
    found = ascend.run(Machine(network(topology), "one"), operator, kind, algorithm=algorithm)
    # A wrong result has no meaningful number of steps, even if the number is the stated one.
    return found.steps if found.correct else WRONG


def of_broadcasts(topology: str, algorithm: str, model: str) -> int:
    """Return the steps of the slowest broadcast over all roots."""
    opened = network(topology)
    found = [broadcast(Machine(opened, model), root, algorithm) for root in range(opened.size)]
    informs_all = all(result.informed == opened.size for result in found)
    return max(result.steps for result in found) if informs_all else WRONG


def paper_factor(topology: str) -> float:
    """Return max(1, a/x), x = lg of the smallest block, the factor of Proposition 4.1."""
    of = blocks(topology)
    return max(1.0, max(of.a) / log2(min(of.m)))


@claim(
    "GBSN-X-emulated-slowdown",
    place=BEYOND,
    statement="the emulation of the BSN's ASCEND on an irregular GBSN gives the serial result, and "
    "is never faster than the factor max(1, a/x) of Proposition 4.1 allows",
    relation=">=",
    claimed=paper_factor,
    grid=few(lambda of: of.size <= 10 and len(of.m) > 1, ", N <= 10, k >= 2").quick(
        lambda topology: blocks(topology).size <= 6
    ),
    cost=lambda topology: 30.0,
    reading="The processor of a missing word is that of the word without its top bit, and states "
    "travel by the GBSN routing, one port.",
)
def emulated(topology: str) -> Measured:
    """Return the steps of ASCEND divided by the steps on the BSN of all words."""
    of = blocks(topology)
    steps = of_pass(topology, "sum", KINDS[0], "sections")
    alone = stated_steps(bsn(1, of.b, of.bits))["ascend"]
    return Measured(steps / alone, {"steps": steps, "steps of the BSN": alone})


@claim(
    "GBSN-X-emulated-operations",
    place=BEYOND,
    statement="DESCEND, the minimum and data circulation of the BSN give the serial results when "
    "they are emulated on an irregular GBSN",
    relation="all",
    grid=FIGURE_1B,
)
def emulated_operations(topology: str) -> Measured:
    """Return whether all results are right, with the steps."""
    steps = {
        "descend": of_pass(topology, "sum", KINDS[1], "sections"),
        "minimum": of_pass(topology, "min", KINDS[0], "unaligned"),
    }
    found = circulate(Machine(network(topology), "one"), algorithm="unaligned")
    steps["circulation"] = found.steps if found.correct else WRONG
    return Measured(WRONG not in steps.values(), {"steps": steps})


@claim(
    "GBSN-X-tree-depth",
    place=BEYOND,
    statement="along the links on RIGHT of the blocks' first nodes every block comes down to block "
    "0 in at most ceil(lg k) links",
    relation="<=",
    claimed=lambda topology: blocks(topology).block_bits,
    grid=F,
)
def depth_of_block_tree(topology: str) -> Measured:
    """Return the depth of the block tree, by following its links; k if a block is not reached."""
    of = blocks(topology)
    count = len(of.m)
    block_of = np.repeat(np.arange(count), of.m)
    behind = ports(topology).shift[np.cumsum([0, *of.m[:-1]]), 1]
    below = np.where(behind >= 0, block_of[behind], np.arange(count))
    depth = [0]
    for block in range(1, count):
        down = int(below[block])
        depth.append(depth[down] + 1 if down < block else count)
    deepest = max(range(count), key=lambda block: depth[block])
    return Measured(depth[deepest], {"block": deepest})
