"""Wiring of the lens: numbers, ports, busses, addresses are those of docs/papers/lens, 2 and 3."""

import numpy as np
import pytest
from serial.lens import reference
from serial.lens.settings import BUS_NETWORKS, CIRCLES, LENSES, OTHERS, PARTIALS

import mpinet
from mpinet.errors import NodeError, TopologyError


@pytest.mark.costly
@pytest.mark.parametrize("name", LENSES | CIRCLES | PARTIALS)
def test_ports_are_pairs_of_bus_and_other_member(name):
    topology, expected = mpinet.open(name), BUS_NETWORKS[name]
    assert (topology.size, topology.busses) == (len(expected.processors), len(expected.busses))
    assert topology.ports == max(map(len, expected.ports))
    for u, ports in enumerate(expected.ports):
        padding = [(-1, -1)] * (topology.ports - len(ports))
        here = np.arange(topology.ports)
        found = zip(
            topology.channel(u, here).tolist(), topology.neighbor(u, here).tolist(), strict=True
        )
        assert list(found) == ports + padding


@pytest.mark.parametrize("name", OTHERS)
def test_snowflake_and_star_have_the_busses_of_the_definition(name):
    topology, expected = mpinet.open(name), BUS_NETWORKS[name]
    assert (topology.size, topology.busses) == (len(expected.processors), len(expected.busses))
    assert topology.ports == max(map(len, expected.ports))
    labels = {}
    for u, ports in enumerate(expected.ports):
        here = np.arange(topology.ports)
        found = topology.neighbor(u, here).tolist()
        assert found == [v for _, v in ports] + [-1] * (topology.ports - len(ports))
        for (bus, _), number in zip(ports, topology.channel(u, here).tolist(), strict=False):
            assert labels.setdefault(bus, number) == number
    assert sorted(labels.values()) == list(range(topology.busses))


@pytest.mark.parametrize("name", LENSES | CIRCLES | PARTIALS)
def test_incidences_count_busses_with_a_single_member(name):
    topology, expected = mpinet.open(name), BUS_NETWORKS[name]
    pairs = topology.incidences(np.arange(topology.size))
    assert list(map(tuple, pairs.tolist())) == expected.incidences
    for bus, label in enumerate(expected.busses):
        members = [expected.number[u] for u in expected.members[label]]
        assert topology.bus_members(bus) == members
    for u, label in enumerate(expected.processors):
        busses = [expected.bus_number[b] for b in expected.busses_of[label]]
        assert topology.busses_of(u) == busses


@pytest.mark.parametrize("name", OTHERS)
def test_incidences_of_snowflake_and_star_are_local_both_ways(name):
    topology, expected = mpinet.open(name), BUS_NETWORKS[name]
    pairs = topology.incidences(np.arange(topology.size))
    assert len(pairs) == len(expected.incidences)
    on = {}
    for u, bus in pairs.tolist():
        on.setdefault(bus, []).append(u)
    assert {frozenset(members) for members in on.values()} == set(expected.busses)
    for bus, members in on.items():
        assert topology.bus_members(bus) == members


def test_by_default_incidences_are_read_off_the_ports():
    from mpinet.networks.topology import Topology

    topology = mpinet.open("clens:3,3")
    nodes = np.arange(topology.size)
    assert np.array_equal(Topology.incidences(topology, nodes), topology.incidences(nodes))
    assert Topology.bus_members(topology, 13) == sorted(topology.bus_members(13))


@pytest.mark.parametrize("name", LENSES | CIRCLES)
def test_addresses_are_the_words_with_the_dot(name):
    topology, expected = mpinet.open(name), BUS_NETWORKS[name]
    for u, label in enumerate(expected.processors):
        assert topology.address(u) == reference.text(label)
        assert topology.node(reference.text(label)) == u
    for b, label in enumerate(expected.busses):
        assert topology.bus_address(b) == reference.text(label)
        assert topology.bus(reference.text(label)) == b


@pytest.mark.parametrize("name", PARTIALS)
def test_addresses_of_the_partial_lens_are_the_completed_lenss(name):
    topology, expected = mpinet.open(name), BUS_NETWORKS[name]
    for u, label in enumerate(expected.processors):
        assert topology.address(u) == reference.text(label)
        assert topology.node(reference.text(label)) == u


def test_products_keep_the_incidences_of_their_factors():
    topology = mpinet.open("lens:2,3,2*clens:3,2")
    first, second = LENSES["lens:2,3,2"], CIRCLES["clens:3,2"]
    size, count = len(first.processors), len(first.busses)
    expected = [
        (b * size + a, b * count + bus) for b in range(topology.size // size)
        for a, bus in first.incidences
    ] + [
        (b * size + a, topology.size // size * count + a * len(second.busses) + bus)
        for a in range(size) for b, bus in second.incidences
    ]  # fmt: skip
    mpinet.check(topology)
    pairs = topology.incidences(np.arange(topology.size))
    assert list(map(tuple, pairs.tolist())) == sorted(expected)


def test_check_values_of_section_2():
    lens = mpinet.open("lens:4,4,5")
    assert (lens.node("021.10"), lens.node("00.220")) == (552, 267)
    lens = mpinet.open("lens:3,4,3")
    assert [lens.node(word) for word in ("0.12", "01.2", "010.")] == [5, 23, 32]
    circle = mpinet.open("clens:3,3")
    assert circle.node(".011") == circle.node("011.") == 19
    circle = mpinet.open("clens:4,10")
    assert circle.node("021.0212012") == 134033
    assert circle.node("0110010.212") == 363146
    lens = mpinet.open("lens:3,4,2")
    assert [lens.address(u) for u in range(lens.size)] == (
        "0.0 0.1 0.2 1.0 1.1 1.2 00. 01. 10. 11.".split()
    )
    assert [lens.bus_address(b) for b in range(lens.busses)] == (
        ".00 .01 .02 .10 .11 .12 .20 .21 .22 0.0 0.1 0.2 1.0 1.1 1.2".split()
    )


def test_both_spellings_are_read_on_the_circle_only():
    circle, lens = mpinet.open("clens:4,3"), mpinet.open("lens:4,4,3")
    assert circle.bus("012.") == circle.bus(".012") == 5
    assert circle.bus_address(5) == ".012"
    with pytest.raises(NodeError, match=r"'\.012' is not an address"):
        lens.node(".012")
    with pytest.raises(NodeError, match=r"'012\.' is not the address of a bus"):
        lens.bus("012.")


@pytest.mark.parametrize(
    "word",
    ["", ".", "0112", "0.1.2", "01.", "011.2", "01.3", "2.12", "0.1x", "A.00", "0.-1", " 0.12"],
)
def test_malformed_addresses_are_refused(word):
    lens = mpinet.open("lens:3,4,3")
    with pytest.raises(NodeError, match="is not an address in lens:3,4,3"):
        lens.node(word)
    with pytest.raises(NodeError, match="is not the address of a bus in lens:3,4,3"):
        lens.bus(word)
    with pytest.raises(NodeError):
        mpinet.open("plens:4,60").node("00.9")


def test_numbers_out_of_range_are_refused():
    lens = mpinet.open("lens:3,4,3")
    for wrong in (-1, lens.size):
        with pytest.raises(NodeError, match=r"nodes are 0\.\.37"):
            lens.address(wrong)
    for wrong in (-1, lens.busses):
        for ask in (lens.bus_address, lens.bus_members):
            with pytest.raises(NodeError, match=r"busses are 0\.\.56"):
                ask(wrong)


def test_large_radices_have_decimal_digits_and_commas():
    lens = mpinet.open("lens:100,40,2")
    assert lens.address(lens.node("98.38")) == "98.38"
    assert lens.address(lens.size - 1) == "98,98."
    assert mpinet.open("lens:36,37,2").address(0) == "0.0"
    assert mpinet.open("lens:36,37,2").node("y.z") == 34 * 36 + 35


@pytest.mark.parametrize(
    ("p", "q", "n"), [(3, 3, 1), (3, 3, 2), (3, 3, 3), (3, 4, 3), (4, 3, 3), (2, 4, 3), (4, 2, 4)]
)
def test_recursive_construction_makes_the_same_network(p, q, n):
    topology = mpinet.open(f"lens:{p},{q},{n}")
    pairs = topology.incidences(np.arange(topology.size)).tolist()
    addresses = {(topology.address(u), topology.bus_address(b)) for u, b in pairs}
    assert addresses == reference.recursive_lens(p, q, n)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("lens:1,3,3", "lens: p must be >= 2, not 1"),
        ("lens:3,1,3", "lens: q must be >= 2, not 1"),
        ("lens:3,3,0", "lens: n must be >= 1, not 0"),
        ("lens:3,3,x", "n: 'x' is not a whole number; n is >= 1"),
        ("lens:3,2.5,2", "q: '2.5' is not a whole number"),
        ("lens:3,3", "n is missing"),
        ("lens:3,3,100", "n can be 62 at most"),
        ("lens:2,2,20000", "n can be 16383 at most"),
        ("lens:4,4,50", "at most 2\\^63 - 1 can be numbered"),
        ("lens:2,6,27", "at most 2\\^63 - 1 ports can be numbered"),
        ("clens:1,3", "clens: p must be >= 2"),
        ("clens:3,1", "clens: n must be >= 2, not 1"),
        ("clens:3,4,3", "'3' is too much"),
        ("plens:2,10", "plens: p must be >= 3"),
        ("plens:3,1", "plens: size must be >= 2"),
        ("plens:3,30,1", "plens: n must be >= 2"),
        ("plens:3,3,4", "size must be n..n\\(p-1\\)\\^n, which is 4..4\\*2\\^4 for n = 4, not 3"),
        ("plens:3,25,3", "which is 3..3\\*2\\^3 for n = 3, not 25"),
        ("snowflake:1,3", "snowflake: p must be >= 2"),
        ("snowflake:3,0", "snowflake: n must be 1..62"),
        ("busstar:2,3", "busstar: p must be >= 3"),
        ("busstar:3,0", "busstar: n must be 1..39"),
        ("multistage:butterfly,3", "kind must be one of omega, flip, cube, banyan, baseline"),
        ("multistage:omega,0", "multistage: n must be 1..57"),
    ],
)
def test_wrong_settings_are_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(TopologyError, match=sentence):
        mpinet.open(wrong)


@pytest.mark.parametrize("p", [3, 4, 5, 6])
def test_connectors_of_the_star(p):
    from mpinet.networks.lens.clusters import connectors

    listed = reference.CONNECTORS[p]
    assert connectors(p, len(listed) + 1) == listed


@pytest.mark.parametrize("p", [3, 4, 7, 11])
def test_first_connectors_of_the_star_are_the_first_numbers(p):
    from mpinet.networks.lens.clusters import connectors

    assert connectors(p, p + 1) == list(range(p))


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["omega", "flip", "cube", "banyan", "baseline"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_multistage_networks_have_a_link_for_every_line(kind, n):
    topology = mpinet.open(f"multistage:{kind},{n}")
    mpinet.check(topology)
    width = 2 ** (n - 1)
    assert topology.size == n * width
    right = {(s, a): [] for s in range(n) for a in range(width)}
    left = {(s, a): [] for s in range(n) for a in range(width)}
    for stage, a, b, line in reference.multistage_lines(kind, n):
        right[stage, a].append((line, (stage + 1) * width + b))
        left[stage + 1, b].append((line, stage * width + a))
    for (stage, a), lines in right.items():
        u = stage * width + a
        if topology.ports:
            found = [topology.neighbor(u, port) for port in range(4)]
            assert [v for v in found[:2] if v >= 0] == [v for _, v in sorted(lines)]
            assert [v for v in found[2:] if v >= 0] == [v for _, v in sorted(left[stage, a])]


@pytest.mark.costly
@pytest.mark.parametrize("name", ["lens:4,4,13", "lens:3,9,12", "lens:12,3,9", "lens:2,2,999",
                                  "clens:3,40", "clens:9,15", "clens:2,999", "plens:5,100000007",
                                  "plens:3,123456789,30", "snowflake:4,20", "snowflake:100,4",
                                  "busstar:3,30", "busstar:9,12",
                                  "multistage:baseline,40"])  # fmt: skip
def test_check_samples_large_networks(name):
    report = mpinet.check(mpinet.open(name), sample=100)
    assert report.exhaustive is (mpinet.open(name).size * mpinet.open(name).ports <= 2**22)
