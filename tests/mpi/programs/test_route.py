"""Routed traffic comes out as by brute force, and as on one process, on any number of ranks."""

import math
from itertools import product

import pytest
from mpi.machine.ranks import everyone, machine_of, mapping_of
from serial.machine.scenario import Network, Scenario
from serial.networks.reference import hypercube, torus

import mpinet
from mpinet import Machine
from mpinet.machine.faults import Faults
from mpinet.machine.transport import Local
from mpinet.programs.route import route
from mpinet.programs.traffic import traffic

N = 16
PATTERNS = {
    "all": [(u, v) for u in range(N) for v in range(N) if u != v],
    "transpose": [(u, u // 4 + u % 4 * 4) for u in range(N)],
    "bitreversal": [(u, int(f"{u:04b}"[::-1], 2)) for u in range(N)],
    "complement": [(u, N - 1 - u) for u in range(N)],
    "hotspot:5": [(u, 5) for u in range(N) if u != 5],
}
"""The patterns on 16 processors, written down once more."""


def quantile(latencies, share):
    """The smallest latency that this share of the messages do not exceed."""
    return sorted(latencies)[math.ceil(share * len(latencies)) - 1]


NETWORKS = {
    "hypercube:4": Network(mpinet.open("hypercube:4"), hypercube(4)),
    "torus:4x4": Network(mpinet.open("torus:4x4"), torus(4, 4)),
}

MODELS = ["all-port", "one-port", "ideal"]

CASES = [case for case in product(PATTERNS, NETWORKS, MODELS) if case[::2] != ("all", "one-port")]
"""Every pattern, but not the very long run."""


@pytest.mark.parametrize(("pattern", "network", "model"), CASES)
def test_results_are_those_of_brute_force(pattern, network, model):
    limit = 1 if model == "one-port" else None
    mode = "ideal" if model == "ideal" else "queued"
    expected = Scenario(NETWORKS[network], [PATTERNS[pattern]], limit, limit, mode=mode).expected()
    topology = NETWORKS[network].topology
    machine = machine_of(
        topology,
        "one" if limit else "all",
        mapping=mapping_of(topology, "random"),
        loads=True,
    )
    result = route(machine, traffic(topology, pattern), mode=mode)
    latencies = [step for _, _, _, step in expected["delivered"]]
    hops = [hops for _, _, hops, _ in expected["delivered"]]
    assert (result.messages, result.delivered) == (len(hops), len(hops))
    assert (result.steps, result.queue_max) == (expected["steps"], expected["queue_max"])
    assert (result.hops_total, result.hops_max) == (sum(hops), max(hops))
    assert result.latency.mean == sum(latencies) / len(latencies)
    assert result.latency.p50 == quantile(latencies, 0.5)
    assert result.latency.p99 == quantile(latencies, 0.99)
    assert result.latency.max == max(latencies)
    load = (expected["load_max"], expected["load_mean"])
    assert (result.link_load.max, result.link_load.mean) == load


@pytest.mark.parametrize("mapping", ["blocks", "random", "table"])
@pytest.mark.parametrize(
    ("network", "pattern", "ports", "policy"),
    [
        ("ccc:3", "permutation", "all", "oldest"),
        ("ccc:3", "permutation", "one", "fifo"),
        ("fattree:4,2", "permutation", "all", "fifo"),
        ("ring:5*ring:7", "random:100", "one", "oldest"),
    ],
)
def test_results_are_those_of_one_process(network, pattern, ports, policy, mapping):
    topology = mpinet.open(network)
    pairs = traffic(topology, pattern, seed=3)
    machine = machine_of(topology, ports, mapping=mapping_of(topology, mapping), loads=True)
    result = route(machine, pairs, policy=policy)
    alone = route(Machine(topology, ports, Local(), loads=True), pairs, policy=policy)
    assert set(everyone(result)) == {alone}
    assert result.delivered == pairs.total


def test_undeliverable_messages_are_counted():
    topology = mpinet.open("hypercube:4")
    machine = machine_of(topology)
    result = route(machine, traffic(topology, "hotspot:0"), faults=Faults(topology, [0]))
    assert (result.delivered, result.undeliverable) == (0, 15)
    assert result.latency.mean is result.latency.max is None
    assert result.link_load is None


def test_steps_are_counted_from_where_the_machine_stood():
    machine = machine_of("hypercube:4")
    pairs = traffic(machine.topology, "complement")
    first, second = route(machine, pairs), route(machine, pairs)
    assert first == second
    assert machine.steps == 2 * first.steps
