"""Every measure of the room can be asked for by name, with its arguments, and gives the same."""

import json

import networkx as nx
import pytest

import mpinet
from mpinet import measure as room
from mpinet.base.plain import plain
from mpinet.cli.session import CommandSession
from mpinet.commands.measure import measure
from mpinet.errors import UsageError
from mpinet.jobs.measure import measures

NEEDED = {
    "eccentricity": ["node=3"],
    "distance_profile": ["node=3"],
    "cut_width": ["side=0,1,2"],
    "multicast_bound": ["root=0", "targets=3,5"],
    "walk": ["source=0", "target=5"],
    "is_hamiltonian_cycle": ["nodes=0,1,2,3,4,5,6,7"],
    "is_automorphism": ["image=1,2,3,4,5,6,7,0"],
    "isomorphic": ["other=circulant:8,jumps=1"],
    "isomorphism": ["other=circulant:8,jumps=1"],
    "is_isomorphism": ["other=ring:8", "image=1,2,3,4,5,6,7,0"],
    "fault_diameter": ["faults=1"],
}
OF_BUSSES = {"incidences", "bus_orbits", "bus_transitive", "incidence_connectivity"}


@pytest.mark.parametrize("name", sorted(measures()))
def test_a_measure_gives_what_its_function_gives(name):
    network = "snowflake:2,2" if name in OF_BUSSES else "ring:8"
    found = measure(network, name, NEEDED.get(name, []))
    function = getattr(room, name)
    assert found.value == json.loads(
        json.dumps(plain({"measure": name, "arguments": found.arguments,
                          "value": function(network, **found.arguments)}))
    )  # fmt: skip
    assert str(found) and found.records()[0]["measure"] == name


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("ring:8 diamter", "no measure 'diamter': did you mean diameter"),
        ("ring:8 eccentricity", "eccentricity needs node=.."),
        ("ring:8 eccentricity root=3", "takes node=.. after the network, not 'root=3'"),
        ("ring:8 eccentricity node=9", "Node 9 is not in ring:8"),
        ("ring:8 incidences", "only bus networks have incidences"),
    ],
)
def test_a_wrong_measure_gets_a_sentence(typed, said, capsys):
    assert CommandSession(["measure", *typed.split()]).run() == 2
    assert said in capsys.readouterr().err


def test_what_is_infinite_is_said_in_a_word():
    found = measure("fattree:2,3", "fault_diameter", ["faults=1"])
    alone = found.value["value"]["removed"]
    assert (found.value["value"]["value"], len(alone)) == ("infinite", 1)
    assert "infinite" in str(found)
    whole = mpinet.to_networkx("fattree:2,3")
    whole.remove_nodes_from(alone)
    assert not nx.is_connected(whole)


def test_its_short_name_is_understood():
    assert measure("ring:8", "bisection").value["value"]["upper"] == 2
    with pytest.raises(UsageError, match="no measure 'to_graph'"):
        measure("ring:8", "to_graph")
