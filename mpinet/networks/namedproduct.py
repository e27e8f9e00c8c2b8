"""A product of two networks that is a family of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mpinet.networks.product import Product
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology


class NamedProduct(Product):
    """Product with a name of its own, routed in its first factor, then in its second.

    Parameters
    ----------
    arguments : str
        The canonical text of the arguments.
    first, second : Topology
        The factors, each with a shortest routing as its first one unless the family overrides
        `routings`.
    """

    def __init__(self, arguments: str, first: Topology, second: Topology):
        super().__init__(first, second, arguments)

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """The factors' own shortest ways, one after the other."""
        one, other = next(iter(self.first.routings)), next(iter(self.second.routings))
        return {"shortest": lambda: self.composed("shortest", one, other)}

    def composed(self, name: str, one: str, other: str) -> Routing:
        """A routing under a name of its own, made of one of each factor."""
        return replace(self._routing(one, other), name=name)
