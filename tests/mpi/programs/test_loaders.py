"""What loads the busiest links is what the messages' ways say."""

from collections import Counter

import numpy as np
import pytest

import mpinet
from mpinet.machine.timed.layout import SEND
from mpinet.networks.routing import path
from mpinet.programs.messages.named import program_named
from mpinet.programs.messages.placing import places_of


def counted(program, topology, places, half):
    """Bytes of each pair on each link, walked message by message."""
    loads = {}
    for node in range(program.processors):
        for row in range(program.first[node], program.first[node + 1]):
            if program.kind[row] != SEND:
                continue
            peer = int(program.peer[row])
            one, other = (int(places[end]) for end in (node, peer))
            nodes, ports = path(topology, topology.routing(), one, other)
            for at, port in zip(nodes, ports, strict=False):
                link = at, port
                if half:
                    there = int(topology.neighbor(at, port))
                    link = frozenset([at, there])
                load = loads.setdefault(link, Counter())
                load[f"{node} to {peer}"] += int(program.amount[row])
    return loads


@pytest.mark.parametrize(
    ("network", "duplex", "place"),
    [("torus:3x4", "full", "random"), ("hypercube:3", "half", "identity")],
)
def test_the_largest_loads_of_each_link_are_those_of_its_pairs(network, duplex, place):
    topology, half = mpinet.open(network), duplex == "half"
    program = program_named("alltoall:pairwise,999,processors=8")
    places = places_of(place, topology, 8, 3)
    known = counted(program, topology, np.arange(8) if places is None else places, half)
    found = mpinet.replay(
        program, on=topology, place=place, seed=3, duplex=duplex, time_byte=1
    ).busiest_links
    assert len(found) == 10
    for link in found:
        key = link.node, link.port
        if half:
            key = frozenset([link.node, int(topology.neighbor(link.node, link.port))])
        assert link.bytes == sum(known[key].values())
        largest = sorted(known[key].items(), key=lambda load: (-load[1], load[0]))[:3]
        assert [(load.what, load.bytes) for load in link.loaded_by] == largest


def test_lines_of_a_script_are_named_where_all_sends_have_one(tmp_path):
    file = tmp_path / "two.goal"
    said = "num_ranks 3\nrank 0 {\nsend 70b to 1 // a.py:1 Send\nsend 20b to 1 // a.py:9 Send\n"
    said += "send 50b to 1 // a.py:1 Send\n}\n"
    file.write_text(said)
    [link] = mpinet.replay(file, on="ring:3", time_byte=1).busiest_links
    assert link.loaded_by == [
        {"what": "a.py:1 Send", "bytes": 120},
        {"what": "a.py:9 Send", "bytes": 20},
    ]
    file.write_text(said.replace(" // a.py:9 Send", ""))
    [link] = mpinet.replay(file, on="ring:3", time_byte=1).busiest_links
    assert link.loaded_by == [{"what": "0 to 1", "bytes": 140}]
