"""The choice of a class rule for a network and a routing."""

from __future__ import annotations

import numpy as np

from mpinet.errors import UsageError
from mpinet.networks.classes import ChannelClasses, Choices, one_class
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.networks.valiant import phased


def open_classes(topology: Topology, routing: Routing, name: str | None = None) -> ChannelClasses:
    """Return the class rule of a network, or a routing's own, by name.

    The number of classes may have to be measured (`mpinet.measure.deadlock.counted_classes`).

    Parameters
    ----------
    topology, routing
        The network and its routing.
    name : str, optional
        As in `Topology.channel_classes`; ``own``: the routing's. Default: the routing's own rule if
        it has one, else the network's `Topology.default_classes`.

    Raises
    ------
    UsageError
        Neither the network nor the routing has a class rule of that name.

    Examples
    --------
    >>> import mpinet
    >>> torus = mpinet.open("torus:4x4")
    >>> open_classes(torus, torus.routing()).name
    'dateline'
    """
    choices = own_choices(topology, routing) | topology.channel_classes
    # Candidates name their own classes. Another rule would give the chosen channel a class that the
    # deadlock proof does not cover.
    if routing.adaptive and name not in (None, "own"):
        raise UsageError(
            f"Routing {routing.name} of {topology.name} names the classes of its candidates "
            f"itself: --classes own, not {name}."
        )
    if name is None:
        name = "own" if "own" in choices else topology.default_classes
    if name not in choices:
        raise UsageError(
            f"{topology.name} has no classes {name!r} for routing {routing.name}; it has: "
            f"{', '.join(choices)}."
        )
    return choices[name]()


def own_choices(topology: Topology, routing: Routing) -> Choices:
    """Return the routing's own class rule by name, if it has one."""
    params, count = np.asarray(routing.params), routing.classes
    rule = one_class if routing.adaptive else routing.channel_class
    if routing.base is not None and not routing.adaptive:
        base = routing.base
        # The two phases repeat the base's classes. The choice for the base therefore decides for
        # both.
        return {"own": lambda: phased(topology, routing, open_classes(topology, base))}
    if rule is None:
        return {}
    return {"own": lambda: ChannelClasses("own", rule, params, count)}
