"""Classes of channels: the virtual channels that a message may take, chosen to prevent deadlocks.

A class rule is a local rule next to the routing's `decide`: it returns the class of the channel
that a message takes next. Of C classes, class c owns the c-th part of every link's virtual
channels.

Every network has the rule `ordered`. It orders the channels. If a message's next channel does not
come after its last one in this order, the message moves up a class. Pairs of class and channel
therefore ascend along every route, and dependencies have no cycle (Dally, Seitz 1987). A family
states the order of its channels by `channel_order`. By default, links to higher numbers come first,
then links to lower numbers. A message then leaves a class when it turns upwards again (the
transitions of Skeie et al. 2004).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule, open_part, rule
from mpinet.networks.wired import Wired

LONGEST, FEWEST = 0, -1
"""Marks for unknown numbers of classes: the hops of the routing's longest path, and the fewest
classes without a cycle of dependencies.
"""


@dataclass(frozen=True, eq=False)
class ChannelClasses:
    """A class rule with its name, parameters and number of classes."""

    name: str
    """Name of the class rule for ``--classes``."""
    rule: Rule
    """``channel_class(node, port, in_port, in_class, header, params)``: class of the channel behind
    the port, 0..count-1. The message arrived at port `in_port` by a channel of class `in_class` (-1
    and -1 at its source).
    """
    params: Ints
    """The rule's parameters."""
    count: int
    """Number of classes; `LONGEST` or `FEWEST` until the classes are counted."""
    beside: int = 0
    """Hops of a longest path that need no class of their own: the hops at terminals."""


@rule
def one_class(node, port, in_port, in_class, header, params):
    """Put all channels into one class."""
    return 0


@rule
def hops_so_far(node, port, in_port, in_class, header, params):
    """Return the number of hops so far as the class: the class rises with every hop."""
    # Classes ascend on any route at all. This needs one class per hop, and no property of the
    # network.
    return in_class + 1


# Rules of a topology, which `bind` inserts.
neighbor = reverse_port = open_part


@rule
def order(node, port, params):
    """Return the place of a channel in the order: links to higher numbers come first.

    Links to lower numbers follow in descending order.
    """
    return node if neighbor(node, port, params) > node else 2 * params[0] - node


@rule
def ordered_classes(node, port, in_port, in_class, header, params):
    """Return the class, one higher after each hop that descends in the channel order.

    The last class is not exceeded. The parameters are the topology's parameters, followed by the
    last class.
    """
    # A new message holds no channel yet. No other message can wait for this message, and its class
    # is 0.
    if in_port < 0:
        return 0
    own = params[:-1]
    before, there = neighbor(node, in_port, own), reverse_port(node, in_port, own)
    # Within a class, channels are taken in ascending order. A cycle of waiting messages would need
    # a descent somewhere (Dally, Seitz 1987).
    if order(before, there, own) < order(node, port, own):
        return in_class
    # The count of classes covers every route of the routing. The minimum only guards against
    # adaptive detours beyond it.
    return min(in_class + 1, params[-1])


def order_of(topology: Wired) -> Rule:
    """Return the rule of a topology's channel order, its own or the default."""
    wiring = topology.neighbor.rule
    own = topology.channel_order
    # The name includes the wiring's name. Two families would otherwise share one compiled order.
    return own.rule if own is not None else order.bind(f"{wiring.name}.order", neighbor=wiring)


def in_order(topology: Wired, count: int = FEWEST) -> ChannelClasses:
    """Return the classes by the topology's order of channels.

    Parameters
    ----------
    topology : Topology
        The network.
    count : int
        Number of classes; messages stay in the last class.
    """
    wiring, way_back = topology.neighbor.rule, topology.reverse_port.rule
    parts = {"neighbor": wiring, "reverse_port": way_back, "order": order_of(topology)}
    # The last class is stored behind the topology's own numbers, whose places in the rules must not
    # change.
    params = np.append(topology.params, count - 1)
    made = ordered_classes.bind(f"{wiring.name}.ordered_classes", **parts)
    return ChannelClasses("ordered", made, params, count)


def no_classes(params: Ints) -> ChannelClasses:
    """Return the class rule with one class for all channels."""
    return ChannelClasses("none", one_class, params, 1)


Choices = dict[str, Callable[[], ChannelClasses]]
"""Class rules by name."""


def common_classes(topology: Wired, longest: int = LONGEST) -> Choices:
    """Return the class rules that every network has; `hops` has `longest` classes."""
    return {
        "none": lambda: no_classes(topology.params),
        "hops": lambda: ChannelClasses("hops", hops_so_far, topology.params, longest),
        "ordered": lambda: in_order(topology),
    }
