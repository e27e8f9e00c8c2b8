"""Measures are those of a process alone, whatever the number of ranks."""

import numpy as np
import pytest
from mpi.machine.ranks import everyone, transport

from mpinet import measure
from mpinet.errors import Disconnected
from mpinet.machine.transport import alone

NETWORKS = ["ring:17", "torus:2x3x5", "complete:2", "debruijn:6", "fattree:2,3", "clens:3,3"]

MEASURES = [
    measure.degrees,
    measure.links,
    measure.diameter,
    measure.distance_sum,
    measure.average_distance,
    measure.is_connected,
    measure.profile_classes,
    measure.vertex_transitive,
    measure.connectivity,
    measure.fault_diameter,
]


def by_one(what, *given, **options):
    """What a process finds that is by itself."""
    with alone():
        return what(*given, **options)


@pytest.mark.parametrize("network", NETWORKS)
def test_every_rank_has_the_measures_of_a_process_alone(network):
    found = [what(network) for what in MEASURES]
    assert everyone(found) == [[by_one(what, network) for what in MEASURES]] * len(everyone(0))


@pytest.mark.parametrize("network", NETWORKS)
def test_every_rank_has_all_distances(network):
    node = 1
    for what, options in [
        (measure.distance_matrix, {}),
        (measure.distance_matrix, {"sources": [1, 0, 1], "dead": [0]}),
        (measure.eccentricities, {}),
        (measure.distance_profiles, {}),
    ]:
        found = what(network, **options)
        assert np.array_equal(found, by_one(what, network, **options))
        assert found.dtype == by_one(what, network, **options).dtype
    assert measure.distance_profile(network, node) == by_one(
        measure.distance_profile, network, node
    )


def test_sources_that_flood_one_after_the_other_are_all_there():
    nodes = np.arange(1024)
    bits = [nodes >> i & 1 for i in range(10)]
    wanted = sum(np.abs(bit - bit[:, np.newaxis]) for bit in bits)
    assert np.array_equal(measure.distance_matrix("hypercube:10"), wanted)


@pytest.mark.parametrize("sample", [None, 40])
def test_removals_are_shared_out_and_the_worst_is_the_same(sample):
    found = measure.fault_diameter("mesh:4x5", 2, sample, seed=3)
    assert set(everyone(found)) == {by_one(measure.fault_diameter, "mesh:4x5", 2, sample, seed=3)}


def test_a_network_in_pieces_is_told_on_every_rank():
    with pytest.raises(Disconnected, match="mesh:5"):
        measure.diameter("mesh:5", dead=[2])
    assert everyone(measure.is_connected("mesh:5", cut=[(1, 2)])) == [False] * len(everyone(0))


def test_ranks_may_measure_different_networks_each_alone():
    mine = transport().rank + 1
    with alone():
        assert measure.diameter(f"ring:{2 * mine + 1}") == mine
        assert measure.fault_diameter(f"ring:{2 * mine + 1}").value == 2 * mine - 1
