"""Base of the hypercube's variants: 2^n processors with n ports, each its own way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from mpinet.compiled import Rule, rule
from mpinet.networks.arithmetic import highest_one
from mpinet.networks.binary import BinaryLabels
from mpinet.networks.routing import ARRIVED, Routing, stateless
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology


class Cube(BinaryLabels):
    """A cube variant of 2^n processors.

    A family gives its two routing rules: `shortest_rule` takes the lowest port that leads closer,
    `dimension_rule` corrects the highest wrong bit first.
    """

    shortest_rule: ClassVar[Rule]
    dimension_rule: ClassVar[Rule]

    def __init__(self, n: int):
        self.dimensions = n
        stated = {"degree": n, "diameter": self.stated_diameter(n)}
        super().__init__(f"{n}", size=2**n, ports=n, stated=stated)

    @classmethod
    def stated_diameter(cls, n: int) -> int:
        """Return the diameter that the paper states: ceil((n+1)/2) (lemma 3)."""
        return (n + 2) // 2

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """The lowest port that leads closer; or the highest wrong bit first, at most n hops."""
        closer, highest = type(self).shortest_rule, type(self).dimension_rule
        return {
            "shortest": lambda: stateless("shortest", closer, self),
            "dimension": lambda: stateless("dimension", highest, self, shortest=False),
        }

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Dimension after dimension, the highest first."""
        return {"dimensions": lambda: dimensions_schedule(self, root)}


@rule
def fix_highest_bit(node, header, params):
    """Take the port of the highest bit that is wrong, where it changes lower bits only."""
    difference = node ^ header[0]
    return ARRIVED if difference == 0 else highest_one(difference)


@rule
def highest_port_first(node, root, since, step, params):
    """Send, in step s, from every informed processor on port n-s (section 6, phase 2)."""
    return params[1] - step if step <= params[1] else -1


def dimensions_schedule(cube: Topology, root: int) -> Schedule:
    """The one-port broadcast that serves every cube with n ports and every root: n steps."""
    phases = (("cube", cube.ports),)
    return Schedule("dimensions", root, highest_port_first, cube.params, phases)
