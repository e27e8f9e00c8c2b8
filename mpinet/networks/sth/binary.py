"""The binary hypercube as one of the kinds of the cube in STH."""

from __future__ import annotations

from mpinet.networks.binary import MOST_DIMENSIONS
from mpinet.networks.classic.hypercube import Hypercube, fix_lowest_bit
from mpinet.networks.parameters import whole_number
from mpinet.networks.sth.cube import Cube, fix_highest_bit
from mpinet.networks.waysback import same_port


class BinaryCube(Cube):
    """Hypercube of 2^n processors with the routings of its variants: the kind q."""

    family = "q"
    parameters = (whole_number("n", 1, MOST_DIMENSIONS),)
    paper = "STH (definition 7)"
    specification = "papers/sth 3"

    neighbor = Hypercube.neighbor
    reverse_port = same_port

    shortest_rule = fix_lowest_bit
    dimension_rule = fix_highest_bit

    @classmethod
    def stated_diameter(cls, n: int) -> int:
        """Return n (definition 7)."""
        return n
