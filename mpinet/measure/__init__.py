"""Measures of a network: its wiring, distances, symmetry, cuts, cycles, routes and loads.

Every measure takes a topology or a topology string. What the machine can measure is measured on
it: distances by flooding, routes by routing; nothing here knows a family's formula. Measures are
collective over the machine's ranks (within `mpinet.machine.transport.alone` this process is one by
itself): all ranks call them together and get the same result.

The public names; they are loaded where first used. What is imported for type checkers names the
same (the tests compare the two).
"""

from importlib import import_module
from typing import TYPE_CHECKING

from mpinet.base.rooms import called

if TYPE_CHECKING:
    from mpinet.measure.bisection import Bisection as Bisection
    from mpinet.measure.bisection import bisection_width as bisection_width
    from mpinet.measure.bisection import cut_width as cut_width
    from mpinet.measure.bounded import Bounded as Bounded
    from mpinet.measure.bounds import broadcast_bound as broadcast_bound
    from mpinet.measure.bounds import combining_gossip_bound as combining_gossip_bound
    from mpinet.measure.bounds import exchange_bound as exchange_bound
    from mpinet.measure.bounds import gather_bound as gather_bound
    from mpinet.measure.bounds import gossip_bound as gossip_bound
    from mpinet.measure.bounds import multicast_bound as multicast_bound
    from mpinet.measure.bounds import scatter_bound as scatter_bound
    from mpinet.measure.broadcasttime import BroadcastTime as BroadcastTime
    from mpinet.measure.broadcasttime import broadcast_time as broadcast_time
    from mpinet.measure.containers import FaultDistance as FaultDistance
    from mpinet.measure.containers import fault_distance as fault_distance
    from mpinet.measure.cuts import biconnected as biconnected
    from mpinet.measure.cuts import connectivity as connectivity
    from mpinet.measure.cuts import edge_connectivity as edge_connectivity
    from mpinet.measure.cuts import incidence_connectivity as incidence_connectivity
    from mpinet.measure.cuts import separating_nodes as separating_nodes
    from mpinet.measure.deadlock import channel_dependency_cycle as channel_dependency_cycle
    from mpinet.measure.deadlocksearch import DeadlockSearch as DeadlockSearch
    from mpinet.measure.deadlocksearch import find_deadlock as find_deadlock
    from mpinet.measure.distance import average_distance as average_distance
    from mpinet.measure.distance import diameter as diameter
    from mpinet.measure.distance import distance_matrix as distance_matrix
    from mpinet.measure.distance import distance_profile as distance_profile
    from mpinet.measure.distance import distance_profiles as distance_profiles
    from mpinet.measure.distance import distance_sum as distance_sum
    from mpinet.measure.distance import eccentricities as eccentricities
    from mpinet.measure.distance import eccentricity as eccentricity
    from mpinet.measure.distance import is_connected as is_connected
    from mpinet.measure.embedding import embedding_cost as embedding_cost
    from mpinet.measure.faults import FaultDiameter as FaultDiameter
    from mpinet.measure.faults import fault_diameter as fault_diameter
    from mpinet.measure.hamiltonian import hamiltonian_cycle as hamiltonian_cycle
    from mpinet.measure.hamiltonian import is_hamiltonian_cycle as is_hamiltonian_cycle
    from mpinet.measure.load import Loads as Loads
    from mpinet.measure.load import loads as loads
    from mpinet.measure.routes import Routes as Routes
    from mpinet.measure.routes import header_bits as header_bits
    from mpinet.measure.routes import length_matrix as length_matrix
    from mpinet.measure.routes import repeats as repeats
    from mpinet.measure.routes import route_lengths as route_lengths
    from mpinet.measure.routes import terminates as terminates
    from mpinet.measure.routes import walk as walk
    from mpinet.measure.sampling import DistanceEstimate as DistanceEstimate
    from mpinet.measure.sampling import distance_estimate as distance_estimate
    from mpinet.measure.symmetry import AutomorphismGroup as AutomorphismGroup
    from mpinet.measure.symmetry import automorphism_group as automorphism_group
    from mpinet.measure.symmetry import bus_orbits as bus_orbits
    from mpinet.measure.symmetry import bus_transitive as bus_transitive
    from mpinet.measure.symmetry import is_automorphism as is_automorphism
    from mpinet.measure.symmetry import is_isomorphism as is_isomorphism
    from mpinet.measure.symmetry import isomorphic as isomorphic
    from mpinet.measure.symmetry import isomorphism as isomorphism
    from mpinet.measure.symmetry import orbits as orbits
    from mpinet.measure.symmetry import profile_classes as profile_classes
    from mpinet.measure.symmetry import same_profiles as same_profiles
    from mpinet.measure.symmetry import vertex_transitive as vertex_transitive
    from mpinet.measure.wiring import components as components
    from mpinet.measure.wiring import degrees as degrees
    from mpinet.measure.wiring import edges as edges
    from mpinet.measure.wiring import incidence_graph as incidence_graph
    from mpinet.measure.wiring import incidences as incidences
    from mpinet.measure.wiring import links as links
    from mpinet.measure.wiring import part as part
    from mpinet.measure.wiring import to_graph as to_graph
    from mpinet.measure.wiring import without as without

_ROOMS = {
    "wiring": "components degrees edges incidences incidence_graph links part to_graph without",
    "distance": "average_distance diameter distance_matrix distance_profile distance_profiles "
    "distance_sum eccentricities eccentricity is_connected",
    "sampling": "DistanceEstimate distance_estimate",
    "symmetry": "AutomorphismGroup automorphism_group bus_orbits bus_transitive is_automorphism "
    "is_isomorphism isomorphic isomorphism orbits profile_classes same_profiles vertex_transitive",
    "cuts": "biconnected connectivity edge_connectivity incidence_connectivity separating_nodes",
    "hamiltonian": "hamiltonian_cycle is_hamiltonian_cycle",
    "bisection": "Bisection bisection_width cut_width",
    "bounded": "Bounded",
    "broadcasttime": "BroadcastTime broadcast_time",
    "routes": "Routes header_bits length_matrix repeats route_lengths terminates walk",
    "load": "Loads loads",
    "deadlock": "channel_dependency_cycle",
    "deadlocksearch": "DeadlockSearch find_deadlock",
    "bounds": "broadcast_bound combining_gossip_bound exchange_bound gather_bound gossip_bound "
    "multicast_bound scatter_bound",
    "embedding": "embedding_cost",
    "faults": "FaultDiameter fault_diameter",
    "containers": "FaultDistance fault_distance",
}

_PUBLIC = {
    name: f"mpinet.measure.{room}" for room, names in _ROOMS.items() for name in names.split()
}

__all__ = [*_PUBLIC]

if not TYPE_CHECKING:  # a checker would take every name, also a misspelt one, for Any

    def __getattr__(name: str) -> object:
        """Load a public name from its file."""
        if name not in _PUBLIC:
            raise AttributeError(f"module 'mpinet.measure' has no attribute '{name}'")
        return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    """Names that completion offers."""
    return sorted(__all__)


called(__name__)
