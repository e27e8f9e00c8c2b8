"""Gossip by translations: all messages are moved, or one processor's stand for them."""

from dataclasses import replace
from itertools import cycle

import pytest
from mpi.machine.ranks import MAPPINGS, machine_of, mapping_of

import mpinet
from mpinet.errors import UsageError
from mpinet.networks.translations import Translations
from mpinet.programs import gossip as gossips
from mpinet.programs.gossip import gossip

CAYLEY = """torus:4x4 hypercube:5 ccc:3 pancake:4 bubblesort:4 stargraph:4 foldedcube:4 dualcube:2
twistedtorus:4x2x2 hdn:2x3,super=0 gpetersen:8,3 torus:2x2x3 complete:1 complete:2 ring:9
hyperx:4x2x3 flatbutterfly:3,3""".split()


@pytest.mark.parametrize(("name", "mapping"), list(zip(CAYLEY, cycle(MAPPINGS), strict=False)))
def test_all_messages_are_moved_in_the_fewest_steps_under_the_port_model(name, mapping):
    topology = mpinet.open(name)
    for ports in ("one", "all"):
        machine = machine_of(topology, ports, mapping=mapping_of(topology, mapping))
        found = gossip(machine, "translations", seed=5)
        assert found.correct and not found.by_orbit
        assert found.steps == machine.steps == found.lower_bound
        assert found.messages == topology.size * (topology.size - 1)


@pytest.mark.parametrize("ports", ["one", "all"])
def test_the_orbit_of_a_large_network_says_what_moving_all_messages_says(ports, monkeypatch):
    moved = gossip(machine_of("torus:5x4", ports), "translations")
    monkeypatch.setattr(gossips, "MOST_MOVED", 10)
    machine = machine_of("torus:5x4", ports)
    found = gossip(machine, "translations")
    assert found == replace(moved, by_orbit=True) and machine.steps == 0
    with pytest.raises(UsageError, match="cannot be recorded"):
        gossip(machine_of("torus:5x4", ports, loads=True), "translations")


@pytest.mark.parametrize("name", ["mesh:3x3", "petersen", "chordalring:16,5", "dgx1", "debruijn:3"])
def test_networks_without_translations_are_refused_in_a_sentence(name):
    assert Translations.of(mpinet.open(name)) is None
    with pytest.raises(UsageError, match="has no translations: gossip 'translations' is for"):
        gossip(machine_of(name, "all"), "translations")
