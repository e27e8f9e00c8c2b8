"""Statements of the paper as they hold, each measured where the refuted one was."""

from __future__ import annotations

from mpinet.claims import claim
from mpinet.papers.gmn import diameter, faults, routing, sectors, structure
from mpinet.papers.gmn.grids import (
    EVEN,
    jumps_half,
    largest_size,
    parameters,
    size_of,
)
from mpinet.papers.gmn.routing import longest_stated

PLACE = "as it holds"

WIRING = (
    claim(
        "GMN-C-gap",
        place=PLACE,
        corrects="GMN-S-gap",
        statement="from one size to the next it is at most 2m, m that of the next",
        relation="<=",
        claimed=lambda N, m, next_m: 2 * next_m,
        grid=structure.GAPS[0].grid,
        measured=structure.GAPS[0].measurement,
    ),
    claim(
        "GMN-C-avgdeg-even",
        place=PLACE,
        corrects="GMN-S-avgdeg-even",
        statement="the average degree is 3 + 1/m for even m, but 3 where N = m 2^(m/2), whose "
        "largest hop is the diagonal",
        tolerance=structure.ROUNDING,
        claimed=lambda topology: 3 if jumps_half(topology) else 3 + 1 / parameters(topology)[0],
        grid=EVEN,
        cost=size_of,
        measured=structure.average_degree,
    ),
    claim(
        "GMN-C-super-eq",
        place=PLACE,
        corrects="GMN-S-super-eq",
        statement="with sectors as nodes it equals the circulant of the powers of 2 only for "
        "N = m 2^(m//2+1), and for N = m 2^(m/2), m even",
        claimed=lambda topology: (
            size_of(topology) == largest_size(parameters(topology)[0]) or jumps_half(topology)
        ),
        grid=sectors.GRAPH_OF_SECTORS[2].grid,
        cost=size_of,
        measured=sectors.GRAPH_OF_SECTORS[2].measurement,
    ),
    claim(
        "GMN-C-rcdeg",
        place=PLACE,
        corrects="GMN-S-rcdeg",
        statement="the degree of the recursive circulant G(2^n,2) is 2n-1",
        claimed=lambda n: 2 * n - 1,
        grid=sectors.GRAPH_OF_SECTORS[3].grid,
        measured=sectors.GRAPH_OF_SECTORS[3].measurement,
    ),
)

ROUTES = (
    claim(
        "GMN-C-hoptypes",
        place=PLACE,
        corrects="GMN-R-hoptypes",
        statement="with both signs there are 2 (m//2) types of hops",
        claimed=lambda topology: parameters(topology)[0] // 2 * 2,
        grid=routing.signed_types.grid,
        measured=routing.signed_types.measurement,
    ),
    claim(
        "GMN-C-nonH",
        place=PLACE,
        corrects="GMN-D-nonH",
        statement="every route has at most m + 2 edges besides the hops of H and the diagonal",
        relation="<=",
        claimed=lambda topology: parameters(topology)[0] + 2,
        grid=diameter.EDGES_BESIDE_HOPS[1].grid,
        cost=diameter.EDGES_BESIDE_HOPS[1].cost,
        measured=diameter.EDGES_BESIDE_HOPS[1].measurement,
    ),
    claim(
        "GMN-C-len",
        place=PLACE,
        corrects="GMN-R-len",
        statement="no route is longer than m + B2 + 2",
        relation="<=",
        claimed=lambda topology: longest_stated(topology) + 2,
        grid=routing.longest_route.grid,
        cost=routing.longest_route.cost,
        measured=routing.longest_route.measurement,
    ),
    claim(
        "GMN-C-FT-online",
        place=PLACE,
        corrects="GMN-FT-online",
        statement="with one dead node that only its neighbours know, the repaired route has at "
        "most m + B2 + 8 hops: 6 more than the longest route without",
        relation="<=",
        claimed=lambda topology: longest_stated(topology) + 8,
        grid=faults.ROUTES_AROUND[1].grid,
        cost=faults.ROUTES_AROUND[1].cost,
        measured=faults.ROUTES_AROUND[1].measurement,
    ),
)
