"""Numbers, ports and addresses are those of docs/papers/sth, 2, 3 and 8."""

import pytest
from serial.sth.reference import hexcell_plane, table, wired
from serial.sth.settings import LARGE

import mpinet
from mpinet.errors import NodeError
from mpinet.networks.classic.hexcell import coordinates


@pytest.mark.costly
@pytest.mark.parametrize("name", LARGE)
def test_contract_is_kept_by_large_networks(name):
    assert mpinet.check(mpinet.open(name), sample=300).nodes >= 100


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
