"""Files of a network's links, written window by window in the format that their endings name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import escape, quoteattr

from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.measure.wiring import window_of
from mpinet.networks.topology import Topology
from mpinet.report.hashes import dealt_lines, edge_lines, hash_of

PLAIN, TABLE, GRAPHML = (".txt", ".edges", ".edgelist", ""), ".csv", ".graphml"

HEADING = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="address" for="node" attr.name="address" attr.type="string"/>
<graph id={} edgedefault="undirected">
"""


def require_graph_file(path: Path) -> None:
    """Raise `UsageError` unless links can be written in the format of the file's ending."""
    if path.suffix.lower() not in (*PLAIN, TABLE, GRAPHML):
        raise UsageError(
            f"--edges {path}: a file of links ends in {', '.join(filter(None, PLAIN))} (lines "
            f"'u v'), {TABLE} or {GRAPHML}."
        )


def written_edges(
    topology: Topology, transport: Local, path: Path | None, file: BinaryIO | None
) -> str:
    """sha256 of the lines ``u v`` of all links, on rank 0 (collective).

    Parameters
    ----------
    topology : Topology
        The network.
    transport : Local
        The ranks, which write windows of nodes in turn.
    path : Path or None
        Where the links go, for its ending; the same on all ranks.
    file : BinaryIO or None
        The open file, on rank 0.
    """
    size, window = topology.size, window_of(topology)
    ending = path.suffix.lower() if path is not None else ""
    write: Callable[[bytes], object] = file.write if file is not None else len
    if ending == GRAPHML:
        write(HEADING.format(quoteattr(topology.name)).encode())
        for part in dealt_lines(
            transport, size, lambda u, v: node_elements(topology, u, v), window
        ):
            write(part)
    elif ending == TABLE:
        write(b"source,target\n")
    change = {GRAPHML: edge_elements, TABLE: edge_rows}.get(ending, bytes)
    lines = dealt_lines(transport, size, edge_lines(topology), window)
    digest = hash_of(lines, lambda part: write(change(part)))
    if ending == GRAPHML:
        write(b"</graph>\n</graphml>\n")
    return digest


def node_elements(topology: Topology, begin: int, end: int) -> bytes:
    """GraphML of the nodes begin..end-1."""
    return "".join(
        f'<node id="{u}"><data key="address">{escape(topology.address(u))}</data></node>\n'
        for u in range(begin, end)
    ).encode()


def edge_elements(lines: bytes) -> bytes:
    """GraphML of the links in lines ``u v``."""
    ends = map(bytes.split, lines.splitlines())
    return b"".join(b'<edge source="%s" target="%s"/>\n' % (u, v) for u, v in ends)


def edge_rows(lines: bytes) -> bytes:
    """CSV of the links in lines ``u v``."""
    return lines.replace(b" ", b",")
