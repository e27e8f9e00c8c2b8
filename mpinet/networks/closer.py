"""Routing by a closed-form distance: the lowest port behind which the target is closer."""

from __future__ import annotations

from mpinet.compiled import open_part, rule
from mpinet.networks.routing import ARRIVED, STUCK

# A family's rule `neighbor` and its distance in closed form, which `bind` gives.
wiring = distance = open_part


@rule
def lowest_closer_port(node, header, params):
    """Try the ports in order; absent ones lead nowhere."""
    target = header[0]
    if node == target:
        return ARRIVED
    here = distance(node, target, params)
    for port in range(params[1]):
        other = wiring(node, port, params)
        if other >= 0 and distance(other, target, params) < here:
            return port
    return STUCK
