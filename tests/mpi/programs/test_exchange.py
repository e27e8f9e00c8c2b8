"""Total exchange: everybody has an item from everybody, in the steps of the brute-force router."""

from itertools import cycle

import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of
from serial.machine.reference import BruteForceRouter, direction, link

import mpinet
from mpinet import Machine
from mpinet.errors import UsageError
from mpinet.machine.model import PortModel
from mpinet.machine.transport import Local
from mpinet.networks.routing import path
from mpinet.programs.exchange import exchange


def ways(topology):
    """Round k: the way of the message from every s to s + k, as hops (node, port, next)."""
    hosts = topology.hosts
    for k in range(1, hosts):
        for source in range(hosts):
            nodes, ports = path(topology, topology.routing(), source, (source + k) % hosts)
            yield list(zip(nodes, ports, nodes[1:], strict=False))


NETWORKS = "complete:1 complete:2 ring:7 mesh:3x4 hypercube:4 debruijn:3 fattree:2,2".split()

MODELS = [PortModel(1, 1), PortModel(None, None), PortModel(1, 1, True)]


@pytest.mark.costly
@pytest.mark.parametrize(("name", "mapping"), list(zip(NETWORKS, cycle(MAPPINGS), strict=False)))
@pytest.mark.parametrize("model", MODELS, ids=["one", "all", "half duplex"])
def test_the_exchange_takes_the_steps_of_the_brute_force_router(name, mapping, model):
    topology = mpinet.open(name)
    machine = machine_of(topology, model, mapping=mapping_of(topology, mapping))
    result = exchange(machine, seed=2)
    one = model.send == 1
    router = BruteForceRouter(link if model.half_duplex else direction, one, one)
    router.inject(list(ways(topology)))
    router.run()
    assert (result.steps, result.messages) == (router.steps, len(router.moves))
    assert result.correct and result.lower_bound <= result.steps


@pytest.mark.parametrize("ports", ["one", "all"])
def test_busses_carry_the_exchange(ports):
    result = exchange(machine_of("lens:3,2,3", ports))
    assert result.correct and result.lower_bound <= result.steps
    assert set(everyone(result)) == {exchange(Machine("lens:3,2,3", ports, Local()))}


FARTHEST = """hypercube:3:one:12:12 hypercube:4:one:32:33 torus:4x4:one:32:33 lst:5:one:135:139
bsn:1,1,5:one:112:140 petersen:all:5:5 fattree:2,3:one:26:31 lst:5:all:40:51
complete:1:one:0:0""".split()
"""Networks, port models, bounds, and steps that take no more."""


@pytest.mark.costly
@pytest.mark.parametrize(("case", "mapping"), list(zip(FARTHEST, cycle(MAPPINGS), strict=False)))
def test_who_sends_the_farthest_first_is_near_the_bound(case, mapping):
    name, ports, bound, most = case.rsplit(":", 3)
    topology = mpinet.open(name)
    found = exchange(
        machine_of(topology, ports, mapping=mapping_of(topology, mapping)), algorithm="farthest"
    )
    assert found.correct and found.lower_bound == int(bound) <= found.steps <= int(most)
    over = [len(way) for way in ways(topology)]
    assert found.messages <= sum(over)
    alone = exchange(Machine(topology, ports, Local()), algorithm="farthest")
    assert set(everyone(found)) == {alone}


def test_the_farthest_go_first_over_links_of_few_processors():
    with pytest.raises(UsageError, match="no total exchange 'farthest'"):
        exchange(machine_of("clens:3,3", "one"), algorithm="farthest")
    with pytest.raises(UsageError, match="'farthest' goes with at most 256 processors"):
        exchange(machine_of("hypercube:9", "one"), algorithm="farthest")


def test_a_routing_may_be_chosen():
    loops = mpinet.open("gmn:3,12")
    result = exchange(machine_of(loops, "one"), loops.routing("shortest"))
    assert result.correct and result.lower_bound <= result.steps


def test_too_many_processors_are_refused():
    with pytest.raises(UsageError, match="at most 4,096 processors, and hypercube:13 has 8,192"):
        exchange(machine_of("hypercube:13", "one"))
