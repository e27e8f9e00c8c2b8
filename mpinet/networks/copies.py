"""Copies of a factor in a product network: each alone, with the factor's own broadcasts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from mpinet.compiled import open_part, rule
from mpinet.errors import UsageError
from mpinet.networks.members import Members
from mpinet.networks.product import Product
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology


class Copy(Members):
    """One copy of a factor of a product; all other nodes are left out.

    Parameters
    ----------
    product : Product
        The whole network.
    which : int
        The factor: 0 or 1.
    number : int
        The copy's coordinate in the other factor.
    nodes, links
        Dead nodes and links, as in `Members`.
    """

    def __init__(
        self,
        product: Product,
        which: int,
        number: int,
        nodes: Iterable[int] = (),
        links: Iterable[tuple[int, int]] = (),
    ):
        factor, first = (product.first, product.second)[which], product.first.size
        begin, stride = (number, first) if which else (number * first, 1)
        members = [*range(begin, begin + factor.size * stride, stride)]
        others = np.setdiff1d(np.arange(product.size), members).tolist()
        super().__init__(product, members, [*others, *nodes], links)
        self._factor = factor
        self._shift = product.first.ports if which else 0

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the factor's one-port schedules, unless a member is dead."""
        if self.size < self._factor.size:
            return {}
        made = self._factor.schedules(root)
        return {
            name: partial(self._moved, make) for name, make in made.items() if make().can_follow
        }

    def _moved(self, make: Callable[[], Schedule]) -> Schedule:
        """Return the factor's schedule with the product's port numbers."""
        schedule = make()
        return replace(
            schedule,
            rule=moved.bind(f"{schedule.rule.name}.copy", inner=schedule.rule),
            params=np.concatenate([[self._shift], schedule.params]),
        )


inner = open_part


@rule
def moved(node, root, since, step, params):
    """Return the factor's port, by its number in the product."""
    port = inner(node, root, since, step, params[1:])
    return port if port < 0 else port + params[0]


def factor_named(network: Topology, name: str) -> tuple[Product, int]:
    """Return a product and the index of its factor of this family.

    Raises
    ------
    UsageError
        The network is no product with such a factor.
    """
    if isinstance(network, Product):
        families = [network.first.family, network.second.family]
        if name in families:
            return network, families.index(name)
    raise UsageError(f"--parts: {network.name} is no product with a factor of the family {name!r}.")


def copies_of(
    network: Topology,
    name: str,
    nodes: Iterable[int] = (),
    links: Iterable[tuple[int, int]] = (),
) -> list[Members]:
    """Return all copies of the factor of a family; see `Copy`."""
    product, which = factor_named(network, name)
    number = (product.second, product.first)[which].size
    return [Copy(product, which, one, nodes, links) for one in range(number)]
