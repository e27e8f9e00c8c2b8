"""Exported files are read back as the same network."""

import re
from collections import defaultdict

import networkx
import pytest

import mpinet
from mpinet.cli.session import Session
from mpinet.measure import edges


@pytest.mark.parametrize("name", ["torus:3x4", "fattree:2,3", "debruijn:4"])
@pytest.mark.parametrize("ending", ["graphml", "dot", "anynet", "csv", "edges"])
def test_a_file_has_the_links_and_the_processors(name, ending, tmp_path, capsys):
    file, network = tmp_path / f"net.{ending}", mpinet.open(name)
    assert Session(["show", name, "--edges", str(file)]).run() == 0
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


def test_an_ending_that_nothing_reads_is_refused(tmp_path, capsys):
    assert Session(["show", "ring:8", "--edges", str(tmp_path / "x.gexf")]).run() == 2
    assert "ends in .txt, .edges, .edgelist" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
