"""Classes of channels: which virtual channels a message may take, so that none wait in a circle.

A class rule is a local rule beside the routing's `decide`: it names the class of the channel that a
message takes next. Class c of C owns the c-th part of every link's virtual channels.

Any network has the rule `ordered`: its channels are put in an order, and a message that takes one
which does not come after its last one goes up a class. So pairs of class and channel ascend on
every way, and none waits for itself (Dally, Seitz 1987). Families say in which order their ways are
(`channel_order`); by default links to higher numbers come first, then those to lower ones, and a
class is left where a message turns up again (the transitions of Skeie et al. 2004).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule, open_part, rule
from mpinet.networks.wired import Wired

LONGEST, FEWEST = 0, -1
"""Counts that are not known before they are measured: the hops of the routing's longest path, and
the fewest classes that leave no cycle of dependencies."""


@dataclass(frozen=True, eq=False)
class ChannelClasses:
    """A class rule and what it needs."""

    name: str
    """The name for ``--classes``."""
    rule: Rule
    """``channel_class(node, port, in_port, in_class, header, params)``: class of the channel behind
    the port, 0..count-1. The message came through `in_port` by a channel of class `in_class` (-1
    and -1 at its source)."""
    params: Ints
    """The rule's parameters."""
    count: int
    """Number of classes; `LONGEST` or `FEWEST` until they are counted."""
    beside: int = 0
    """Hops of a longest path that are in no class of their own, those of terminals."""


@rule
def one_class(node, port, in_port, in_class, header, params):
    """Put all channels into one class."""
    return 0


@rule
def hops_so_far(node, port, in_port, in_class, header, params):
    """The hops that the message has made: a class is left by every hop."""
    # Every hop leaves a class, so that classes ascend on any way at all. This needs one class per
    # hop, and no property of the network.
    return in_class + 1


# A topology's rules, which `bind` puts in their places.
neighbor = reverse_port = open_part


@rule
def order(node, port, params):
    """Place of a channel in the order: links to higher numbers ascend, then the others descend."""
    return node if neighbor(node, port, params) > node else 2 * params[0] - node


@rule
def ordered_classes(node, port, in_port, in_class, header, params):
    """Class, one higher after each hop that goes back in the order of channels, up to the last.

    The parameters are the topology's and the last class.
    """
    # A message that starts holds no channel yet. Nothing can wait for it in a circle, so that it
    # starts in class 0.
    if in_port < 0:
        return 0
    own = params[:-1]
    before, there = neighbor(node, in_port, own), reverse_port(node, in_port, own)
    # Within a class, channels are taken in ascending order. A circle of waiting messages would need
    # a descent somewhere (Dally, Seitz 1987).
    if order(before, there, own) < order(node, port, own):
        return in_class
    # The count of classes covers every way of the routing. The minimum only guards against adaptive
    # detours beyond it.
    return min(in_class + 1, params[-1])


def order_of(topology: Wired) -> Rule:
    """The rule of the order of a topology's channels, its own or the default."""
    wiring = topology.neighbor.rule
    own = topology.channel_order
    # The name has the wiring's in it. Two families would otherwise share one compiled order.
    return own.rule if own is not None else order.bind(f"{wiring.name}.order", neighbor=wiring)


def in_order(topology: Wired, count: int = FEWEST) -> ChannelClasses:
    """The classes by the topology's order of channels.

    Parameters
    ----------
    topology : Topology
        The network.
    count : int
        How many classes there are; messages stay in the last one.
    """
    wiring, way_back = topology.neighbor.rule, topology.reverse_port.rule
    parts = {"neighbor": wiring, "reverse_port": way_back, "order": order_of(topology)}
    # The last class stands behind the topology's own numbers, whose places in the rules must not
    # move.
    params = np.append(topology.params, count - 1)
    made = ordered_classes.bind(f"{wiring.name}.ordered_classes", **parts)
    return ChannelClasses("ordered", made, params, count)


def no_classes(params: Ints) -> ChannelClasses:
    """Return the choice of one class for all channels."""
    return ChannelClasses("none", one_class, params, 1)


Choices = dict[str, Callable[[], ChannelClasses]]
"""Class rules by name."""


def common_classes(topology: Wired, longest: int = LONGEST) -> Choices:
    """Offer the class rules that every network has; by hops as many as its longest path has."""
    return {
        "none": lambda: no_classes(topology.params),
        "hops": lambda: ChannelClasses("hops", hops_so_far, topology.params, longest),
        "ordered": lambda: in_order(topology),
    }
