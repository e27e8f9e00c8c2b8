"""`check` accepts what keeps the contract and names what breaks it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mpinet
from mpinet import Topology, rule
from mpinet.errors import NodeError, RoutingError, WiringError
from mpinet.networks.routing import stateless


def test_one_processor_alone_is_a_network():
    report = mpinet.check(mpinet.open("complete:1"))
    assert (report.nodes, report.ports) == (1, 0)


@pytest.mark.parametrize(
    "name",
    [
        "hypercube:57",
        "torus:5000x7000x9000",
        "mesh:99999x99999",
        "ccc:55",
        "debruijn:60",
        "shuffleexchange:61",
        "moebius:61",
        "circulant:1000000007,jumps=1-1000-1000000",
        "rcirculant:1000000007,3",
        "chordalring:100000000,999",
        "complete:1000000000",
        "fattree:10,8",
        "roadrunner:1000,6,5",
        "ring:100000*hypercube:20*mesh:300x300",
    ],
)
def test_check_samples_large_networks(name):
    report = mpinet.check(mpinet.open(name), sample=500)
    assert not report.exhaustive
    assert 400 <= report.nodes <= 502


def test_check_of_a_hundred_thousand_nodes_asks_for_every_port_a_few_times_and_in_bulk():
    topology, asked = mpinet.open("torus:47x47x47"), []
    rule = topology.neighbor

    def counted(nodes, ports):
        asked.append(np.size(nodes))
        return rule(nodes, ports)

    topology.neighbor = counted
    report = mpinet.check(topology)
    assert report.exhaustive
    assert (report.nodes, report.ports) == (103823, 6 * 103823)
    assert sum(asked) < 5 * report.ports
    assert len(asked) < report.nodes / 20


class Wrong(Topology):
    """A ring with something wrong with it."""

    def __init__(self, size=9):
        super().__init__(f"{size}", size=size, ports=2)

    @rule
    def neighbor(u, port, params):
        return (u + 1 - 2 * port) % params[0]

    @rule
    def reverse_port(u, port, params):
        return 1 - port


class WrongReverse(Wrong):
    @rule
    def neighbor(u, port, params):
        return (u + 1 - 2 * port) % params[0]

    @rule
    def reverse_port(u, port, params):
        return port if u == 5 else 1 - port


class ReverseOutOfRange(Wrong):
    @rule
    def neighbor(u, port, params):
        return (u + 1 - 2 * port) % params[0]

    @rule
    def reverse_port(u, port, params):
        return 2 if u == 4 and port == 1 else 1 - port


class OneWay(Wrong):
    @rule
    def neighbor(u, port, params):
        return (u + 1 + port) % params[0]


class OutOfRange(Wrong):
    @rule
    def neighbor(u, port, params):
        return u + 1 - 2 * port


class SelfLoop(Wrong):
    @rule
    def neighbor(u, port, params):
        return u if u == 3 else (u + 1 - 2 * port) % params[0]


class Unwired(Wrong):
    @rule
    def neighbor(u, port, params):
        return -1


class Halves(Wrong):
    @rule
    def neighbor(u, port, params):
        return (u + 2 - 4 * port) % params[0]


class WrongChannel(Wrong):
    @rule
    def neighbor(u, port, params):
        return (u + 1 - 2 * port) % params[0]

    @rule
    def channel(u, port, params):
        return 2 * u + port


class WrongAddress(Wrong):
    def address(self, node):
        return str(node % 7)

    def node(self, address):
        return int(address)


class DeafAddress(Wrong):
    def address(self, node):
        return f"P{node}"

    def read_address(self, address):
        return int(address)


class Named(Wrong):
    def __init__(self, size):
        Topology.__init__(self, f"{size}", size=size, ports=2)

    def address(self, node):
        return f"P{node}"


class WrongParams(Wrong):
    def __init__(self):
        super().__init__()
        self.params[1] = 3


class WrongHosts(Wrong):
    def __init__(self):
        super().__init__()
        self.hosts = 10


@rule
def always_forward(node, header, params):
    """Never arrives."""
    return 0


@rule
def unwired_port(node, header, params):
    """Chooses a port that is not there."""
    return 7


@rule
def stops_early(node, header, params):
    """Arrives at once."""
    return -1


class Lost(Wrong):
    decide = always_forward

    @property
    def routings(self):
        return {"wrong": lambda: stateless("wrong", type(self).decide, self)}


class Beside(Lost):
    decide = unwired_port


class Early(Lost):
    decide = stops_early


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (WrongReverse(), r"reverse_port\(5, 0\) = 0, but neighbor\(6, 0\) = 7, not 5\."),
        (ReverseOutOfRange(), r"reverse_port\(4, 1\) = 2 is no port: ports are 0..1\."),
        (OneWay(), r"neighbor\(0, 0\) = 1, but no port of 1 leads to 0: links go both ways"),
        (OutOfRange(), r"neighbor\(8, 0\) = 9 is no node: nodes are 0..8"),
        (SelfLoop(), r"neighbor\(3, 0\) = 3 is the processor itself"),
        (Unwired(), r"no port is wired"),
        (Halves(8), r"not connected: no path from 0 to 1"),
        (WrongChannel(), r"channel\(0, 0\) = 0, but at the other end channel\(1, 1\) = 3"),
        (WrongAddress(), r"address\(7\) = '0', but node\('0'\) = 0"),
        (DeafAddress(), r"address\(0\) = 'P0' cannot be read back"),
        (WrongHosts(), r"10 hosts among 9 nodes"),
        (WrongParams(), r"params must start with size and ports, 9 and 2, not 9 and 3"),
    ],
)
def test_check_names_processor_and_port(broken, sentence):
    with pytest.raises(WiringError, match=sentence):
        mpinet.check(broken)


def test_addresses_are_searched_where_nothing_reads_them():
    ring = Named(1000)
    assert mpinet.check(ring).addresses == 1000
    assert [ring.node(f"P{node}") for node in range(1000)] == list(range(1000))
    with pytest.raises(NodeError, match="'P1000' is not an address"):
        ring.node("P1000")


def test_of_many_addresses_there_has_to_be_a_reader():
    ring = Named(2**21)
    assert mpinet.check(ring).addresses == 0
    assert ring.find("77") == 77
    with pytest.raises(NodeError, match=r"no 'read_address' to read 'P7'.* 1048576 .* 2097152"):
        ring.find("P7")


def test_digits_that_mean_one_node_as_a_number_and_another_as_an_address_are_refused():
    cube = mpinet.open("hypercube:4")
    known = {"0": 0, "0000": 0, "0001": 1, "07": 7, "10": 10, "15": 15}
    assert [cube.find(text) for text in known] == [*known.values()]
    with pytest.raises(NodeError, match=r"0010 .* give 10 for .* number, or 2 for .* address\.$"):
        cube.find("0010")
    with pytest.raises(NodeError, match=r"1111 .* give 15 for the node of this address\.$"):
        cube.find("1111")
    with pytest.raises(NodeError, match=r"^Node 16 is not in hypercube:4"):
        cube.find("16")


@pytest.mark.parametrize("broken", [Lost(), Beside(), Early()])
def test_check_refuses_routings_that_do_not_arrive(broken):
    with pytest.raises(RoutingError):
        mpinet.check(broken)


class Busses(Topology):
    """Processors in a square, row and column busses; a port is a (bus, other member) pair."""

    def __init__(self, side):
        self.side = side
        super().__init__(
            f"{side}", size=side * side, ports=2 * side - 2, params=[side], busses=2 * side
        )

    @rule
    def neighbor(u, port, params):
        side = params[2]
        row, column = u // side, u % side
        if port < side - 1:
            return row * side + (port if port < column else port + 1)
        port -= side - 1
        return (port if port < row else port + 1) * side + column

    @rule
    def channel(u, port, params):
        side = params[2]
        return u // side if port < side - 1 else side + u % side


class Deaf(Busses):
    """Processor 4 does not see the last member of its row."""

    @rule
    def neighbor(u, port, params):
        side = params[2]
        row, column = u // side, u % side
        if (u == 4 or u == 5) and port == 1:
            return -1
        if port < side - 1:
            return row * side + (port if port < column else port + 1)
        port -= side - 1
        return (port if port < row else port + 1) * side + column

    @rule
    def channel(u, port, params):
        side = params[2]
        return u // side if port < side - 1 else side + u % side


def test_members_of_a_bus_see_each_other():
    assert mpinet.check(Busses(3)).ports == 36
    assert mpinet.check(Busses(200), sample=20).exhaustive is False
    with pytest.raises(WiringError, match="see different members on bus 1"):
        mpinet.check(Deaf(3))


def test_busses_of_products_are_distinct_and_whole():
    from mpinet.networks.product import Product

    topology = Product(Busses(2), Busses(3))
    assert mpinet.check(topology).exhaustive
    assert topology.busses == 4 * 9 + 6 * 4
    members: dict[int, set[int]] = {}
    for u in range(topology.size):
        for p in range(topology.ports):
            members.setdefault(topology.channel(u, p), {u}).add(topology.neighbor(u, p))
    assert sorted(members) == list(range(topology.busses))
    assert sorted(map(len, members.values())) == [2] * 36 + [3] * 24


def test_links_and_busses_have_no_product():
    from mpinet.networks.product import Product

    with pytest.raises(mpinet.MpinetError, match="links in both or busses in both"):
        Product(Busses(2), mpinet.open("ring:5"))


def shape():
    """Sizes joined by x."""
    return st.lists(st.integers(2, 7), min_size=1, max_size=4).map(lambda s: "x".join(map(str, s)))


@st.composite
def circulants(draw):
    n = draw(st.integers(2, 40))
    jumps = draw(st.sets(st.integers(1, n // 2), max_size=4)) | {1}
    return f"circulant:{n},jumps={'-'.join(map(str, draw(st.permutations(sorted(jumps)))))}"


FACTORS = st.one_of(
    st.integers(3, 60).map("ring:{}".format),
    st.integers(2, 20).map("complete:{}".format),
    st.integers(1, 9).map("hypercube:{}".format),
    shape().map("mesh:{}".format),
    shape().map("torus:{}".format),
    st.integers(3, 6).map("ccc:{}".format),
    st.integers(2, 8).map("debruijn:{}".format),
    st.integers(2, 8).map("shuffleexchange:{}".format),
    st.integers(3, 8).map("moebius:{}".format),
    circulants(),
    st.tuples(st.integers(3, 60), st.integers(2, 9)).map(lambda a: "rcirculant:{},{}".format(*a)),
    st.integers(3, 30).flatmap(
        lambda half: st.integers(1, (half - 1) // 2).map(
            lambda i: f"chordalring:{2 * half},{2 * i + 1}"
        )
    ),
    st.integers(5, 60).flatmap(
        lambda n: st.integers(2, (n - 1) // 2).map(lambda s: f"doubleloop:{n},{s}")
    ),
)
LAST = st.one_of(
    FACTORS,
    st.tuples(st.integers(2, 4), st.integers(1, 3)).map(lambda a: "fattree:{},{}".format(*a)),
    st.tuples(st.integers(2, 9), st.integers(2, 3), st.integers(1, 3)).map(
        lambda a: "roadrunner:{},{},{}".format(*a)
    ),
)


@settings(max_examples=settings.default.max_examples // 3)
@given(LAST)
def test_every_family_keeps_the_contract(name):
    topology = mpinet.open(name)
    assert topology.name == name
    assert mpinet.check(topology).exhaustive


@settings(max_examples=8)
@given(st.lists(st.integers(3, 6), min_size=2, max_size=4))
def test_products_of_rings_are_tori_read_backwards(sides):
    ours = mpinet.open("*".join(f"ring:{side}" for side in sides))
    torus = mpinet.open("torus:" + "x".join(map(str, reversed(sides))))
    nodes = np.arange(ours.size)
    for factor in range(len(sides)):
        for way in (0, 1):
            theirs = 2 * (len(sides) - 1 - factor) + way
            assert (ours.neighbor(nodes, 2 * factor + way) == torus.neighbor(nodes, theirs)).all()
    assert mpinet.check(ours).exhaustive
