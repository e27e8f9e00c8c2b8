"""Figure 1 and the text about it."""

from __future__ import annotations

from typing import Any

from mpinet import measure
from mpinet.claims import Measured, claim, once, section
from mpinet.papers.gbsn.grids import CAPTION, TEXT, literal
from mpinet.papers.gbsn.measured import in_blocks, links, network, reached, shift_links
from mpinet.papers.measured import informed

CIRCLES, COMPLETE = "bsn:1,2,4", "bsn:2,2,4"
"""Names of Fig. 1(a): BSN(1,2) in its caption, BSN(2,2) in the text."""


@claim(
    "GBSN-F1-a-counts",
    claimed={"nodes": 16, "blocks": 4, "nodes of the blocks": (4, 4, 4, 4)},
    grid=once("n = 4"),
)
def counts_of_a() -> dict[str, Any]:
    """Return the counts of Fig. 1(a): its diameter, and the groups that partial links connect."""
    sizes = tuple(len(nodes) for nodes in in_blocks(COMPLETE))
    return {"nodes": informed(COMPLETE), "blocks": len(sizes), "nodes of the blocks": sizes}


claim_ii = section(place="II", grid=once("n = 4"), relation="iso")

BLOCKS = (
    claim_ii("GBSN-F1-a-circle", measured=lambda: blocks_are(CIRCLES, "ring:4")),
    claim_ii("GBSN-F1-a-complete", measured=lambda: blocks_are(COMPLETE, "complete:4")),
)


def blocks_are(topology: str, shape: str) -> Measured | bool:
    """Return whether all blocks are isomorphic to a network."""
    for nodes in in_blocks(topology):
        if not measure.isomorphic(measure.part(network(topology), nodes), shape):
            return Measured(False, {"block": nodes})
    return True


claim_fig_1 = section(place="Fig. 1")

SAME_GRAPHS = (
    claim_fig_1(
        "GBSN-F1-same-a",
        claimed=True,
        grid=once("n = 4"),
        measured=lambda: one_graph(CIRCLES, COMPLETE),
    ),
    claim_fig_1(
        "GBSN-F1-same-b",
        claimed=True,
        measured=lambda: one_graph(CAPTION, TEXT),
    ),
    claim(
        "GBSN-F1-three-blocks",
        claimed=3,
        measured=lambda: len(in_blocks(TEXT)),
    ),
)


def one_graph(first: str, second: str) -> Measured:
    """Return whether two networks are isomorphic, with their counts."""
    counts = {
        topology: f"{network(topology).size} nodes, {len(links(topology))} links"
        for topology in (first, second)
    }
    return Measured(measure.isomorphic(network(first), network(second)), counts)


NETWORKS_OF_B = (
    claim_fig_1("GBSN-F1-b-caption", relation="all", measured=lambda: well_made(CAPTION)),
    claim("GBSN-F1-b-text", relation="all", measured=lambda: well_made(TEXT)),
)


def well_made(topology: str) -> Measured | bool:
    """Return whether the network is connected, literal, and has <= 2 shift links per node."""
    facts = {
        "connected": reached(topology) is True,
        "at most two shift links": int(shift_links(topology).max()) <= 2,
        "the literal graph": links(topology) == links(literal(topology)),
    }
    return True if all(facts.values()) else Measured(False, facts)
