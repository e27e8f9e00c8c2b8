"""Scatter and gather as a flow over time take exactly the fewest steps, on one port and on all."""

from collections import Counter
from functools import cache
from itertools import chain, cycle

import igraph
import pytest
from mpi.machine.ranks import MAPPINGS, machine_of, mapping_of

import mpinet
from mpinet import Machine
from mpinet.errors import TooLarge, UsageError
from mpinet.machine.model import PortModel
from mpinet.programs.gather import gather
from mpinet.programs.scatter import scatter

OPTIMA = {
    "petersen": 3,
    "hypercube:4": 4,
    "hypercube:7": 19,
    "torus:4x4": 4,
    "torus:7x7": 12,
    "tq:5": 7,
    "stargraph:4": 8,
    "foldedcube:5": 6,
    "debruijn:5": 16,
    "arrangement:5,3": 10,
}
"""Steps of a scatter from processor 0 on all ports, as published with the method."""


@cache
def most_brought(topology, root, steps, sends, receives):
    """Items that igraph brings from the root to others in so many steps."""
    capacities = Counter()
    for step in range(steps):
        for node in range(topology.size):
            capacities[(node, step), (node, step + 1)] = topology.size
            capacities[(node, step), ("out", node, step)] = sends or topology.ports
            into = ("in", node, step)
            capacities[into, (node, step + 1)] = receives or topology.ports
            for port in range(topology.ports):
                other = topology.neighbor(node, port)
                if other >= 0 and not topology.links:
                    bus = int(topology.channel(node, port))
                    capacities[("out", node, step), ("on", bus, step)] = 1
                    capacities[("on", bus, step), ("off", bus, step)] = 1
                    capacities[("off", bus, step), into] = 1
                elif other >= 0:
                    capacities[("out", node, step), ("in", int(other), step)] += 1
    for host in set(range(topology.hosts)) - {root}:
        capacities[(host, steps), "all"] = 1
    numbers = {end: number for number, end in enumerate(dict.fromkeys(chain(*capacities)))}
    arcs = [(numbers[one], numbers[other]) for one, other in capacities]
    graph = igraph.Graph(len(numbers), arcs, directed=True)
    return graph.maxflow_value(numbers[root, 0], numbers["all"], list(capacities.values()))


@pytest.mark.parametrize("name", OPTIMA)
def test_a_scatter_on_all_ports_takes_the_published_optimum(name):
    found = scatter(machine_of(name, "all"), 0, "flow")
    assert (found.steps, found.lower_bound, found.lower_by) == (OPTIMA[name], OPTIMA[name], "flow")
    assert found.correct


NETWORKS = "fattree:2,3 roadrunner:3,2,2 torus:2x3 debruijn:3".split()
BUSSES = "lens:2,3,3 clens:3,2 plens:3,9 snowflake:3,2 busstar:3,2".split()


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "mapping"), list(zip(NETWORKS + BUSSES, cycle(MAPPINGS), strict=False))
)
@pytest.mark.parametrize(("sends", "receives"), [(1, 1), (None, None), (2, 1)])
def test_one_step_less_is_too_few_for_any_flow(name, mapping, sends, receives):
    topology = mpinet.open(name)
    root, others = topology.hosts - 1, topology.hosts - 1
    for collective, limits in ((scatter, (sends, receives)), (gather, (receives, sends))):
        model = PortModel(*limits)
        machine = machine_of(topology, model, mapping=mapping_of(topology, mapping))
        found = collective(machine, root, "flow", seed=3)
        assert found.correct and found.lower_bound == found.steps
        assert most_brought(topology, root, found.steps, sends, receives) == others
        assert most_brought(topology, root, found.steps - 1, sends, receives) < others


def test_a_processor_alone_needs_no_step():
    assert scatter(machine_of("complete:1", "all"), 0, "flow").steps == 0


def test_no_flow_goes_over_links_of_half_duplex():
    with pytest.raises(UsageError, match="has no gather 'flow'"):
        gather(machine_of("ring:5", PortModel(None, None, True)), 0, "flow")


def test_a_flow_that_is_too_large_is_refused_with_its_size():
    ends_and_places, steps = (2 + 3) * 16384, 16383
    with pytest.raises(TooLarge, match=f"has {ends_and_places * steps:,} arcs in {steps} steps"):
        scatter(Machine("ring:16384", "one"), 0, "flow")
