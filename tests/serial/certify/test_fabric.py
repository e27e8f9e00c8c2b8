"""Certificates state switches and capacities: on a fabric with others they are refused."""

import json
from hashlib import sha256
from pathlib import Path

import networkx
import pytest
from serial.certify.changes import changed

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import CertificateError

KEPT = Path(__file__).with_name("kept")

DIAMOND = [(0, 1, 2), (0, 4, 1), (1, 2, 1), (2, 3, 3), (3, 4, 1)]
"""Links of four processors and switch 4, with capacities."""


def diamond(file, capacities=DIAMOND, switches=(4,)):
    """A file of the network; what it is called."""
    graph = networkx.Graph()
    graph.add_nodes_from((node, {"switch": node in switches}) for node in range(5))
    graph.add_edges_from((u, v, {"capacity": many}) for u, v, many in capacities)
    networkx.write_graphml(graph, file)
    return f"graph:{file}"


@pytest.fixture
def saved(tmp_path):
    """A certificate of the diamond."""
    network = diamond(tmp_path / "d.graphml")
    mpinet.optimum(network, collective="gossip", ports="all", save=tmp_path / "d.cert")
    return network


def test_a_certificate_states_switches_links_and_capacities(tmp_path, saved):
    lines = "".join(f"{u} {v} {many}\n" for u, v, many in DIAMOND)
    assert json.loads((tmp_path / "d.cert").read_text())["fabric"] == {
        "switches": 1,
        "links": 8,
        "links_sha256": sha256(lines.encode()).hexdigest(),
    }
    assert mpinet.certify(tmp_path / "d.cert", on=saved).verified
    mpinet.optimum("multistage:omega,2", save=tmp_path / "o.cert")
    shown = mpinet.show("multistage:omega,2")
    stated = json.loads((tmp_path / "o.cert").read_text())["fabric"]
    assert (stated["switches"], stated["links"]) == (shown.size - 4, shown.links)


@pytest.mark.parametrize(
    ("switches", "capacities", "there"),
    [
        ((4,), [*DIAMOND[:-1], (3, 4, 2)], "namely switches 1, links 9, links_sha256"),
        ((4,), [(0, 1, 1), (0, 4, 2), *DIAMOND[2:]], "namely switches 1, links 8, links_sha256"),
        ((), DIAMOND, "namely switches 0, links 8, links_sha256"),
    ],
)
def test_a_fabric_that_has_changed_is_refused(tmp_path, saved, capsys, switches, capacities, there):
    diamond(tmp_path / "d.graphml", capacities, switches)
    assert CommandSession(["certify", str(tmp_path / "d.cert"), "--on", saved]).run() == 1
    said = capsys.readouterr()
    assert f"{saved} has different switches or capacities" in said.err
    assert there in said.err and "VERIFIED" not in said.out


@pytest.mark.parametrize(
    "stated", [None, 1, {}, {"switches": 1}, {"switches": 1, "links": 8, "links_sha256": "0" * 64}]
)
def test_a_statement_counts_in_full(tmp_path, saved, stated):
    with pytest.raises(CertificateError, match="different switches or capacities"):
        mpinet.certify(changed(tmp_path, "d", fabric=stated), on=saved)


def test_busses_state_their_switches(tmp_path):
    mpinet.optimum("lens:2,3,3", save=tmp_path / "b.cert")
    assert json.loads((tmp_path / "b.cert").read_text())["fabric"] == {"switches": 0}
    with pytest.raises(CertificateError, match=r"capacities .fabric., namely switches 0"):
        mpinet.certify(changed(tmp_path, "b", fabric={"switches": 1}))


@pytest.mark.parametrize("name", ["dgx1", "fattree", "dgxa100", "rail", "lens"])
def test_certificates_of_before_that_state_no_fabric_stay_valid(name):
    file = KEPT / f"{name}.cert"
    assert "fabric" not in json.loads(file.read_text())
    assert mpinet.certify(file).verified
