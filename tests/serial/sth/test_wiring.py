"""Numbers, ports and addresses are those of docs/papers/sth, 2, 3 and 8."""

import numpy as np
import pytest
from serial.sth.reference import hexcell_plane, table, wired

import mpinet
from mpinet.compiled import SMALL
from mpinet.errors import NodeError
from mpinet.networks.classic.hexcell import coordinates

SETTINGS = {
    "lst": "2 3 4 5 6 7 8 13 31 100",
    "tq": "2 3 4 5 6 7 8 9 10 11",
    "cq": "1 2 3 4 5 6 7 8 9 10 11",
    "hkv": "1 3 5 7 9 11",
    "sth": "2,2 2,3 3,3 3,4 5,2 7,3 2,1,cq 3,2,cq 2,4,cq 2,1,hkv 3,3,hkv 2,1,q 3,2,q 4,3,q",
    "dlh": "2,0 3,0 2,1 3,1 2,2 3,2 5,3 7,0 4,4 9,2",
    "hexcell": "1 2 3 4 5 6 7 8 9 15",
    "foldedcube": "2 3 4 5 6 7 8 9 10 11",
    "hhc": "1 2 3",
    "stargraph": "2 3 4 5 6 7",
    "arrangement": "2,1 3,1 3,2 4,2 4,3 5,1 5,2 5,3 6,4 7,3 30,2 9,1",
    "petersen": "",
    "hp": "3 4 5 6 7 8 9 10 11 12",
    "fp": "1 2 3",
    "fpq": "0,1 1,1 2,1 0,2 1,2 3,2 5,1 4,2 0,3 1,3",
    "starcube": "2,1 2,3 3,1 3,2 3,4 4,1 4,2 4,4 5,1 5,3",
    "arrstar": "2,2,1 2,3,1 2,3,2 3,2,1 3,4,2 3,4,3 4,3,1 4,4,2 4,5,2 5,3,2",
    "hypermesh": "1,2,1 2,1,1 2,2,1 2,3,2 3,2,2 1,5,3 5,1,3 4,4,2 7,3,1 3,9,4",
    "bh": "1,1,2 2,1,2 1,2,2 2,2,2 3,2,2 3,2,4 1,1,4 2,1,8 4,3,2 2,3,4 5,4,2",
}
"""Settings of every network, each by the arguments."""

NAMES = [
    f"{family}:{arguments}" if arguments else family
    for family, listed in SETTINGS.items()
    for arguments in (listed.split() or [""])
]

LARGE = """hhc:4 hhc:5 lst:1000003 tq:57 cq:57 hkv:57 cq:56 hkv:21 stargraph:8 stargraph:15
foldedcube:57 fp:17 fpq:53,1 hp:56 sth:64,12 sth:1000003,21,hkv sth:12345,40,cq sth:7,50,q
dlh:9999,40 hexcell:1000000 arrangement:1000,2 arrangement:19,18 starcube:12,20 arrstar:9,12,4
hypermesh:1000,999,30 bh:8,9,16 petersen*ring:70 sth:2,3*hexcell:2""".split()


@pytest.mark.parametrize("name", NAMES)
def test_ports_lead_where_the_specification_says(name):
    topology, expected = mpinet.open(name), table(wired(name))
    assert (topology.size, topology.ports) == expected.shape
    nodes, ports = np.arange(topology.size)[:, np.newaxis], np.arange(topology.ports)
    assert (topology.neighbor(nodes, ports) == expected).all()


@pytest.mark.parametrize("name", NAMES)
def test_contract_is_kept(name):
    report = mpinet.check(mpinet.open(name))
    assert report.exhaustive
    assert report.ports == (table(wired(name)) >= 0).sum()


@pytest.mark.parametrize("name", LARGE)
def test_contract_is_kept_by_large_networks(name):
    assert mpinet.check(mpinet.open(name), sample=300).nodes >= 100


@pytest.mark.parametrize("name", NAMES)
def test_canonical_names_and_addresses_lead_back(name):
    topology = mpinet.open(name)
    assert topology.name == name
    some = range(0, topology.size, 1 + topology.size // 200)
    assert [topology.node(topology.address(u)) for u in some] == list(some)


@pytest.mark.parametrize("name", [name for name in NAMES if len(wired(name)) <= 64])
def test_plain_rules_do_as_compiled_ones(name):
    topology, expected = mpinet.open(name), table(wired(name))
    for u, p in np.argwhere(expected >= 0).tolist():
        v = topology.neighbor.rule.function(u, p, topology.params)
        assert v == expected[u, p]
        back = topology.reverse_port.rule.function(u, p, topology.params)
        assert expected[v, back] == u
    assert SMALL == 64, "the arrays of the other tests are mapped by compiled rules"


@pytest.mark.parametrize(
    ("name", "node", "ports"),
    [  # section 3
        ("lst:3", 2, "22 6 3 1"),
        ("tq:3", 0, "3 2 4"),
        ("tq:3", 1, "2 3 5"),
        ("tq:3", 2, "1 0 6"),
        ("tq:3", 3, "0 1 7"),
        ("tq:3", 6, "7 4 2"),
        ("cq:4", 5, "4 7 3 15"),
        ("cq:4", 10, "11 8 14 2"),
        ("cq:5", 21, "20 23 19 31 15"),
        ("hkv:5", 6, "7 0 2 30 22"),
        ("hkv:5", 9, "8 11 13 1 25"),
        ("sth:3,3", 146, "166 150 147 145 170 98 50"),
        ("sth:3,3", 26, "46 30 27 25 50 74 122"),
        ("dlh:3,2", 17, "12 16 23 5 41"),
        ("hexcell:3", 5, "0 4 22"),
        ("hexcell:3", 7, "8 6 0"),
        ("hexcell:3", 23, "6 22 52"),
        ("hexcell:3", 24, "25 53 -"),
        ("hexcell:3", 53, "24 52 -"),
        # section 8
        ("ccc:3", 5, "3 4 17"),
        ("hhc:2", 37, "36 39 45"),
        ("stargraph:4", 5, "19 16 11"),
        ("arrangement:4,2", 5, "2 8 3 4"),
        ("hp:5", 13, "14 12 18 3 33"),
        ("hypermesh:2,3,2", 10, "7 - 9 11 4 22"),
        ("bh:3,2,4", 27, "26 25 31 19 35 39 43 47 8 9 10 11"),
    ],
)
def test_check_values_of_ports(name, node, ports):
    topology = mpinet.open(name)
    found = [topology.neighbor(node, p) for p in range(topology.ports)]
    assert found == [-1 if text == "-" else int(text) for text in ports.split()]


@pytest.mark.parametrize(
    ("name", "node", "address"),
    [
        ("sth:3,3", 146, "(2,6)"),  # section 2
        ("sth:3,3", 163, "(19,6)"),
        ("sth:3,3", 91, "(19,3)"),
        ("lst:3", 22, "PE_22"),  # the paper's example of routing
        ("tq:4", 6, "0110"),
        ("dlh:3,2", 17, "(5,0,1)"),
        ("dlh:3,2", 23, "(5,1,1)"),
        ("hexcell:3", 0, "(1,1)"),
        ("hexcell:3", 6, "(2,1)"),
        ("hexcell:3", 53, "(3,30)"),
        ("hhc:2", 37, "(9,1)"),
        ("stargraph:4", 5, "0,3,2,1"),
        ("arrangement:4,2", 5, "1,3"),
        ("bh:3,2,4", 27, "(1,11)"),
        ("sth:3,3*ring:5", 146 + 192, "((2,6)|1)"),
    ],
)
def test_addresses_are_the_papers(name, node, address):
    topology = mpinet.open(name)
    assert topology.address(node) == address
    assert topology.node(address) == node


@pytest.mark.parametrize(
    ("name", "addresses"),
    [
        ("sth:3,3", "(24,0) (0,8) (-1,3) (2,6 2,6 (2;6) (2,6,1) (2,) (02,6) () (2.0,6)"),
        ("lst:3", "PE_24 PE_-1 PE_ PE22 pe_22 PE_022 22x PE_2.0"),
        ("tq:4", "011 00110 0120 PE_6 -110"),
        ("dlh:3,2", "(6,0,0) (0,2,0) (0,0,4) (0,0) (5,0,1"),
        ("hexcell:3", "(0,1) (1,0) (1,7) (4,1) (2,19) (3,31) (2,1,0) 2,1"),
        ("stargraph:4", "0,1,2 0,1,2,2 0,1,2,4 0,1,2,3,4 0123"),
        ("arrangement:4,2", "1 1,1 1,4 0,1,2"),
        ("hhc:2", "(16,0) (0,4) 9,1"),
        ("bh:3,2,4", "(3,0) (0,16)"),
    ],
)
def test_malformed_addresses_are_refused(name, addresses):
    topology = mpinet.open(name)
    for address in addresses.split():
        with pytest.raises(NodeError, match="is not an address"):
            topology.node(address)
    for node in (-1, topology.size):
        with pytest.raises(NodeError):
            topology.address(node)
        with pytest.raises(NodeError):
            topology.neighbor(node, 0)


def test_hexcell_has_the_coordinates_of_section_2():
    printed = {
        0: (1, 0, 0),
        1: (1, 1, 0),
        5: (1, 0, 1),
        6: (2, -1, 0),
        7: (2, 0, 0),
        8: (2, 0, -1),
        53: (3, -2, 1),
    }
    assert {u: coordinates(u) for u in printed} == printed
    assert [coordinates(u) for u in range(6 * 12**2)] == hexcell_plane(12)


def test_a_new_level_of_hexcell_keeps_the_old_numbers():
    small, large = table(wired("hexcell:5")), table(wired("hexcell:6"))
    assert (large[: len(small), :2] == small[:, :2]).all()


@pytest.mark.parametrize("m", [2, 3, 10])
def test_loop_has_the_links_of_the_circulant(m):
    ours = table(wired(f"lst:{m}"))
    theirs = mpinet.open(f"circulant:{8 * m},jumps=1-4")
    for u in range(8 * m):
        assert set(ours[u]) == {theirs.neighbor(u, p) for p in range(4)}


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("lst:3", {"degree": 4, "diameter": 4, "links": 48}),  # lemma 3, figure 1
        ("sth:2,3", {"degree": 7, "diameter": 5, "links": 448}),  # figure 2
        ("tq:5", {"degree": 5, "diameter": 4}),  # definition 8
        ("cq:5", {"degree": 5, "diameter": 3}),  # lemma 3
        ("dlh:3,2", {"degree": 5, "diameter": 6, "links": 120}),  # table 4
        ("hexcell:3", {"degree": 3, "diameter": 11}),  # introduction
        ("foldedcube:5", {"degree": 6, "diameter": 3}),  # section 8, as all below
        ("hhc:2", {"degree": 3, "diameter": 8}),
        ("stargraph:5", {"degree": 4, "diameter": 6}),
        ("arrangement:5,2", {"degree": 6, "diameter": 3}),
        ("petersen", {"degree": 3, "diameter": 2}),
        ("hp:5", {"degree": 5, "diameter": 4}),
        ("fp:2", {"degree": 6, "diameter": 4}),
        ("fpq:2,2", {"degree": 8, "diameter": 6}),
        ("starcube:4,3", {"degree": 6, "diameter": 7}),
        ("arrstar:3,4,2", {"degree": 6, "diameter": 6}),
    ],
)
def test_stated_measures_are_the_papers(name, stated):
    assert mpinet.open(name).stated == stated
