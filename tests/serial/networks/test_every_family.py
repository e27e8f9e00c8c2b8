"""What is true of every family: the catalogue against networks that are built without it."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from serial.networks.families import LISTED, REFERENCES, reference
from serial.networks.plain import compiled_and_plain

import mpinet
from mpinet.compiled import map_rule
from mpinet.errors import NodeError, TopologyError
from mpinet.networks.catalogue import FAMILIES, family_class
from mpinet.networks.shortest import neighbor_table
from mpinet.networks.topology import is_searched

PLAIN = 4096
"""Most ports of a network whose rules are also played in plain Python."""

WHOLE_NUMBERS = [
    (family, parameter)
    for family in FAMILIES
    if family != "graph"
    for parameter in family_class(family).parameters
    if parameter.least is not None
]


def padded(rows, ports):
    return np.array([[-1 if v is None else v for v in row] + [-1] * (ports - len(row))
                     for row in rows], np.int64).reshape(len(rows), ports)  # fmt: skip


def some_nodes(topology):
    return range(0, topology.size, 1 + topology.size // 200)


def test_every_family_has_a_reference():
    assert set(REFERENCES) == set(FAMILIES)


@pytest.mark.parametrize("family", REFERENCES)
def test_ports_lead_where_the_reference_says(family):
    for name in REFERENCES[family]:
        topology, expected = mpinet.open(name), reference(name)
        assert topology.size == len(expected.wiring), name
        assert topology.ports == max(map(len, expected.wiring)), name
        table = padded(expected.wiring, topology.ports)
        assert np.array_equal(neighbor_table(topology), table), name


@pytest.mark.costly
@pytest.mark.parametrize("name", LISTED)
def test_contract_channels_and_compiled_rules_are_kept(name):
    """Three statements about one network, which is opened once."""
    topology, expected = mpinet.open(name), reference(name)
    report = mpinet.check(topology)
    assert report.exhaustive
    assert report.ports == sum(v is not None for row in expected.wiring for v in row)
    if topology.ports > 0:
        require_channels(topology, expected)
        require_compiled_rules(topology, padded(expected.wiring, topology.ports) >= 0)


def require_channels(topology, expected):
    """A channel is a link with two ends, or a bus with its members."""
    behind = topology.channel(np.arange(topology.size)[:, np.newaxis], np.arange(topology.ports))
    ends: dict[int, list[tuple[int, int]]] = {}
    for u, row in enumerate(expected.wiring):
        for p, v in enumerate(row):
            if v is not None:
                ends.setdefault(int(behind[u, p]), []).append((u, v))
    if expected.busses is None:
        assert all(len(pair) == 2 and pair[0] == pair[1][::-1] for pair in ends.values())
        return
    members: dict[object, set[int]] = {}
    for u, names in enumerate(expected.busses):
        for bus in names:
            members.setdefault(bus, set()).add(u)
    found = [frozenset(u for u, _ in pairs) for pairs in ends.values()]
    assert sorted(map(sorted, found)) == sorted(map(sorted, members.values()))


def require_compiled_rules(topology, wired):
    """Compiled rules give the values of plain Python at wired ports."""
    step = 1 + topology.size * topology.ports // PLAIN
    nodes, ports = map(np.ascontiguousarray, np.nonzero(wired[::step]))
    for mapped in (topology.neighbor, topology.reverse_port, topology.channel):
        compiled, plain = compiled_and_plain(
            map_rule, [mapped.rule], [nodes * step, ports], topology.params
        )
        assert compiled == plain


@pytest.mark.parametrize("family", REFERENCES)
def test_names_and_addresses_lead_back(family):
    for name in REFERENCES[family]:
        topology = mpinet.open(name)
        assert topology.name == name
        assert mpinet.open(topology.name).params.tolist() == topology.params.tolist(), name
        nodes = some_nodes(topology)
        assert [topology.node(topology.address(u)) for u in nodes] == list(nodes), name
        assert len({topology.address(u) for u in nodes}) == len(nodes), name


@pytest.mark.parametrize("family", REFERENCES)
def test_addresses_and_numbers_that_no_node_has_are_refused(family):
    topology = mpinet.open(next(iter(REFERENCES[family])))
    last = topology.address(topology.size - 1)
    for wrong in ("", "x?", f"{last}x", f" {last}", f"{last},{last},{last}", "-1"):
        with pytest.raises(NodeError, match="is not an address"):
            topology.node(wrong)
    for node in (-1, topology.size):
        with pytest.raises(NodeError):
            topology.address(node)
        if topology.ports:
            with pytest.raises(NodeError):
                topology.neighbor(node, 0)


@pytest.mark.parametrize(("family", "parameter"), WHOLE_NUMBERS)
def test_a_parameter_that_is_no_whole_number_of_its_range_is_refused(family, parameter):
    cls = family_class(family)
    assert cls.checked(parameter.name, parameter.least) == parameter.least
    beyond = [parameter.least - 1] + ([] if parameter.most is None else [parameter.most + 1])
    for wrong in (True, 3.0, "3", None):
        with pytest.raises(TopologyError, match="must be a whole number"):
            cls.checked(parameter.name, wrong)
    for wrong in beyond:
        with pytest.raises(TopologyError, match=f"must be .*not {wrong}"):
            cls.checked(parameter.name, wrong)


LIMITED = {
    "bh:4,2,4": "h must be 1..3, not 4", "bsn:2,9,8": "b must be 1..8, not 9",
    "chordalring:16,9": "w must be 3..8, not 9", "chordalring:15,5": "N must be even, not 15",
    "chordalring:16,4": "w must be odd, not 4", "doubleloop:9,5": "s must be 2..4, not 5",
    "gpetersen:8,4": "k must be 1..3, not 4", "arrangement:5,5": "k must be 1..4, not 5",
    "arrstar:3,4,4": "k must be 1..3, not 4", "hkv:4": "n must be odd, not 4",
    "bh:2,2,6": "s must be a power of two, not 6",
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITED)
def test_limits_by_other_parameters_and_conditions_are_checked_before_a_network_is_made(name):
    """The sentence has the number that the formula in the range comes to."""
    family, _, arguments = name.partition(":")
    cls = family_class(family)
    with pytest.raises(TopologyError, match=re.escape(LIMITED[name])):
        cls(*map(int, arguments.split(",")))


def test_all_limits_and_conditions_are_tried():
    declared = {
        (family, parameter.name)
        for family in FAMILIES
        for parameter in family_class(family).parameters
        if parameter.limit is not None or parameter.kind is not None
    }
    assert declared == {
        (name.partition(":")[0], sentence.split()[0]) for name, sentence in LIMITED.items()
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_a_closed_form_of_the_way_back_is_not_replaced_by_a_search(family):
    """A class that states `neighbor` has to state `reverse_port` too, or it is searched."""
    cls = family_class(family)
    stated = [vars(base)["reverse_port"] for base in cls.__mro__ if "reverse_port" in vars(base)]
    if not all(is_searched(rule) for rule in stated):
        assert not is_searched(cls.reverse_port)


@given(st.data())
def test_the_way_back_is_the_way_forth(data):
    """At any node of any network, large ones included, and at any wired port."""
    name = data.draw(st.sampled_from(sorted(LISTED)))
    topology = mpinet.open(name)
    if topology.ports == 0:
        return
    node = data.draw(st.integers(0, topology.size - 1))
    port = data.draw(st.integers(0, topology.ports - 1))
    other = topology.neighbor(node, port)
    if other < 0:
        return
    back = topology.reverse_port(node, port)
    assert topology.neighbor(other, back) == node
    assert topology.reverse_port(other, back) == port
    assert topology.channel(other, back) == topology.channel(node, port)
