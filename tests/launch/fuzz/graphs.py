"""Graph files of all formats: right ones, right ones with bytes changed, and hostile ones."""

import io
from random import Random

import networkx

FORMATS = {
    ".gml": networkx.write_gml,
    ".graphml": networkx.write_graphml,
    ".g6": networkx.write_graph6,
    ".edges": lambda graph, file: networkx.write_edgelist(graph, file, data=False),
    ".csv": lambda graph, file: file.write(listed("source,target\n", graph, "{},{}\n", "")),
    ".dot": lambda graph, file: file.write(listed('graph "g" {\n', graph, "{} -- {};\n", "}\n")),
}


def listed(head, graph, form, end):
    """A line a link."""
    return "".join([head, *(form.format(*ends) for ends in graph.edges), end]).encode()


LAUGHS = "".join(
    f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' if i else '<!ENTITY l0 "laugh">' for i in range(12)
)

HOSTILE = {
    ".gml": [
        b"", b"graph [", b"graph [" * 5000, b"graph [ node [ id 1 label \"a\" ] node [ id 1 ] ]",
        b"graph [ node [ id " + b"9" * 5000 + b" ] ]", b"graph [ directed 1 ]", b"\xff\xfe",
        b"graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 2 ] ]", b"[" * 100_000,
        b"graph [ multigraph 1 node [ id 0 ] edge [ source 0 target 0 ] ]",
    ],
    ".graphml": [
        b"", b"<", b"<graphml/>", b"<a>" * 20_000, b"\xef\xbb\xbf",
        b'<?xml version="1.0"?><!DOCTYPE g [' + LAUGHS.encode() + b"]><graphml>&l11;</graphml>",
        b'<?xml version="1.0" encoding="no-such"?><graphml/>',
        b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph><node/></graph></graphml>',
        b'<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]><graphml>&x;</graphml>',
    ],
    ".g6": [
        b"", b"~", b"~~~~~~~~~~", b"~~????????", b"~}}}", b"D?{\nD?{\n", b"\x00" * 50, b"@", b"?",
        b">>graph6<<", b">>graph6<<~~~~~~~~",
    ],
    ".edges": [
        b"", b"0", b"0 1 2", b"0 0", b"0 1\n0 1", b"\x00 \x01", b"\xff 1", b"# only a comment",
        "² ٣\n3 ²".encode(), b"9" * 5000 + b" 1", b"0 1\n2 3", b"a,b\nb,c", b"0 1\r0 2\r\n",
    ],
    ".csv": [
        b"", b"source,target", b"source,target\n0,0", b"source,target\n0", b'source,target\n"0,1',
        b"source,target,capacity\n0,1,99999999999", b"\xef\xbb\xbfsource,target\n0,1\n", b",\n,\n",
        b"source,target\n\x00,1", b"source,target\n" + b'"' * 150_000, b"\xff\xfe",
    ],
    ".dot": [
        b"", b"graph", b"graph {", b"digraph { a -> b }", b"graph " + b"{" * 100_000,
        b"graph { a -- }", b'graph { "a', b"graph { a [", b"graph { /* }",
        b"graph { a -- b [capacity=1e9] }", b"\xff",
        b"graph { " + b"a -- " * 50_000 + b"a }", b'graph { "a" + + "b" }', b"strict",
        b"graph { a:b:c }",
    ],
}  # fmt: skip


def graph_file(random: Random) -> tuple[str, bytes]:
    """A file's ending, and what is in it."""
    ending = random.choice(list(FORMATS))
    if random.random() < 0.15:
        return ending, random.choice(HOSTILE[ending])
    nodes = random.choice([0, 1, 2, 3, 8, 20])
    graph = networkx.gnp_random_graph(nodes, random.random(), seed=random.randrange(2**32))
    file = io.BytesIO()
    FORMATS[ending](graph, file)
    text = bytearray(file.getvalue())
    for _ in range(random.choice([0, 0, 0, 1, 2, 5, 50])):
        at = random.randrange(len(text) + 1)
        put = bytes(random.choice([b"", b"0", b"9" * 20, b" ", b"\n", b"<", b"]", b"\xff", b"~"]))
        text[at : at + random.choice([0, 1, 1, 10])] = put
    return ending, bytes(text)
