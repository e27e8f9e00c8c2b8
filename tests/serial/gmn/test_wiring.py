"""G(m,N): which exist, how they are wired, how they are named (docs/papers/gmn, 1, 2, 6)."""

import networkx
import pytest
from serial.gmn.reference import Arbitrary, Loops, m_of, size_range, sizes
from serial.gmn.settings import ARBITRARY

import mpinet
from mpinet.errors import NodeError, TopologyError
from mpinet.networks.gmn.parameters import positions_of


def wired(topology):
    rows = (topology.neighbor(u, range(topology.ports)).tolist() for u in range(topology.size))
    return [[v for v in row if v >= 0] for row in rows]


@pytest.mark.parametrize("name", ["gmn:22,90112", "gmn:40,83886080", "gmn:62,266287972352"])
def test_large_loops_keep_the_contract(name):
    assert mpinet.check(mpinet.open(name), sample=500).routes > 0


@pytest.mark.parametrize("N", [90001, 83886001, 266287972001])
def test_large_loops_of_any_size_keep_the_contract(N):
    assert mpinet.check(mpinet.open(f"gmnany:{N}"), sample=500).addresses > 0


def test_types_by_position():
    """Section 2 and Fig. 1 (m = 8 and m = 11)."""
    listed = {3: "0", 4: "1 0", 5: "1 0", 6: "2 0 1", 7: "2 0 1", 8: "3 1 0 2", 9: "3 1 0 2"}
    listed |= {10: "4 2 0 1 3", 11: "4 2 0 1 3", 12: "5 3 1 0 2 4", 13: "5 3 1 0 2 4"}
    for m, types in listed.items():
        by_type = positions_of(m)
        by_position = sorted(range(m // 2), key=by_type.__getitem__)
        assert " ".join(map(str, by_position)) == types
        assert sorted(by_type) == list(range(1, m, 2))[: m // 2]


def test_the_ring_is_cut_as_in_figure_2():
    """Claim GMN-F2: G(5,40) has 60 links, among them 0-20, 1-11, 1-31, 3-8, 3-38."""
    rows = wired(mpinet.open("gmn:5,40"))
    assert sum(map(len, rows)) == 120
    for u, v in [(0, 20), (1, 11), (1, 31), (3, 8), (3, 38)]:
        assert v in rows[u]


@pytest.mark.parametrize(
    ("N", "links", "bound"),
    [(96, 152, 8), (256, 400, 11), (640, 992, 14), (1536, 2368, 17), (3584, 5504, 19)],
)
def test_stated_links_and_diameters_are_those_of_table_1(N, links, bound):
    stated = mpinet.open(f"gmn:{N}").stated
    assert (stated["degree"], stated["links"], stated["diameter_bound"]) == (4, links, bound)


@pytest.mark.parametrize("name", ["gmn:4,16", "gmn:6,48", "gmn:8,128"])
def test_where_the_largest_hop_jumps_half_way_its_second_port_is_missing(name):
    topology = mpinet.open(name)
    graph = networkx.Graph((u, v) for u, row in enumerate(wired(topology)) for v in row)
    assert sum(map(len, wired(topology))) == 2 * graph.number_of_edges()
    m = topology.sector
    assert topology.neighbor(1, 2) == 1 + topology.size // 2
    assert topology.neighbor(1, 3) == -1
    assert topology.neighbor(1 + m, 3) == -1


def test_m_follows_from_n():
    """Section 1: the ranges as printed."""
    last = [12, 32, 40, 96, 112, 256, 288, 640, 704, 1536, 1664, 3584, 3840, 8192, 8704, 18432]
    last += [19456, 40960]
    for m, (first, most) in enumerate(zip([9, *(n + 1 for n in last)], last, strict=False), 3):
        assert size_range(m) == (first - 1, most)
        for N in sizes(m)[:2] + sizes(m)[-2:]:
            assert mpinet.open(f"gmn:{N}").name == f"gmn:{m},{N}"
            assert mpinet.open(f"gmn:N={N}").name == f"gmn:{m},{N}"
            assert mpinet.open(f"gmn:{m},{N}").name == f"gmn:{m},{N}"


@pytest.mark.parametrize("name", ["gmn:62,266287972352", "gmnany:100"])
def test_names_round_trip(name):
    assert mpinet.open(mpinet.open(name).name).name == name


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("gmn", "N is missing"),
        ("gmn:m=8", "N must be >= 9, not 8"),
        ("gmn:2,8", "m must be 3..108, not 2"),
        ("gmn:-8,256", "m must be 3..108, not -8"),
        ("gmn:109,256", "m must be 3..108"),
        ("gmn:8", "N must be >= 9, not 8"),
        ("gmn:9", "multiple of 2m = 6 in 12..12 for m = 3, not 9"),
        ("gmn:100", "multiple of 2m = 14 in 98..112 for m = 7, not 100"),
        ("gmn:8,250", "multiple of 2m = 16 in 128..256 for m = 8, not 250"),
        ("gmn:8,112", "in 128..256 for m = 8, not 112"),
        ("gmn:8,272", "in 128..256 for m = 8, not 272"),
        ("gmn:8,0", "N must be >= 1, not 0"),
        ("gmn:8,-256", "N must be >= 1, not -256"),
        ("gmn:8,256,1", "'1' is too much"),
        ("gmn:8,256.0", "not a whole number"),
        ("gmnany", "N is missing"),
        ("gmnany:7", "N must be >= 8, not 7"),
        ("gmnany:-1", "N must be >= 8, not -1"),
        (
            "gmnany:17",
            "N must be >= 8 and not 17, not 17: G\\(4,24\\) has too few nodes of degree 2",
        ),
        ("gmnany:x", "not a whole number"),
    ],
)
def test_wrong_settings_are_refused_with_the_reason(wrong, sentence):
    with pytest.raises(TopologyError, match=sentence):
        mpinet.open(wrong)


def test_addresses_are_sector_and_position():
    topology = mpinet.open("gmn:8,256")
    assert topology.address(42) == "5,2"
    assert [topology.node(topology.address(u)) for u in range(256)] == list(range(256))
    for wrong in ("5", "5,8", "32,0", "-1,3", "5,2,1", "5, 2", "05,2", "x,y", ""):
        with pytest.raises(NodeError, match="not an address"):
            topology.node(wrong)
    for wrong in (-1, 256):
        with pytest.raises(NodeError, match=r"nodes are 0\.\.255"):
            topology.address(wrong)


@pytest.mark.parametrize("N", ARBITRARY)
def test_any_number_of_nodes_is_wired_as_in_section_6(N):
    topology, expected = mpinet.open(f"gmnany:{N}"), Arbitrary(N)
    assert expected.possible
    for u, whole in enumerate(expected.old):
        address = f"{whole // expected.m},{whole % expected.m}"
        assert topology.address(u) == address
        assert topology.node(address) == u
    for whole in expected.removed:
        with pytest.raises(NodeError, match="not an address"):
            topology.node(f"{whole // expected.m},{whole % expected.m}")


def test_which_numbers_of_nodes_are_possible():
    """Section 1: all but N < 8 and N = 17."""
    assert [N for N in range(8, 600) if not Arbitrary(N).possible] == [17]


def test_a_valid_size_loses_no_node():
    for N in (12, 32, 40, 96, 640):
        assert wired(mpinet.open(f"gmnany:{N}")) == Loops(m_of(N), N).wiring()
