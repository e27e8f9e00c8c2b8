"""Exported files are read back as the same network."""

import os
import re
import subprocess
from collections import defaultdict

import networkx
import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.measure import edges


@pytest.mark.parametrize("name", ["torus:3x4", "fattree:2,3", "debruijn:4"])
@pytest.mark.parametrize("ending", ["graphml", "dot", "anynet", "csv", "edges"])
def test_a_file_has_the_links_and_the_processors(name, ending, tmp_path, capsys):
    file, network = tmp_path / f"net.{ending}", mpinet.open(name)
    assert CommandSession(["show", name, "--edges", str(file)]).run() == 0
    text, wanted = file.read_text(), sorted(map(tuple, edges(name).tolist()))
    if ending == "graphml":
        graph = networkx.read_graphml(file, node_type=int)
        assert networkx.utils.graphs_equal(
            networkx.Graph(graph.edges), networkx.Graph(mpinet.to_networkx(name).edges)
        )
        assert [graph.nodes[u]["address"] for u in sorted(graph)] == [
            network.address(u) for u in range(network.size)
        ]
    elif ending == "anynet":
        joined, nodes = defaultdict(set), {}
        for line in text.splitlines():
            own = int(re.match(r"router (\d+)", line)[1])
            joined[own] |= {int(v) for v in re.findall(r" router (\d+)", line)}
            nodes |= {int(n): own for n in re.findall(r" node (\d+)", line)}
        assert sorted((u, v) for u in joined for v in joined[u]) == wanted
        assert nodes == {u: u for u in range(network.hosts)}
        assert sorted(joined) == list(range(network.size))
    else:
        pairs = re.findall(r"^ *(\d+)(?: -- |,| )(\d+);?$", text, re.MULTILINE)
        assert sorted((int(u), int(v)) for u, v in pairs) == wanted
    if ending == "dot":
        assert text.startswith(f'graph "{name}" {{\n') and text.endswith("}\n")
        assert text.count("shape=box") == network.size - network.hosts


@pytest.mark.parametrize("name", ["torus:3x4", "fattree:2,3", "star:9", "petersen"])
@pytest.mark.parametrize("ending", [".graphml", ".dot", ".anynet", ".csv", ".edges", ""])
def test_a_file_of_links_is_read_as_a_network(name, ending, tmp_path, capsys):
    file, network = tmp_path / f"net{ending}", mpinet.open(name)
    assert CommandSession(["show", name, "--edges", str(file)]).run() == 0
    found = mpinet.open(f"graph:{file}")
    if ending == ".anynet":  # its routers, which are none of the processors, have the links
        assert (found.hosts, found.size) == (network.hosts, network.hosts + network.size)
        first = network.hosts
        inner = [(u - first, v - first) for u, v in edges(found).tolist() if u >= first]
        assert sorted(inner) == sorted(map(tuple, edges(name).tolist()))
        return
    assert edges(found).tolist() == edges(name).tolist()
    says_switches = ending in (".graphml", ".dot")
    assert found.hosts == (network.hosts if says_switches else network.size)


BOOKSIM = os.environ.get("MPINET_BOOKSIM")
"""BookSim 2, built from its own source; the test of it is there where its binary is given."""

if BOOKSIM:

    @pytest.mark.parametrize("name", ["fattree:2,2", "petersen", "gmnany:12"])
    def test_booksim_reads_the_same_network(name, tmp_path, capsys):
        assert CommandSession(["show", name, "--edges", str(tmp_path / "net.anynet")]).run() == 0
        settings = "topology = anynet; routing_function = min; network_file = net.anynet;\n"
        settings += "traffic = uniform; injection_rate = 0.01; sample_period = 200;"
        (tmp_path / "net.cfg").write_text(settings)
        words = [BOOKSIM, "net.cfg"]
        said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True).stdout
        listed = said.partition("router to router listing")[2].partition("=====")[0]
        found = set()
        for block in re.split(r"^Router ", listed, flags=re.MULTILINE)[1:]:
            own, *others = map(int, re.findall(r"(?:^|Router )(\d+)", block))
            found |= {(own, v) for v in others}
        ways = {(u, v) for pair in edges(name).tolist() for u, v in (pair, pair[::-1])}
        assert found == ways
        nodes = re.findall(r"^Node (\d+)\tRouter (\d+)", said, re.MULTILINE)
        assert nodes == [(str(u), str(u)) for u in range(mpinet.open(name).hosts)]
        assert "Packet latency average" in said


def test_an_ending_that_nothing_reads_is_refused(tmp_path, capsys):
    assert CommandSession(["show", "ring:8", "--edges", str(tmp_path / "x.gexf")]).run() == 2
    assert "ends in .txt, .edges, .edgelist" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
