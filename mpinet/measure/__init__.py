"""Measures of a network: its wiring, distances, symmetry, cuts, cycles, routes and loads.

Every measure takes a topology or a topology string. What the machine can measure is measured on
it: distances by flooding, routes by routing; nothing here knows a family's formula. Measures are
collective over the machine's ranks (within `mpinet.machine.transport.alone` this process is one by
itself): all ranks call them together and get the same result.

The public names; they are loaded where first used.
"""

from importlib import import_module
from typing import Any

_ROOMS = {
    "wiring": "components degrees edges incidences incidence_graph links part to_graph without",
    "distance": "average_distance diameter distance_matrix distance_profile distance_profiles "
    "distance_sum eccentricities eccentricity is_connected",
    "symmetry": "AutomorphismGroup automorphism_group bus_orbits bus_transitive is_automorphism "
    "is_isomorphism isomorphic isomorphism orbits profile_classes same_profiles vertex_transitive",
    "cuts": "biconnected connectivity edge_connectivity incidence_connectivity separating_nodes",
    "hamiltonian": "hamiltonian_cycle is_hamiltonian_cycle",
    "bisection": "Bisection bisection_width cut_width",
    "routes": "Routes header_bits length_matrix repeats route_lengths terminates walk",
    "load": "Loads loads",
    "deadlock": "channel_dependency_cycle",
    "bounds": "broadcast_bound combining_gossip_bound exchange_bound gather_bound gossip_bound "
    "multicast_bound scatter_bound",
    "embedding": "embedding_cost",
    "faults": "FaultDiameter fault_diameter",
}

_PUBLIC = {
    name: f"mpinet.measure.{room}" for room, names in _ROOMS.items() for name in names.split()
}

__all__ = [*_PUBLIC]


def __getattr__(name: str) -> Any:
    """Load a public name from its file."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'mpinet.measure' has no attribute '{name}'")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    """Names that completion offers."""
    return sorted(__all__)
