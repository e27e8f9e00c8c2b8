"""Translations, and the gossip that is one processor's messages, turned by them."""

from dataclasses import replace

import networkx
import pytest

import mpinet
from mpinet.certify.certificate import certify
from mpinet.errors import TooLarge, UsageError
from mpinet.measure.symmetry import is_automorphism
from mpinet.networks.translations import Translations
from mpinet.programs.translated import Orbit


def added(sides):
    """The torus's group: digits are added, that of the last side first."""

    def product(u, v):
        total, stride = 0, 1
        for side in reversed(sides):
            digit = (u // stride % side + v // stride % side) % side
            total, stride = total + digit * stride, stride * side
        return total

    return product


GROUPS = {
    "ring:7": added([7]),
    "torus:4x3": added([4, 3]),
    "torus:2x5": added([2, 5]),
    "hypercube:5": int.__xor__,
    "complete:6": added([6]),
    "circulant:13,jumps=1-3": added([13]),
    "hyperx:3x2x5": added([3, 2, 5]),
    "flatbutterfly:3,3": added([3, 3]),
}


@pytest.mark.parametrize("one_port", [False, True], ids=["all ports", "one port"])
@pytest.mark.parametrize("name", GROUPS)
def test_the_rows_turned_by_the_group_bring_every_item_everywhere_as_plain_python_says(
    name, one_port
):
    topology, product = mpinet.open(name), GROUPS[name]
    orbit, nodes = Orbit.of(topology, one_port), range(topology.size)
    held = {node: {node} for node in nodes}
    for step in range(1, orbit.steps + 1):
        came, senders = [], []
        for _, link, item in orbit.rows[orbit.rows[:, 0] == step].tolist():
            ports = orbit.translations.ports[link]
            for node in nodes:
                sender = int(topology.neighbor(node, int(ports[node])))
                brought = product(node, item)
                assert brought in held[sender] and brought not in held[node]
                came.append((node, brought))
                senders.append((sender, None if one_port else node))
        assert len(set(came)) == len(came) and len(set(senders)) == len(senders)
        for node, brought in came:
            held[node].add(brought)
    assert all(held[node] == set(nodes) for node in nodes)
    most = 1 if one_port else len(orbit.translations.ports)
    graph = networkx.Graph(topology.to_networkx())
    assert orbit.steps == max(networkx.diameter(graph), -(-(topology.size - 1) // most))


@pytest.mark.parametrize("name", ["torus:4x3", "ccc:3", "pancake:4", "hyperx:4x3"])
def test_translations_are_automorphisms_that_take_one_processor_to_its_neighbors(name):
    topology = mpinet.open(name)
    found = Translations.of(topology)
    assert all(is_automorphism(topology, image) for image in found.images)
    assert set(found.images[:, 0].tolist()) == set(topology.neighbors(0))
    swapped = found.images.copy()
    swapped[0, [2, 3]] = swapped[0, [3, 2]]
    assert found.hold() and not replace(found, images=swapped).hold()


def test_forty_thousand_processors_gather_in_the_steps_that_their_links_take(tmp_path):
    certificate = tmp_path / "gossip.cert"
    found = mpinet.optimum("torus:200x200", collective="gossip", ports="all", save=certificate)
    assert (found.lower, found.upper, found.by_orbit) == (10_000, 10_000, True)
    assert found.correct and found.messages == 40_000 * 39_999
    assert certify(certificate).claim.more_than == 9_999


@pytest.mark.parametrize("one_port", [False, True], ids=["all ports", "one port"])
def test_an_orbit_with_a_false_row_is_not_right(one_port):
    orbit = Orbit.of(mpinet.open("torus:4x4"), one_port)
    assert orbit.right(one_port)

    def turned(row, **columns):
        rows = orbit.rows.copy()
        for column, value in columns.items():
            rows[row, "step link item".split().index(column)] = value
        return replace(orbit, rows=rows).right(one_port)

    last = len(orbit.rows) - 1
    assert not turned(last, item=int(orbit.rows[0, 2]))  # one comes twice, another one never
    assert not turned(last, item=0)  # and one's own never
    assert not turned(last, step=1)  # before its sender has it, or on a link that is taken
    swapped = orbit.rows.copy()
    swapped[[0, last], 2] = swapped[[last, 0], 2]
    assert not replace(orbit, rows=swapped).right(one_port)
    images = orbit.translations.images[:, ::-1].copy()
    broken = replace(orbit, translations=replace(orbit.translations, images=images))
    assert not broken.right(one_port)


def test_other_port_models_and_too_many_ports_are_refused():
    with pytest.raises(TooLarge, match="ports: mpinet does not search for its translations"):
        Translations.of(mpinet.open("hypercube:19"))
    with pytest.raises(UsageError, match="has no gossip 'translations' on such a machine"):
        mpinet.gossip("ring:8", duplex="half", ports="all", algorithm="translations")
