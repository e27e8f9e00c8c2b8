"""Symmetry of the HDN, and the networks of Figures 4 to 6 (Section 2)."""

from __future__ import annotations

from itertools import pairwise

from mpinet import measure
from mpinet.claims import BEYOND, Corrected, Measured, claim, once, points
from mpinet.papers.hdn.beyond import contains_next
from mpinet.papers.hdn.grids import FIG11, listed, net, nodes_of, r1, size_of
from mpinet.papers.hdn.measured import described, diameter
from mpinet.papers.measured import alike


def grows(topology: str) -> bool:
    """Return whether some level's super-node is not contained in the super-node below."""
    return any(set(high) - set(low) for low, high in pairwise(net(topology).members))


symmetric = claim(
    "HDN-S1-symmetric",
    relation="all",
    grid=points("R1, and the network of Figure 11", listed([*r1(), FIG11])).quick(
        lambda topology: size_of(topology) <= 600
    ),
    cost=nodes_of,
    measured=alike,
    fails_where=("some SN^(i+1) is not contained in SN^i", grows),
    corrected=Corrected(
        "HDN-C-symmetric",
        claimed=lambda topology: contains_next(net(topology)),
        measured=lambda topology: Measured(bool((found := alike(topology)).value), found.where),
    ),
)

FIGURES_4_AND_5 = (
    described(
        "HDN-Fig4",
        statement="over the 2-cube with s_1 = 2: 16 nodes of degree 3, two clusters a class with "
        "two super-nodes of two nodes each",
        claimed={
            "nodes": 16,
            "clusters of a class": 2,
            "degree": 3,
            "super-nodes of a cluster": 2,
            "nodes of a super-node": 2,
        },
        text="S = ({0})",
        topology="hdn:2x2,super=0",
    ),
    described(
        "HDN-Fig5",
        statement="over the 2-cube with s_1 = s_2 = 2: 256 nodes of degree 4, 8 clusters a class",
        claimed={"nodes": 256, "clusters of a class": 8, "degree": 4},
        text="S = ({0},{0})",
        topology="hdn:2x2,super=0/0",
    ),
)


@claim("HDN-X-sizes", place=BEYOND, claimed=False, grid=once("s_1 = s_2 = 2"))
def figure_5_unique() -> Measured:
    """Return whether both networks of sizes (2, 2) are isomorphic, with their diameters."""
    names = ("hdn:2x2,super=0/0", "hdn:2x2,super=0/1")
    where = {f"diameter of {name}": diameter(name).value for name in names}
    where |= {
        f"different distance profiles in {name}": len(measure.profile_classes(name))
        for name in names
    }
    return Measured(measure.isomorphic(*names), where)


figure_6 = described(
    "HDN-Fig6",
    statement="over the 2-cube with s_1 = 2, s_2 = 4: 128 nodes of degree 4, 4 clusters a class",
    claimed={"nodes": 128, "clusters of a class": 4, "degree": 4},
    text="S = ({0},{0,1})",
    topology="hdn:2x2,super=0/0.1",
)
