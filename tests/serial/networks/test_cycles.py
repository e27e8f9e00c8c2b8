"""Hamiltonian cycles: following the local rule leads through every processor and back."""

from itertools import combinations, pairwise, product
from math import prod

import numpy as np
import pytest

import mpinet
from mpinet import Machine
from mpinet.machine.transport import Local
from mpinet.networks.hamiltonian import order_between
from mpinet.networks.shortest import neighbor_table
from mpinet.programs.gossip import gossip

CYCLES = """
ring:3 ring:8 complete:2 complete:7 hypercube:1 hypercube:2 hypercube:7 ccc:3 ccc:4 ccc:5
ccc:6 ccc:7 ccc:9 mesh:2 mesh:2x2 mesh:2x3 mesh:3x2 mesh:3x4 mesh:4x3 mesh:4x6 mesh:3x5x2 mesh:5x4x3
mesh:2x2x2x2 torus:2 torus:5 torus:2x2 torus:3x2 torus:3x3 torus:3x5 torus:7x4 torus:5x2x4
torus:3x5x7 torus:3x3x3x3 circulant:12,jumps=1-4 circulant:10,jumps=3-4 circulant:10,jumps=2-3
rcirculant:16,4 chordalring:16,5 doubleloop:12,5 gmn:3,12 gmn:8,256 gmnany:8 gmnany:100 lst:6
foldedcube:2 foldedcube:7 debruijn:2 debruijn:3 debruijn:9
hdn:2 hdn:2x3 hdn:K5xK4x2 hdn:P3xP4 dualcube:2 dualcube:5""".split()

PRODUCTS = """
ring:3*ring:3 ring:4*ring:5 ring:5*mesh:3x3 mesh:3x3*ring:5 mesh:3x3*ring:4 mesh:2*ring:3
mesh:3x3*complete:2 complete:2*mesh:3x3 complete:2*complete:2 petersen*complete:2 petersen*ring:4
ring:3*ring:5*complete:2 sth:2,3 dlh:3,2 starcube:3,2 hypermesh:3,3,2""".split()

SEARCHED = """moebius:7 bsn:1,2,6 gbsn:1,m=4-4-4-2,a=1 tq:5 cq:6 hkv:7 hhc:2
stargraph:5 arrangement:5,2 hp:5 fpq:1,2 bh:2,2,4 hexcell:1 circulant:10,jumps=2-5 hdn:P3xC3
ring:3*complete:1 complete:2*complete:1""".split()

NONE = """
complete:1*complete:1 moebius:3 mesh:4 mesh:3x3 mesh:3x5x3 mesh:3x3*mesh:3x3 petersen hexcell:2
shuffleexchange:4 moebius:15 hdn:2x3x5,super=-/0 fattree:2,2 ring:3*fattree:2,2 lens:2,2,2
lens:2,2,2*lens:2,2,2""".split()

BASES = {
    "2": (1, 2, 3), "C3": (1, 2), "C4": (1, 2), "C5": (1, 2), "C6": (1, 2), "K4": (1, 2),
    "2x2": (1, 2), "2x3": (1, 2), "3x3": (1, 2), "2x2x2": (1, 2), "2x3x5": (1,),
}  # fmt: skip
"""The bases of range R1 of the claims on the HDN, each with its numbers of levels."""


def dual_nets(base, most):
    """The networks of R1 with a base, of at most so many processors: name, size, super-nodes."""
    sides = [int(factor.lstrip("CK")) for factor in base.split("x")]
    indices = range(len(sides))
    members = [J for r in range(len(sides) + 1) for J in combinations(indices, r)]
    for levels in BASES[base]:
        for chosen in product(members, repeat=levels):
            size = prod(sides)
            for J in chosen:
                size = 2 * size * size // prod(sides[j] for j in J)
            if size <= most:
                text = "/".join(".".join(map(str, J)) or "-" for J in chosen)
                yield f"hdn:{base},super={text}", size, chosen


def visited(topology):
    """The nodes from 0 until it comes again; every hop a link."""
    nodes = np.arange(topology.size)
    following = topology.neighbor(nodes, topology.cycle().successor(nodes)).tolist()
    order = [0]
    while following[order[-1]] != 0:
        order.append(following[order[-1]])
        assert order[-1] >= 0 and len(order) <= topology.size
    return order


@pytest.mark.parametrize("name", [*CYCLES, *PRODUCTS, *SEARCHED])
def test_the_cycle_leads_through_every_processor_and_back(name):
    topology = mpinet.open(name)
    assert sorted(visited(topology)) == list(range(topology.size))


@pytest.mark.parametrize("base", BASES)
def test_every_dual_net_of_the_claims_has_a_cycle_nested_ones_by_lifting(base):
    for name, size, chosen in dual_nets(base, 1100):
        topology = mpinet.open(name)
        assert sorted(visited(topology)) == list(range(size)), name
        if len(chosen) < 3 and all(set(inner) <= set(outer) for outer, inner in pairwise(chosen)):
            assert topology.cycle().name == "lifted"


@pytest.mark.parametrize(
    ("name", "words"),
    [("hdn:2x3x5,super=0.1", 100), ("hdn:2x3x5,super=0.1/1.2", 6200), ("rdn:2,3", 17000)],
)
def test_lifted_cycles_need_tables_of_at_most_half_the_machine(name, words):
    topology = mpinet.open(name)
    assert sorted(visited(topology)) == list(range(topology.size))
    assert topology.cycle().name == "lifted" and len(topology.cycle().params) <= words


def test_six_million_processors_walk_their_clusters_by_small_tables():
    topology = mpinet.open("rdn:2x3x5,2")
    cycle = topology.cycle()
    assert len(cycle.params) < topology.size // 300
    node, walked = 0, []
    for _ in range(3 * 1800):
        walked.append(node)
        port = cycle.rule(node, 0, cycle.params)
        node = topology.neighbor(node, int(port))
    clusters = [sorted(walked[at : at + 1800]) for at in range(0, len(walked), 1800)]
    for nodes in clusters:
        assert nodes == list(range(nodes[0], nodes[0] + 1800)) and nodes[0] % 1800 == 0
    assert len({nodes[0] for nodes in clusters}) == 3


def test_a_search_finds_the_same_cycle_again():
    ports = [mpinet.open("moebius:8").cycle().params.tolist() for _ in range(2)]
    assert ports[0] == ports[1]


def test_a_path_is_found_between_two_given_nodes():
    cube = mpinet.open("hypercube:4")
    order = order_between(neighbor_table(cube), 3, 4)
    assert (order[0], order[-1], sorted(order)) == (3, 4, list(range(16)))
    assert all((a ^ b).bit_count() == 1 for a, b in pairwise(order.tolist()))
    assert order_between(neighbor_table(cube), 3, 5) is None  # of one colour


@pytest.mark.parametrize("name", NONE)
def test_networks_without_a_cycle_or_too_large_to_search_have_none(name):
    assert mpinet.open(name).cycle() is None


def test_the_hypercube_s_cycle_is_the_reflected_gray_code():
    cube = mpinet.open("hypercube:3")
    code, node = [], 0
    for _ in range(8):
        code.append(format(node, "03b"))
        node = cube.neighbor(node, int(cube.cycle().successor(np.array([node]))[0]))
    assert code == ["000", "001", "011", "010", "110", "111", "101", "100"]


def test_rotation_meets_the_lower_bound_on_the_dual_nets_of_up_to_150_processors():
    for base in BASES:
        for name, size, _ in dual_nets(base, 150):
            result = gossip(Machine(name, "one", Local()))
            assert (result.algorithm, result.steps) == ("cycle", size - 1), name
            assert result.lower_bound == size - 1 and result.correct
