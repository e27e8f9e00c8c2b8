"""Columns that describe a row's network: family, size and parameters, derived from its name.

Files and user classes are never opened, because rows may come from other people.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Any

from mpinet.errors import MpinetError
from mpinet.networks.arguments import read_declared
from mpinet.networks.catalogue import FAMILIES, family_class, open_topology

KEPT = 4096
"""Number of networks whose columns are cached."""


@lru_cache(KEPT)
def network_columns(name: str) -> dict[str, Any]:
    """Return ``family``, ``size`` (nodes) and ``parameter`` of a network, as far as known.

    Parameters
    ----------
    name : str
        A topology string. The families of a product are joined by ``*``, and its parameters are
        left out. The size of a file or of a user's class is left out.

    Examples
    --------
    >>> network_columns("gmn:8,256")
    {'family': 'gmn', 'size': 256, 'parameter': {'m': 8, 'N': 256}}
    >>> network_columns("ring:4*torus:3x3")
    {'family': 'ring*torus', 'size': 36}
    """
    factors = [factor.strip().partition(":") for factor in name.split("*")]
    families = [family for family, _, _ in factors]
    if any(family not in FAMILIES for family in families):
        own = [rest.partition(":")[0] if family not in FAMILIES else family
               for family, _, rest in factors]  # fmt: skip
        return {"family": "*".join(own)}
    found: dict[str, Any] = {"family": "*".join(families)}
    # A file named in another person's row is never opened here.
    if "graph" in families:
        return found
    parameters: dict[str, Any] = {}
    if len(factors) == 1:
        with suppress(MpinetError):  # more than the family's own parameters, such as hosts=2
            parameters = _parameters(*factors[0][::2])
    with suppress(MpinetError):
        size = parameters.get("N")
        found["size"] = size if isinstance(size, int) else open_topology(name).size
    return found | ({"parameter": parameters} if parameters else {})


def _parameters(family: str, text: str) -> dict[str, Any]:
    """Return a family's parameters by name; a list of numbers becomes text."""
    values = read_declared(family, family_class(family).parameters, text)
    return {name: _cell(value) for name, value in values.items()}


def _cell(value: Any) -> Any:
    """Return a value as the text of a cell: 8x8 for a list, 0.1/1.2 for a list of lists."""
    if not isinstance(value, list | tuple):
        return value
    if any(isinstance(item, list | tuple) for item in value):
        return "/".join(".".join(map(str, item)) for item in value)
    return "x".join(map(str, value))
