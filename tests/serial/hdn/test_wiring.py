"""Hierarchical dual-nets have the nodes, addresses and links of docs/papers/hdn, 1-3."""

import networkx
import numpy as np
import pytest
from serial.hdn.reference import Network
from serial.hdn.settings import CUBES, LARGE, RDN, SMALL, ring

import mpinet
from mpinet.errors import NodeError
from mpinet.networks.hdn.base import Factor
from mpinet.networks.hdn.wiring import DualCube, HierarchicalDualNet, RecursiveDualNet

EXAMPLE = "hdn:2x3x5,super=0.1/1.2"


def some(size, count=200, seed=1):
    return np.unique(np.append(np.random.default_rng(seed).integers(0, size, count), [0, size - 1]))


@pytest.mark.parametrize(
    ("name", "node", "digits", "address"),
    [
        (EXAMPLE, 270, (0, 0, 1, 4, 0, 0, 0), "0,0,18,0"),
        (EXAMPLE, 5000, (0, 16, 1, 1, 1, 1, 0), "0,16,13,5"),
        (EXAMPLE, 11999, (1, 19, 1, 4, 1, 2, 4), "1,19,19,14"),
        ("hdn:2x3x5,sizes=1/1", 1234567, (0, 685, 1, 22, 0, 1, 2), None),
    ],
)
def test_vectors_of_section_2(name, node, digits, address):
    topology = mpinet.open(name)
    assert topology.digits(node) == digits
    assert topology.node_of(digits) == node
    assert address is None or (topology.address(node), topology.node(address)) == (address, node)


@pytest.mark.parametrize(
    ("name", "node", "neighbors"),
    [
        (EXAMPLE, 0, [15, 5, 10, 1, 4, 150, 6000]),
        (EXAMPLE, 285, [270, 290, 295, 286, 289, 19, 11700]),
        (EXAMPLE, 5000, [4985, 5005, 4995, 5001, 5004, 4821, 10145]),
        (
            "hdn:2x3x5,sizes=1/1",
            1234567,
            [1234582, 1234572, 1234562, 1234568, 1234566, 1233232, 6061285],
        ),
        (
            "hdn:2x3x5,sizes=1/1",
            6479999,
            [6479984, 6479989, 6479994, 6479995, 6479998, 6479099, 3239999],
        ),
        ("hdn:K2xK2,super=0", 0, [1, 2, 8]),
        ("hdn:K2xK2,super=0", 6, [7, 4, 14]),
    ],
)
def test_vectors_of_section_3(name, node, neighbors):
    topology = mpinet.open(name)
    assert [topology.neighbor(node, port) for port in range(topology.ports)] == neighbors


@pytest.mark.costly
@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_numbering_addresses_and_neighbours_are_those_of_the_specification(name):
    topology, reference = mpinet.open(name), {**SMALL, **LARGE}[name]
    assert topology.size == reference.size
    nodes = np.arange(topology.size) if name in SMALL else some(topology.size)
    for node in nodes.tolist():
        x = reference.node(node)
        assert reference.number(x) == node
        assert topology.digits(node) == x
        assert topology.node_of(x) == node
        found = [topology.neighbor(node, port) for port in range(topology.ports)]
        wired = [-1 if y is None else reference.number(y) for y in reference.wiring(x)]
        assert found == wired
        if reference.k == 0:
            assert topology.address(node) == ",".join(map(str, x))
        else:
            top = (*x[:2], *reference.split(reference.k, x[2:]))
            assert topology.address(node) == ",".join(map(str, top))
            assert topology.level_address(node, reference.k) == top
        for level in range(1, reference.k + 1):
            inner = x[-reference.width(level) :]
            expected = (*inner[:2], *reference.split(level, inner[2:]))
            assert topology.level_address(node, level) == expected


@pytest.mark.costly
@pytest.mark.parametrize("name", [*LARGE, *RDN, *CUBES])
def test_contract_is_kept(name):
    topology = mpinet.open(name)
    report = mpinet.check(topology, sample=256)
    assert report.topology == name
    routed = topology.size**2 if topology.size <= 64 else 32  # by each of its routings
    assert report.routes > 0
    assert report.routes % routed == 0


@pytest.mark.parametrize("k", range(3))
def test_rdn_is_the_hdn_of_single_nodes(k):
    # docs/papers/hdn, 1; claim HDN-S2-rdn-special
    for base in ("2", "5", "2x3"):
        rdn = mpinet.open(f"rdn:{base},{k}")
        hdn = mpinet.open(f"hdn:{base}" + (",super=" + "/".join("-" * k) if k else ""))
        assert rdn.params.tolist() == hdn.params.tolist()
        assert rdn.stated == hdn.stated


@pytest.mark.parametrize("n", [2, 3, 4])
def test_dual_cube_joins_equal_addresses_of_both_classes(n):
    # docs/papers/hdn, 9: the cube address of (C,U,SN) is U,SN for both classes
    cube, width = mpinet.open(f"dualcube:{n}"), n - 1
    assert cube.size == 2 ** (2 * n - 1)
    graph = networkx.Graph()
    for u in range(cube.size):
        for port in range(cube.ports):
            graph.add_edge(u, cube.neighbor(u, port))
        c, cluster, number, inner = map(int, cube.address(u).split(","))
        assert (c << 2 * width) + (cluster << width) + number == u
        assert inner == 0
        cross = cube.neighbor(u, cube.ports - 1)
        assert cube.address(cross) == f"{1 - c},{number},{cluster},0"
    assert networkx.diameter(graph) == 2 * n == cube.stated["diameter"]
    assert cube.stated["degree"] == n
    assert mpinet.open(f"rdn:{'x'.join('2' * (n - 1))},1").params.tolist() == cube.params.tolist()


@pytest.mark.parametrize(
    ("hdn", "classic"),
    [
        ("hdn:2x3x5", "torus:2x3x5"),
        ("hdn:4x7", "torus:4x7"),
        ("hdn:P2xP5xP3", "mesh:2x5x3"),
        ("hdn:K6", "complete:6"),
        ("hdn:9", "ring:9"),
    ],
)
def test_base_without_levels_is_the_classic_product(hdn, classic):
    # docs/papers/hdn, 9: product(B) is numbered row-major
    one, other = mpinet.open(hdn), mpinet.open(classic)
    assert (one.size, one.ports) == (other.size, other.ports)
    nodes, ports = np.arange(one.size)[:, np.newaxis], np.arange(one.ports)
    assert (one.neighbor(nodes, ports) == other.neighbor(nodes, ports)).all()
    wired = one.neighbor(nodes, ports) >= 0
    backs = [np.where(wired, t.reverse_port(nodes, ports), -1) for t in (one, other)]
    assert (backs[0] == backs[1]).all()


TABLE_1 = {  # claims HDN-Tab1-k1, HDN-Tab1-k2-s1 .. s30
    1: [1800, 6480000, 3240000, 2160000, 1296000, 1080000, 648000, 432000, 216000],
    2: [900, 1620000, 810000, 540000, 324000, 270000, 162000, 108000, 54000],
    3: [600, 720000, 360000, 240000, 144000, 120000, 72000, 48000, 24000],
    5: [360, 259200, 129600, 86400, 51840, 43200, 25920, 17280, 8640],
    6: [300, 180000, 90000, 60000, 36000, 30000, 18000, 12000, 6000],
    10: [180, 64800, 32400, 21600, 12960, 10800, 6480, 4320, 2160],
    15: [120, 28800, 14400, 9600, 5760, 4800, 2880, 1920, 960],
    30: [60, 7200, 3600, 2400, 1440, 1200, 720, 480, 240],
}


@pytest.mark.parametrize("s1", TABLE_1)
def test_sizes_of_table_1(s1):
    first = mpinet.open(f"hdn:2x3x5,sizes={s1}")
    second = [mpinet.open(f"hdn:2x3x5,sizes={s1}/{s2}") for s2 in TABLE_1]
    assert [first.size, *(topology.size for topology in second)] == TABLE_1[s1]


@pytest.mark.parametrize(
    ("name", "size", "degree", "diameter"),
    [  # claims HDN-Tab3-..
        ("hdn:2x3x5,sizes=1", 1800, 6, 10),
        ("hdn:2x3x5,sizes=2", 900, 6, 9),
        ("hdn:2x3x5,sizes=3", 600, 6, 9),
        ("hdn:2x3x5,sizes=2/2", 810000, 7, 19),
        ("hdn:2x3x5,sizes=2/5", 324000, 7, 18),
        ("hdn:2x3x5,sizes=5/2", 129600, 7, 17),
    ],
)
def test_stated_figures_are_those_of_table_3(name, size, degree, diameter):
    stated = mpinet.open(name).stated
    assert stated == {"size": size, "degree": degree, "diameter": diameter}


@pytest.mark.parametrize(
    ("name", "nodes", "clusters", "inner"),
    [  # claims HDN-Fig4, -Fig5, -Fig6, -EX-fig10, -EX-fig11: nodes, clusters per class, s
        ("hdn:2x2,super=0", 16, 2, 2),
        ("hdn:2x2,super=0/0", 256, 8, 2),
        ("hdn:2x2,super=0/0.1", 128, 4, 4),
        ("hdn:2x3x5,super=0.1", 300, 5, 6),
        ("hdn:2x3x5,super=0.1/1.2", 12000, 20, 15),
    ],
)
def test_networks_of_the_figures(name, nodes, clusters, inner):
    topology = mpinet.open(name)
    assert topology.size == nodes
    assert topology.address(nodes - 1) == f"1,{clusters - 1},{clusters - 1},{inner - 1}"


@pytest.mark.parametrize(
    ("level_1", "level_2"),
    [  # the rows of Table 4; SN^2 as printed, N^2 by the definition (printed: 0, 0, 14, 14)
        ((0, 0, 0, 0), (0, 0)),
        ((1, 4, 2, 3), (19, 2)),
        ((0, 0, 2, 2), (0, 12)),
        ((1, 4, 4, 5), (19, 14)),
    ],
)
def test_reindexing_of_table_4(level_1, level_2):
    topology = mpinet.open(EXAMPLE)
    [node] = [u for u in range(300) if topology.level_address(u, 1) == level_1]
    assert topology.level_address(node, 2) == (0, 0, *level_2)


def test_reindexing_is_one_to_one():
    topology = mpinet.open(EXAMPLE)
    assert len({topology.level_address(u, 1) for u in range(300)}) == 300


def test_indices_of_the_worked_example():
    # docs/papers/hdn, 7: u' = (0,0,19,0) and v' = (1,19,0,14) at levels 2 and 1
    topology = mpinet.open(EXAMPLE)
    assert topology.level_address(topology.node("0,0,19,0"), 1) == (1, 4, 0, 3)
    assert topology.level_address(topology.node("1,19,0,14"), 1) == (0, 0, 4, 2)
    assert topology.neighbor(topology.node("0,0,19,0"), 6) == topology.node("1,19,0,0")


def test_classes_take_the_values_that_strings_name():
    base = [("C", 2), ("C", 3), ("C", 5)]
    assert HierarchicalDualNet(base).name == "hdn:2x3x5"
    assert HierarchicalDualNet(base, super=[(1, 0), (1, 2)]).name == EXAMPLE
    assert HierarchicalDualNet(base, sizes=[6, 15]).name == EXAMPLE
    assert RecursiveDualNet([Factor("K", 2), Factor("K", 4)], 1).name == "rdn:2xK4,1"
    assert DualCube(3).name == "dualcube:3"


@pytest.mark.parametrize(
    ("loose", "canonical"),
    [
        ("hdn:C2xC3xK2,super=2.0/-", "hdn:2x3x2,super=0.2/-"),
        ("hdn:2x3x5,0.1/1.2", EXAMPLE),
        ("hdn:2x3x5,sizes=6/15", EXAMPLE),
        ("hdn:2x3x5,sizes=1", "hdn:2x3x5,super=-"),
        ("hdn:2x2x2,sizes=8/1", "hdn:2x2x2,super=0.1.2/-"),
        ("hdn:BASE=K3", "hdn:K3"),
        ("rdn:k=1,BASE=C4", "rdn:4,1"),
        ("dualcube:n=4", "dualcube:4"),
    ],
)
def test_other_spellings_name_the_same_network(loose, canonical):
    assert mpinet.open(loose).name == canonical
    assert mpinet.open(canonical).params.tolist() == mpinet.open(loose).params.tolist()


@pytest.mark.parametrize("name", [*LARGE, *RDN, *CUBES])
def test_canonical_names_open_the_same_network(name):
    assert mpinet.open(name).name == name


@pytest.mark.parametrize(
    "address", ["2,0,0,0", "0,20,0,0", "0,0,20,0", "0,0,0,15", "0,0,0", "0,0,0,0,0", "0,0,0,-1"]
)
def test_addresses_out_of_range_are_refused(address):
    with pytest.raises(NodeError, match=r"is not an address in hdn.*0,0,0,0 \.\. 1,19,19,14"):
        mpinet.open(EXAMPLE).node(address)


def test_digits_out_of_range_are_refused():
    topology = mpinet.open(EXAMPLE)
    with pytest.raises(NodeError, match=r"Digit 1 of a node .* must be 0\.\.19, not 20"):
        topology.node_of((0, 20, 0, 0, 0, 0, 0))
    with pytest.raises(NodeError, match="has 7 digits, not 4"):
        topology.node_of((0, 19, 0, 0))
    with pytest.raises(NodeError, match=r"nodes are 0\.\.11999"):
        topology.digits(12000)
    with pytest.raises(NodeError, match=r"no level 3 in hdn.*1\.\.2"):
        topology.level_address(0, 3)


def test_parameters_grow_with_the_description_not_with_the_network():
    cube = mpinet.open("dualcube:29")
    assert cube.size == 2**57 == Network([ring(2)] * 28, [()]).size
    assert cube.params.size < 150
