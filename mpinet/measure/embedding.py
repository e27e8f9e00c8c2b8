"""Cost of embedding one network in another: dilation, congestion, expansion.

Dilation is the largest host distance between the images of two guest neighbours. Congestion is the
largest number of guest links whose routes share a host link. Expansion is the number of host nodes
per guest node.
"""

from __future__ import annotations

from typing import Any

from mpinet.machine import Machine
from mpinet.measure.pairs import as_routing
from mpinet.networks.catalogue import open_topology
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.programs.embed import Embedding, Measures, measure


def embedding_cost(
    guest: Topology | str,
    host: Topology | str,
    images: Any = None,
    routing: Routing | str | None = None,
) -> Measures:
    """Measure an embedding by sending a message over every guest link (collective).

    Parameters
    ----------
    guest, host : Topology or str
        Networks of links.
    images : array-like of int, shape (guest.size,), optional
        Host processor of every guest node, all different. Default: guest node x is at host node x.
    routing : Routing or str, optional
        Routing of the host, for guest links between images that are not neighbours. Default: the
        host's first routing.

    Returns
    -------
    Measures
        Dilation and route length in hops, congestion in guest links, expansion.

    Raises
    ------
    UsageError
        The networks have busses, the guest is too large, or the images are invalid.

    Examples
    --------
    A ring in a square, by a Gray code:

    >>> found = embedding_cost("ring:4", "hypercube:2", images=[0, 1, 3, 2])
    >>> found.dilation, found.congestion
    (1, 1)
    """
    embedded = Embedding(open_topology(guest), open_topology(host), images)
    return measure(Machine(embedded.host), embedded, as_routing(embedded.host, routing))
