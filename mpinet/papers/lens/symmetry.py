"""Automorphisms of the completed lens, and its dual (section 6)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mpinet import measure
from mpinet.base.arrays import Ints
from mpinet.claims import Measured, claim, section
from mpinet.claims.remembered import remembered
from mpinet.networks.catalogue import open_topology
from mpinet.networks.lens.wiring import LensNetwork
from mpinet.papers.grids import pairs_of
from mpinet.papers.lens.grids import PROOF, C
from mpinet.papers.lens.measured import incidences
from mpinet.papers.lens.words import addresses, spelled, word

Turn = Callable[[str], str]
"""Operation on addresses."""


def lens(topology: str) -> LensNetwork:
    """Return the lens of a topology string."""
    network = open_topology(topology)
    assert isinstance(network, LensNetwork)
    return network


def rotated(address: str) -> str:
    """Apply H: rotate the circle of digits by one place, together with the dot."""
    dot, digits = word(address)
    return spelled(dot % len(digits) + 1, (digits[-1], *digits[:-1]))


def shifted(address: str) -> str:
    """Apply H read literally: move the last written symbol, digit or dot, to the front."""
    return address[-1] + address[:-1]


def raised(R: int) -> Turn:
    """Return G: increase the last digit by 1 modulo R."""

    def operation(address: str) -> str:
        dot, digits = word(address)
        return spelled(dot, (*digits[:-1], (digits[-1] + 1) % R))

    return operation


def operation(network: LensNetwork, name: str) -> Turn:
    """Return the operation ``H``, ``G``, or ``literal`` (H read literally)."""
    return {"H": rotated, "literal": shifted, "G": raised(network.radices[0])}[name]


@remembered
def image(topology: str, name: str) -> Ints:
    """Return the image of each processor under an operation."""
    network = lens(topology)
    turned = operation(network, name)
    return np.array([network.node(turned(address)) for address in addresses(topology)])


@remembered
def bus_image(topology: str, name: str) -> Ints:
    """Return the image of each bus under an operation."""
    network = lens(topology)
    turned = operation(network, name)
    names = map(network.bus_address, range(network.busses))
    return np.array([network.bus(turned(address)) for address in names])


def is_automorphism(topology: str, name: str) -> Measured:
    """Return whether an operation on processors and busses preserves incidences."""
    nodes, busses = image(topology, name), bus_image(topology, name)
    if measure.is_automorphism(topology, nodes, busses):
        return Measured(True)
    counts = np.bincount(nodes, minlength=len(nodes))
    where: dict[str, object] = {"operation": name}
    if (counts > 1).any():
        same = np.flatnonzero(nodes == int(counts.argmax()))[:2]
        network = lens(topology)
        where["taken to the same"] = [network.address(int(node)) for node in same]
        where["namely"] = network.address(int(counts.argmax()))
    return Measured(False, where)


claim_6_proof_of_theorem_1 = section(place="6, proof of Theorem 1", cost=pairs_of, claimed=True)

GENERATORS = [
    claim_6_proof_of_theorem_1(
        f"LENS-T1-{id}",
        statement=f"{statement}, is an automorphism",
        grid=grid,
        corrects="LENS-T1-H-literal" if id == "H" else "",
        measured=partial(is_automorphism, name=name),
        cause="literal-shift" if id == "H-literal" else "",
    )
    for id, name, grid, statement in (
        ("H", "H", C, "H, the circle of digits turning and taking the dot along"),
        ("H-literal", "literal", PROOF, "H, read as a cyclic shift of the n+1 written symbols"),
        ("G", "G", C, "G, the last digit growing by 1 modulo p-1"),
    )
]


@claim_6_proof_of_theorem_1("LENS-T1-procedure", grid=PROOF)
def procedure(topology: str) -> Measured:
    """Return whether the procedure works on the emulator's processors, for all pairs."""
    network, names = lens(topology), addresses(topology)
    turn, grow = image(topology, "H"), image(topology, "G")
    for source in range(network.size):
        for target in range(network.size):
            if brought(names, turn, grow, source, target) != target:
                where = {"source": source, "target": target}
                return Measured(False, where | {"addresses": f"{names[source]} {names[target]}"})
    return Measured(True)


def brought(names: tuple[str, ...], turn: Ints, grow: Ints, source: int, target: int) -> int:
    """Return the processor to which the procedure for source and target maps the source."""
    row, goal = word(names[target])
    n, node = len(goal), source
    for _ in range(n):
        node = int(turn[node])
        # The loop is bounded, because a G that does not reach all digits would never end.
        for _ in range(len(names)):
            dot, digits = word(names[node])
            if digits[-1] == goal[(row + n - 1 - dot) % n]:
                break
            node = int(grow[node])
    for _ in range(n):
        if word(names[node])[0] == row:
            break
        node = int(turn[node])
    return node


def are_one(orbits: list[tuple[int, ...]]) -> Measured:
    """Return whether there is one orbit; the witness has a member of each of the first three."""
    return Measured(len(orbits) == 1, {"orbits": [orbit[0] for orbit in orbits[:3]]})


TRANSITIVE = claim(
    "LENS-T1-transitive",
    claimed=True,
    grid=C,
    cost=pairs_of,
    measured=lambda topology: are_one(measure.orbits(topology)),
)


def reversals(topology: str, other: str) -> set[tuple[int, int]]:
    """Return a lens's incidences with reversed labels: (processor of a bus, bus of a processor)."""
    network, dual = lens(topology), lens(other)
    processors = [dual.bus(network.address(node)[::-1]) for node in range(network.size)]
    busses = [dual.node(network.bus_address(bus)[::-1]) for bus in range(network.busses)]
    return {(busses[bus], processors[node]) for node, bus in incidences(topology).tolist()}


def is_dual(topology: str, other: str) -> Measured:
    """Return whether reversed labels map processors to busses of another lens and vice versa."""
    found, wanted = reversals(topology, other), set(map(tuple, incidences(other).tolist()))
    wrong = sorted(found ^ wanted)
    return Measured(not wrong, {"incidence": wrong[0]} if wrong else {})


SELF_DUAL = claim(
    "LENS-T2-selfdual",
    claimed=True,
    grid=C,
    cost=pairs_of,
    measured=lambda topology: is_dual(topology, topology),
)

BUS_TRANSITIVE = claim(
    "LENS-T2-bus-transitive",
    claimed=True,
    grid=C,
    cost=pairs_of,
    measured=lambda topology: are_one(measure.bus_orbits(topology)),
)
