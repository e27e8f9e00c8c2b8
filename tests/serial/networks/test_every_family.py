"""What is true of every family: the catalogue against networks that are built without it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from serial.networks.families import LISTED, REFERENCES, reference

import mpinet
from mpinet.compiled import map_rule
from mpinet.errors import NodeError, TopologyError
from mpinet.networks.catalogue import FAMILIES
from mpinet.networks.shortest import neighbor_table

PLAIN = 4096
"""Most ports of a network whose rules are also played in plain Python."""

WHOLE_NUMBERS = [
    (family, parameter)
    for family in FAMILIES
    if family != "graph"
    for parameter in type(mpinet.open(next(iter(REFERENCES[family])))).parameters
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
def test_the_contract_is_kept(name):
    report = mpinet.check(mpinet.open(name))
    assert report.exhaustive
    assert report.ports == sum(v is not None for row in reference(name).wiring for v in row)


@pytest.mark.costly
@pytest.mark.parametrize("name", LISTED)
def test_a_channel_is_a_link_with_two_ends_or_a_bus_with_its_members(name):
    topology, expected = mpinet.open(name), reference(name)
    if topology.ports == 0:
        return
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


@pytest.mark.parametrize("family", REFERENCES)
def test_names_and_addresses_lead_back(family):
    for name in REFERENCES[family]:
        topology = mpinet.open(name)
        assert topology.name == name
        assert mpinet.open(topology.name).params.tolist() == topology.params.tolist(), name
        nodes = some_nodes(topology)
        assert [topology.node(topology.address(u)) for u in nodes] == list(nodes), name
        assert len({topology.address(u) for u in nodes}) == len(nodes), name


@pytest.mark.parametrize("family", FAMILIES)
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


@pytest.mark.costly
@pytest.mark.parametrize("name", LISTED)
def test_compiled_rules_do_as_plain_python(name):
    topology = mpinet.open(name)
    step = 1 + topology.size * topology.ports // PLAIN
    nodes = np.repeat(np.arange(0, topology.size, step), topology.ports)
    ports = np.tile(np.arange(topology.ports), nodes.size // max(topology.ports, 1))
    for mapped in (topology.neighbor, topology.reverse_port, topology.channel):
        values = np.empty(nodes.size, np.int64)
        map_rule(mapped.native, nodes, ports, topology.params, values)
        wired = padded(reference(name).wiring, topology.ports)[nodes, ports] >= 0
        pairs = zip(nodes[wired].tolist(), ports[wired].tolist(), strict=True)
        plain = [int(mapped.rule(u, p, topology.params)) for u, p in pairs]
        assert values[wired].tolist() == plain


@pytest.mark.parametrize(("family", "parameter"), WHOLE_NUMBERS)
def test_a_parameter_that_is_no_whole_number_of_its_range_is_refused(family, parameter):
    cls = type(mpinet.open(next(iter(REFERENCES[family]))))
    assert cls.checked(parameter.name, parameter.least) == parameter.least
    beyond = [parameter.least - 1] + ([] if parameter.most is None else [parameter.most + 1])
    for wrong in (True, 3.0, "3", None):
        with pytest.raises(TopologyError, match="must be a whole number"):
            cls.checked(parameter.name, wrong)
    for wrong in beyond:
        with pytest.raises(TopologyError, match=f"must be .*not {wrong}"):
            cls.checked(parameter.name, wrong)


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
