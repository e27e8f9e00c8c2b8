"""Classes of channels: which virtual channels a message may take, so that none wait in a circle.

A class rule is a local rule beside the routing's `decide`: it names the class of the channel that a
message takes next. Class c of C owns the c-th part of every link's virtual channels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpinet.arrays import Ints
from mpinet.compiled import Rule, rule
from mpinet.errors import UsageError

if TYPE_CHECKING:
    from mpinet.networks.routing import Routing
    from mpinet.networks.topology import Topology

LONGEST = 0
"""A count that stands for the hops of the routing's longest path."""


@dataclass(frozen=True, eq=False)
class ChannelClasses:
    """A class rule and what it needs.

    Parameters
    ----------
    name : str
        The name for ``--classes``.
    rule : Rule
        ``channel_class(node, port, in_port, in_class, header, params)``: 0..count-1, the class of
        the channel behind the port for a message that came through `in_port` by a channel of class
        `in_class` (-1 and -1 at its source).
    params : ndarray of int64
        The rule's parameters.
    count : int
        How many classes there are; `LONGEST`: as many as the longest path has hops.
    """

    name: str
    rule: Rule
    params: Ints
    count: int


@rule
def one_class(node, port, in_port, in_class, header, params):
    """All channels are of one class."""
    return 0


@rule
def hops_so_far(node, port, in_port, in_class, header, params):
    """The hops that the message has made: a class is left by every hop."""
    return in_class + 1


def no_classes(params: Ints) -> ChannelClasses:
    """One class for all channels."""
    return ChannelClasses("none", one_class, params, 1)


Choices = dict[str, Callable[[], ChannelClasses]]
"""Class rules by name."""


def common_classes(topology: Topology) -> Choices:
    """The class rules that every network has."""
    return {
        "none": lambda: no_classes(topology.params),
        "hops": lambda: ChannelClasses("hops", hops_so_far, topology.params, LONGEST),
    }


def open_classes(topology: Topology, routing: Routing, name: str | None = None) -> ChannelClasses:
    """The class rule of a network, or of a routing of one's own, by name.

    Parameters
    ----------
    topology, routing
        The network and its routing.
    name : str, optional
        As in `Topology.channel_classes`; ``own``: the routing's. Default: the routing's own where
        it has one, else the network's ``dateline``, else ``none``.

    Raises
    ------
    UsageError
        Neither has a class rule of that name.

    Examples
    --------
    >>> import mpinet
    >>> torus = mpinet.open("torus:4x4")
    >>> open_classes(torus, torus.routing()).name
    'dateline'
    """
    choices = dict(topology.channel_classes)
    own = routing.channel_class
    if routing.adaptive:
        if name not in (None, "own"):
            raise UsageError(
                f"Routing {routing.name} of {topology.name} names the classes of its candidates "
                f"itself: --classes own, not {name}."
            )
        return ChannelClasses("own", one_class, topology.params, routing.classes)
    if own is not None:
        params = np.asarray(routing.params)
        choices = {"own": lambda: ChannelClasses("own", own, params, routing.classes)} | choices
    if name is None:
        name = next(each for each in ("own", "dateline", "none") if each in choices)
    if name not in choices:
        raise UsageError(
            f"{topology.name} has no classes {name!r} for routing {routing.name}; it has: "
            f"{', '.join(choices)}."
        )
    return choices[name]()
