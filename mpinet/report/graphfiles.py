"""Files of a network's links, written window by window in the format of the file's ending."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.measure.wiring import links_of, window_of
from mpinet.networks.topology import Topology
from mpinet.report.hashes import dealt_lines, edge_lines, hash_of

PLAIN, TABLE, GRAPHML = (".txt", ".edges", ".edgelist", ""), ".csv", ".graphml"
DOT, ANYNET = ".dot", ".anynet"

HEADING = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="address" for="node" attr.name="address" attr.type="string"/>
<key id="switch" for="node" attr.name="switch" attr.type="boolean"/>
<graph id={} edgedefault="undirected">
"""


SWITCH = '<data key="switch">true</data>'


def require_graph_file(path: Path) -> None:
    """Raise `UsageError` unless the file's ending is a format of links."""
    if path.suffix.lower() not in (*PLAIN, TABLE, GRAPHML, DOT, ANYNET):
        raise UsageError(
            f"--edges {path}: a file of links ends in {', '.join(filter(None, PLAIN))} (lines "
            f"'u v'), {TABLE}, {GRAPHML}, {DOT} or {ANYNET} (BookSim)."
        )


def written_edges(
    topology: Topology, transport: Local, path: Path | None, file: BinaryIO | None
) -> str:
    """Write all links; return the SHA-256 of the lines ``u v`` on rank 0 (collective).

    Parameters
    ----------
    topology : Topology
        The network.
    transport : Local
        The ranks, which format windows of nodes in turn.
    path : Path or None
        Path of the file, for its ending; the same on all ranks.
    file : BinaryIO or None
        The open file, on rank 0. Without a file, only the hash is computed.
    """
    size, window = topology.size, window_of(topology)
    form = FORMS.get(path.suffix.lower() if path is not None else "", Form())
    write: Callable[[bytes], object] = file.write if file is not None else len
    write(form.heading(topology).encode())
    if form.nodes is not None:
        nodes = partial(form.nodes, topology)
        for part in dealt_lines(transport, size, nodes, window):
            write(part)
    lines = dealt_lines(transport, size, edge_lines(topology), window)
    # The hash covers the plain lines in every format, so files of one network can be compared.
    digest = hash_of(lines, lambda part: write(form.links(part)))
    write(form.ending)
    return digest


def node_elements(topology: Topology, begin: int, end: int) -> bytes:
    """Return the GraphML text of the nodes begin..end-1."""
    return "".join(
        f'<node id="{u}"><data key="address">{escape(topology.address(u), quote=False)}</data>'
        f"{SWITCH * (u >= topology.hosts)}</node>\n"
        for u in range(begin, end)
    ).encode()


def links_as(pattern: bytes) -> Callable[[bytes], bytes]:
    """Return a function that converts lines ``u v`` by a byte pattern with two placeholders."""
    return lambda lines: b"".join(pattern % tuple(line.split()) for line in lines.splitlines())


def dot_nodes(topology: Topology, begin: int, end: int) -> bytes:
    """Return the DOT text of the nodes begin..end-1; switches are boxes with ``switch=true``."""
    lines = []
    for node in range(begin, end):
        shape = "" if node < topology.hosts else ", shape=box, switch=true"
        lines.append(f"  {node} [label={_quoted(topology.address(node))}{shape}];\n")
    return "".join(lines).encode()


def _quoted(text: str) -> str:
    """Return a string quoted for DOT."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def anynet_routers(topology: Topology, begin: int, end: int) -> bytes:
    """Return BookSim's lines of the routers begin..end-1: each node with its higher neighbours.

    In this format, a link listed at one end has both directions.
    """
    nodes, others = links_of(topology, begin, end)
    up = others > nodes
    first = np.searchsorted(nodes[up], np.arange(begin, end + 1)).tolist()
    joined = others[up].tolist()
    lines = []
    for node in range(begin, end):
        own = f" node {node}" if node < topology.hosts else ""
        behind = joined[first[node - begin] : first[node - begin + 1]]
        lines.append(f"router {node}{own}{''.join(f' router {v}' for v in behind)}\n")
    return "".join(lines).encode()


@dataclass(frozen=True)
class Form:
    """Functions and texts that define a file format."""

    heading: Callable[[Topology], str] = lambda topology: ""
    """Returns the start of the file for a network."""
    nodes: Callable[[Topology, int, int], bytes] | None = None
    """Returns the text of the nodes begin..end-1; None if the format has no list of nodes."""
    links: Callable[[bytes], bytes] = bytes
    """Converts links from lines ``u v`` to the format."""
    ending: bytes = b""
    """End of the file."""


FORMS = {
    TABLE: Form(lambda topology: "source,target\n", links=links_as(b"%s,%s\n")),
    GRAPHML: Form(
        lambda topology: HEADING.format(f'"{escape(topology.name)}"'),
        node_elements,
        links_as(b'<edge source="%s" target="%s"/>\n'),
        b"</graph>\n</graphml>\n",
    ),
    DOT: Form(
        lambda topology: f"graph {_quoted(topology.name)} {{\n",
        dot_nodes,
        links_as(b"  %s -- %s;\n"),
        b"}\n",
    ),
    ANYNET: Form(nodes=anynet_routers, links=lambda lines: b""),
}
"""Formats of files by ending; files with other endings contain lines ``u v``."""
