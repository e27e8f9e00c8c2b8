"""Cards of networks and machines for notebooks: a small picture with sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.machine import Machine
from mpinet.measure.wiring import edges
from mpinet.networks.topology import Topology
from mpinet.report.drawing.page import drawing
from mpinet.report.drawing.scene import scene
from mpinet.report.html import card

MOST_DRAWN = 1 << 13
"""Largest number of ports of a network with a picture on its card."""

WIDTH = 240
"""Width of the picture, in pixels."""


def card_of(thing: Topology | Machine) -> str:
    """Return the HTML card of a network or a machine (not collective)."""
    if isinstance(thing, Machine):
        return _picture(thing.topology) + card({"machine": thing.topology.name}, _state(thing))
    return _picture(thing) + card({"network": thing.name}, _sizes(thing))


def _picture(network: Topology) -> str:
    return drawing(scene(network), WIDTH) if _is_small(network) else ""


def _is_small(network: Topology) -> bool:
    return network.size * network.ports <= MOST_DRAWN


def _sizes(network: Topology) -> dict[str, Any]:
    """Return processors, switches, links and degree; expensive measures for small networks only."""
    figures: dict[str, Any] = {"processors": network.hosts}
    if network.size > network.hosts:
        figures["switches"] = network.size - network.hosts
    # A notebook shows a card after every cell. Counting the links of a large network would delay
    # each cell.
    if network.links and _is_small(network):
        links = edges(network)
        figures["links"] = len(links)
        figures["degree"] = int(np.bincount(links.ravel()).max(initial=0))
    else:
        figures["ports"] = network.ports
    stated = network.stated.get("diameter")
    return figures if stated is None else figures | {"stated diameter": stated}


def _state(machine: Machine) -> dict[str, Any]:
    """Return a machine's processors, port model, number of ranks and number of steps made."""
    return {
        "processors": machine.topology.hosts,
        "ports": machine.model.name,
        "ranks": machine.transport.size,
        "steps": machine.steps,
    }
