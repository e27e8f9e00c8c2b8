"""Embeddings: measures of networkx and of routes asked one by one, steps of the literal router."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of, transport
from serial.machine.reference import BruteForceRouter, direction

import mpinet
from mpinet.cli.commands import parse
from mpinet.errors import UsageError
from mpinet.jobs import module_of
from mpinet.machine.model import PortModel
from mpinet.networks.routing import path
from mpinet.programs import ascend
from mpinet.programs.embed import Embedding, measure, preferring_links
from mpinet.programs.emulate import emulate_ascend, emulate_step, emulation

PAIRS = [
    ("hypercube:3", "ring:8"),
    ("hypercube:3", "ring:11"),
    ("hypercube:4", "torus:4x4"),
    ("hypercube:2", "hypercube:2"),
    ("bsn:1,2,4", "gbsn:2,m=4-4-4-4,a=1"),
    ("bsn:1,1,3", "gbsn:1,m=4-4-4-2,a=1"),
    ("bsn:2,2,4", "gbsn:2,m=4-4-4-3-7,a=1"),
    ("mesh:2x3", "debruijn:3"),
    ("ring:6", "fattree:2,3"),
    ("complete:1", "complete:1"),
    ("complete:1", "ring:5"),
]

MODELS = [PortModel(1, 1), PortModel(None, None), PortModel(1, 1, True)]


def graph_of(topology):
    """The simple graph of a network, asked port by port."""
    graph = nx.Graph()
    graph.add_nodes_from(range(topology.size))
    for u in range(topology.size):
        for port in range(topology.ports):
            v = topology.neighbor(u, port)
            if v >= 0 and v != u:
                graph.add_edge(u, v)
    return graph


def way(host, source, target):
    """The hops (node, port, next) from image to image: the link if there is one, else the route."""
    for port in range(host.ports):
        if host.neighbor(source, port) == target:
            return [(source, port, target)]
    nodes, ports = path(host, host.routing(), source, target)
    return list(zip(nodes, ports, nodes[1:], strict=False))


def messages_of(guest):
    """All (node, neighbour), node after node in port order, each neighbour once."""
    for x in range(guest.size):
        others = [guest.neighbor(x, port) for port in range(guest.ports)]
        yield from ((x, y) for y in dict.fromkeys(others) if y >= 0 and y != x)


def literal_steps(model, host, pairs):
    """Steps of the brute-force router for messages between these host nodes."""

    def link(hop):
        return host.channel(*hop[:2])  # two links may join the same two nodes

    medium = link if model.half_duplex else direction
    router = BruteForceRouter(medium, model.send == 1, model.receive == 1)
    router.inject([way(host, source, target) for source, target in pairs])
    router.run()
    return router.steps


def images_of(guest, host, kind):
    """No table for the canonical embedding, or a random one."""
    if kind == "canonical":
        return list(range(guest.size)), None
    images = np.random.default_rng(3).permutation(host.hosts)[: guest.size]
    return images.tolist(), images


@pytest.mark.parametrize(("guest", "host"), PAIRS)
def test_the_measures_are_those_of_the_graphs(guest, host):
    guest, host = mpinet.open(guest), mpinet.open(host)
    lengths = dict(nx.all_pairs_shortest_path_length(graph_of(host)))
    for kind in ("canonical", "random"):
        images, table = images_of(guest, host, kind)
        machine = machine_of(host, mapping=mapping_of(host, MAPPINGS[guest.size % 3]))
        found = measure(machine, Embedding(guest, host, table))
        links = [sorted((images[x], images[y])) for x, y in graph_of(guest).edges]
        ways = [way(host, low, high) for low, high in links]
        carried = Counter(frozenset((u, v)) for hops in ways for u, _, v in hops)
        assert found.dilation == max((lengths[low][high] for low, high in links), default=0)
        assert found.route_length == max(map(len, ways), default=0)
        assert found.congestion == max(carried.values(), default=0)
        assert found.expansion == host.size / guest.size
        assert machine.steps == 0
        assert set(everyone(found)) == {found}


def test_the_hypercube_stretches_its_last_dimension_over_half_the_ring():
    for n in (2, 3, 5):
        guest, host = mpinet.open(f"hypercube:{n}"), mpinet.open(f"ring:{2**n}")
        assert measure(machine_of(host), Embedding(guest, host)).dilation == 2 ** (n - 1)


@pytest.mark.parametrize("b", [1, 2, 3])
def test_the_bsn_is_the_gbsn_of_equal_blocks(b):
    """GBSN-P42-regular: dilation 1, congestion 1; every step of the BSN is one of the host."""
    for c in (1, 2, 3):
        guest = mpinet.open(f"bsn:1,{b},{b + c}")
        host = mpinet.open(f"gbsn:{b},m={'-'.join([str(2**b)] * 2**c)},a=1")
        machine, embedding = machine_of(host), Embedding(guest, host)
        found = measure(machine, embedding)
        assert (found.dilation, found.congestion, found.expansion) == (1, 1, 1.0)
        assert emulate_step(machine, embedding).slowdown == 1


def test_a_ring_lies_in_the_hypercube_by_the_gray_code():
    guest, host = mpinet.open("ring:16"), mpinet.open("hypercube:4")
    gray = np.arange(16) ^ (np.arange(16) >> 1)
    machine, embedding = machine_of(host), Embedding(guest, host, gray)
    found = measure(machine, embedding)
    assert (found.dilation, found.congestion) == (1, 1)
    assert emulate_step(machine, embedding).host_steps == 1


@pytest.mark.costly
@pytest.mark.parametrize(("guest", "host"), PAIRS)
def test_a_step_takes_the_steps_of_the_brute_force_router(guest, host):
    guest, host = mpinet.open(guest), mpinet.open(host)
    images, table = images_of(guest, host, "random")
    pairs = [(images[x], images[y]) for x, y in messages_of(guest)]
    for model in MODELS:
        machine = machine_of(host, model, mapping=mapping_of(host, "random"))
        found = emulate_step(machine, Embedding(guest, host, table), seed=4)
        assert found.host_steps == machine.steps == literal_steps(model, host, pairs)
        assert found.correct and found.guest_steps == (len(pairs) > 0)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("guest", "host"), [(g, h) for g, h in PAIRS if g.startswith(("hypercube", "bsn"))]
)
def test_ascend_takes_the_exchanges_of_the_brute_force_router(guest, host):
    guest, host = mpinet.open(guest), mpinet.open(host)
    images, table = images_of(guest, host, "random")
    q = guest.size.bit_length() - 1
    exchanges = [[(x, x ^ (1 << j)) for x in range(guest.size)] for j in range(q)]
    moved = [[(images[x], images[y]) for x, y in pairs] for pairs in exchanges]
    for model in MODELS:
        machine = machine_of(host, model, mapping=mapping_of(host, "table"))
        found = emulate_ascend(machine, Embedding(guest, host, table), "prefix", seed=2)
        assert found.correct
        assert found.host_steps == sum(literal_steps(model, host, pairs) for pairs in moved)
        assert found.guest_steps == sum(literal_steps(model, guest, pairs) for pairs in exchanges)
        assert found.slowdown == found.host_steps / found.guest_steps


def test_the_hypercube_makes_a_step_a_dimension():
    guest, host = mpinet.open("hypercube:4"), mpinet.open("torus:4x4")
    for kind in ("ascend", "descend"):
        found = emulate_ascend(machine_of(host, "one"), Embedding(guest, host), "fft", kind)
        assert found.correct and (found.program, found.guest_steps) == (kind, 4)


def test_results_stand_at_the_images_of_their_elements():
    guest, host = mpinet.open("hypercube:3"), mpinet.open("ring:13")
    images = np.array([12, 3, 5, 0, 7, 1, 10, 4])
    values = np.array([5, 3, 8, 1, 9, 2, 7, 4])
    machine, embedding = machine_of(host), Embedding(guest, host, images)
    schedule = emulation(embedding, preferring_links(host, host.routing()))
    found = ascend.run(machine, "bitonic-sort", "descend", 0, schedule, lambda i: values[i])
    assert found.correct and np.isin(images[found.index], machine.nodes).all()
    parts = everyone((found.index, found.values))
    index, held = (np.concatenate(column) for column in zip(*parts, strict=True))
    assert held[np.argsort(index)].tolist() == sorted(values.tolist())


def test_a_program_of_one_element_makes_no_step():
    guest, host = mpinet.open("complete:1"), mpinet.open("ring:5")
    found = emulate_ascend(machine_of(host), Embedding(guest, host), "sum")
    assert (found.guest_steps, found.host_steps, found.slowdown) == (0, 0, None)
    assert found.correct


def test_what_is_no_embedding_is_refused():
    for guest, host, images, said in (
        ("ring:9", "hypercube:3", None, "ring:9 has 9 nodes and does not fit"),
        ("ring:9", "fattree:2,3", None, "of 8 processors"),
        ("lens:2,2,2", "ring:99", None, "has busses"),
        ("ring:3", "clens:3,3", None, "has busses"),
        ("ring:3", "ring:5", [0, 1], "3 different host processors"),
        ("ring:3", "ring:5", [0, 1, 1], "numbers 0..4"),
        ("ring:3", "ring:5", [0, 1, 5], "numbers 0..4"),
        ("ring:3", "ring:5", [0, 1, -1], "numbers 0..4"),
        ("ring:3", "ring:5", [0.0, 1.0, 2.5], "numbers 0..4"),
    ):
        with pytest.raises(UsageError, match=said):
            Embedding(mpinet.open(guest), mpinet.open(host), images)


def test_a_machine_of_another_network_is_refused():
    embedding = Embedding(mpinet.open("ring:3"), mpinet.open("ring:5"))
    with pytest.raises(UsageError, match="a machine of its host, ring:5"):
        measure(machine_of("ring:6"), embedding)


def test_a_guest_of_other_than_two_to_the_q_processors_runs_no_ascend():
    host = mpinet.open("ring:8")
    with pytest.raises(UsageError, match="2\\^q processors, and ring:6 has 6"):
        emulate_ascend(machine_of(host), Embedding(mpinet.open("ring:6"), host), "sum")


def test_a_host_too_large_for_a_table_of_distances_leaves_the_dilation_open():
    guest, host = mpinet.open("hypercube:3"), mpinet.open("bsn:1,2,14")
    found = measure(machine_of(host), Embedding(guest, host))
    ways = [way(host, low, high) for low, high in graph_of(guest).edges]
    assert (found.dilation, found.route_length) == (None, max(map(len, ways)))


def outcome(command):
    """The result of a command, run in this process."""
    options = parse(command.split())
    return module_of("embed").prepare(options).run(transport(), lambda *done: None)


def test_the_command_reports_measures_and_slowdown():
    found = outcome("embed ring:8 hypercube:3 --images 0,1,3,2,6,7,5,4 --ports all")
    wanted = {
        "dilation": 1, "congestion": 1, "expansion": 1.0, "program": "step", "guest_steps": 1,
        "host_steps": 1, "slowdown": 1.0, "correct": True,
    }  # fmt: skip
    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.costly
@pytest.mark.parametrize(
    "host",
    ["hypercube:4", "torus:4x4", "torus:3x5", "ccc:3", "debruijn:4", "gmn:4,16", "hdn:2x3,super=0"],
)
def test_a_ring_lies_along_the_host_s_cycle_unless_it_is_told_otherwise(host):
    size = mpinet.open(host).size
    found = outcome(f"embed ring:{size} {host}")
    assert (found["dilation"], found["congestion"], found["correct"]) == (1, 1, True)
    graph = graph_of(mpinet.open(host))
    ways = [nx.shortest_path_length(graph, u, (u + 1) % size) for u in range(size)]
    assert outcome(f"embed ring:{size} {host} --images identity")["dilation"] == max(ways)


def test_a_ring_shorter_than_the_host_s_cycle_stands_at_the_processors_of_its_numbers():
    placed, told = (outcome(f"embed ring:8 hypercube:4{how}") for how in ("", " --images identity"))
    assert placed == told


def test_wrong_usage_is_refused():
    for command, said in (
        ("embed ring:8 hypercube:3 --operator sum", "does not apply to --program step"),
        ("embed ring:8 hypercube:3 --program ascend", "needs an --operator"),
        ("embed ring:6 hypercube:3 --program ascend --operator sum", "ring:6 has 6"),
        ("embed ring:8 hypercube:3 --program ascend --operator bitonic-merge", "no ascend form"),
        ("embed ring:8 hypercube:3 --images 1,2,3", "8 different host processors"),
        ("embed ring:8 hypercube:3 --routing magic", "no routing 'magic'"),
        ("embed ring:9 hypercube:3", "does not fit into the host"),
    ):
        with pytest.raises(UsageError, match=said):
            outcome(command)
